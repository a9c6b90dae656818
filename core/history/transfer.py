"""A whole history taken from a file to a server, or back: every row with its number, by which seals know it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, MetaData, Table, func, insert, select, text

from core.errors import HistoryError, InputError
from core.history.file import Database, database_at
from core.history.models import Base
from core.history.types import SERVER, LongText, PlainText, SaidText

_AT_ONCE = 200
"""Rows that are in memory together: each may have a long output."""


def transfer(source: Path | str, target: Path | str) -> dict[str, int]:
    """Copy all rows of one history into another, which is empty, all or none; of each table how many.

    Raises:
        InputError: the target holds something, or something is being recorded into the source.
        HistoryError: one of them cannot be read or written; the target is as it was.
    """
    there = database_at(source)
    try:
        here = database_at(target)
        try:
            with here.history_errors(), here.writer.begin() as writing:
                return _copied(there, here, writing)
        finally:
            here.close()
    finally:
        there.close()


def _copied(there: Database, here: Database, writing: Connection) -> dict[str, int]:
    tables = Base.metadata.sorted_tables
    if any(writing.execute(select(table).limit(1)).first() is not None for table in tables):
        raise InputError(
            f"the history {here.name} is not empty",
            "to copy single moves, use pghaul history export and import; a whole history can only be copied into an "
            "empty one",
        )
    counts: dict[str, int] = {}
    with there.reader.connect() as reading, reading.begin():
        _refuse_recorders(there, reading)
        for table in map(_as_it_lies, tables):
            counts[table.name] = 0
            for rows in _rows(there, reading, table):
                writing.execute(insert(table), rows)
                counts[table.name] += len(rows)
            if writing.scalar(select(func.count()).select_from(table)) != counts[table.name]:
                raise HistoryError(
                    f"the table {table.name} was not copied completely", "try again; nothing was changed"
                )
    if writing.dialect.name == SERVER:
        _go_on_counting(writing)
    return counts


def _refuse_recorders(there: Database, reading: Connection) -> None:
    for table, column in (("runs", "owner"), ("executions", "process")):
        with there.history_errors():
            owners = reading.scalars(select(Base.metadata.tables[table].c[column]).distinct()).all()
        if any(owner is not None and there.owners.alive(owner) for owner in owners):
            raise InputError(f"something is being recorded into the history {there.name}", "wait until this has ended")


def _rows(there: Database, reading: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    with there.history_errors():
        found = reading.execution_options(yield_per=_AT_ONCE).execute(select(table)).mappings()
        parts = found.partitions()
    while True:
        with there.history_errors():
            rows = [dict(row) for row in next(parts, ())]
        if not rows:
            return
        yield rows


def _as_it_lies(table: Table) -> Table:
    """The table, its packed texts as bytes, and nothing filtered once more."""
    return Table(table.name, MetaData(), *(Column(each.name, _type(each.type)) for each in table.columns))


def _type(kind: object) -> Any:
    if isinstance(kind, LongText):
        return LargeBinary()
    return PlainText() if isinstance(kind, SaidText) else kind


def _go_on_counting(writing: Connection) -> None:
    """The next number of each table is behind those that were copied."""
    for table in Base.metadata.sorted_tables:
        if "id" in table.c:
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            writing.execute(text(f"SELECT setval({sequence}, max(id)) FROM {table.name} HAVING max(id) IS NOT NULL"))
