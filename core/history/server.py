"""A team's history: a schema of its own in a database of PostgreSQL's, reached by a URL.

Who writes waits for its turn, as with a file of SQLite's; who reads sees one moment. The schema is made and brought up
by `prepare` alone, which its administrator calls: the newest pghaul of a team shall not lock the others out unasked.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import psycopg
import psycopg.sql
from psycopg.pq.abc import PGconn
from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from core.errors import HistoryError, HistoryLostError
from core.history.address import PATIENCE_SECONDS, connecting, url_of
from core.history.database import MIGRATIONS, Migrations, known_revision, run_alembic
from core.history.owners import Presence
from core.history.pending import PendingFolder
from core.history.places import no_file
from core.servers.shell import quoted

SCHEMA = "pghaul"
_LONGEST_SAID = 500
"""Characters of what a server says that a sentence repeats."""
_WRITE_LOCK = int.from_bytes(b"pghaul-w")
_SESSION = (
    f"SET search_path = {SCHEMA}; SET lock_timeout = '{PATIENCE_SECONDS}s'; SET synchronous_commit = on; "
    "SET client_min_messages = warning; "
    # the other way round: what a workstation held that lost its power is free after a minute
    "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
)

_OWNER = text(f"SELECT pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace WHERE nspname = '{SCHEMA}'")
_VERSION = text(f"SELECT version_num FROM {SCHEMA}.alembic_version")
_OTHER_COPY = (
    "ask its administrator to restore a copy with pg_restore; or use the history on this workstation: pghaul history "
    "use local"
)


class ServerDatabase:
    """The history on a server.

    Attributes:
        name: its URL, in which there is no password.
        reader, writer: engines of transactions that read, and that write, one at a time.
        preparer: the same of one that makes the schema, or brings it up.
        owners: whether the programs that record into it still live.
        pending: the records that wait until the server answers again.
        remedy: what to do where it holds what no pghaul has written.
    """

    remedy = f"it is damaged, or another program has written to it: {_OTHER_COPY}"

    def __init__(self, url: URL, migrations: Migrations = MIGRATIONS) -> None:
        self.name = url.render_as_string()
        engine = _engine(url)
        self._engine = engine
        self._migrations = migrations
        self.reader = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self.preparer = engine.execution_options(writes=True)
        self.writer = engine.execution_options(writes=True, check=self._check_still)
        self.owners = Presence(engine, self.history_errors)
        self.pending = PendingFolder(self.name)

    @classmethod
    def open(cls, place: str, migrations: Migrations = MIGRATIONS) -> Self:
        """The history at that URL, as it is there.

        Raises:
            InputError: it is no such URL. HistoryError: it cannot be reached, there is none yet, or it is of another
                version.
        """
        found = cls(url_of(place), migrations)
        try:
            with found.history_errors(), found.reader.connect() as connection:
                found._check_revision(connection)
        except BaseException:  # a cancel too
            found.close()
            raise
        return found

    def _check_still(self, connection: Connection) -> None:
        """The same before each write: an administrator may have brought it up since it was opened."""
        if connection.scalar(_VERSION) != self._migrations.head:
            self._check_revision(connection)

    def _check_revision(self, connection: Connection) -> None:
        """Raise HistoryError where it is not of this version."""
        revision = _revision(connection, self.name, self._migrations)
        if revision != self._migrations.head:
            raise _unprepared(self.name, revision, self._migrations)

    @property
    def path(self) -> Path:
        """Raises HistoryError: it is no file."""
        raise no_file(self.name)

    @contextlib.contextmanager
    def history_errors(self) -> Iterator[None]:
        """Raise HistoryError, with a sentence and a hint, for each error of PostgreSQL inside."""
        try:
            yield
        except DBAPIError as error:
            raise _error(self.name, error.orig) from error
        except psycopg.Error as error:
            raise _error(self.name, error) from error

    def shrink(self) -> None:
        """Nothing: its server's autovacuum does."""

    def owner(self) -> str:
        """The role that made the history, and administers it."""
        with self.history_errors(), self.reader.connect() as connection:
            return str(connection.scalar(_OWNER))

    def close(self) -> None:
        """Let go of the server."""
        self.owners.close()
        self._engine.dispose()


