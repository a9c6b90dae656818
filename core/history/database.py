"""The history's file: opened privately, upgraded, and its troubles told in the user's words."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from core.errors import HistoryError
from core.history.belonging import check_belonging, check_locks
from core.history.decoding import GarbledError
from core.history.upgrade import MIGRATIONS, Migrations, upgrade

FILE_NAME = "history.sqlite3"
PATIENCE_SECONDS = 10.0
"""How long a write waits for another program's."""


def open_engine(folder: Path, migrations: Migrations = MIGRATIONS) -> Engine:
    """The history in `folder`, made if need be (folder 0700, file 0600) and brought to the newest schema.

    Raises:
        HistoryError: it cannot be made, opened or upgraded, or others can write it; an existing file is left as it was.
    """
    path = folder / FILE_NAME
    _make_private(folder, path)
    engine = _engine(path)
    try:
        with told(path):
            upgrade(engine, path, migrations)
    except BaseException:
        engine.dispose()
        raise
    return engine


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's complaints inside as HistoryError, a sentence and a hint."""
    try:
        yield
    except DBAPIError as error:
        raise _error(path, error.orig) from error
    except sqlite3.Error as error:
        raise _error(path, error) from error


@contextlib.contextmanager
def as_written(path: Path) -> Iterator[None]:
    """What is read inside, and no pghaul can have written, as HistoryError: another type of value, an unknown word."""
    try:
        yield
    except GarbledError as error:
        raise HistoryError(
            f"the history {path} holds what no pghaul has written: {error}",
            "it is damaged, or from elsewhere: put back a copy, such as history-*.sqlite3 beside it",
        ) from error


def _make_private(folder: Path, path: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if path.is_dir():
            raise HistoryError(f"the history {path} is a folder", "move it elsewhere")
        check_belonging(folder, path)
        check_locks(folder)
        try:
            # made before SQLite sees it, so that it never is readable by others; -wal and -shm take its mode
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if path.stat().st_mode & 0o077:
                path.chmod(path.stat().st_mode & 0o700)
    except OSError as error:
        raise HistoryError(
            f"the history {path} cannot be opened: {(error.strerror or str(error)).lower()}",
            f"make {folder} a folder that you may write to, or set PGHAUL_DATA to another one",
        ) from error


def _engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": PATIENCE_SECONDS})

    @event.listens_for(engine, "connect")
    def connected(driver: sqlite3.Connection, record: Any) -> None:  # noqa: ARG001
        # CPython 3.11 begins no transaction before DDL; a failed migration would leave half a schema
        driver.isolation_level = None
        driver.execute("PRAGMA foreign_keys=ON")
        # of a file that was made to hurt (https://sqlite.org/security.html)
        driver.execute("PRAGMA trusted_schema=OFF")
        driver.execute("PRAGMA cell_size_check=ON")
        driver.execute("PRAGMA journal_mode=WAL")
        # a power cut may cost the last commits, never the file
        driver.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine


_TOLD = (
    (("locked", "busy"), "is in use by another program", "wait until it has finished, then try again"),
    (("readonly", "read-only"), "cannot be written", "give your user the right to write it and its folder"),
    (("disk is full", "full"), "cannot be written: the disk is full", "free some space; what was recorded is kept"),
    (
        ("not a database",),
        "is no SQLite database",
        "move it elsewhere and put back a copy, such as history-*.sqlite3 beside it",
    ),
    (
        ("malformed", "corrupt"),
        "is damaged",
        "move it elsewhere and put back a copy, such as history-*.sqlite3 beside it",
    ),
    (("unable to open",), "cannot be opened", "check the rights of the file and its folder"),
)


def _error(path: Path, cause: BaseException | None) -> HistoryError:
    said = str(cause).lower()
    for words, problem, hint in _TOLD:
        if any(word in said for word in words):
            return HistoryError(f"the history {path} {problem}", hint)
    return HistoryError(f"the history {path} cannot be read or written: {said}")
