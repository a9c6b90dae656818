"""The folder on a volume that contains the files of a suite. It is created, marked, and removed in any case.

Its name is `pghaul-bench-` with twelve random hexadecimal digits. A marker file in it names the process of pghaul that
created it. Commands run inside the folder and touch the marker. A folder counts as left over if this process of pghaul
created it and no longer uses it, or if no process has its working directory there and the marker was not touched for
two minutes.
"""

import re
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from core.benchmarks.model import Volume
from core.benchmarks.tool import Words
from core.errors import CommandError, InputError, ParseError, PghaulError, ServerError
from core.facts.model import Facts
from core.jobs import CommandEnded, CommandStarted, Event, Job, Note
from core.servers.connection import Server
from core.servers.remote_process import Process
from core.servers.shell import Shell, call
from core.text import END_MARK, complaint, counted, lines_of
from core.this_workstation import whoami

# A process on the server that waits for the end of the benchmark, whatever the reason, and then cleans up.
#
# pghaul sends it a beat every few seconds, and closes its input when the work is done. It also cleans up if the input
# ends because the workstation died or pghaul was killed, and if no beat arrives any more, as after a pulled cable,
# which a server may notice only after hours. So nothing is left for the next benchmark to remove. The code is in
# `resources/sh/benchmark_folder.sh`.

BEAT = b".\n"
BEAT_SECONDS = 5.0
SILENCE_SECONDS = 30
"""If no beat arrives for so many seconds, the server assumes that pghaul has ended."""
READY = "pghaul-ready"
START_SECONDS = 60.0


class Keeper:
    """A running keeper. A thread of its own sends the beats."""

    def __init__(self, server: Server, process: Process) -> None:
        self._server = server
        self._process = process
        self._stop = threading.Event()
        # A daemon thread, because Python must not wait for it at its end. The server notices that no beat arrives.
        self._thread = threading.Thread(target=self._beat, name=f"keeper on {server.name}", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stop.is_set():
            try:
                self._process.channel.send(BEAT)
            except OSError:
                return  # The connection is lost. Its other users get the error.
            self._stop.wait(BEAT_SECONDS)

    def stop(self) -> None:
        """Stop sending beats."""
        self._stop.set()
        self._thread.join()

    def end(self, seconds: float) -> None:
        """Close its input, and wait until it has cleaned up; raise ServerError if it did not, or that is not known."""
        self.stop()
        until = time.monotonic() + seconds
        try:
            # The keeper waits for the end of its input.
            self._process.channel.shutdown_write()
        except OSError as error:
            raise self._server.lost("cleaning up") from error
        while not self._process.ended and time.monotonic() < until:
            self._process.turn()
        status = self._process.exit_status
        if status == 0:
            return
        # Without a connection it cleans up by itself. The caller reports that.
        if not self._server.connected:
            raise self._server.lost("cleaning up")
        said = complaint(self._process.stderr.text()) or f"exit status {status}"
        raise CommandError(f"cleaning up on {self._server.name} failed: {said}", exit_status=status)


@contextmanager
def keeping(server: Server, shell: Shell, user: str | None, job: Job, *, title: str) -> Iterator[Keeper]:
    """Start a keeper for the `with` block, and wait until it is ready. Its input is closed at the end of the block.

    Raises:
        CommandError: the keeper ended before it was ready, with its own status and message.
        UnreachableError: the connection was lost.
    """
    shown = server.become(user, shell).shown
    begun = time.monotonic()
    job.report(CommandStarted(server.name, user or server.login, shown, title=title))
    status: int | None = None
    try:
        # It has a job of its own, because cancelling the benchmark must not end the process that cleans up.
        with server.bridge(shell, Job(), user=user) as process:
            _wait_until_ready(server, process)
            keeper = Keeper(server, process)
            try:
                yield keeper
            finally:
                keeper.stop()
                status = process.exit_status
    finally:
        job.report(CommandEnded(server.name, shown, status, time.monotonic() - begun))


def _wait_until_ready(server: Server, process: Process) -> None:
    said = bytearray()
    process.deliver(said.extend)
    until = time.monotonic() + START_SECONDS
    # Until it is ready it may still fail: another benchmark is running, or the disk is full.
    while READY.encode() not in said.split():
        if process.ended or time.monotonic() > until:
            if not server.connected:
                raise server.lost("starting the benchmarks")
            raise _refused(process, said.decode(errors="replace"))
        process.turn()
    process.deliver(lambda _: None)


def _refused(process: Process, said: str) -> ServerError:
    told = process.stderr.text() or said
    message = complaint(told) or "it did not start in time"
    return CommandError(message, exit_status=process.exit_status, stderr=told)


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
    """The place where a folder is to be created. Sizes are in bytes; `clusters` are data directories at or above it."""

    path: str
    """The path, with all links resolved."""
    size_bytes: int
    available_bytes: int
    writable: bool
    clusters: tuple[str, ...]
    programs: frozenset[str]
    """The installed programs among those that were asked for."""
    fio_engine: str | None
    """The first asynchronous engine that works with fio: libaio, which old servers have too, or io_uring."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a suite on a server."""

    server: Server
    user: str | None
    """The user who owns it and runs everything in it; None: the login user."""
    parent: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.parent.rstrip('/')}/{self.name}"

    def inside(self, words: Words) -> Shell:
        """Return the command that runs these words inside the folder."""
        return call("bench_run_in", self.path, *words)

    def empty(self, job: Job) -> None:
        """Remove the files of the tools after a failure, especially after a full disk."""
        title = "empty the benchmark's folder"
        self.server.run(self.inside(("bench_empty",)), job, user=self.user, deadline=_REMOVE_SECONDS, title=title)


