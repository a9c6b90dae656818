"""Entries that their user removes one by one, with all that belongs to them, and may put back as they were."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import InputError
from core.history.findings import uncollected_watch_row
from core.history.models import Base, ExecutionRow, MoveRow, ProbeRow
from core.history.retention import kind_of
from core.migration.model.execution import State

_UNDER_WAY = (State.RUNNING.value, State.INTERRUPTED.value)
"""Of an execution; a stopped or cancelled one with a newer behind it goes on no more."""
_AT_ONCE = 500
"""Numbers in one statement: SQLite takes no more than some thousand."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Removed entries: their number, and the rows of each table, parent tables first."""

    entries: int
    rows: Mapping[str, Sequence[Mapping[str, Any]]]


def remove(session: Session, which: Sequence[tuple[str, int]]) -> Removed:
    """Remove entries (kind and number), all or none; what has gone already is passed over.

    Raises:
        InputError: one has not ended, a watch that goes on among it, is the latest execution of its move, or is of a
            kind that stays.
    """
    kept: dict[str, list[Mapping[str, Any]]] = {}
    entries = 0
    for name in dict.fromkeys(kind for kind, _ in which):
        numbers = sorted({number for kind, number in which if kind == name})
        kind = kind_of(name)
        found = _rows(session, kind.table.__table__, "id", numbers)
        _refuse(session, name, numbers)
        entries += len(found)
        for table, rows in _with_what_belongs(session, kind.table.__table__, found).items():
            kept.setdefault(table, []).extend(rows)
        for some in _parts(numbers):
            session.execute(delete(kind.table).where(kind.table.id.in_(some)))
    return Removed(entries, kept)


def put_back(session: Session, removed: Removed) -> None:
    """Put back what was removed, all or nothing; where its number was given to something newer, under another.

    Raises:
        InputError: it stands there already; what it belonged to is gone: its move, its server; the number of an
            execution, whose order the numbers are, was given to another.
    """
    renumbered: dict[str, dict[int, int]] = {}
    for table in Base.metadata.sorted_tables:
        rows = [dict(row) for row in removed.rows.get(table.name, ())]
        numbers = [row["id"] for row in rows if "id" in row]
        taken = {row["id"]: row for row in _rows(session, table, "id", numbers)}
        if any(taken.get(row.get("id")) == row for row in rows):
            raise InputError("the entry was restored already", "find it in the list")
        if taken and table is ExecutionRow.__table__:
            raise InputError(
                "the entry cannot be restored: its execution's number is used by another execution now",
                "restore a backup of the history",
            )
        for row in rows:
            for key in table.foreign_keys:
                row[key.parent.name] = renumbered.get(key.column.table.name, {}).get(
                    row[key.parent.name], row[key.parent.name]
                )
            number = row.get("id")
            if number in taken:
                del row["id"]
            made = _insert(session, table, row)
            if number is not None and made is not None and made != number:
                renumbered.setdefault(table.name, {})[number] = made


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
    """By the probe that says that it was begun pghaul knows that old is to be asked what it saw."""
    watched = select(ProbeRow.move_id).where(ProbeRow.id.in_(numbers))
    for move in session.scalars(select(MoveRow).where(MoveRow.id.in_(watched))):
        begun = uncollected_watch_row(session, move)
        if begun is not None and begun.id in numbers:
            raise InputError(
                "a probe whose watch is still running cannot be removed",
                f"end the watch first: pghaul probe {move.name} --watch --end",
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