def prepare(place: str, migrations: Migrations = MIGRATIONS) -> None:
    """Make the schema in the database at that URL, or bring it up; in one transaction, and where it is, nothing.

    Raises:
        InputError: it is no such URL.
        HistoryError: it cannot be reached, is a newer pghaul's, or its role may not; the database is left as it was.
    """
    found = ServerDatabase(url_of(place))
    try:
        with found.history_errors(), found.preparer.begin() as connection:
            if _revision(connection, found.name, migrations) == migrations.head:
                return
            owner = connection.scalar(_OWNER)
            if owner is None:
                connection.execute(text(f"CREATE SCHEMA {SCHEMA}"))
            else:  # what is made belongs to who made the rest, whichever administrator says so
                connection.execute(text("SELECT set_config('role', :owner, true)"), {"owner": owner})
            run_alembic(connection, migrations)
    finally:
        found.close()


def _engine(url: URL) -> Engine:
    with_password, settings = connecting(url)
    engine = create_engine(with_password, connect_args=settings, pool_pre_ping=True, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def connected(driver: "psycopg.Connection[Any]", record: Any) -> None:  # noqa: ARG001  SQLAlchemy calls it so
        driver.autocommit = True
        driver.execute(_SESSION)
        driver.autocommit = False

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("writes"):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})")
        if "check" in options:
            options["check"](connection)

    return engine


def _revision(connection: Connection, name: str, migrations: Migrations) -> str | None:
    """The schema's revision; None: there is no history yet. Raises HistoryError where it is not one of this pghaul."""
    encoding = connection.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        raise HistoryError(
            f"the history {name} cannot store every text: the encoding of its database is {encoding}",
            "create another database for it: createdb --encoding=UTF8 --template=template0",
        )
    if connection.scalar(text("SELECT to_regclass(:table) IS NULL"), {"table": f"{SCHEMA}.alembic_version"}):
        return None
    found = connection.scalar(_VERSION)
    if found is None:
        raise HistoryError(
            f"the history {name} does not say which version of pghaul wrote it: its table alembic_version is empty",
            _OTHER_COPY,
        )
    return known_revision(name, str(found), migrations, "use the history on this workstation: pghaul history use local")


def _unprepared(name: str, revision: str | None, migrations: Migrations) -> HistoryError:
    if revision is None:
        return HistoryError(f"there is no history at {name} yet", f"create it: pghaul history use {quoted(name)}")
    return HistoryError(
        f"the history {name} was written by an older pghaul (schema {revision}; this pghaul has schema "
        f"{migrations.head})",
        "its administrator can back it up with pg_dump and then upgrade it for the whole team: pghaul history use "
        f"{quoted(name)}; or continue to use the older pghaul",
    )


_IN_USE = (
    "the history {name} is in use by another program (PostgreSQL says: {said})",
    "wait until that program has finished, then try again",
)
_NOT_ALLOWED = "ask its administrator to grant your role the right; pghaul history grants prints the statements"
_LET_IN = "store another password with pghaul history use URL --password, or ask its administrator for access"
_NOT_OURS = ("the history {name} was changed by another program (PostgreSQL says: {said})", _OTHER_COPY)
_PROBLEMS = (
    ("42501", "the history {name} does not allow this (PostgreSQL says: {said})", _NOT_ALLOWED),
    (
        "25006",
        "the history {name} is read-only: its server is a standby, or set to read-only (PostgreSQL says: {said})",
        "use the URL of the primary server",
    ),
    (
        "53100",
        "the history {name} cannot be written: the disk of its server is full (PostgreSQL says: {said})",
        "free some space; everything that was recorded is kept",
    ),
    (
        "53300",
        "the history {name} cannot be reached: its server accepts no more connections (PostgreSQL says: {said})",
        "try again when its server has a connection left",
    ),
    ("55P03", *_IN_USE),
    ("57014", *_IN_USE),
    ("40P01", *_IN_USE),
    ("28", "the history {name} refuses the login (PostgreSQL says: {said})", _LET_IN),
    (
        "3D000",
        "the history {name} does not exist: its server has no such database (PostgreSQL says: {said})",
        "create the database with createdb",
    ),
    ("22", *_NOT_OURS),
    ("23", *_NOT_OURS),
    ("42", *_NOT_OURS),
    (
        "XX00",
        "the history {name} is damaged (PostgreSQL says: {said})",
        f"ask its administrator to check it with pg_amcheck; {_OTHER_COPY}",
    ),
)

