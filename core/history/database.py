"""Open the file of a history privately and upgrade it; turn errors of SQLite into sentences."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from core.errors import HistoryError
from core.history.belonging import check_belonging, check_locks
from core.history.copies import copy_path, snapshot
from core.history.owners import Owners
from core.history.types import GarbledError
from core.system_errors import reason

# From an older schema to this program's: under one lock, in one transaction, the old file kept as a copy first.
#
# Alembic is imported only when there is something to do: opening a history that is up to date costs one SELECT.

WRITE = {"begin": "BEGIN IMMEDIATE"}
"""Execution options of a transaction that writes: it waits for its turn at the start, where waiting is safe."""
_VIRTUAL = re.compile(r"\s*create\s+virtual\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Migrations:
    """Alembic's script folder and the revisions in it, oldest first."""

    folder: Path
    revisions: tuple[str, ...]

    @property
    def head(self) -> str:
        return self.revisions[-1]


MIGRATIONS = Migrations(
    Path(__file__).parent / "migrations",
    (
        *("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011", "0012", "0013"),
        *("0014", "0015"),
    ),
)


def upgrade(engine: Engine, path: Path, migrations: Migrations = MIGRATIONS) -> None:
    """Bring the history at `path`, opened as `engine`, to the newest schema that this program knows.

    Raises:
        HistoryError: the file is no history of pghaul, or was written by a newer pghaul; it is left as it was.
        sqlalchemy.exc.DBAPIError: what SQLite says; the file is left as it was.
    """
    with engine.connect() as connection:
        if revision_of(connection, path, migrations) == migrations.head:
            return
    with engine.execution_options(**WRITE).connect() as connection:
        # With foreign keys on, Alembic's rebuilding of a table would delete the rows that refer to it; the pragma
        # works outside a transaction only, and the driver's connection goes back to the pool with its usual setting.
        driver = connection.connection.dbapi_connection
        if driver is None:
            raise HistoryError(f"the connection to the history {path} was lost")
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                _upgrade_locked(connection, path, migrations)
        finally:
            driver.execute("PRAGMA foreign_keys=ON")


def _upgrade_locked(connection: Connection, path: Path, migrations: Migrations) -> None:
    """Look again now that nobody else can write: another program may have been faster."""
    revision = revision_of(connection, path, migrations)
    if revision == migrations.head:
        return
    copy = None if revision is None else keep_copy(path, revision)
    try:
        run_alembic(connection, migrations)
        _check_references(connection, path)
    except BaseException:  # a cancel too
        if copy is not None:  # the transaction is undone, and the file itself is what the copy is
            copy.unlink(missing_ok=True)
        raise


def _check_references(connection: Connection, path: Path) -> None:
    broken = connection.execute(text("PRAGMA foreign_key_check")).fetchall()
    if broken:
        raise HistoryError(
            f"an upgrade of the history {path} would leave {len(broken)} rows that refer to missing rows",
            "nothing was changed; keep using the older pghaul, and report this problem",
        )


def revision_of(connection: Connection, path: Path, migrations: Migrations) -> str | None:
    """The schema's revision; None: the file holds nothing yet."""
    schema = connection.execute(text("SELECT name, type, sql FROM sqlite_master")).all()
    if not schema:
        return None
    # a trigger would write, a virtual table read, what nobody asked for: no history of ours has one
    if any(made.type not in {"table", "index"} or _VIRTUAL.match(made.sql or "") for made in schema):
        raise HistoryError(
            f"{path} contains a trigger, a view or a virtual table, which pghaul does not create",
            "it is not yours, or another program has changed it: set PGHAUL_DATA to another folder",
        )
    if "alembic_version" not in {made.name for made in schema}:
        raise HistoryError(
            f"{path} is a database, but not a history of pghaul",
            "move it away, or set PGHAUL_DATA to another folder",
        )
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if revision is None:
        raise HistoryError(
            f"the history {path} does not say which version of pghaul wrote it: its table alembic_version is empty",
            "restore a copy, such as history-*.sqlite3 beside it, or set PGHAUL_DATA to another folder",
        )
    return known_revision(str(path), str(revision), migrations, "set PGHAUL_DATA to another folder")


