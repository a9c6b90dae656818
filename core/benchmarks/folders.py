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
from typing import LiteralString

from core.benchmarks.keeper import SILENCE_SECONDS, WAIT, Keeper, keeping
from core.benchmarks.model import Volume
from core.benchmarks.reading import first_line
from core.errors import CommandError, InputError, PghaulError, ServerError
from core.facts.model import Facts
from core.jobs import Event, Job, Note
from core.servers.connection import Server
from core.servers.shell import Shell, command, script, sequence

MARKER = ".pghaul-bench"
UNDO = ".pghaul-undo-"
"""Ahead of the name of a script that takes back what a benchmark did outside of its folder; run before that goes."""
_PREFIX = "pghaul-bench-"
_NAME = re.compile(rf"{_PREFIX}[0-9a-f]{{12}}")
_OWNER = secrets.token_hex(8)
_in_use: set[str] = set()
_WITH_SBIN = script("PATH=$PATH:/usr/sbin:/sbin")
"""Where some distributions keep bonnie++, and where nobody but root looks."""
_REMOVE_SECONDS = 600.0
_HOLDER = "pghaul-bench-holder"
_HELD = 75
# "/" is on every server, readable to all, and a lock on it leaves no file behind; it ends with whoever holds it
_LOCK: LiteralString = """exec 9</
if command -v flock >/dev/null 2>&1 && ! flock -n 9; then
  for process in /proc/[0-9]*; do
    tr '\\0' '\\n' <"$process/cmdline" 2>/dev/null | {
      for skipped in 1 2 3; do read -r line || exit 0; done
      read -r holder && test "$holder" = @holder@ && read -r silence && read -r who && read -r since || exit 0
      echo "by $who since $since" >&2
    }
  done
  echo "by somebody" >&2
  exit 75
fi
"""
_MAKE: LiteralString = """umask 077
cd -P -- @parent@ && mkdir -- @name@ || exit 1
echo @owner@ >@name@/@marker@ || { rm -rf -- @name@; exit 1; }
"""
_UNDO_ALL: LiteralString = """for undo in ./@undo@*; do
  # only what this user has written is run: others may be able to make a folder of that name
  test -O . && test -f "$undo" && test -O "$undo" && ! test -L "$undo" || continue
  sh "$undo" || exit 1
done
"""
# Its waiting is ended, not itself: it cleans up then, and is waited for.
_END_KEEPER: LiteralString = """end() {
  for stat in /proc/[0-9]*/stat; do
    read -r id program state parent rest <"$stat" && test "$parent" = "$1" && echo "$id"
  done 2>/dev/null | { while read -r child; do end "$child"; done; }
  kill -KILL "$1" 2>/dev/null
}
for waiting in $(grep -l -a -F -- @name@ /proc/[0-9]*/cmdline 2>/dev/null); do
  test -e "$waiting" || continue
  waiting=${waiting#/proc/}
  end "${waiting%/cmdline}"
  tries=0
  while test -d @parent@/@name@ && test "$tries" -lt 100; do
    tries=$((tries + 1))
    sleep 0.1
  done
done
"""
_REMOVE: LiteralString = (
    """cd -P -- @parent@ 2>/dev/null || exit 0
test -d @name@ && ! test -L @name@ || exit 0
test -f @name@/@marker@ || { rmdir -- @name@; exit; }
place=$(pwd -P); place=${place%/}/@name@
for signal in TERM TERM TERM TERM TERM KILL KILL; do
  inside=
  for process in /proc/[0-9]*; do
    case $(readlink "$process/cwd" 2>/dev/null) in "$place"*) inside="$inside ${process#/proc/}";; esac
  done
  test -z "$inside" && break
  kill -$signal $inside 2>/dev/null
  sleep 0.5
done
( cd -- @name@ || exit 1
"""
    + _UNDO_ALL
    + """) || exit 1
rm -rf -- @name@"""
)
_DF = re.compile(r"(?P<size>\d+)\s+-?\d+\s+(?P<available>-?\d+)\s+\d+%")


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

    def inside(self, shell: Shell) -> Shell:
        """The command, run inside the folder."""
        return sequence(command("cd", "--", self.path), command("touch", MARKER), _WITH_SBIN, shell)

    def empty(self, job: Job) -> None:
        """Remove what the tools left in it: after a failure, a full disk above all."""
        shell = self.inside(script(_UNDO_ALL + 'for file in *; do rm -rf -- "./$file"; done', undo=UNDO))
        self.server.run(shell, job, user=self.user, deadline=600, title="empty the benchmark's folder")


def ticking(shell: Shell) -> Shell:
    """The command with an empty line each second while it runs, then all that it printed."""
    return script(
        """while sleep 1 >/dev/null 2>&1; do echo; done & ticker=$!
output=$(sh -c @command@ 2>&1); status=$?
kill $ticker; wait $ticker 2>/dev/null; printf '%s\\n' "$output"
exit $status""",
        command=shell,
    )


def user_for(server: Server, job: Job) -> str | None:
    """Who runs the benchmarks: root where the rights allow it, who alone can drop caches, else the login user."""
    return "root" if server.can_become("root", job) else None


