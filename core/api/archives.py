"""Export a move to an archive for another workstation, and import one."""

import tempfile
from pathlib import Path

from core.errors import HistoryError, InputError
from core.history.archive import Archive, read
from core.history.store import Store


def export_move(store: Store, move: str, path: Path, *, replacing: bool = False) -> Path:
    """Write a move with all that belongs to it to an archive, and return the path of the archive.

    Raises:
        InputError: there is no such move, or the file exists and must not be replaced, or it cannot be written.
    """
    path = path.absolute()
    store.export_move(move, path, replacing=replacing)
    return path


def import_move(store: Store, path: Path, name: str | None = None) -> str:
    """Import a move from an archive into the history, under `name` or its own name, and return its name.

    If it fails, the history stays unchanged.

    Raises:
        InputError: the file is not an archive, is damaged, has another schema, or contains what pghaul never writes; or
            the move exists already, or one of its servers has the name of another server.
    """
    archive = read(path)
    _validate_archive(path, archive)
    return store.take_in(archive, name)


def _validate_archive(path: Path, archive: Archive) -> None:
    """Import the archive into a temporary history and read all of it: unreadable data must not reach the user's."""
    with tempfile.TemporaryDirectory(prefix="pghaul-") as folder, Store.open(Path(folder)) as store:
        try:
            move = store.take_in(archive)
            store.profiles()
            store.moves()
            for entry in store.entries(limit=10**9):
                store.detail(entry.kind, entry.reference)
            store.commands(move, limit=10**9)
            store.hooks(move)
            store.waivers(move)
        except HistoryError as error:
            raise InputError(
                f"{path} was not written by pghaul: {error.message.replace(folder, str(path))}",
                "export the move again: pghaul history export MOVE -o FILE",
            ) from error
