"""From an older schema to this program's: under one lock, in one transaction, the old file kept as a copy first.

Alembic is imported only when there is something to do: opening a history that is up to date costs one SELECT.
"""

import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from core.errors import HistoryError
from core.history.copies import copy_path, snapshot

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
    Path(__file__).parent / "migrations", ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
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
            f"the history {path} could not be copied before its upgrade: {error}",
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