def known_revision(name: str, revision: str, migrations: Migrations, otherwise: str) -> str:
    """The revision of the history of that name; raises HistoryError where it is of a newer pghaul.

    `otherwise`: what its user can do who does not update.
    """
    if revision not in migrations.revisions:
        raise HistoryError(
            f"the history {name} was written by a newer pghaul (schema {revision}; this pghaul knows up to "
            f"{migrations.head})",
            f"update pghaul, or {otherwise}; nothing was changed",
        )
    return revision


def keep_copy(path: Path, revision: str) -> Path:
    """A consistent copy of the history beside it, `history-REVISION-TIME.sqlite3`, mode 0600."""
    copy = copy_path(path, revision)
    try:
        snapshot(path, copy)
    except (sqlite3.Error, OSError) as error:
        raise HistoryError(
            f"the history {path} could not be copied before its upgrade: {error_text(error)}",
            f"free some space in {path.parent}; nothing was changed",
        ) from error
    return copy


def run_alembic(connection: Connection, migrations: Migrations) -> None:
    """Bring the schema up inside the transaction of that connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations.folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, migrations.head)


FILE_NAME = "history.sqlite3"
PATIENCE_SECONDS = 10.0
"""How long a write waits for another program's."""


class FileDatabase:
    """The history in a file of this workstation.

    Attributes:
        path: the file.
        reader, writer: engines of transactions that read, and that write, one at a time.
        owners: whether the programs that record into it still live.
        pending: None, because a file always answers.
        remedy: what to do where it holds what no pghaul has written.
    """

    pending = None
    remedy = "it is damaged, or not yours: restore a copy, such as history-*.sqlite3 beside it"

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self.reader = engine
        self.writer = engine.execution_options(**WRITE)
        self.owners = Owners(path.parent)

    @property
    def name(self) -> str:
        """Where it lies."""
        return str(self.path)

    def history_errors(self) -> AbstractContextManager[None]:
        """Raise HistoryError, with a sentence and a hint, for each error of SQLite inside."""
        return history_errors(self.path)

    def shrink(self) -> None:
        """Have the file be no larger than what it holds; other programs wait meanwhile, and need the file once more."""
        with history_errors(self.path), self.reader.connect() as connection:
            driver = connection.connection.driver_connection
            if driver is None:
                raise HistoryError(f"the connection to the history {self.path} was lost")
            driver.execute("VACUUM")  # which no transaction may be around
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        """Let go of the file. May be called more than once."""
        self.owners.close()
        with history_errors(self.path):
            self.reader.dispose()


def open_engine(folder: Path, migrations: Migrations = MIGRATIONS) -> Engine:
    """The history in `folder`, made if need be (folder 0700, file 0600) and brought to the newest schema.

    Raises:
        HistoryError: it cannot be made, opened or upgraded, or others can write it; an existing file is left as it was.
    """
    path = folder / FILE_NAME
    make_private(folder, path)
    engine = engine_of(path)
    try:
        with history_errors(path):
            upgrade(engine, path, migrations)
    except BaseException:  # a cancel too: an engine that nobody has is closed by nobody
        engine.dispose()
        raise
    return engine


@contextlib.contextmanager
def history_errors(path: Path) -> Iterator[None]:
    """Raise HistoryError, with a sentence and a hint, for each error of SQLite inside."""
    try:
        yield
    except DBAPIError as error:
        raise _error(path, error.orig) from error
    except sqlite3.Error as error:
        raise _error(path, error) from error


@contextlib.contextmanager
def as_written(name: str, remedy: str) -> Iterator[None]:
    """What is read inside, and no pghaul can have written, as HistoryError: another type of value, an unknown word."""
    try:
        yield
    except GarbledError as error:
        raise HistoryError(f"the history {name} contains data that pghaul has not written: {error}", remedy) from error


