"""What can still be read of a damaged history, put into a new one; the damaged file is kept as it is.

SQLite reads a table up to the page that is broken. Behind it the rows are asked for by their numbers, one after the
other, until some can be read again.
"""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import HistoryError
from core.history.belonging import check_belonging
from core.history.copies import copy_bytes, flush_folder, refuse_if_open, rename_damaged
from core.history.damage import counts, garbled, opened
from core.history.database import engine_of, error_text, history_errors
from core.history.upgrade import MIGRATIONS, Migrations, upgrade

_LAST = 100_000
"""So many numbers in a row that cannot be read, and the table counts as over."""
_LARGEST = 2**63 - 1
_PARTS = {
    "check_results": ("check_passes", "pass_id"),
    "metrics": ("repetitions", "repetition_id"),
}
"""Rows that are part of one thing, which says something else without one of them: the thing's table, their column."""
_TABLES = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name != 'alembic_version'"


@dataclass(frozen=True, slots=True)
class Rescued:
    """What became of a damaged history.

    Attributes:
        history: the new one.
        damaged: the damaged one, as it was.
        rows: of each table how many rows were taken over.
        lost: what was not, a few words each.
    """

    history: Path
    damaged: Path
    rows: dict[str, int]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """A table to be read. `key`: the number by which its rows are asked for."""

    name: str
    columns: tuple[str, ...]
    key: str


def rescue(path: Path) -> Rescued:
    """Take over what can be read of the history at `path` into a new one in its place.

    Only whole rows are taken over, and of these such as belong to something that was.

    Raises:
        HistoryError: another program has it open, nothing of it can be read, or no other can be written: it is as it
            was.
    """
    check_belonging(path.parent, path)
    with history_errors(path):
        refuse_if_open(path)
    try:
        with tempfile.TemporaryDirectory(prefix="rescue-", dir=path.parent) as name:
            damaged, made = Path(name) / "damaged", Path(name) / "made"
            copy_bytes(path, damaged)
            with history_errors(path), opened(damaged, errors="replace") as source:
                # reads on where the file ends before its own head says so
                source.execute("PRAGMA writable_schema=ON")
                lost = _taken_over(source, made, _revision(source, path, Path(name)))
            with history_errors(path):
                lost += _brought_up(made)
                renamed = rename_damaged(path)
            made.rename(path)
            flush_folder(path.parent)
    except OSError as error:
        raise HistoryError(
            f"the history {path} could not be rescued: {error_text(error)}",
            f"check that {path.parent} has enough free space; nothing was changed",
        ) from error
    with history_errors(path), opened(path) as connection:
        return Rescued(path, renamed, counts(connection), tuple(lost))


def _revision(source: sqlite3.Connection, path: Path, folder: Path) -> str:
    """The schema of a damaged history: as it says, else the one whose tables it has."""
    try:
        tables = dict(source.execute(_TABLES).fetchall())
    except sqlite3.DatabaseError as error:
        raise HistoryError(
            f"nothing can be read of the history {path}: {error_text(error)}",
            "it was not changed; restore a copy, such as history-*.sqlite3 beside it: pghaul history restore FILE",
        ) from error
    try:
        said = source.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.DatabaseError:
        said = None
    if said is not None and said[0] in MIGRATIONS.revisions:
        return str(said[0])
    for revision in reversed(MIGRATIONS.revisions) if said is None else ():
        like = folder / f"like-{revision}"
        _begin(like, revision)
        with opened(like) as connection:
            if dict(connection.execute(_TABLES).fetchall()) == tables:
                return revision
    raise HistoryError(
        f"the history {path} does not have the tables of any known version of pghaul",
        "update pghaul, or restore a copy: pghaul history restore FILE; nothing was changed",
    )


def _begin(made: Path, revision: str) -> None:
    """An empty history of that schema."""
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    known = MIGRATIONS.revisions
    engine = engine_of(made)
    try:
        upgrade(engine, made, Migrations(MIGRATIONS.folder, known[: known.index(revision) + 1]))
    finally:
        engine.dispose()


