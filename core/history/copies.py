"""Whole copies of a history's file, and the file alone: what backup, restore, rescue and upgrade are made of.

https://sqlite.org/backup.html, https://sqlite.org/howtocorrupt.html
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

PATIENCE_SECONDS = 5.0
"""How long the file is asked for alone, or for a look, where another program has it."""
_SHARED_FIRST, _SHARED_BYTES = 0x40000002, 510


def beside(path: Path, why: str) -> Path:
    """A name beside the history that no other file has: `history-WHY-TIME.sqlite3`."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return path.with_name(f"{path.stem}-{why}-{stamp}{path.suffix}")


def copies_of(path: Path) -> tuple[Path, ...]:
    """The files beside a history that were given such a name, the newest last."""
    found = path.parent.glob(f"{path.stem}-*{path.suffix}")
    return tuple(sorted(found, key=lambda each: (each.stat().st_mtime, each.name)))


def snapshot(path: Path, to: Path) -> None:
    """A copy at `to`, which must not exist, of the history as it is at one moment; on the disk once this returns.

    Raises:
        sqlite3.Error, OSError: it cannot be made; nothing is left of it.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_SECONDS)) as source:
        # held over the whole copy: it neither begins anew when others write, nor waits for them for ever
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        copy_of(source, to)


def copy_of(source: sqlite3.Connection, to: Path) -> None:
    """The same, of an opened one."""
    os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(to)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # else it needs two more files beside it to be read
    except BaseException:  # a cancel too: half a copy must not bear the name of one
        to.unlink(missing_ok=True)
        raise
    flush_folder(to.parent)


def copy_bytes(path: Path, to: Path) -> None:
    """The file as it lies there, with the log of what was written to it last, unopened; raises OSError."""
    for side in ("", "-wal"):
        # SQLite removes the log when the last program closes the history, maybe just now
        with contextlib.suppress(*([FileNotFoundError] if side else [])), Path(f"{path}{side}").open("rb") as source:
            handle = os.open(f"{to}{side}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as stream:
                shutil.copyfileobj(source, stream)


def put_aside(path: Path) -> Path:
    """Give a damaged history another name, with what lies beside it; that name.

    Raises:
        sqlite3.OperationalError: another program has it open.
        OSError: it cannot be renamed.
    """
    look_alone(path)
    aside = beside(path, "damaged")
    for side in ("-wal", "-journal", ""):  # the file last: until then nothing of it is lost to a program that opens it
        each = Path(f"{path}{side}")
        if each.exists():
            each.rename(f"{aside}{side}")
    Path(f"{path}-shm").unlink(missing_ok=True)
    return aside


def look_alone(path: Path) -> None:
    """Raise sqlite3.OperationalError where another program has the file open, also where SQLite can no longer open it.

    SQLite locks these bytes for as long (https://sqlite.org/fileformat2.html); on Windows no file can be renamed that
    another program has open, which is an OSError there.
    """
    if os.name == "nt":
        return
    import fcntl

    with path.open("rb+") as stream:
        try:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_BYTES, _SHARED_FIRST)
        except OSError as error:
            busy = sqlite3.OperationalError("database is locked")
            busy.sqlite_errorcode = sqlite3.SQLITE_BUSY  # as SQLite itself would raise it
            raise busy from error


def flush_folder(folder: Path) -> None:
    """The names of new files lie in their folder: without it on the disk a power cut loses the files as well."""
    if os.name == "nt":  # which opens no folder, and writes the name with the file
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[sqlite3.Connection]:
    """The history opened by this program alone, until the end; whoever wants it meanwhile waits.

    Raises:
        sqlite3.Error: it cannot be; with SQLITE_BUSY where another program has it open, be it idle.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_SECONDS, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        # out of the write-ahead log goes only who has the file alone, so this finds a program that has it open idle
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")  # the lock stays: a copy can be put into no open transaction
        yield connection
