"""What the lists of a copy take by the number of files, without servers: prints it for a million.

    python benchmarks/lists.py [FILES]

A tree of so many relations is made, then each function that goes over every file is run as a plan runs it; and 500
tablespaces are planned for, and summed up by one call. The files are of a page each: what their contents take is the
disk's business.

    lists and what sorts them   at most 1 GB a million files, also on their way
    largest process             at most 250 MB, whatever the number
"""

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from core import units
from core.migration.model.transport import Transport
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call
from tests.core.migration.builders import space
from tests.core.migration.plan.plans import plan

FILES = 30_000
IN_A_DATABASE = 3_000
TABLESPACES = 500
ROOM, MEMORY = 1e9, 250e6
SHELL = "dash"


def main() -> int:
    """Print the figures; 1 where a bound is missed."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree(folder / "data", files)
        lists = folder / "lists"
        lists.mkdir(mode=0o700)
        room = max(_measured(title, shell, folder / "data", lists, files) for title, shell in steps(folder, lists))
        many(folder)
    planned()
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    good = judged("room of the lists of a million files", room, ROOM)
    return 0 if judged("memory of the largest process", memory, MEMORY) and good else 1


def tree(data: Path, files: int) -> None:
    """Databases with so many relations in all, that have long settled, and what else a data directory must have."""
    (data / "global").mkdir(parents=True)
    (data / "global/pg_control").write_bytes(bytes(8192))
    for number in range(files):
        database = data / f"base/{16384 + number // IN_A_DATABASE}"
        if number % IN_A_DATABASE == 0:
            database.mkdir(parents=True)
        (database / str(1_000_000 + number)).write_bytes(bytes(8192))
    time.sleep(3)


def steps(folder: Path, lists: Path) -> Iterator[tuple[str, Shell]]:
    """What a move runs over all files, on old and on new, in its order; new's list is a copy of old's here."""
    channel = CopyChannel("key", str(lists), "192.0.2.1", 22, "dba", "postgres", (), (), (("data", "/new"),))
    channel = replace(channel, transport=Transport(streams=2))
    data = folder / "data"
    yield "list what the first pass sends", passes.prepare_call(channel, call("list_changed_files", "data"))
    yield "mark as synced", passes.prepare_call(channel, call("mark_synced", "data"))
    yield "list what the next pass sends", passes.prepare_call(channel, call("list_changed_files", "data"))
    yield "read it behind a pass", sums("checksum_in_advance", lists / "old", "true", data)
    yield "read new's behind a pass, from its disk", sums("checksum_in_advance", lists / "new", "forget_cached", data)
    yield "sum up in the stop what was read before", sums("checksum_all", lists / "old", "true", data)


def sums(function: str, lists: Path, forget: str, data: Path, *roots: str) -> Shell:
    """The call over a data directory, by all processors."""
    words = (lists, "postgres", os.cpu_count() or 1, "openssl", forget, "/usr/bin:/bin", data, "")
    return call(function, *words, "data", "-", data, "-", *roots)


def _measured(title: str, shell: Shell, data: Path, lists: Path, files: int) -> float:
    """Run it, print what it took for a million files, and give the room of its lists for as many."""
    began = time.monotonic()
    with most_room(lists) as most:
        run(shell, data)
    seconds, room = (time.monotonic() - began) / files * 1e6, most[0] / files * 1e6
    say(f"  {seconds:8.1f} s  {units.size(room):>9}  {title}")
    return room


def many(folder: Path) -> None:
    """A cluster of many tablespaces in one call."""
    roots: list[str] = []
    for number in range(TABLESPACES):
        space = folder / f"spaces/on a disk of its own/{number}"
        (space / "PG_15_202209061/5").mkdir(parents=True)
        (space / "PG_15_202209061/5/16384").write_bytes(bytes(8192))
        roots += [str(16384 + number), f"pg_tblspc/{16384 + number}", str(space), "-"]
    small = folder / "small"
    tree(small, IN_A_DATABASE)
    began = time.monotonic()
    said = run(sums("checksum_all", folder / "lists/many", "true", small, *roots), small)
    if len(said.splitlines()) != TABLESPACES + 4:
        raise RuntimeError(f"not every tablespace was summed up: {said[-300:]}")
    say(f"  {time.monotonic() - began:8.1f} s  {TABLESPACES} tablespaces summed up in one call")


def planned() -> None:
    """A plan of as many tablespaces."""
    spaces = tuple(
        replace(space(f"/srv/postgresql/tablespaces/disk{number:03}"), oid=number, link=f"pg_tblspc/{number}")
        for number in range(16384, 16384 + TABLESPACES)
    )
    began = time.monotonic()
    made = plan({"running": True, "tablespaces": spaces})
    longest = max(len(step.call) for step in made.steps)
    say(f"  {time.monotonic() - began:8.1f} s  {TABLESPACES} tablespaces planned: {len(made.steps)} steps")
    say(f"  {units.size(longest):>10}  the longest call of that plan; it travels on standard input")


@contextmanager
def most_room(folder: Path) -> Iterator[list[float]]:
    """How many bytes the files below a folder have at the most meanwhile."""
    most, ended = [0.0], threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            most[0] = max(most[0], float(sum(map(_size, folder.rglob("*")))))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield most
    finally:
        ended.set()
        looking.join()


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0


def run(shell: Shell, folder: Path) -> str:
    """Run a call by itself, as a server's shell gets it: on standard input."""
    text = f"export LC_ALL=C\n{shell.functions}\n{shell.text}\n"
    loader = [SHELL, "-c", 'eval "$(head -c "$1")"', SHELL, str(len(text.encode()))]
    done = subprocess.run(loader, input=text, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shell.shown[:200]}: {done.stderr}")
    return done.stdout


def judged(what: str, found: float, most: float) -> bool:
    """Whether it is within its bound, said."""
    say(f"{units.size(found):>10} {what}, {'at most' if found <= most else 'MISSED:'} {units.size(most)}")
    return found <= most


def say(line: str) -> None:
    """A line of figures."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
