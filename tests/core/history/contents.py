"""What a history holds, row by row, to be held against another's."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, create_engine, select, text

from core.history.models import Base
from core.history.store import Store

Rows = dict[str, set[tuple[object, ...]]]


def contents(path: Path) -> Rows:
    """The rows of each table."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: set(connection.execute(f'SELECT * FROM "{name}"')) for name in names}


@contextlib.contextmanager
def looked_into(store: Store) -> Iterator[Connection]:
    """Another connection to where a history lies, whose changes stay."""
    on_server = "://" in store.name
    engine = create_engine(store.name if on_server else f"sqlite:///{store.name}")
    try:
        with engine.begin() as connection:
            if on_server:
                connection.execute(text("SET search_path = pghaul"))
            yield connection
    finally:
        engine.dispose()


def rows_of(store: Store) -> Rows:
    """The rows of each table that has any, wherever the history lies."""
    with looked_into(store) as connection:
        found = {name: connection.execute(select(table)).all() for name, table in Base.metadata.tables.items()}
    return {name: {tuple(row) for row in rows} for name, rows in found.items() if rows}


def reopened(store: Store) -> Store:
    """The same history, opened again; close it."""
    return Store.open(store.name if "://" in store.name else store.path.parent)
