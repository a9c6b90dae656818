"""Whether the history's files are this user's alone, looked at before SQLite opens them.

A history that somebody else can write is somebody else's word: what it names would be opened, removed and run.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from core.errors import HistoryError

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
    if os.name == "nt":  # no owner or mode to go by
        return
    _check(folder, folder.stat())
    for beside in _files(folder, path):
        found = beside.lstat()
        if stat.S_ISLNK(found.st_mode):
            raise HistoryError(f"{beside} is a link", f"put the file itself into {folder}, if it is yours")
        _check(beside, found)
    _check_journal(Path(f"{path}-journal"))


def _files(folder: Path, path: Path) -> Iterable[Path]:
    beside = (path, *(Path(f"{path}-{end}") for end in ("wal", "shm", "journal")), folder / ALIVE)
    return (each for each in beside if os.path.lexists(each))


def _check(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise HistoryError(
            f"{path} belongs to the user number {found.st_uid}, not to you",
            "set PGHAUL_DATA to a folder of your own; a history that you were given: copy it there",
        )
    if found.st_mode & _OTHERS_WRITE:
        raise HistoryError(
            f"{path} can be written by others (its mode is {stat.S_IMODE(found.st_mode):o})",
            f"if what it holds is yours, close it to them: chmod go-w '{path}'",
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
            f"{journal} names another file, which SQLite would remove: pghaul has not written it",
            "the history is from elsewhere, or was changed by another program: move both away",
        )
