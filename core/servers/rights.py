"""How a command runs as another user: by sudo without or with a password, `sudo -u postgres`, or runuser of root."""

from dataclasses import dataclass, replace

from core.errors import AuthenticationError, CommandError, ServerError
from core.servers.profiles import Profile, Rights
from core.servers.shell import Shell, command, sudo
from core.text import first_line

_ROOT = "root"


@dataclass(frozen=True, slots=True)
class CommandPrefix:
    """The words before the remote shell that run it as another user.

    Attributes:
        words: the program and its arguments; empty if the login user runs the command.
        asks_password: sudo asks for the password of the login user.
    """

    words: tuple[str, ...] = ()
    asks_password: bool = False


def command_prefix(profile: Profile, login: str, user: str | None, *, prompt: str = "") -> CommandPrefix:
    """Return the words by which `login` runs a command as `user`.

    Args:
        profile: the server's profile, whose rights are applied.
        login: the user who is logged in.
        user: who is to run the command; None: the login user.
        prompt: the prompt that sudo prints if it asks for a password.

    Raises:
        AuthenticationError: the rights of the profile do not allow it.
    """
    if user is None or user == login:
        return CommandPrefix()
    # root needs no sudo, which may not even be installed, and runuser asks root for no password.
    if login == _ROOT:
        return CommandPrefix(("runuser", "-u", user, "--"))
    _refuse_missing(profile, login, user)
    # LC_ALL=C, because the reason of a refusal is read from what sudo says. -n lets sudo fail at once where it would
    # ask for a password that nobody can type.
    if profile.rights is Rights.SUDO_PASSWORD:
        return CommandPrefix(("env", "LC_ALL=C", "sudo", "-S", "-p", prompt, "-u", user, "--"), asks_password=True)
    return CommandPrefix(("env", "LC_ALL=C", "sudo", "-n", "-u", user, "--"))


def shell_as_user(profile: Profile, login: str, user: str | None, shell: Shell) -> Shell:
    """Return the command as a person would type it to run it as `user`.

    Args:
        profile: the server's profile, whose rights are applied.
        login: the user who is logged in.
        user: who is to run the command; None: the login user.
        shell: the command. The shell functions that it calls are left out.

    Raises:
        AuthenticationError: the rights of the profile do not allow it.
    """
    shell = replace(shell, functions="")
    if user is None or user == login:
        return shell
    if login == _ROOT:
        return command("runuser", "-u", user, "--", "sh", "-c", shell)
    _refuse_missing(profile, login, user)
    return sudo(shell, user=user, ask=profile.rights is Rights.SUDO_PASSWORD)


def _refuse_missing(profile: Profile, login: str, user: str) -> None:
    if profile.rights is Rights.NONE:
        raise AuthenticationError(
            f"{profile.name}: a command must run as {user}, but the profile does not allow {login} to run commands "
            "as other users",
            f"set the rights in the profile to sudo, or log in as {user}",
        )
    if profile.rights is Rights.SUDO_POSTGRES and user != profile.database_user:
        raise AuthenticationError(
            f"{profile.name}: a command must run as {user}, but the profile allows sudo only to "
            f"{profile.database_user}",
            "set the rights in the profile to sudo, or to sudo with a password, if the server allows this",
        )


def explain_refusal(profile: Profile, login: str, user: str, exit_status: int | None, stderr: str) -> ServerError:
    """Return the error for a command that sudo or runuser has not started. sudo writes English under LC_ALL=C.

    Args:
        profile: the server's profile.
        login: the user who is logged in.
        user: who was to run the command.
        exit_status: of sudo or runuser; None if it was ended by a signal.
        stderr: what it wrote to its standard error.
    """
    name, text = profile.name, stderr.lower()
    said = first_line(stderr)
    if "sudo: not found" in text or "sudo: command not found" in text or "'sudo': no such file" in text:
        return AuthenticationError(
            f"{name}: sudo is not installed, so {login} cannot run commands as {user}",
            "install sudo, or log in as root (with a key) and set the profile's rights to none",
        )
    if "a password is required" in text or "no tty present" in text:
        return AuthenticationError(
            f"{name}: sudo asks {login} for a password to become {user}",
            "set the profile's rights to sudo with a password, or add a NOPASSWD line to sudoers",
        )
    if "you must have a tty" in text:
        return AuthenticationError(
            f"{name}: sudo requires a terminal (requiretty)", f"add `Defaults:{login} !requiretty` to sudoers"
        )
    if "unknown user" in text or "does not exist" in text:
        return CommandError(
            f"{name}: the user {user} does not exist", "check the database user of the profile", exit_status=exit_status
        )
    if "not in the sudoers" in text or "not allowed to" in text or "may not run" in text:
        return AuthenticationError(
            f"{name}: sudo does not allow {login} to run commands as {user}: {said}",
            f"add a line such as `{login} ALL=({user}) ALL` to sudoers (visudo), or change the profile's rights",
        )
    return AuthenticationError(
        f"{name}: {login} cannot run commands as {user}: {said or f'exit status {exit_status}'}",
        f"run `sudo -u {user} true` on the server to see why",
    )
