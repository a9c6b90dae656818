"""What of the history is removed when its user says so, and never otherwise.

Servers, moves, waivers and hooks stay, and so does what the program goes by: the latest of each thing, and what has not
ended.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, false, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.benchmarks.model import Outcome
from core.errors import InputError
from core.history.models import (
    CheckPassRow,
    CommandRow,
    EstimateRow,
    ExecutionRow,
    FactsRow,
    MoveRow,
    PlanRow,
    ProbeRow,
    ReportRow,
    RunRow,
)
from core.history.profiles import move_row
from core.migration.model.execution import State


@dataclass(frozen=True, slots=True)
class Kind:
    """Rows of a kind.

    Attributes:
        at: when such a row was made.
        same: what the latest is kept of; empty: of nothing.
        open: which have not ended.
        rather: which count before others that are later.
    """

    table: type[Any]
    at: InstrumentedAttribute[datetime]
    same: tuple[InstrumentedAttribute[Any], ...] = ()
    open: ColumnElement[bool] | None = None
    rather: ColumnElement[bool] | None = None


_ENDED = (State.DONE.value, State.ROLLED_BACK.value)
_OF_AN_UNFINISHED_EXECUTION = exists().where(
    ExecutionRow.move_id == CommandRow.move_id,
    ExecutionRow.state.not_in(_ENDED),
    ExecutionRow.started_at <= CommandRow.started_at,
)
"""What ran on the servers for it, or beside it for its move: its record until it has ended."""
_KINDS: Mapping[str, Kind] = {
    "facts": Kind(FactsRow, FactsRow.taken_at, (FactsRow.profile_id,)),
    "run": Kind(
        RunRow,
        RunRow.started_at,
        (
            RunRow.move_id,
            RunRow.side,
            RunRow.server,
            RunRow.mount_point,
            RunRow.tool,
            RunRow.workload,
            RunRow.parameters,
        ),
        open=RunRow.outcome.is_(None),
        rather=RunRow.outcome == Outcome.DONE.value,
    ),
    "probe": Kind(
        ProbeRow, ProbeRow.taken_at, (ProbeRow.move_id, ProbeRow.quantity, ProbeRow.method, ProbeRow.transport)
    ),
    "checks": Kind(CheckPassRow, CheckPassRow.taken_at, (CheckPassRow.move_id,)),
    "estimate": Kind(EstimateRow, EstimateRow.made_at, (EstimateRow.move_id,)),
    "plan": Kind(PlanRow, PlanRow.made_at, (PlanRow.move_id,)),
    "execution": Kind(
        ExecutionRow, ExecutionRow.started_at, (ExecutionRow.move_id,), open=ExecutionRow.state.not_in(_ENDED)
    ),
    "report": Kind(ReportRow, ReportRow.made_at),
    "command": Kind(CommandRow, CommandRow.started_at, open=_OF_AN_UNFINISHED_EXECUTION),
}
KINDS = tuple(_KINDS)
"""What can be removed, by its age or one by one."""


def prunable(session: Session, before: datetime, kinds: Collection[str], move: str | None) -> dict[str, int]:
    """Return how many entries of each kind are older than `before`, of one move or of all."""
    return {
        kind: int(session.scalar(select(func.count()).select_from(_old(session, kind, before, move).subquery())) or 0)
        for kind in kinds
    }


def prune(session: Session, before: datetime, kinds: Collection[str], move: str | None) -> dict[str, int]:
    """Remove these entries and all that depends on them, and return their number by kind."""
    return {kind: _pruned(session, kind_of(kind).table, _old(session, kind, before, move)) for kind in kinds}


def _pruned(session: Session, table: type[Any], old: Select[Any]) -> int:
    gone = session.scalars(delete(table).where(table.id.in_(old)).returning(table.id))
    return len(gone.all())


def _old(session: Session, kind: str, before: datetime, move: str | None) -> Select[Any]:
    """Return the numbers of the rows to remove."""
    of = kind_of(kind)
    going = [of.at < before, *([~of.open] if of.open is not None else [])]
    if of.same:
        order = (
            *([func.coalesce(of.rather, false()).desc()] if of.rather is not None else []),
            of.at.desc(),
            of.table.id.desc(),
        )
        place = func.row_number().over(partition_by=of.same, order_by=order)
        ranked = select(of.table.id, place.label("place")).subquery()
        going.append(of.table.id.in_(select(ranked.c.id).where(ranked.c.place > 1)))
    if move is not None:
        going.append(_of_move(of.table, move_row(session, move)))
    return select(of.table.id).where(and_(*going))


def _of_move(table: type[Any], move: MoveRow) -> ColumnElement[bool]:
    if table is FactsRow:
        return or_(FactsRow.profile_id == move.old_id, FactsRow.profile_id == move.new_id)
    return table.move_id == move.id  # type: ignore[no-any-return]  # of each table but that one


def kind_of(kind: str) -> Kind:
    """Return the kind with this name. Raises InputError if its entries cannot be removed."""
    if kind not in _KINDS:
        raise InputError(f"entries of the kind {kind!r} cannot be removed", f"use one of: {', '.join(KINDS)}")
    return _KINDS[kind]
