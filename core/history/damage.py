"""Whether a history is whole, and what can still be read of a damaged one."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Table
from sqlalchemy.dialects import sqlite

from core.errors import HistoryError
from core.facts.model import Facts
from core.history.belonging import check_belonging
from core.history.copies import PATIENCE_SECONDS, copies_of, copy_bytes, flush_folder, refuse_if_open, rename_damaged
from core.history.database import (
    MIGRATIONS,
    Migrations,
    engine_of,
    error_text,
    history_errors,
    is_damage,
    revision_of,
    sqlite_says,
    upgrade,
)
from core.history.findings import loaded
from core.history.models import Base
from core.history.types import GarbledError
from core.migration.model.estimate import Estimate
from core.migration.model.plan import Plan

MOST = 20
"""Of damage that is told in words: where there is more, a person reads no more of it."""
_DOCUMENTS: dict[tuple[str, str], type[Any]] = {
    ("facts", "document"): Facts,
    ("estimates", "document"): Estimate,
    ("plans", "document"): Plan,
    ("executions", "plan"): Plan,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """How a history was found.

    Attributes:
        history: its file.
        schema: the revision of its schema; None: it could not be read.
        bytes: how large the file is.
        rows: of each table how many it has, where they could be counted.
        damage: what is wrong, a few words each; empty: it is whole.
        copies: whole or damaged copies beside it, the newest last.
    """

    history: Path
    schema: str | None
    bytes: int
    rows: dict[str, int]
    damage: tuple[str, ...]
    copies: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Garbled:
    """A row that holds what no pghaul has written. `key`: its primary key, as the file has it."""

    table: Table
    key: tuple[object, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.table.name} {', '.join(map(str, self.key))}: {self.why}"


def check(path: Path) -> Condition:
    """Read all of a history, and change nothing.

    Raises:
        HistoryError: it is of a newer pghaul or another program's, or cannot be read for another reason than damage.
    """
    damage, schema, rows = list(broken_pages(path)), None, {}
    try:
        schema = schema_of(path)
        if schema == MIGRATIONS.head:
            with history_errors(path), opened(path) as connection:
                damage += [str(row) for row in garbled(connection)]
                rows = counts(connection)
    except HistoryError:
        if not damage:
            raise
    return Condition(path, schema, path.stat().st_size, rows, tuple(damage), copies_of(path))


def broken_pages(path: Path) -> tuple[str, ...]:
    """What SQLite finds wrong in the file itself, and rows that refer to none; nothing: all can be read.

    Raises:
        HistoryError: it cannot be looked at, for another reason than damage.
    """
    with history_errors(path), opened(path) as connection:
        try:
            found = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({MOST})")]
            lost = connection.execute("PRAGMA foreign_key_check").fetchmany(MOST)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return (sqlite_says(error),)
    lines = [] if found == ["ok"] else "\n".join(found).splitlines()
    said = (f"SQLite says: {line}" for line in lines)
    return (*said, *(f"{table} {row}: it belongs to nothing in {parent}" for table, row, parent, _ in lost))


def schema_of(path: Path) -> str | None:
    """The revision of a history's schema; None: it holds nothing. Raises HistoryError as an opening does."""
    engine = engine_of(path)
    try:
        with history_errors(path), engine.connect() as connection:
            return revision_of(connection, path, MIGRATIONS)
    finally:
        engine.dispose()


@contextlib.contextmanager
def opened(path: Path, errors: str = "surrogateescape") -> Iterator[sqlite3.Connection]:
    """A history to be read as it is, whatever it holds; `errors`: what becomes of text that is no UTF-8."""
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_SECONDS, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        connection.text_factory = lambda text: text.decode(errors=errors)
        yield connection


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Of each table of a history of this program's schema how many rows it has."""
    names = (table.name for table in Base.metadata.sorted_tables)
    return {name: int(connection.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone()[0]) for name in names}


def garbled(connection: sqlite3.Connection) -> Iterator[Garbled]:
    """The rows of a history of this program's schema that hold what no pghaul has written."""
    for table in Base.metadata.sorted_tables:
        names = [column.name for column in table.columns]
        keys = [names.index(column.name) for column in table.primary_key.columns]
        read = _readers(table.name)
        cursor = connection.execute(f"SELECT {', '.join(map(_quoted, names))} FROM {_quoted(table.name)}")
        while row := _next(cursor):
            try:
                for value, reader in zip(row, read, strict=True):
                    reader(value)
            except (GarbledError, HistoryError) as error:
                yield Garbled(table, tuple(row[each] for each in keys), str(error).splitlines()[0])


def _next(cursor: sqlite3.Cursor) -> Any:
    """The next row; None at the end of what can be read: the pages behind it are told of by SQLite."""
    try:
        return cursor.fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return None


@cache
def _readers(name: str) -> tuple[Callable[[Any], object], ...]:
    """Of each column of a table what reads a value of it; they raise GarbledError or HistoryError."""
    return tuple(_reader(name, column) for column in Base.metadata.tables[name].columns)


def _reader(table: str, column: Column[Any]) -> Callable[[Any], object]:
    dialect = sqlite.dialect()
    process = column.type.dialect_impl(dialect).result_processor(dialect, None)
    kind = _DOCUMENTS.get((table, column.name))

    def read(value: Any) -> object:
        if isinstance(value, str) and not value.isascii():
            _check_text(value)
        found = value if process is None else process(value)
        return found if kind is None or found is None else loaded(kind, found)

    return read


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise GarbledError(f"{value[:80]!r} is no UTF-8") from error


def _quoted(name: str) -> str:
    return f'"{name}"'


# What can still be read of a damaged history, put into a new one; the damaged file is kept as it is.
#
# SQLite reads a table up to the page that is broken. Behind it the rows are asked for by their numbers, one after the
# other, until some can be read again.

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
