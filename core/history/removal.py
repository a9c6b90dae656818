"""What is removed from the history, always by its user: by age and kind, or one entry, which may be put back."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, delete, exists, false, func, insert, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.benchmarks.model import Outcome
from core.errors import InputError
from core.history.findings import uncollected_watch_row
from core.history.models import (
    Base,
    CheckPassRow,
    CommandRow,
    EstimateRow,
    ExecutionRow,
    FactsRow,
    HookRow,
    MoveRow,
    PlanRow,
    ProbeRow,
    ReportRow,
    RunRow,
    WaiverRow,
)
from core.history.recorded_profiles import move_row
from core.history.seal import Seal, execution_words, hook_words, machine_words, waiver_words
from core.migration.model.execution import State
from core.servers.shell import quoted

# What of the history is removed when its user says so, and never otherwise.
#
# Servers, moves, waivers and hooks stay, and so does what the program goes by: the latest of each thing, and what has
# not ended.


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


# Entries that their user removes one by one, with all that belongs to them, and may put back as they were.

_UNDER_WAY = (State.RUNNING.value, State.INTERRUPTED.value)
"""Of an execution; a stopped or cancelled one with a newer behind it goes on no more."""
_AT_ONCE = 500
"""Numbers in one statement: SQLite takes no more than some thousand."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Removed entries.

    Attributes:
        entries: their number.
        rows: the rows of each table.
        signed: which rows this user had signed, each with the machines of its move. A row is named by its table, its
            number and its hook: a hook has the number of its move, and other rows have no hook.
    """

    entries: int
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    signed: Mapping[tuple[str, int, str], tuple[str, ...]]


def remove(session: Session, which: Sequence[tuple[str, int]], seal: Seal) -> Removed:
    """Remove entries (kind and number), all or none; what has gone already is passed over.

    Raises:
        InputError: one has not ended, a watch that goes on among it, is the latest execution of its move, or is of a
            kind that stays.
    """
    kept: dict[str, list[Mapping[str, Any]]] = {}
    signed: dict[tuple[str, int, str], tuple[str, ...]] = {}
    entries = 0
    for name in dict.fromkeys(kind for kind, _ in which):
        numbers = sorted({number for kind, number in which if kind == name})
        kind = kind_of(name)
        found = _rows(session, kind.table.__table__, "id", numbers)
        _refuse(session, name, numbers)
        entries += len(found)
        belonging = _with_what_belongs(session, kind.table.__table__, found)
        for table, rows in belonging.items():
            kept.setdefault(table, []).extend(rows)
        signed |= _signed(session, belonging, seal)
        for some in _parts(numbers):
            session.execute(delete(kind.table).where(kind.table.id.in_(some)))
    return Removed(entries, kept, signed)


def remove_move(session: Session, name: str, seal: Seal) -> Removed:
    """Remove a move and all its entries (the foreign keys cascade). Raises InputError if there is none."""
    row = move_row(session, name)
    moves = Base.metadata.tables[MoveRow.__tablename__]
    kept = _with_what_belongs(session, moves, _rows(session, moves, "id", [row.id]))
    signed = _signed(session, kept, seal)
    session.delete(row)
    return Removed(1, kept, signed)


def put_back(session: Session, removed: Removed, seal: Seal) -> None:
    """Put back what was removed, all or nothing, and sign again what this user had signed.

    Where a number was given to something newer, the rows of that table get new numbers, in their old order: the order
    of executions, and of their steps, is that of their numbers.

    Raises:
        InputError: it stands there already; what it belonged to is gone: its move, its server; the name of a move was
            given to another; the number of an execution was, and the executions after it have stayed.
        HistoryError: the key of this user cannot be used.
    """
    names = [row["name"] for row in removed.rows.get(MoveRow.__tablename__, ())]
    if taken_name := session.scalar(select(MoveRow.name).where(MoveRow.name.in_(names))):
        raise InputError(f"the move {taken_name!r} exists already", "give the other move another name first")
    renumbered: dict[str, dict[int, int]] = {}
    for table in Base.metadata.sorted_tables:
        rows = [dict(row) for row in removed.rows.get(table.name, ())]
        numbers = [row["id"] for row in rows if "id" in row]
        taken = {row["id"]: row for row in _rows(session, table, "id", numbers)}
        if any(taken.get(row.get("id")) == row for row in rows):
            raise InputError("the entry was restored already", "find it in the list")
        if taken and table is ExecutionRow.__table__ and not names:
            raise InputError(
                "the entry cannot be restored: its execution's number is used by another execution now",
                "restore a backup of the history",
            )
        for row in sorted(rows, key=lambda each: each.get("id", 0)):
            for key in table.foreign_keys:
                row[key.parent.name] = renumbered.get(key.column.table.name, {}).get(
                    row[key.parent.name], row[key.parent.name]
                )
            number = row.get("id")
            if taken:
                del row["id"]
            made = _insert(session, table, row)
            if number is not None and made is not None and made != number:
                renumbered.setdefault(table.name, {})[number] = made
    _sign_again(session, removed, renumbered, seal)


def _signed(
    session: Session, rows: Mapping[str, Sequence[Mapping[str, Any]]], seal: Seal
) -> dict[tuple[str, int, str], tuple[str, ...]]:
    """Return which of these rows this user has signed, as `Removed` names them, with the machines of their moves."""
    found: dict[tuple[str, int, str], tuple[str, ...]] = {}
    for table in _SIGNED:
        for key in (_key(table, row) for row in rows.get(table.__tablename__, ())):
            row, move, words = _with_words(session, key)
            if seal.vouches_for(row.seal, *words):
                found[key] = machine_words(move)
    return found


def _sign_again(session: Session, removed: Removed, renumbered: Mapping[str, Mapping[int, int]], seal: Seal) -> None:
    """Sign the rows that this user had signed: their words contain numbers. Not for other machines than then."""
    for (table, number, hook), machines in removed.signed.items():
        of = MoveRow.__tablename__ if table == HookRow.__tablename__ else table
        row, move, words = _with_words(session, (table, renumbered.get(of, {}).get(number, number), hook))
        if machine_words(move) == machines:
            row.seal = seal.of(*words)


_SIGNED = (ExecutionRow, HookRow, WaiverRow)


def _key(table: type[Any], row: Mapping[str, Any]) -> tuple[str, int, str]:
    """Return how `Removed` names a row."""
    if table is HookRow:
        return table.__tablename__, row["move_id"], row["hook"]
    return table.__tablename__, row["id"], ""


def _with_words(
    session: Session, key: tuple[str, int, str]
) -> tuple[ExecutionRow | HookRow | WaiverRow, MoveRow, tuple[str, ...]]:
    """Return the row of this key, its move, and what its signature is of."""
    table, number, hook = key
    if table == ExecutionRow.__tablename__:
        execution = session.get_one(ExecutionRow, number)
        return execution, execution.move, execution_words(execution)
    if table == HookRow.__tablename__:
        command, of = session.get_one(HookRow, (number, hook)), session.get_one(MoveRow, number)
        return command, of, hook_words(command, of)
    waiver = session.get_one(WaiverRow, number)
    move = session.get_one(MoveRow, waiver.move_id)
    return waiver, move, waiver_words(waiver, move)


def _refuse(session: Session, name: str, numbers: Sequence[int]) -> None:
    kind = kind_of(name)
    for some in _parts(numbers):
        mine = kind.table.id.in_(some)
        under_way = ExecutionRow.state.in_(_UNDER_WAY) if kind.table is ExecutionRow else kind.open
        if under_way is not None and session.scalars(select(kind.table.id).where(mine, under_way)).first() is not None:
            raise InputError(f"{name} has not ended and cannot be removed", "end it first, then remove it")
        latest = select(func.max(ExecutionRow.id)).group_by(ExecutionRow.move_id)
        latest_chosen = select(ExecutionRow.id).where(mine, ExecutionRow.id.in_(latest))
        if kind.table is ExecutionRow and session.scalars(latest_chosen).first() is not None:
            raise InputError(
                "the latest execution of a move cannot be removed: pghaul needs it to know the state of the clusters",
                "remove the whole move when you no longer need it",
            )
        if kind.table is ProbeRow:
            _refuse_watch(session, some)


def _refuse_watch(session: Session, numbers: Sequence[int]) -> None:
    """By the probe that says that it was begun pghaul knows that the old server is to be asked what it saw."""
    watched = select(ProbeRow.move_id).where(ProbeRow.id.in_(numbers))
    for move in session.scalars(select(MoveRow).where(MoveRow.id.in_(watched))):
        begun = uncollected_watch_row(session, move)
        if begun is not None and begun.id in numbers:
            raise InputError(
                "a probe whose watch is still running cannot be removed",
                f"end the watch first: pghaul probe {quoted(move.name)} --watch --end",
            )


def _with_what_belongs(
    session: Session, table: Table, rows: Sequence[Mapping[str, Any]]
) -> dict[str, list[Mapping[str, Any]]]:
    """Return these rows and the rows of other tables that depend on them by foreign keys."""
    found: dict[str, list[Mapping[str, Any]]] = {table.name: [*rows]}
    for other in Base.metadata.sorted_tables:
        for key in other.foreign_keys:
            parent = key.column.table.name
            if other.name != table.name and parent in found:
                numbers = [row["id"] for row in found[parent]]
                found.setdefault(other.name, []).extend(_rows(session, other, key.parent.name, numbers))
    return found


def _rows(session: Session, table: Table, column: str, numbers: Sequence[int]) -> list[Mapping[str, Any]]:
    """Return the rows whose column has one of these numbers."""
    return [
        dict(row)
        for some in _parts(numbers)
        for row in session.execute(select(table).where(table.c[column].in_(some))).mappings()
    ]


def _insert(session: Session, table: Table, row: Mapping[str, Any]) -> int | None:
    """Return the number of a row, if its table has numbers."""
    statement = insert(table).values(row)
    try:
        if "id" not in table.c:
            session.execute(statement)
            return None
        return int(session.execute(statement.returning(table.c.id)).scalar_one())
    except IntegrityError as error:
        raise InputError(
            "the entry cannot be restored: what it belonged to no longer exists", "restore a backup of the history"
        ) from error


def _parts(numbers: Sequence[int]) -> list[Sequence[int]]:
    return [numbers[begin : begin + _AT_ONCE] for begin in range(0, len(numbers), _AT_ONCE)]
