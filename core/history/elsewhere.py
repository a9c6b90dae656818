"""What of a move this user's pghaul has not recorded: it came with a history from elsewhere, or was changed there."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.history.executions import hooks
from core.history.models import ExecutionRow
from core.history.profiles import move_row
from core.history.seal import Seal
from core.history.sealed import execution_words
from core.history.waivers import unsealed


def from_elsewhere(session: Session, move: str, seal: Seal) -> tuple[str, ...]:
    """Its executions, hooks and waivers that bear no seal, each in a few words; none of them runs or counts."""
    of = select(ExecutionRow).where(ExecutionRow.move_id == move_row(session, move).id).order_by(ExecutionRow.id)
    strange = [row.id for row in session.scalars(of) if not seal.vouches_for(row.seal, *execution_words(row))]
    return (
        *(f"execution {number}" for number in strange),
        *(f"hook {each.hook}" for each in hooks(session, move, seal) if each.from_elsewhere),
        *(f"waiver of {check}" for check in unsealed(session, move, seal)),
    )
