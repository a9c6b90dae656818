"""Try a server: connect, and each right that the work may need; install tools that it lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.actions.session import Session, record_commands
from core.benchmarks.installing import Installation, install, installation
from core.errors import AuthenticationError, CommandError
from core.jobs import Job
from core.servers.connection import Server, connect
from core.servers.profiles import Profile, Rights
from core.servers.shell import command


@dataclass(frozen=True, slots=True)
class Tried:
    """What a test of a server found.

    Attributes:
        sentences: what works, and what does not with its reason.
        missing: the users that the profile's rights promise and that nothing runs as.
    """

    sentences: tuple[str, ...]
    missing: tuple[str, ...] = ()


def test_server(session: Session, server: str, job: Job) -> Tried:
    """Connect and try each right that the work may need."""
    job = record_commands(session.store, job)
    return _tried(session.server(server, job), job)


def try_profile(session: Session, profile: Profile, job: Job) -> Tried:
    """The same of a profile that is not kept yet; its connection is closed again."""
    connected = connect(profile, session.asker, job)
    try:
        return _tried(connected, job)
    finally:
        connected.close()


def _tried(connected: Server, job: Job) -> Tried:
    sentences, missing = [f"connected to {connected.name} as {connected.login}"], []
    for user, why in (
        ("root", "to drop caches and read all files"),
        (connected.profile.database_user, "to read the clusters"),
    ):
        refused = _refused(connected, user, job)
        sentences.append(
            f"commands as {user} ({why}): {'they work' if refused is None else f'they fail: {refused.message}'}"
        )
        if refused is not None and refused.hint:
            sentences.append(f"  hint: {refused.hint}")
        if refused is not None and promised(connected.profile.rights, user):
            missing.append(user)
    return Tried(tuple(sentences), tuple(missing))


def missing_tools(session: Session, server: str, tools: Sequence[str], job: Job) -> Installation:
    """Which of the tools a server lacks, and the command that would install them; changes nothing."""
    job = record_commands(session.store, job)
    return installation(session.server(server, job), tools, job)


def install_tools(session: Session, wanted: Installation, job: Job) -> None:
    """Install them, as root."""
    job = record_commands(session.store, job)
    install(session.server(wanted.server, job), wanted, job)


def _refused(server: Server, user: str, job: Job) -> AuthenticationError | CommandError | None:
    """Why nothing runs as `user`; None where it does."""
    try:
        server.run(command("true"), job, user=user, title=f"Test whether commands can run as {user}")
    except (AuthenticationError, CommandError) as error:
        return error
    return None


def promised(rights: Rights, user: str) -> bool:
    """Whether a profile's rights say that commands run as `user`."""
    return rights is not Rights.NONE and (rights is not Rights.SUDO_POSTGRES or user != "root")
