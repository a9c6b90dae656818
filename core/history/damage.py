"""Whether a history is whole: what SQLite finds of its pages, and whether each value is one that pghaul has written."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Table
from sqlalchemy.dialects import sqlite

from core.errors import HistoryError
from core.facts.model import Facts
from core.history.copies import PATIENCE_SECONDS, copies_of
from core.history.database import engine_of, history_errors, is_damage
from core.history.decoding import GarbledError
from core.history.findings import loaded
from core.history.models import Base
from core.history.upgrade import MIGRATIONS, revision_of
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
            return (str(error),)
    lines = [] if found == ["ok"] else "\n".join(found).splitlines()
    return (*lines, *(f"{table} {row}: it belongs to nothing in {parent}" for table, row, parent, _ in lost))


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
