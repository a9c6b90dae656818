"""The history copied to where its user keeps it safe, and put back from there.

The file in use is never renamed: who has it open would write into what lies beside it.
"""

import contextlib
import secrets
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from core.errors import HistoryError, InputError
from core.files import SIDES, check_free, is_same_file
from core.history.belonging import check_belonging, check_place
from core.history.copies import (
    copy_bytes,
    copy_connection,
    copy_path,
    exclusively,
    flush_folder,
    rename_damaged,
    snapshot,
)
from core.history.damage import broken_pages, schema_of
from core.history.database import FILE_NAME, error_text, history_errors, is_damage, make_private, sqlite_says


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore has done.

    Attributes:
        history: the file that now holds what the copy held.
        kept: what it held before, beside it; None: it held nothing.
    """

    history: Path
    kept: Path | None


def backup(folder: Path, to: Path | None = None, *, replacing: bool = False) -> Path:
    """Copy the history in `folder` to `to`, None: beside it, as it is at this moment; where the copy lies.

    The copy is whole once it has its name, and has been read to its end.

    Raises:
        InputError: there is no history; `to` is the history itself, or there already and not to be replaced.
        HistoryError: it is damaged, or cannot be read or copied; others may rename what lies in the folder of `to`.
    """
    path = existing(folder)
    to = copy_path(path, "backup") if to is None else to.absolute()
    check_free(to, replacing=replacing, by_history=True)
    if is_same_file(path, to):
        raise InputError(f"{to} is the history itself", "choose another name")
    try:
        check_place(to.parent)
        # where others may write, they could lay a journal beside it, by which SQLite removes a file of their choice
        with tempfile.TemporaryDirectory(prefix=f"{to.name}.", dir=to.parent) as private:
            scratch = Path(private) / FILE_NAME
            snapshot(path, scratch)
            if damage := broken_pages(scratch):
                raise _damaged(path, damage[0])
            scratch.replace(to)
        flush_folder(to.parent)
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.Error) and is_damage(error):
            raise _damaged(path, sqlite_says(error)) from error
        raise HistoryError(
            f"the history {path} could not be copied to {to}: {error_text(error)}",
            f"check that {to.parent} has enough free space and that you may write there",
        ) from error
    return to


def restore(folder: Path, source: Path) -> Restored:
    """Put a copy in the place of the history in `folder`, which is kept beside it.

    Either all of it is there afterwards, or the history is as it was.

    Raises:
        InputError: `source` is no history, is damaged, or of a newer pghaul.
        HistoryError: another program has the history open, or it cannot be written.
    """
    path, source = folder / FILE_NAME, source.absolute()
    make_private(folder, path)
    if is_same_file(path, source):
        raise InputError(f"{source} is the history itself", "name a backup of it")
    scratch = folder / f"restoring-{secrets.token_hex(4)}"
    try:
        _fetch(source, scratch)
        with history_errors(path):
            return Restored(path, _replace(path, scratch))
    except OSError as error:
        raise HistoryError(
            f"the history {path} could not be restored from {source}: {error_text(error)}",
            f"check that {folder} has enough free space; nothing was changed",
        ) from error
    finally:
        for name in (scratch, *(Path(f"{scratch}{side}") for side in SIDES)):
            name.unlink(missing_ok=True)


def existing(folder: Path) -> Path:
    """The history in that folder, which is its user's own; raises InputError where none was begun."""
    path = folder / FILE_NAME
    try:
        if path.stat().st_size > 0:
            check_belonging(folder, path)
            return path
    except FileNotFoundError:
        pass
    except OSError as error:
        raise HistoryError(f"the history {path} cannot be opened: {error_text(error)}") from error
    raise InputError(f"there is no history at {path} yet", "pghaul server add creates one; or set PGHAUL_DATA")


def _damaged(path: Path, damage: str) -> HistoryError:
    return HistoryError(
        f"the history {path} is damaged, so no backup was made: {damage}",
        "rescue what can be read: pghaul history check --rescue",
    )


def _fetch(source: Path, scratch: Path) -> None:
    """A private copy of what shall be put back, looked at.

    It is copied as bytes first: to open a file writes beside it, and may do what another program has left there to do.
    """
    if Path(f"{source}-journal").exists():
        raise InputError(
            f"{source} was not closed cleanly: the file {source.name}-journal exists beside it",
            "open it once with the pghaul that wrote it, or name another backup",
        )
    try:
        copy_bytes(source, scratch)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise InputError(
            f"{source} cannot be read: {error_text(error)}",
            "pghaul keeps copies beside the history; find it with: pghaul history where",
        ) from error
    try:
        schema = schema_of(scratch)
    except HistoryError as error:
        raise InputError(error.message.replace(str(scratch), str(source)), error.hint) from error
    if schema is None:
        raise InputError(f"{source} is empty", "name a file that pghaul history backup has written")
    if damage := broken_pages(scratch):
        raise InputError(f"{source} is damaged: {damage[0]}", "name another backup; nothing was changed")


def _replace(path: Path, scratch: Path) -> Path | None:
    """Have the history hold what `scratch` does; where that which it held is kept."""
    try:
        with exclusively(path) as present, contextlib.closing(sqlite3.connect(scratch)) as whole:
            if present.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                whole.backup(present)
                return None
            kept = copy_path(path, "replaced")
            copy_connection(present, kept)
            try:
                whole.backup(present)
            except BaseException:  # a cancel too: half a copy must not bear the name of one
                kept.unlink(missing_ok=True)
                raise
            return kept
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    renamed = rename_damaged(path)  # what is so damaged that SQLite does not open it holds no lock to wait for
    scratch.rename(path)
    flush_folder(path.parent)
    return renamed