_FOR_NOW = ("53300", "55P03")
"""What ends by itself: as where the server is lost, what was measured is recorded later."""


def _login_attempt(cause: BaseException | None) -> PGconn | None:
    """Return the connection that failed, if the login was answered by its password or for the want of one.

    A connection that fails has no SQLSTATE, and the server words its message in its own language.
    """
    attempt = cause.pgconn if isinstance(cause, psycopg.Error) else None
    return attempt if attempt is not None and (attempt.needs_password or attempt.used_password) else None


def _error(name: str, cause: BaseException | None) -> HistoryError:
    state = getattr(cause, "sqlstate", None) or ""
    said = " ".join(str(cause).split())[:_LONGEST_SAID]
    for begins, problem, hint in _PROBLEMS:
        if state.startswith(begins):
            kind = HistoryLostError if begins in _FOR_NOW else HistoryError
            return kind(problem.format(name=name, said=said), hint)
    attempt = _login_attempt(cause)
    if attempt is not None and attempt.needs_password:
        return HistoryError(f"the history {name} refuses the login (libpq says: {said})", _LET_IN)
    if attempt is not None:  # the password may be right: no such database, no connection left, a server that stops
        return HistoryLostError(
            f"the history {name} cannot be reached (libpq says: {said})",
            f"check that its server is running, has this database and accepts another connection; {_LET_IN}",
        )
    if isinstance(cause, psycopg.DataError):  # of the driver: a value that no type of ours has
        return HistoryError(f"the history {name} was changed by another program (psycopg says: {said})", _OTHER_COPY)
    if not state or state.startswith(("08", "57P")):
        who = "PostgreSQL" if state else "libpq"
        return HistoryLostError(
            f"the history {name} cannot be reached ({who} says: {said})",
            "check that its server is running and that the network is up; if this workstation does not trust the "
            "authority of its certificate, name the authority: ?sslmode=verify-full&sslrootcert=FILE",
        )
    return HistoryError(
        f"the history {name} cannot be read or written (PostgreSQL says: {said})", "check the log of its server"
    )


# Who of a team may do what in its history: the SQL by which its administrator says so.

READ, WRITE, ADMINISTER = RIGHTS = ("read", "write", "administer")
"""What a role may do."""


def grants(place: str, right: str, role: str) -> tuple[str, ...]:
    """The statements by which its administrator gives a role that right (RIGHTS) on the history there.

    Raises:
        InputError, HistoryError: as `ServerDatabase.open`.
    """
    found = ServerDatabase.open(place)
    try:
        owner = _quoted(found.owner())  # here, not there: psql runs it
    finally:
        found.close()
    name, tables = _quoted(role), f"ALL TABLES IN SCHEMA {SCHEMA}"
    if right == ADMINISTER:
        return (f"GRANT {owner} TO {name};",)
    later = f"ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {SCHEMA} GRANT"
    reading = (
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name};",
        f"GRANT SELECT ON {tables} TO {name};",
        f"{later} SELECT ON TABLES TO {name};",
    )
    if right == READ:
        return reading
    return (
        *reading,
        f"GRANT INSERT, UPDATE, DELETE ON {tables} TO {name};",
        f"REVOKE INSERT, UPDATE, DELETE ON {SCHEMA}.alembic_version FROM {name};",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {name};",
        f"{later} INSERT, UPDATE, DELETE ON TABLES TO {name};",
        f"{later} USAGE ON SEQUENCES TO {name};",
    )


def _quoted(role: str) -> str:
    return psycopg.sql.Identifier(role).as_string()