def _taken_over(source: sqlite3.Connection, made: Path, revision: str) -> list[str]:
    """Begin a history of that schema with the whole rows of `source`; what was lost on the way."""
    _begin(made, revision)
    lost: list[str] = []
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as target:
        target.execute("PRAGMA foreign_keys=OFF")
        target.execute("BEGIN")
        for name, sql in target.execute(_TABLES).fetchall():
            columns = [row[1] for row in target.execute(f'PRAGMA table_info("{name}")')]
            table = _Table(name, tuple(columns), columns[0] if "WITHOUT ROWID" in sql else "rowid")
            lost += _copy(source, target, table)
        lost += _without_orphans(target)
        target.execute("COMMIT")
    return lost


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: _Table) -> list[str]:
    """Take over the rows of one table; what was lost of it.

    Where rows are parts of one thing, that goes whose last part was read before a gap or whose first behind it, and
    what stands between these.
    """
    lost: list[str] = []
    whole, owner = _PARTS.get(table.name, ("", table.columns[0]))
    position = table.columns.index(owner)
    gaps: list[list[int]] = []
    latest, at_gap = 0, False
    insert = f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(table.columns))})'
    for row in _rows(source, table):
        if isinstance(row, str):
            lost.append(row)
            gaps.append([latest, _LARGEST])
            at_gap = True
            continue
        try:
            target.execute(insert, row)
        except sqlite3.IntegrityError as error:
            lost.append(f"{table.name} {row[0]}: {error_text(error)}")
            continue
        latest = row[position]
        if at_gap:
            gaps[-1][1] = latest
            at_gap = False
    if whole:
        target.executemany(f'DELETE FROM "{whole}" WHERE id BETWEEN ? AND ?', gaps)
    return lost


def _rows(source: sqlite3.Connection, table: _Table) -> Iterator[tuple[Any, ...] | str]:
    """The rows that can be read, in their order; in the place of some that cannot, which they are."""
    columns = ", ".join(f'"{each}"' for each in table.columns)
    query = f'SELECT {table.key}, {columns} FROM "{table.name}" WHERE {table.key} >= ? ORDER BY {table.key}'
    at, unread = 0, 0
    while unread < _LAST:
        try:
            for number, *row in source.execute(query, (at,)):
                if unread:
                    yield f"{table.name}: {at - unread} to {number - 1}"
                    unread = 0
                at = number + 1
                yield tuple(row)
        except sqlite3.DatabaseError:
            at, unread = at + 1, unread + 1
        else:
            break
    if unread:
        yield f"{table.name}: from {at - unread} on"


def _without_orphans(target: sqlite3.Connection) -> list[str]:
    """Remove what belongs to something that is not there; how much of each table, where there was any."""
    removed: dict[str, int] = {}
    while broken := target.execute("PRAGMA foreign_key_check").fetchall():
        for table, parent in {(table, parent) for table, _, parent, _ in broken}:
            for _, _, to, column, *_ in target.execute(f'PRAGMA foreign_key_list("{table}")').fetchall():
                if to == parent:
                    gone = target.execute(
                        f'DELETE FROM "{table}" WHERE "{column}" NOT IN (SELECT id FROM "{parent}")'
                    ).rowcount
                    removed[table] = removed.get(table, 0) + gone
    return [f"{table}: {number} that belong to what was lost" for table, number in removed.items()]


def _brought_up(made: Path) -> list[str]:
    """Bring the new history to this program's schema, without the rows that no pghaul has written; what was lost."""
    engine = engine_of(made)
    try:
        upgrade(engine, made)
    finally:
        engine.dispose()
    with opened(made) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("BEGIN")
        strange = list(garbled(connection))
        for row in strange:
            name, columns, key = row.table.name, [each.name for each in row.table.primary_key.columns], row.key
            if name in _PARTS:  # by its owner, with which its key begins
                name, columns, key = _PARTS[name][0], ["id"], key[:1]
            connection.execute(f'DELETE FROM "{name}" WHERE ' + " AND ".join(f'"{each}" = ?' for each in columns), key)
        lost = [*map(str, strange), *_without_orphans(connection)]
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode=DELETE")
    return lost
