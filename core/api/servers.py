"""Test a server: connect and try each right that the work may need. Install tools that it lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.api.session import Session, record_commands
from core.benchmarks.installing import Installation, install, installation
from core.errors import AuthenticationError, CommandError
from core.jobs import Job
from core.servers.connection import Server, connect
from core.servers.profiles import Profile, Rights
from core.servers.shell import command


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of testing a server.

    Attributes:
        sentences: what works, and what does not with its reason.
        missing: the users as which commands should run by the profile's rights, but do not.
    """

    sentences: tuple[str, ...]
    missing: tuple[str, ...] = ()


def test_server(session: Session, server: str, job: Job) -> Tried:
    """Connect to a server and try each right that the work may need."""
    job = record_commands(session.store, job)
    return _test_connection(session.server(server, job), job)


def try_profile(session: Session, profile: Profile, job: Job) -> Tried:
    """Test a profile that is not stored yet, and close its connection."""
    connected = connect(profile, session.asker, job)
    try:
        return _test_connection(connected, job)
    finally:
        connected.close()


def _test_connection(connected: Server, job: Job) -> Tried:
    sentences, missing = [f"connected to {connected.name} as {connected.login}"], []
    for user, why in (
        ("root", "to drop caches and read all files"),
        (connected.profile.database_user, "to read the clusters"),
    ):
        error = _try_command_as(connected, user, job)
        sentences.append(
            f"commands as {user} ({why}): {'they work' if error is None else f'they fail: {error.message}'}"
        )
        if error is not None and error.hint:
            sentences.append(f"  hint: {error.hint}")
        if error is not None and is_promised(connected.profile.rights, user):
            missing.append(user)
    return Tried(tuple(sentences), tuple(missing))


def find_missing_tools(session: Session, server: str, tools: Sequence[str], job: Job) -> Installation:
    """Return which of the tools a server lacks, and the command that would install them; nothing is changed."""
    job = record_commands(session.store, job)
    return installation(session.server(server, job), tools, job)


def install_tools(session: Session, wanted: Installation, job: Job) -> None:
    """Install the tools as root."""
    job = record_commands(session.store, job)
    install(session.server(wanted.server, job), wanted, job)


def _try_command_as(server: Server, user: str, job: Job) -> AuthenticationError | CommandError | None:
    """Return why no command runs as `user`, or None if commands run."""
    try:
        server.run(command("true"), job, user=user, title=f"Test whether commands can run as {user}")
    except (AuthenticationError, CommandError) as error:
        return error
    return None


def is_promised(rights: Rights, user: str) -> bool:
    """Return whether commands should run as `user` by the rights of a profile."""
    return rights is not Rights.NONE and (rights is not Rights.SUDO_POSTGRES or user != "root")
