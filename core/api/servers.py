"""The servers: their profiles, a test of each right, and the lock while a cluster on one of them is being moved."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.api.model import ServerRow
from core.api.session import Session, record_commands
from core.errors import AuthenticationError, BlockedError, CommandError
from core.history.executions import ServerUse
from core.jobs import Job
from core.migration.execution import lock
from core.migration.execution.lock import HeldError, Holder
from core.migration.model.execution import ENDED_EARLY, Execution, State
from core.servers.connection import Server, connect
from core.servers.profiles import Profile, Rights
from core.servers.secrets import has_keyring, session_secrets
from core.servers.shell import command
from core.servers.ssh_config import named_hosts

__all__ = [
    "ServerRow",
    "ServerUse",
    "Tried",
    "find_leftover_execution",
    "find_use",
    "has_keyring",
    "is_promised",
    "list_servers",
    "named_hosts",
    "refuse_locked_servers",
    "remove_profile",
    "save_profile",
    "test_server",
    "try_profile",
    "with_advice",
]


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of testing a server.

    Attributes:
        sentences: what works, and what does not with its reason.
        missing: the users as which commands should run by the profile's rights, but do not.
    """

    sentences: tuple[str, ...]
    missing: tuple[str, ...] = ()


def list_servers(session: Session) -> tuple[ServerRow, ...]:
    """Return all servers with their latest facts and the names of their moves, sorted by name."""
    store = session.store
    moves: dict[str, list[str]] = {}
    with store.reading():
        for move in store.moves():
            for server in {move.old, move.new}:
                moves.setdefault(server, []).append(move.name)
        return tuple(
            ServerRow(profile, store.facts(profile.name), tuple(moves.get(profile.name, ())))
            for profile in store.profiles()
        )


def find_use(session: Session, server: str) -> ServerUse | None:
    """Return the move that is not over and uses a server, with what it fixes; None if all can be changed."""
    return session.store.server_use(server)


def save_profile(session: Session, profile: Profile, name: str | None) -> None:
    """Save a new profile, or with a `name` the changed profile of the server that was called so.

    Raises:
        InputError: a server has the name of the profile already, or there is none that was called `name`.
    """
    if name is None:
        session.store.add_profile(profile)
    else:
        session.store.update_profile(profile, name)
        session_secrets.forget_server(name)  # they may not fit the changed profile


def remove_profile(session: Session, name: str) -> None:
    """Remove a server and its facts from the history. Raises InputError if a move names the server."""
    session.store.remove_profile(name)
    session_secrets.forget_server(name)


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


_OVER = ENDED_EARLY | {State.DONE, State.ROLLED_BACK}


def refuse_locked_servers(session: Session, servers: Sequence[str], job: Job) -> None:
    """Raise BlockedError if any workstation is moving a cluster on one of these servers."""
    for name in dict.fromkeys(servers):
        for holder in lock.holders(session.server(name, job), job):
            if find_leftover_execution(session, holder) is not None:
                continue
            raise BlockedError(
                f"{name}: a cluster on this server is being moved by {holder.whose}; a measurement now would slow down "
                "the copy and give wrong results",
                _advise_on_own_lock(session, holder)
                or "wait until the move has ended, or ask its operator; "
                f"{lock.take_over(session.server(name, job), holder)}",
            )


def find_leftover_execution(session: Session, holder: Holder) -> Execution | None:
    """Return the finished execution of this history that has left the lock, or None for any other lock.

    A lock stays if its server could not be reached when the execution ended.
    """
    own = session.store.execution_with_token(holder.token)
    if own is None or own.state not in _OVER:
        return None
    return own if session.store.recorded_here(own.id) and not session.store.carried_out(own.id) else None


def with_advice(session: Session, error: HeldError) -> HeldError:
    """Return the error with advice on how to go on, if the lock belongs to an execution of this history."""
    return HeldError(error.message, _advise_on_own_lock(session, error.holder) or error.hint, error.holder)


def _advise_on_own_lock(session: Session, holder: Holder) -> str:
    """Return what to do about a lock of an execution of this history; empty for any other lock."""
    own = session.store.execution_with_token(holder.token)
    if own is None:
        return ""
    execute = command("pghaul", "execute", own.move)
    if session.store.carried_out(own.id):
        return f"this is execution {own.id} of {own.move}, which is running: {execute} --status"
    return (
        f"this is execution {own.id} of {own.move}, whose process has ended: continue it with {execute} --resume, or "
        "end it with --cancel, which removes the lock"
    )
