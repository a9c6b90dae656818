"""Export a move, or benchmarks of no move, to an archive for another workstation, and import one."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.benchmarks.model import ELSEWHERE
from core.comparison.sets import place_on_server
from core.errors import HistoryError, InputError
from core.history.archive import Archive, read
from core.history.store import Store


@dataclass(frozen=True, slots=True)
class ExportedRuns:
    """An archive of benchmarks that belong to no move.

    Attributes:
        removed_servers: those of its servers that the history has no profile of any more; only their names are in it.
    """

    path: Path
    removed_servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an archive has brought.

    Attributes:
        move: its name here; None: the archive had benchmarks of no move.
        removed_servers: servers that had been removed where the archive was made; their benchmarks have their names.
    """

    move: str | None
    removed_servers: tuple[str, ...]


def export_move(store: Store, move: str, path: Path, *, replacing: bool = False) -> Path:
    """Write a move with all that belongs to it to an archive, and return the path of the archive.

    Raises:
        InputError: there is no such move, or the file exists and must not be replaced, or it cannot be written.
    """
    path = path.absolute()
    store.export_move(move, path, replacing=replacing)
    return path


def export_runs(store: Store, places: Sequence[str], path: Path, *, replacing: bool = False) -> ExportedRuns:
    """Write the benchmarks on volumes that belong to no move to an archive. Their servers may have been removed.

    Args:
        store: the history.
        places: the volumes, such as `db1:/srv/pg`.
        path: the archive.
        replacing: whether the file may exist already.

    Raises:
        InputError: a word names no volume, or one without such a benchmark, or the file exists and must not be
            replaced, or it cannot be written.
    """
    path = path.absolute()
    named = [place_on_server(word, dated=False) for word in places]
    store.export_runs(named, path, replacing=replacing)
    known = {ELSEWHERE, *(profile.name for profile in store.profiles())}
    return ExportedRuns(path, tuple(sorted({place.server for place in named} - known)))


def import_move(store: Store, path: Path, name: str | None = None) -> Imported:
    """Import a move from an archive into the history, under `name` or its own name.

    If the archive contains benchmarks of no move, those that are not in the history yet are imported. If the import
    fails, the history stays unchanged.

    Raises:
        InputError: the file is not an archive, is damaged, has another schema, or contains what pghaul never writes; or
            the move exists already; or a server has, or may have, the name of another one here.
    """
    archive = read(path)
    _validate_archive(path, archive, name)
    return Imported(store.take_in(archive, name), archive.removed_servers)


def _validate_archive(path: Path, archive: Archive, name: str | None) -> None:
    """Import the archive into a temporary history and read all of it: unreadable data must not reach the user's."""
    with tempfile.TemporaryDirectory(prefix="pghaul-") as folder, Store.open(Path(folder)) as store:
        try:
            move = store.take_in(archive, name)
            store.profiles()
            store.moves()
            for entry in store.entries(limit=10**9):
                store.detail(entry.kind, entry.reference)
            if move is not None:
                store.commands(move, limit=10**9)
                store.hooks(move)
                store.waivers(move)
        except HistoryError as error:
            raise InputError(
                f"{path} was not written by pghaul: {error.message.replace(folder, str(path))}",
                "export the move again: pghaul history export MOVE -o FILE",
            ) from error