def inspect(
    server: Server, volume: Volume, user: str | None, facts: Facts, job: Job, programs: Sequence[str], path: str = ""
) -> Location:
    """Look at the place where the volume's folder is to be made, and which programs are there; changes nothing.

    `programs` are looked for on `path` too, besides the system's.

    Raises:
        InputError: there is no such folder; the hint lists the volumes that there are.
    """
    if not volume.folder.startswith("/"):
        raise InputError(f"{volume.folder!r} is no absolute path", "name a mount point or a folder from the root on")
    shell = script(
        """PATH=@path@:$PATH:/usr/sbin:/sbin
test -d @folder@ || { echo missing; exit 0; }
cd -P -- @folder@ || exit 1
echo "path $(pwd -P)"
test -w . && echo writable
df -Pk . | { read -r heading; read -r line; echo "df $line"; }
place=$(pwd -P)
while :; do
  # a data directory, a tablespace, a folder of write-ahead log: a link may lead here from a cluster nobody knows of
  for sign in "$place"/PG_VERSION "$place"/PG_[0-9]*_[0-9]* "$place"/archive_status; do
    test -e "$sign" && echo "cluster $place" && break
  done
  test "$place" = / && break
  place=$(dirname -- "$place")
done
IFS=:
for program in $(echo @programs@); do command -v "$program" >/dev/null 2>&1 && echo "program $program"; done
unset IFS
command -v fio >/dev/null 2>&1 && for engine in libaio io_uring; do
  fio --readonly --name=try --filename=/bin/sh --rw=read --bs=4k --size=4k --ioengine=$engine >/dev/null 2>&1 &&
    echo "engine $engine" && break
done
exit 0""",
        folder=volume.folder,
        programs=":".join(programs),
        path=path,
    )
    seen = server.run(shell, job, user=user, title="look at the volume").stdout
    lines = [line.partition(" ") for line in seen.splitlines()]
    found: dict[str, list[str]] = {}
    for key, _, value in lines:
        found.setdefault(key, []).append(value)
    space = _DF.search(found.get("df", [""])[0])
    if "missing" in found or space is None:
        mounted = ", ".join(system.mount_point for system in facts.file_systems)
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
                    f"could not remove {folder.path} on {folder.server.name} ({error.message}): the server does it "
                    f"itself {SILENCE_SECONDS} s after it last heard of pghaul; if it was restarted, "
                    "it is removed when benchmarks start there next",
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
        if name in _in_use:
            continue
        if owner != _OWNER and (recent or busy):
            job.report(Note(f"{path} on {server.name} is in use by another pghaul: left alone", "warning"))
            continue
        _remove(server, volume.folder, name, user, job, end_keeper=True)
        job.report(Note(f"removed {path} on {server.name}, left behind by an earlier benchmark"))
        removed.append(path)
    return tuple(removed)


def _kept(folder: Folder) -> Shell:
    """The keeper's script: lock, make, wait, remove."""
    return script(
        _LOCK + _MAKE + WAIT + _REMOVE,
        parent=folder.parent,
        name=folder.name,
        owner=_OWNER,
        marker=MARKER,
        undo=UNDO,
        holder=_HOLDER,
        silence=SILENCE_SECONDS,
        who=_who(),
    )


def _who() -> str:
    """Who holds the lock, for whom it refuses."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = "somebody"
    return f"{user}@{socket.gethostname()}"


def _not_made(folder: Folder, error: CommandError) -> CommandError:
    said = first_line(error.stderr) or error.message
    if error.exit_status == _HELD:
        return CommandError(
            f"{folder.server.name} is being measured already: {said}",
            "two benchmarks at once would measure each other: wait for its end; "
            f"one whose pghaul is gone ends within {SILENCE_SECONDS} s",
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
    shell = script(
        """cd -P -- @parent@ 2>/dev/null || exit 0
place=$(pwd -P); place=${place%/}
for folder in pghaul-bench-*; do
  test -d "$folder" && ! test -L "$folder" && test -f "$folder"/@marker@ || continue
  recent=no; test -n "$(find "$folder"/@marker@ -mmin -2)" && recent=yes
  busy=no
  for process in /proc/[0-9]*; do
    case $(readlink "$process/cwd" 2>/dev/null) in "$place/$folder"*) busy=yes;; esac
  done
  echo "$folder $recent $busy $(cat "$folder"/@marker@)"
done""",
        parent=parent,
        marker=MARKER,
    )
    seen = server.run(shell, job, user=user, title="look for folders of earlier benchmarks").stdout
    lines = [line.split() for line in seen.splitlines()]
    return [
        (line[0], line[1] == "yes", line[2] == "yes", line[3] if len(line) > 3 else "")
        for line in lines
        if len(line) >= 3 and _NAME.fullmatch(line[0])
    ]


def _remove(server: Server, parent: str, name: str, user: str | None, job: Job, *, end_keeper: bool = False) -> None:
    """End what runs inside the folder, then remove it; one without marker only if it is empty: cut off while made.

    `end_keeper`: its keeper may still wait for a pghaul that is gone, and hold the lock.
    """
    if not _NAME.fullmatch(name):
        raise PghaulError(f"{name} is no folder of a benchmark")
    template = _END_KEEPER + _REMOVE if end_keeper else _REMOVE
    shell = script(template, parent=parent, name=name, marker=MARKER, undo=UNDO)
    server.run(shell, job, user=user, deadline=_REMOVE_SECONDS, title="remove the benchmark's folder")
