"""Waivers of a move: who took which warning on, when, why, and when it was taken back."""

from datetime import UTC, datetime

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from core.errors import InputError
from core.history.decoding import member
from core.history.models import WaiverRow
from core.history.profiles import move_row
from core.history.seal import Seal
from core.history.sealed import waiver_words
from core.migration.model.checks import Status, Waiver


def add_waiver(session: Session, move: str, waiver: Waiver, seal: Seal) -> None:
    """Keep a waiver; one that stands for the same check ends."""
    row = move_row(session, move)
    _end(session, row.id, waiver.check)
    kept = WaiverRow(
        move_id=row.id,
        check=waiver.check,
        reason=waiver.reason,
        waived_by=waiver.by,
        waived_at=waiver.at,
        status=waiver.status.value,
        old=waiver.old,
        new=waiver.new,
    )
    kept.seal = seal.of(*waiver_words(kept, row))
    session.add(kept)


def withdraw_waiver(session: Session, move: str, check: str) -> None:
    """Take a waiver back; it stays in the history as ended."""
    if not _end(session, move_row(session, move).id, check):
        raise InputError(
            f"the check {check!r} of the move {move} is not waived", f"show the checks with: pghaul check {move}"
        )


def waivers(session: Session, move: str, seal: Seal) -> tuple[Waiver, ...]:
    """The waivers that stand; none older than the last change of the move: it was given for another move.

    Nor one that came with a history from elsewhere: to take a warning on is this user's own word.
    """
    return tuple(waiver_of(each) for each, holds in _standing(session, move, seal) if holds)


def unsealed(session: Session, move: str, seal: Seal) -> tuple[str, ...]:
    """The checks whose waiver would stand if this user had given it."""
    return tuple(each.check for each, holds in _standing(session, move, seal) if not holds)


def _standing(session: Session, move: str, seal: Seal) -> list[tuple[WaiverRow, bool]]:
    """Each waiver that was not withdrawn and is of the move as it is, with whether its seal holds."""
    row = move_row(session, move)
    since = true() if row.changed_at is None else WaiverRow.waived_at >= row.changed_at
    standing = select(WaiverRow).where(WaiverRow.move_id == row.id, WaiverRow.withdrawn_at.is_(None), since)
    found = session.scalars(standing.order_by(WaiverRow.id))
    return [(each, seal.vouches_for(each.seal, *waiver_words(each, row))) for each in found]


def waiver_of(row: WaiverRow) -> Waiver:
    """The waiver of that row."""
    return Waiver(row.check, row.reason, row.waived_by, row.waived_at, member(Status, row.status), row.old, row.new)


def _end(session: Session, move_id: int, check: str) -> bool:
    mine = (WaiverRow.move_id == move_id, WaiverRow.check == check, WaiverRow.withdrawn_at.is_(None))
    found = session.scalars(select(WaiverRow).where(*mine)).all()
    for row in found:
        row.withdrawn_at = datetime.now(UTC)
        row.seal = None  # without it the row cannot be made to stand again by whoever has the file alone
    return bool(found)
