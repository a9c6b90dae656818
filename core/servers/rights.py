"""How a command becomes another user's: sudo without or with a password, `sudo -u postgres`, or root's own runuser."""

from dataclasses import dataclass, replace

from core.errors import AuthenticationError, CommandError, ServerError
from core.servers.profiles import Profile, Rights
from core.servers.shell import Shell, command, sudo
from core.text import first_line

_ROOT = "root"


@dataclass(frozen=True, slots=True)
class Way:
    """The words ahead of the remote shell; `asks`: sudo asks for the password, with `prompt` as its prompt."""

    words: tuple[str, ...] = ()
    asks: bool = False


def way(profile: Profile, login: str, user: str | None, *, prompt: str = "") -> Way:
    """How `login` runs something as `user`; raises AuthenticationError where the profile's rights do not allow it."""
    if user is None or user == login:
        return Way()
    if login == _ROOT:
        return Way(("runuser", "-u", user, "--"))
    _refuse_missing(profile, login, user)
    if profile.rights is Rights.SUDO_PASSWORD:
        return Way(("env", "LC_ALL=C", "sudo", "-S", "-p", prompt, "-u", user, "--"), asks=True)
    return Way(("env", "LC_ALL=C", "sudo", "-n", "-u", user, "--"))


def become(profile: Profile, login: str, user: str | None, shell: Shell) -> Shell:
    """The command as a person would write it to run it as `user`, where the functions that it calls are known."""
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


def refusal(profile: Profile, login: str, user: str, exit_status: int | None, stderr: str) -> ServerError:
    """What sudo or runuser meant when it did not start the command at all. sudo speaks English under LC_ALL=C."""
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
