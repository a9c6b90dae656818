"""A server that a move is being carried out on is in that move's hands: what measures it waits, and says for whom."""

from collections.abc import Sequence

from core.actions.session import Session
from core.errors import BlockedError
from core.jobs import Job
from core.migration.execution import lock
from core.migration.execution.lock import HeldError, Holder
from core.migration.model.execution import Execution, State
from core.servers.shell import command

_OVER = {State.STOPPED, State.CANCELLED, State.DONE, State.ROLLED_BACK}


def refuse_held(session: Session, servers: Sequence[str], job: Job) -> None:
    """Raise BlockedError while a cluster on one of these servers is being moved, by this workstation or another."""
    for name in dict.fromkeys(servers):
        for holder in lock.holders(session.server(name, job), job):
            if left_by(session, holder) is not None:
                continue
            raise BlockedError(
                f"{name}: a cluster on this server is being moved by {holder.whose}; a measurement now would slow down "
                "the copy and give wrong results",
                _advice(session, holder)
                or "wait until the move has ended, or ask its operator; "
                f"{lock.take_over(session.server(name, job), holder)}",
            )


def left_by(session: Session, holder: Holder) -> Execution | None:
    """The execution of this history that is over and has left the lock; None where it is anybody else's.

    Its server could not be reached when it ended.
    """
    own = _known(session, holder.token)
    if own is None or own.state not in _OVER:
        return None
    return own if session.store.recorded_here(own.id) and not session.store.carried_out(own.id) else None


def advised(session: Session, error: HeldError) -> HeldError:
    """The same refusal; where the lock is of an execution that this history knows, with what leads on."""
    return HeldError(error.message, _advice(session, error.holder) or error.hint, error.holder)


def _advice(session: Session, holder: Holder) -> str:
    """What to do about a lock of one's own; empty where it is another workstation's."""
    own = _known(session, holder.token)
    if own is None:
        return ""
    execute = command("pghaul", "execute", own.move)
    if session.store.carried_out(own.id):
        return f"this is execution {own.id} of {own.move}, which is running: {execute} --status"
    return (
        f"this is execution {own.id} of {own.move}, whose process has ended: continue it with {execute} --resume, or "
        "end it with --cancel, which removes the lock"
    )


def _known(session: Session, token: str) -> Execution | None:
    executions = (execution for move in session.store.moves() for execution in session.store.executions(move.name))
    return next((execution for execution in executions if execution.token == token), None)
