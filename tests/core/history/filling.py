"""`python -m tests.core.history.filling TIMES FOLDER…`: fill the disk of each folder, and see what a history is then.

A folder's name is the work that is done in it. A line of JSON for each time that it was full.
"""

import contextlib
import itertools
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import HistoryError
from core.history.backup import backup, restore
from core.history.damage import rescue
from core.history.database import FILE_NAME
from core.history.store import Store
from tests.core.history import samples, writing
from tests.core.history.contents import contents

BALLAST = 600_000
RESERVE = 6_000_000
"""Enough for the whole log of what was written last to be put into its file, which has to grow for that."""


@dataclass(frozen=True)
class Seen:
    """What was said when the disk was full at some work, and how much had been recorded since it last was."""

    work: str
    message: str
    hint: str
    recorded: int


def main() -> None:
    times, *folders = sys.argv[1:]
    for folder in map(Path, folders):
        if folder.name == "record":
            record(folder, int(times))
        else:
            make(folder, folder.name)


def record(folder: Path, times: int) -> None:
    """Record until the disk is full, look, make some room, and go on with the same history."""
    for number in range(times):
        (folder / f"ballast {number}").write_bytes(bytes(BALLAST))
    (folder / "reserve").write_bytes(bytes(RESERVE))
    history = folder / "history"
    with Store.open(history) as store:
        samples.set_up(store)
    for seen in again_and_again(history, folder, times):
        _say(seen)


def again_and_again(place: Path | str, disk: Path, times: int) -> Iterator[Seen]:
    """Record until the disk is full, look, throw one `ballast` off, and go on; at last the `reserve` too."""
    said: list[str] = []
    for number in range(times):
        recorded = 0
        with Store.open(place) as store:
            try:
                for what, write in writing.writes(store, number * 1000):
                    write()
                    said.append(what)
                    recorded += 1
            except HistoryError as error:
                yield Seen("record", error.message, error.hint, recorded)
        (disk / f"ballast {number}").unlink()
        writing.hold(place, said, unsaid=0)
    (disk / "reserve").unlink()
    with Store.open(place) as store:
        for what, write in itertools.islice(writing.writes(store, times * 1000), 20):
            write()
            said.append(what)
    writing.hold(place, said, unsaid=0)


def make(folder: Path, work: str) -> None:
    """Have something made for which there is no room, and compare what lies there before and after."""
    history = folder / "history"
    if work != "begin":
        with Store.open(history) as store:
            samples.fill(store)
    works: dict[str, Callable[[], object]] = {
        "upgrade": lambda: Store.open(history).close(),
        "backup": lambda: backup(history, folder / "copy"),
        "restore": lambda: restore(history, folder / "kept"),
        "rescue": lambda: rescue(history / FILE_NAME),
        "begin": lambda: Store.open(history).close(),
    }
    if work == "upgrade":
        older(history / FILE_NAME)
    elif work == "restore":
        backup(history, folder / "kept")
    fill(folder)
    before = _held(history)
    try:
        works[work]()
    except HistoryError as error:
        _say(Seen(work, error.message, error.hint, 0))
    (folder / "ballast").unlink()
    if _held(history) != before or (folder / "copy").exists():
        raise SystemExit(f"there was {before.keys()}, there is {sorted(folder.rglob('*'))}")
    with Store.open(history) as store:  # and now there is room
        if bool(store.moves()) is (work == "begin"):
            raise SystemExit("it was not as it had been")


def older(path: Path) -> None:
    """Have a history be of the first schema."""
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path("tests/data/history/0001.sql").read_text(encoding="utf-8"))


def fill(folder: Path, leave: int = 40_000) -> None:
    """Fill the disk but for so many bytes."""
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        with contextlib.suppress(OSError):
            while True:
                ballast.write(bytes(4096))
        ballast.truncate(max(0, ballast.tell() - leave))


def _held(history: Path) -> dict[str, object]:
    """The files that lie there, but for what SQLite has beside an opened one, and what each holds, if it does."""
    files = [each for each in history.glob("*") if each.is_file() and not each.name.endswith(("-wal", "-shm"))]
    return {each.name: held for each in files if (held := contents(each))}


def _say(seen: Seen) -> None:
    sys.stdout.write(json.dumps(asdict(seen)) + "\n")


if __name__ == "__main__":
    main()
