"""A move handed to another workstation, and taken from one."""

import tempfile
from pathlib import Path

from core.errors import HistoryError, InputError
from core.history.archive import Archive, read
from core.history.store import Store


def export_move(store: Store, move: str, path: Path, *, replacing: bool = False) -> Path:
    """Write a move with all that belongs to it as one archive; where it lies.

    Raises:
        InputError: there is no such move, the file is there already and not to be replaced, or cannot be written.
    """
    path = path.absolute()
    store.export_move(move, path, replacing=replacing)
    return path


def import_move(store: Store, path: Path, name: str | None = None) -> str:
    """Take a move from an archive into the history, under that name or its own; the name that it has now.

    Raises:
        InputError: it is no archive, is damaged, of another schema, or holds what no pghaul has written; the move is
            there already, or another server has the name of one of its. The history is as it was.
    """
    archive = read(path)
    _try_out(path, archive)
    return store.take_in(archive, name)


def _try_out(path: Path, archive: Archive) -> None:
    """Read all of it from a history of its own: what this program cannot read shall not come into the user's."""
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
