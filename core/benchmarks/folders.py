"""The folder on a volume that a suite's files lie in: made for it, marked, and removed whatever happened.

A folder is `pghaul-bench-` and twelve random hex digits, with a marker file that names the process of pghaul that made
it. Commands run inside it and touch the marker. So a folder that a lost connection left behind is told from one that is
in use: it is our own process's and we no longer use it, or no process has its working directory there and its marker
was not touched for two minutes.
"""

import getpass
import re
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from core.benchmarks.keeper import SILENCE_SECONDS, Keeper, keeping
from core.benchmarks.model import Volume
from core.benchmarks.tool import Words
from core.errors import CommandError, InputError, ParseError, PghaulError, ServerError
from core.facts.model import Facts
from core.jobs import Event, Job, Note
from core.servers.connection import Server
from core.servers.shell import Shell, call
from core.text import END_MARK, complaint, counted

_PREFIX = "pghaul-bench-"
_NAME = re.compile(rf"{_PREFIX}[0-9a-f]{{12}}")
# of this process of pghaul, so that it knows its own folders again
_OWNER = secrets.token_hex(8)
_in_use: set[str] = set()
_REMOVE_SECONDS = 600.0
_KERNELS = ("/proc/", "/sys/", "/dev/")
_HELD = 75
_DF = re.compile(r"(?P<size>\d{1,18})\s+-?\d+\s+(?P<available>-?\d{1,18})\s+\d+%")


@dataclass(frozen=True, slots=True)
class Location:
    """What was found where a folder is to be made. Bytes; `clusters` are data directories at or above it."""

    path: str
    """Resolved."""
    size_bytes: int
    available_bytes: int
    writable: bool
    clusters: tuple[str, ...]
    programs: frozenset[str]
    """Those that are installed, of the ones asked for."""
    fio_engine: str | None
    """The first asynchronous engine that fio works with: libaio, which old servers have too, else io_uring."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A suite's own folder on a server."""

    server: Server
    user: str | None
    """Who owns it and runs everything in it; None: the login user."""
    parent: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.parent.rstrip('/')}/{self.name}"

    def inside(self, words: Words) -> Shell:
        """The command, run inside the folder."""
        return call("bench_run_in", self.path, *words)

    def empty(self, job: Job) -> None:
        """Remove what the tools left in it: after a failure, a full disk above all."""
        title = "empty the benchmark's folder"
        self.server.run(self.inside(("bench_empty",)), job, user=self.user, deadline=_REMOVE_SECONDS, title=title)


def user_for(server: Server, job: Job) -> str | None:
    """Who runs the benchmarks: root where the rights allow it, who alone can drop caches, else the login user."""
    # without root figures are taken all the same, and marked
    return "root" if server.can_become("root", job) else None


def inspect(
    server: Server, volume: Volume, user: str | None, facts: Facts, job: Job, programs: Sequence[str], path: str = ""
) -> Location:
    """Look at the place where the volume's folder is to be made, and which programs are there; changes nothing.

    `programs` are looked for on `path` too, besides the system's.

    Raises:
        InputError: there is no such folder; the hint lists the volumes that there are.
    """
    # a relative path would begin in the home of whoever measures
    if not volume.folder.startswith("/"):
        raise InputError(
            f"{volume.folder!r} is not an absolute path", "name a mount point or a folder from the root on"
        )
    looking = call("bench_inspect", volume.folder, path, *programs)
    seen = server.run(looking, job, user=user, title="look at the volume").stdout
    lines = [line.partition(" ") for line in seen.splitlines()]
    found: dict[str, list[str]] = {}
    for key, _, value in lines:
        found.setdefault(key, []).append(value)
    if "missing" not in found and seen.splitlines()[-1:] != [END_MARK]:
        raise ParseError(f"{server.name}: the information about {volume.folder} is not complete")
    space = _DF.search(found.get("df", [""])[0])
    if "missing" in found or space is None:
        mounted = ", ".join(
            system.mount_point
            for system in facts.file_systems
            if not system.mount_point.startswith(_KERNELS)  # a container has single files mounted there
        )
        raise InputError(
            f"there is no volume or folder {volume.folder} on {server.name}",
            f"its volumes are {mounted}" if mounted else "name a mount point or a folder that exists",
        )
    return Location(
        path=found["path"][0],
        size_bytes=int(space["size"]) * 1024,
        available_bytes=max(0, int(space["available"])) * 1024,
        writable="writable" in found,
        clusters=tuple(found.get("cluster", ())),
        programs=frozenset(found.get("program", ())),
        fio_engine=found.get("engine", [None])[0],
    )


