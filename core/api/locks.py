"""A server on which a move is being carried out is locked: measurements are refused, with the reason."""

from collections.abc import Sequence

from core.api.session import Session
from core.errors import BlockedError
from core.jobs import Job
from core.migration.execution import lock
from core.migration.execution.lock import HeldError, Holder
from core.migration.model.execution import Execution, State
from core.servers.shell import command

_OVER = {State.STOPPED, State.CANCELLED, State.DONE, State.ROLLED_BACK}


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
    own = _find_execution(session, holder.token)
    if own is None or own.state not in _OVER:
        return None
    return own if session.store.recorded_here(own.id) and not session.store.carried_out(own.id) else None


def with_advice(session: Session, error: HeldError) -> HeldError:
    """Return the error with advice on how to go on, if the lock belongs to an execution of this history."""
    return HeldError(error.message, _advise_on_own_lock(session, error.holder) or error.hint, error.holder)


def _advise_on_own_lock(session: Session, holder: Holder) -> str:
    """Return what to do about a lock of an execution of this history; empty for any other lock."""
    own = _find_execution(session, holder.token)
    if own is None:
        return ""
    execute = command("pghaul", "execute", own.move)
    if session.store.carried_out(own.id):
        return f"this is execution {own.id} of {own.move}, which is running: {execute} --status"
    return (
        f"this is execution {own.id} of {own.move}, whose process has ended: continue it with {execute} --resume, or "
        "end it with --cancel, which removes the lock"
    )


def _find_execution(session: Session, token: str) -> Execution | None:
    executions = (execution for move in session.store.moves() for execution in session.store.executions(move.name))
    return next((execution for execution in executions if execution.token == token), None)