def make_private(folder: Path, path: Path) -> None:
    """The folder and the file, made where need be, its user's alone; raises HistoryError where they cannot be."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if path.is_dir():
            raise HistoryError(f"the history {path} is a folder", "move the folder away")
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
            f"the history {path} cannot be opened: {error_text(error)}",
            f"make {folder} a folder that you may write to, or set PGHAUL_DATA to another one",
        ) from error


def engine_of(path: Path) -> Engine:
    """The file as it is, to be read and written; close it."""
    # not as the text of a URL, in which ? and % have a meaning of their own
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": PATIENCE_SECONDS})

    @event.listens_for(engine, "connect")
    def connected(driver: sqlite3.Connection, record: Any) -> None:  # noqa: ARG001  SQLAlchemy calls it so
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


class _Problem(NamedTuple):
    """What a result code of SQLite means for the history, and what to do about it.

    `cause` says it shorter, where another sentence tells what could not be done.
    """

    sentence: str
    hint: str
    cause: str


_IN_USE = _Problem(
    "the history {path} is in use by another program (SQLite says: {said})",
    "wait until that program has finished, then try again",
    "another program uses it",
)
_PROBLEMS = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_READONLY: _Problem(
        "the history {path} cannot be written (SQLite says: {said})",
        "allow your user to write the file and its folder",
        "it is write-protected",
    ),
    sqlite3.SQLITE_FULL: _Problem(
        "the history {path} cannot be written: the disk is full (SQLite says: {said})",
        "free some space; everything that was recorded is kept",
        "the disk is full",
    ),
    sqlite3.SQLITE_IOERR: _Problem(
        "the history {path} cannot be read or written: its disk reports an error (SQLite says: {said})",
        "look for errors of the disk in the log of the system; if the history is on a network drive, check that it is "
        "connected",
        "the disk reports errors",
    ),
    sqlite3.SQLITE_NOTADB: _Problem(
        "the history {path} is not an SQLite database (SQLite says: {said})",
        "restore a copy, such as history-*.sqlite3 beside it: pghaul history restore FILE",
        "it is no database",
    ),
    sqlite3.SQLITE_CORRUPT: _Problem(
        "the history {path} is damaged (SQLite says: {said})",
        "restore a copy: pghaul history restore FILE; or rescue what can be read: pghaul history check --rescue",
        "it is damaged",
    ),
    sqlite3.SQLITE_CANTOPEN: _Problem(
        "the history {path} cannot be opened (SQLite says: {said})",
        "check the permissions of the file and its folder",
        "it cannot be opened",
    ),
}
"""What is wrong and what to do about it, by SQLite's primary result code (https://sqlite.org/rescode.html)."""


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite found the file itself to be broken, or none of its own."""
    return _primary_code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _primary_code(error: BaseException | None) -> int:
    """Return SQLite's primary result code, the low byte of the extended one; 0 where Python itself has raised."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def sqlite_says(error: sqlite3.Error) -> str:
    """SQLite's own words, as what they are: one can search for them."""
    return f"SQLite says: {error}"


def error_text(error: Exception) -> str:
    """Why something could not be done, in a few words: what an error of the system says, or a code of SQLite means."""
    if isinstance(error, sqlite3.Error):
        found = _PROBLEMS.get(_primary_code(error))
        return sqlite_says(error) if found is None else f"{found.cause} ({sqlite_says(error)})"
    return reason(error) if isinstance(error, OSError) else str(error)


def _error(path: Path, cause: BaseException | None) -> HistoryError:
    found = _PROBLEMS.get(_primary_code(cause))
    if found is not None:
        return HistoryError(found.sentence.format(path=path, said=cause), found.hint)
    return HistoryError(
        f"the history {path} cannot be read or written (SQLite says: {cause})",
        "check whether it is damaged: pghaul history check",
    )