@contextmanager
def own_folder(server: Server, parent: str, user: str | None, job: Job) -> Iterator[Folder]:
    """A new folder below `parent`, removed at the end with everything that still runs in it, and the server's lock.

    A keeper on the server makes and removes it, so that it goes too where the connection is lost or pghaul is killed.
    It holds a lock as long as it lives: two benchmarks of one server at once would measure each other.

    Raises:
        CommandError: it cannot be made, or somebody else measures this server, with who does and since when.
    """
    # the name is known before the folder is there: whatever happens next, it can be found
    folder = Folder(server, user, parent, f"{_PREFIX}{secrets.token_hex(6)}")
    _in_use.add(folder.name)
    try:
        with ExitStack() as stack:
            keeper = _begun(folder, stack, job)
            try:
                yield folder
            finally:
                _clean_up(folder, keeper, job)
    finally:
        _in_use.discard(folder.name)


def _begun(folder: Folder, stack: ExitStack, job: Job) -> Keeper:
    title = "make the benchmark's folder, and wait to remove it"
    try:
        return stack.enter_context(keeping(folder.server, _kept(folder), folder.user, job, title=title))
    except CommandError as error:
        raise _not_made(folder, error) from error


def _clean_up(folder: Folder, keeper: Keeper, job: Job) -> None:
    # A cancelled job would refuse to clean up, and one whose listener fails (a full disk under the history) would
    # stop it: what happened is told afterwards.
    events: list[Event] = []
    try:
        keeper.end(_REMOVE_SECONDS)
    except ServerError:
        try:
            _remove(folder.server, folder.parent, folder.name, folder.user, Job(events.append))
        except ServerError as error:
            events.append(
                Note(
                    (
                        f"{folder.path} on {folder.server.name} could not be removed ({error.message}). The "
                        f"server removes it {SILENCE_SECONDS} s after its last contact with pghaul. If it was "
                        "restarted, the next benchmark there removes it"
                    ),
                    "warning",
                )
            )
    for event in events:
        job.report(event)


def remove_leftovers(server: Server, volume: Volume, job: Job) -> tuple[str, ...]:
    """Remove the folders that earlier benchmarks could not, with what still runs in them; their paths.

    One that another pghaul may be using is left alone, and a note says so.
    """
    user = user_for(server, job)
    removed: list[str] = []
    for name, recent, busy, owner in _leftovers(server, volume.folder, user, job):
        path = f"{volume.folder.rstrip('/')}/{name}"
        # this very process measures there
        if name in _in_use:
            continue
        # its marker is touched before each phase, which may take longer than two minutes: busy tells then
        if owner != _OWNER and (recent or busy):
            job.report(Note(f"{path} on {server.name} is in use by another pghaul and is kept", "warning"))
            continue
        # its keeper would wait for the beats of a pghaul that is gone, and hold the lock meanwhile
        _remove(server, volume.folder, name, user, job, end_keeper=True)
        job.report(Note(f"{path} on {server.name} was removed; an earlier benchmark had left it"))
        removed.append(path)
    return tuple(removed)


def _kept(folder: Folder) -> Shell:
    """The keeper: lock, make, wait, remove."""
    return call("bench_keep", folder.parent, folder.name, _OWNER, SILENCE_SECONDS, _who())


def _who() -> str:
    """Who holds the lock, for those whom it refuses."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = "somebody"
    return f"{user}@{socket.gethostname()}"


def _not_made(folder: Folder, error: CommandError) -> CommandError:
    said = complaint(error.stderr) or error.message
    if error.exit_status == _HELD:
        return CommandError(
            f"{folder.server.name} is being measured already: {said}",
            (
                "two benchmarks at once would disturb each other: wait until it has ended; one whose pghaul is "
                f"gone ends within {SILENCE_SECONDS} s"
            ),
            exit_status=error.exit_status,
        )
    return CommandError(
        f"could not make a folder in {folder.parent} on {folder.server.name}: {said}",
        "name a folder that the user of the benchmarks may write to",
        exit_status=error.exit_status,
        stderr=error.stderr,
    )


def _leftovers(server: Server, parent: str, user: str | None, job: Job) -> list[tuple[str, bool, bool, str]]:
    """Name, whether the marker was touched lately, whether a process is inside, and the owner, of each that is ours."""
    title = "look for folders of earlier benchmarks"
    seen = server.run(call("bench_leftovers", parent), job, user=user, title=title).stdout
    found = [line.split(" ") for line in counted(seen, "folders")]
    return [
        (name, recent == "yes", busy == "yes", owner)
        for name, recent, busy, owner in (line for line in found if len(line) == 4)
        if _NAME.fullmatch(name)
    ]


def _remove(server: Server, parent: str, name: str, user: str | None, job: Job, *, end_keeper: bool = False) -> None:
    """End what runs inside the folder, then remove it; one without marker only if it is empty: cut off while made.

    `end_keeper`: its keeper may still wait for a pghaul that is gone, and hold the lock.
    """
    # the last guard before `rm -rf` as root
    if not _NAME.fullmatch(name):
        raise PghaulError(f"{name} is not the folder of a benchmark")
    if end_keeper:
        title = "end the waiting of the benchmark's keeper"
        server.run(call("bench_end_keeper", parent, name), job, user=user, deadline=_REMOVE_SECONDS, title=title)
    shell = call("bench_remove", parent, name)
    server.run(shell, job, user=user, deadline=_REMOVE_SECONDS, title="remove the benchmark's folder")