def user_for(server: Server, job: Job) -> str | None:
    """Return the user who runs the benchmarks: root if allowed, since only root can drop caches, or the login user."""
    # without root figures are taken all the same, and marked
    return "root" if server.can_become("root", job) else None


def inspect(
    server: Server, volume: Volume, user: str | None, facts: Facts, job: Job, programs: Sequence[str], path: str = ""
) -> Location:
    """Return what is at the place where the volume's folder is to be created, and which programs are installed.

    Nothing is changed.

    Args:
        server: the server of the volume.
        volume: the volume.
        user: the user who runs the benchmarks; None: the login user.
        facts: the facts of the server.
        job: receives progress, and can be cancelled.
        programs: the programs to look for.
        path: a PATH in which they are looked for as well.

    Raises:
        InputError: the folder does not exist; the hint lists the volumes of the server.
    """
    # a relative path would begin in the home of whoever measures
    if not volume.folder.startswith("/"):
        raise InputError(
            f"{volume.folder!r} is not an absolute path",
            "name a mount point or a folder, such as /srv/pg",
        )
    looking = call("bench_inspect", volume.folder, path, *programs)
    seen = server.run(looking, job, user=user, title="look at the volume").stdout
    lines = [line.partition(" ") for line in lines_of(seen)]
    found: dict[str, list[str]] = {}
    for key, _, value in lines:
        found.setdefault(key, []).append(value)
    if "missing" not in found and lines_of(seen)[-1:] != [END_MARK]:
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
    """Create a new folder below `parent` for the `with` block, and hold the server's lock.

    At the end the folder is removed, and the processes in it are ended. A keeper on the server creates and removes it,
    so that it is also removed if the connection is lost or pghaul is killed. The keeper holds a lock, because two
    benchmarks on one server at the same time would measure each other.

    Raises:
        CommandError: it cannot be created, or another benchmark is running on this server; the message says whose, and
            since when.
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
        return stack.enter_context(keeping(folder.server, _keeper_command(folder), folder.user, job, title=title))
    except CommandError as error:
        raise _creation_error(folder, error) from error


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
                        f"server removes it {SILENCE_SECONDS} s after its last contact with pghaul. After a restart "
                        "of the server, the next benchmark there removes it"
                    ),
                    "warning",
                )
            )
    for event in events:
        job.report(event)


def remove_leftovers(server: Server, volume: Volume, job: Job) -> tuple[str, ...]:
    """Remove the folders that earlier benchmarks have left, end the processes in them, and return their paths.

    A folder that another pghaul may be using is left alone, and a note reports it.
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


def _keeper_command(folder: Folder) -> Shell:
    """Return the command of the keeper, which locks, creates, waits for the end, and removes."""
    return call("bench_keep", folder.parent, folder.name, _OWNER, SILENCE_SECONDS, whoami())


def _creation_error(folder: Folder, error: CommandError) -> CommandError:
    said = complaint(error.stderr) or error.message
    if error.exit_status == _HELD:
        return CommandError(
            f"another benchmark is running on {folder.server.name}: {said}",
            (
                "wait until it has ended, because two benchmarks would disturb each other; if its pghaul no longer "
                f"runs, it ends within {SILENCE_SECONDS} s"
            ),
            exit_status=error.exit_status,
        )
    return CommandError(
        f"the benchmark could not create a folder in {folder.parent} on {folder.server.name}: {said}",
        "choose a folder in which the user of the benchmarks may write",
        exit_status=error.exit_status,
        stderr=error.stderr,
    )


def _leftovers(server: Server, parent: str, user: str | None, job: Job) -> list[tuple[str, bool, bool, str]]:
    """Return name, recent, busy and owner of each benchmark folder.

    `recent`: the marker was touched lately. `busy`: a process is in the folder.

    Args:
        server: the server of the folders.
        parent: the folder that contains them.
        user: the user who runs the command; None: the login user.
        job: receives progress, and can be cancelled.
    """
    title = "look for folders of earlier benchmarks"
    seen = server.run(call("bench_leftovers", parent), job, user=user, title=title).stdout
    found = [line.split(" ") for line in counted(seen, "folders")]
    return [
        (name, recent == "yes", busy == "yes", owner)
        for name, recent, busy, owner in (line for line in found if len(line) == 4)
        if _NAME.fullmatch(name)
    ]


def _remove(server: Server, parent: str, name: str, user: str | None, job: Job, *, end_keeper: bool = False) -> None:
    """End the processes in the folder, then remove it.

    A folder without a marker is removed only if it is empty, because its creation was interrupted.

    Args:
        server: the server of the folder.
        parent: the folder that contains it.
        name: its name.
        user: the user who removes it; None: the login user.
        job: receives progress, and can be cancelled.
        end_keeper: end its keeper first, which may still hold the lock and wait for a pghaul that has ended.
    """
    # This is the last check before `rm -rf` as root.
    if not _NAME.fullmatch(name):
        raise PghaulError(f"{name} is not the folder of a benchmark")
    if end_keeper:
        title = "end the waiting of the benchmark's keeper"
        server.run(call("bench_end_keeper", parent, name), job, user=user, deadline=_REMOVE_SECONDS, title=title)
    shell = call("bench_remove", parent, name)
    server.run(shell, job, user=user, deadline=_REMOVE_SECONDS, title="remove the benchmark's folder")
