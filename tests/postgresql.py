"""A real server of PostgreSQL's for a session of tests: on a Unix socket in a folder of its own, as no root."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy import make_url

OWNER = "pghaul_tests"
_PROGRAMS = Path("/usr/lib/postgresql")
_SETTINGS = (
    *("-c", "listen_addresses="),
    *("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "max_wal_size=64MB"),
)
"""The tests kill programs and cut connections, not the power of the server."""

_LONGEST_SECONDS = 60.0
"""Any of its programs takes: a server that is not there by then does not come."""
_INITDB = ("--username", OWNER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync")


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        folder: where its socket is.
        programs: its own initdb, pg_ctl…
    """

    folder: Path
    programs: Path

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / ".s.PGSQL.5432"

    def url(self, database: str, user: str = OWNER) -> str:
        """The URL of a history in a database of its."""
        return f"postgresql+psycopg://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def connect(self, database: str = "postgres", user: str = OWNER) -> "psycopg.Connection[tuple[object, ...]]":
        """A connection in autocommit; close it."""
        return psycopg.connect(host=str(self.folder), dbname=database, user=user, autocommit=True)

    def create(self, database: str, template: str = "template0") -> str:
        """A database as the template is; its URL as a history."""
        with self.connect() as connection:
            connection.execute(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')
        return self.url(database)

    def drop(self, url: str) -> None:
        """Remove the database of such a URL, whoever is connected to it."""
        with self.connect() as connection:
            connection.execute(f'DROP DATABASE "{make_url(url).database}" WITH (FORCE)')

    def run(self, *command: str) -> None:
        """Run a program of its, as the user whose it is; raises NotBegunError with what it said."""
        postgres = {"user": "postgres", "group": "postgres", "extra_groups": ()}
        as_user: dict[str, Any] = postgres if os.geteuid() == 0 else {}
        words = [str(self.programs / command[0]), *command[1:]]
        # into a file: a server that a program leaves behind would keep a pipe open, and the reader waiting
        with (self.folder / "said").open("w+b") as said:
            kept: dict[str, Any] = {**as_user, "stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
            try:
                subprocess.run(words, check=True, timeout=_LONGEST_SECONDS, cwd=self.folder, **kept)
            except (OSError, subprocess.SubprocessError) as error:
                raise NotBegunError(f"{error}\n{self.told()}") from error

    def told(self) -> str:
        """The ends of what its programs said and of its log."""
        files = (self.folder / name for name in ("said", "initdb.log", "log"))
        return "\n".join(each.read_text(errors="replace")[-2000:] for each in files if each.exists())

    def start(self) -> None:
        """Start it; ready once this returns."""
        options = " ".join((*_SETTINGS, "-c", f"unix_socket_directories={self.folder}"))
        self.run("pg_ctl", "start", "--pgdata", "data", "--wait", "--silent", "--log", "log", "--options", options)

    def stop(self, how: str = "immediate") -> None:
        """Stop it."""
        self.run("pg_ctl", "stop", "--pgdata", "data", "--mode", how, "--silent")


class NotBegunError(Exception):
    """A server that cannot be begun here, and why."""


def newest() -> Path | None:
    """The programs of the newest PostgreSQL that is installed here; None: there is none, or nobody to run it as.

    PGHAUL_POSTGRESQL names the folder of another one's.
    """
    if named := os.environ.get("PGHAUL_POSTGRESQL"):
        return Path(named)
    found = sorted(_PROGRAMS.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if not found or (os.geteuid() == 0 and not _has_user()):
        return None
    return found[-1].parent


def _has_user() -> bool:
    import pwd

    return any(each.pw_name == "postgres" for each in pwd.getpwall())


@contextlib.contextmanager
def on_a_small_disk(folder: Path, programs: Path, size: int) -> Iterator[tuple[Server, Path]]:
    """A server whose data, but for its WAL, is on a file system of so many bytes; that, as its root sees it.

    It takes root: the file system is mounted for the server alone, and ends with it.
    """
    server = Server(folder, programs)
    (folder / "small").mkdir()
    shutil.chown(folder, "postgres", "postgres")
    folder.chmod(0o700)
    initdb = f"'{programs}/initdb' --pgdata small/data --waldir '{folder}/wal' {' '.join(_INITDB)} >initdb.log"
    options = " ".join((*_SETTINGS, "-c", f"unix_socket_directories={folder}"))
    begin = f"{initdb} && exec '{programs}/postgres' -D small/data {options} >log 2>&1"
    mount = 'mount -t tmpfs -o size="$1",uid="$2",mode=700 none small && exec setpriv --reuid postgres --regid postgres'
    words = ["sh", "-c", f'{mount} --clear-groups sh -c "$3"', "sh", str(size), str(folder.stat().st_uid), begin]
    process = subprocess.Popen(["unshare", "--mount", *words], cwd=folder)
    try:
        deadline = time.monotonic() + _LONGEST_SECONDS
        while not _answers(server):
            if process.poll() is not None or time.monotonic() > deadline:
                raise NotBegunError(f"no server answers on a small disk: {process.poll()}\n{server.told()}")
            time.sleep(0.05)
        yield server, Path(f"/proc/{process.pid}/root{folder}/small")
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(60)


def _answers(server: Server) -> bool:
    try:
        server.connect().close()
    except psycopg.OperationalError:
        return False
    return True


def begun(folder: Path, programs: Path) -> Server:
    """A new server in that folder, which becomes its user's; stop it."""
    server = Server(folder, programs)
    folder.chmod(0o700)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    server.run("initdb", "--pgdata", "data", *_INITDB)
    server.start()
    return server


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A folder in memory, where there is room, whose name leaves a socket's what it may have."""
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT", "/tmp")
    with tempfile.TemporaryDirectory(prefix="pghaul-", dir=root) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    programs = newest()
    if programs is None:
        _without("no server of PostgreSQL's is installed here, or there is no account postgres: make setup-lab")
    with short_folder() as folder:
        try:
            server = begun(folder, programs)
        except NotBegunError as error:
            pytest.fail(f"the server for the tests could not be begun in {folder}: {error}", pytrace=False)
        try:
            yield server
        finally:
            server.stop()


def _without(why: str) -> NoReturn:
    """A developer may do without; where nobody looks at what is left out, it fails."""
    if os.environ.get("CI"):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)
