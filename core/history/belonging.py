"""Whether the history's files are this user's alone, looked at before SQLite opens them.

A history that somebody else can write is somebody else's word: what it names would be opened, removed and run.
"""

import os
import stat
import tempfile
from pathlib import Path

from core import this_workstation
from core.errors import HistoryError
from core.system_errors import reason

ALIVE = "alive"
"""The folder beside the history in which the programs that record into it have a file each (core/history/owners)."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# The last bytes of a rollback journal that names a super-journal (https://sqlite.org/fileformat.html, section 3): a
# file that SQLite removes when it has played the journal back, wherever it lies. pghaul's own never name one.
_NAMES_ANOTHER_FILE = bytes.fromhex("d9d505f920a163d7")


def check_belonging(folder: Path, path: Path) -> None:
    """Look at the history's folder and at what lies in it of the history at `path`.

    Raises:
        HistoryError: one of them is another user's, can be written by others, is a link, or is a journal that would
            have SQLite remove a file elsewhere.
        OSError: they cannot be looked at.
    """
    if this_workstation.on_windows():  # no owner or mode to go by
        return
    _check(folder, folder.stat())
    for beside in (path, *(Path(f"{path}-{end}") for end in ("wal", "shm", "journal")), folder / ALIVE):
        try:
            found = beside.lstat()
        except FileNotFoundError:  # asked no earlier: another program that closes the history removes two of them
            continue
        if stat.S_ISLNK(found.st_mode):
            raise HistoryError(
                f"{beside} is a symbolic link", f"if the file is yours, put the file itself into {folder}"
            )
        _check(beside, found)
    _check_journal(Path(f"{path}-journal"))


def check_place(folder: Path) -> None:
    """Look whether a folder that is made in this one stays where it is: nobody else may rename what lies in it.

    Raises:
        HistoryError: it is another user's, or others may write to it and to what is not theirs in it.
        OSError: it cannot be looked at.
    """
    if this_workstation.on_windows():  # no owner or mode to go by
        return
    found = folder.stat()
    others = found.st_mode & 0o002 or (found.st_mode & 0o020 and found.st_gid != os.getegid())
    if found.st_uid not in {0, os.geteuid()} or (others and not found.st_mode & stat.S_ISVTX):
        raise HistoryError(
            f"other users may rename files in {folder} (its mode is {stat.S_IMODE(found.st_mode):o})",
            "write the copy into a folder of your own, then move it there",
        )


def open_to_others(folder: Path, path: Path) -> str:
    """A sentence where others may have read the history, whose file the opening closes to them; else empty."""
    try:
        mode, way = stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(folder.stat().st_mode)
    except OSError:
        return ""
    if this_workstation.on_windows() or not (mode & 0o044) >> 2 & way:
        return ""
    return f"other users may have read the history {path} (its mode was {mode:o}); they can no longer read it"


def check_locks(folder: Path) -> None:
    """Raise HistoryError where the file system has no locks: SQLite would take it for a history in use, and wait."""
    if this_workstation.on_windows():
        return
    import fcntl

    try:
        handle, name = tempfile.mkstemp(prefix="lock-", dir=folder)
    except OSError:  # SQLite will say what it is not allowed
        return
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise HistoryError(
            f"the history needs locks, but files in {folder} cannot be locked: {reason(error)}",
            "if the folder is on NFS, set PGHAUL_DATA to a folder on a local disk, or start rpc.statd",
        ) from error
    finally:
        os.close(handle)
        Path(name).unlink()


def _check(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise HistoryError(
            f"{path} belongs to the user with ID {found.st_uid}, not to you",
            "set PGHAUL_DATA to a folder of your own; copy a history that you have received into it",
        )
    if found.st_mode & _OTHERS_WRITE:
        raise HistoryError(
            f"{path} can be written by other users (its mode is {stat.S_IMODE(found.st_mode):o})",
            f"if its contents are yours, take away this permission: chmod go-w '{path}'",
        )


def _check_journal(journal: Path) -> None:
    try:
        with journal.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - len(_NAMES_ANOTHER_FILE)))
            end = file.read()
    except FileNotFoundError:
        return
    if end == _NAMES_ANOTHER_FILE:
        raise HistoryError(
            f"{journal} names another file, which SQLite would remove; pghaul has not written this journal",
            "the history is not yours, or another program has changed it: move both files away",
        )
