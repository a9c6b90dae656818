"""Copies of the history's file and exclusive access to it, for backup, restore, rescue and upgrade.

https://sqlite.org/backup.html, https://sqlite.org/howtocorrupt.html
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from core import this_workstation

PATIENCE_SECONDS = 5.0
"""How long to wait for a file that another program uses."""
_SHARED_FIRST, _SHARED_BYTES = 0x40000002, 510


def copy_path(path: Path, why: str) -> Path:
    """Return the path of a new file in the folder of the history: `history-WHY-TIME.sqlite3`."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return path.with_name(f"{path.stem}-{why}-{stamp}{path.suffix}")


def copies_of(path: Path) -> tuple[Path, ...]:
    """Return the files that `copy_path` has named for this history, the newest last."""
    found = path.parent.glob(f"{path.stem}-*{path.suffix}")
    return tuple(sorted(found, key=lambda each: (each.stat().st_mtime, each.name)))


def snapshot(path: Path, to: Path) -> None:
    """Copy a consistent state of the history to `to`, which must not exist, and flush it to the disk.

    Raises:
        sqlite3.Error, OSError: the copy failed and was removed.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_SECONDS)) as source:
        # one read transaction over the whole copy: otherwise it restarts whenever another program writes
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        copy_connection(source, to)


def copy_connection(source: sqlite3.Connection, to: Path) -> None:
    """Copy the history of an open connection, as `snapshot` does."""
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
    """Copy the file and its write-ahead log byte by byte, without opening them as a database. Raises OSError."""
    for side in ("", "-wal"):
        # SQLite removes the log when the last program closes the history, maybe just now
        with contextlib.suppress(*([FileNotFoundError] if side else [])), Path(f"{path}{side}").open("rb") as source:
            handle = os.open(f"{to}{side}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as stream:
                shutil.copyfileobj(source, stream)


def rename_damaged(path: Path) -> Path:
    """Rename a damaged history and its log files, and return the new path.

    Raises:
        sqlite3.OperationalError: another program has it open.
        OSError: it cannot be renamed.
    """
    refuse_if_open(path)
    renamed = copy_path(path, "damaged")
    for side in ("-wal", "-journal", ""):  # the file last: until then nothing of it is lost to a program that opens it
        each = Path(f"{path}{side}")
        if each.exists():
            each.rename(f"{renamed}{side}")
    Path(f"{path}-shm").unlink(missing_ok=True)
    return renamed


def refuse_if_open(path: Path) -> None:
    """Raise sqlite3.OperationalError if another program has the file open, even if SQLite can no longer open it.

    SQLite locks these bytes while a database is open (https://sqlite.org/fileformat2.html). On Windows, a file that
    another program has open cannot be renamed, which raises OSError.
    """
    if this_workstation.on_windows():
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
    """Flush a folder to the disk, because new files in it would be lost at a power failure otherwise."""
    if this_workstation.on_windows():  # which opens no folder, and writes the name with the file
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def exclusively(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the history exclusively while the body runs. Other programs wait.

    Raises:
        sqlite3.Error: it cannot be opened; SQLITE_BUSY if another program has it open.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_SECONDS, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        # out of the write-ahead log goes only who has the file alone, so this finds a program that has it open idle
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")  # the lock stays: a copy can be put into no open transaction
        yield connection
