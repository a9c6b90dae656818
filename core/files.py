"""Files that are handed out: whole or not at all, and in the place of no other unless somebody says so.

And small ones that others name: read without waiting for anybody, up to a bound.
"""

import contextlib
import os
import secrets
import stat
import time
from pathlib import Path

from core import this_workstation
from core.errors import InputError
from core.system_errors import reason

REPLACE = "--replace"
"""The option of a command line that lets a file be replaced."""


DATABASE = b"SQLite format 3\0"
"""How a file of SQLite's begins (sqlite.org/fileformat2.html), as a history is."""
_TRIES, _PAUSE_SECONDS = 20, 0.05
"""How often a file that another program has open is replaced in vain, and how long to wait in between."""
SIDES = ("-wal", "-shm", "-journal")
"""How the names of the files end that belong to one of SQLite's."""


def check_free(path: Path, *, replacing: bool = False, by_history: bool = False) -> None:
    """Before any work is done for it: nothing lies at `path` yet, or it may be replaced.

    A history, and what belongs to one, is replaced by a copy of a history alone (`by_history`).

    Raises:
        InputError: something does, a broken link too; the path is no file's name.
    """
    if not path.name:
        raise InputError(f"cannot write {path}: this is not a file name")
    if not replacing and os.path.lexists(path):
        raise InputError(f"{path} exists already", f"choose another name, or replace it with {REPLACE}")
    if replacing and (_belongs_to_history(path) or (_is_database(path) and not by_history)):
        raise InputError(f"{path} is a history of pghaul, or belongs to one", "choose another name")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether both are there and the same; not where that cannot be told, for a name that cannot be."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder is there; not where that cannot be told, for a name that cannot be."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _belongs_to_history(path: Path) -> bool:
    return any(path.name.endswith(side) and _is_database(Path(str(path).removesuffix(side))) for side in SIDES)


def _is_database(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would have it wait
            return False
        with path.open("rb") as file:
            return file.read(len(DATABASE)) == DATABASE
    except OSError:
        return False


def read_small(path: Path, most: int, *, own: bool = False) -> bytes:
    """The content of a file of at most so many bytes, whatever somebody has named as one.

    `own`: nobody but its user and root may have written it.

    Raises:
        InputError: it is a pipe, a device or another thing that never ends, or longer, or not the user's own; the
            message goes on after the file's name.
        OSError: it cannot be read.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise InputError("is not a regular file")
        if own:
            check_own(found)
        content = file.read(most + 1)
    if len(content) > most:
        raise InputError(f"is longer than {most // 1024} KiB")
    return content


def check_own(found: os.stat_result) -> None:
    """Raise InputError where others than its user and root may write a file or a folder; it goes on after its name."""
    if this_workstation.on_windows():  # no owner or mode to go by
        return
    if found.st_uid not in {0, os.geteuid()}:
        raise InputError(f"belongs to the user with ID {found.st_uid}, not to you")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(f"can be written by other users (its mode is {stat.S_IMODE(found.st_mode):o})")


def _without_waiting(name: str, flags: int) -> int:
    """A pipe is opened without anybody at its other end."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))  # Windows has no pipes among its files


def write_whole(path: Path, content: bytes, *, replacing: bool = False, mode: int = 0o600) -> None:
    """Write a file, flushed to the disk before it has its name; on failure what lay there stays.

    `mode`: as the user's umask leaves it.

    Raises:
        InputError: something lies at `path` already and is not to be replaced, or the path is no file's name.
        OSError: it cannot be written.
    """
    check_free(path, replacing=replacing)
    part = path.with_name(f".{path.stem[:40]}-{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _rename(part, path)
    finally:
        # once it has its name there is nothing left of it under the other
        with contextlib.suppress(OSError):
            part.unlink()


def _rename(part: Path, path: Path) -> None:
    """Give the file its name.

    Windows replaces no file that another program has open. A virus scanner, or a pghaul that reads it, is done soon.
    """
    for _ in range(_TRIES if this_workstation.on_windows() else 0):
        with contextlib.suppress(PermissionError):
            part.replace(path)
            return
        time.sleep(_PAUSE_SECONDS)
    part.replace(path)


def write_text(path: Path, text: str, *, replacing: bool = False, executable: bool = False) -> None:
    """The same of a text, for whoever may read what its user writes.

    Raises:
        InputError: as there, or it cannot be written.
    """
    content = text.encode("utf-8", "surrogateescape")  # a path of any bytes comes out as it is
    try:
        write_whole(path, content, replacing=replacing, mode=0o755 if executable else 0o644)
    except OSError as error:
        raise InputError(f"cannot write {path}: {reason(error)}") from error
