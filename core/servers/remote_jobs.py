"""Detached work on a server: it survives a closed laptop, is found again, followed, and ended as a whole.

A job runs in a session of its own under a keeper, a small shell that writes down which process group it is and, at the
end, the exit status, so that both are known although nobody was connected. All that belongs to it lies in one folder of
mode 0700 that its user owns, below /var/tmp: that survives a restart of the host, exists for users without a home, and
is on no cluster's volume. `group` holds the leader's process id, its start time and the boot id, so that neither a
reused number nor a restart is taken for the running job. The command itself is not written down: it may hold a secret.
"""

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.documents import dump, load
from core.errors import Cancelled, CommandError, InputError, ParseError
from core.jobs import CommandEnded, CommandStarted, Job
from core.servers.connection import Completed, Server
from core.servers.kept import Kept
from core.servers.remote_process import GRACE
from core.servers.shell import Shell, script

_BASE = "/var/tmp"  # noqa: S108  mktemp -d makes an own folder in it
_FOLDER = re.compile(rf"{_BASE}/pghaul-job\.[A-Za-z0-9]+")
_CHUNK = 4 << 20
_SOON, _SELDOM = 0.05, 0.2
"""Seconds after which a look that waits sees the end: at first, so that many short jobs take no longer; later."""
_BUSY = 75
"""What a removal ends with when the job still runs."""
_SOON_LOOKS = 20
"""So many looks, each of a second at the most, wait in small steps."""

_KEEPER = r"""
folder=$PGHAUL_FOLDER command=$PGHAUL_COMMAND
unset PGHAUL_FOLDER PGHAUL_COMMAND
trap "" HUP
trap : TERM INT
read -r line </proc/$$/stat
set -- ${line##*) }
echo "$$ ${20} $(cat /proc/sys/kernel/random/boot_id)" >"$folder/group.new" || exit 1
mv "$folder/group.new" "$folder/group" || exit 1
set --
( eval "$command" )
status=$?
echo "$status" >"$folder/exit.new" && mv "$folder/exit.new" "$folder/exit"
"""

# goes to the folder, sets `leader` and `running`: whether the group still has processes, its leader or any other
_LOOK = r"""
cd @folder@ || exit 1
running=0 leader=
if read -r leader since boot <group && [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ]; then
  if read -r line 2>/dev/null </proc/"$leader"/stat; then
    set -- ${line##*) }
    [ "${20}" = "$since" ] && [ "$1" != Z ] && running=1
  elif kill -s 0 -- "-$leader" 2>/dev/null; then running=1
  fi
fi
"""


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """A detached job. `command` is as shown, secrets masked; `unit` is its systemd unit, None for a plain session."""

    server: str
    folder: str
    title: str
    user: str
    unit: str | None
    command: str


@dataclass(frozen=True, slots=True)
class RemoteState:
    """How a job stands. Not running and no exit status: the host was restarted, or the job was killed with its keeper.

    `log_bytes` is what it has written so far.
    """

    running: bool
    exit_status: int | None
    log_bytes: int


@dataclass(frozen=True, slots=True)
class _About:
    """What a job's folder says about it."""

    title: str
    user: str
    command: str


def start(server: Server, shell: Shell, job: Job, *, title: str, user: str | None = None) -> RemoteJob:
    """Start a command detached, as `user`; it runs on when the connection ends. Raises what Server.run raises.

    A job that is cancelled meanwhile leaves nothing behind: the start, a moment, is finished and then undone.
    """
    job.check()
    runs_as = user or server.login
    shown = server.become(user, shell).shown
    about = _About(title, runs_as, shown)
    starting = script(
        """
folder=$(mktemp -d @base@/pghaul-job.XXXXXXXX) || exit 1
printf '%s\\n' @about@ >"$folder/about.new" && mv "$folder/about.new" "$folder/about" || { rm -r "$folder"; exit 1; }
PGHAUL_FOLDER=$folder PGHAUL_COMMAND=@command@ setsid sh -c @keeper@ </dev/null >"$folder/log" 2>&1 &
tries=0
until [ -s "$folder/group" ]; do
  tries=$((tries+1))
  [ $tries -lt 200 ] || { cat "$folder/log" >&2; rm -r "$folder"; exit 1; }
  sleep 0.05
done
echo "$folder"
""",
        base=_BASE,
        about=dump(about),
        command=shell,
        keeper=Shell(_KEEPER, "…"),
    )
    job.report(CommandStarted(server.name, runs_as, shown, title=title))
    folder = server.run(starting, Job(), user=user).stdout.strip()
    begun = RemoteJob(server.name, _checked(folder), title, runs_as, None, shown)
    if job.cancelled:
        kill(server, begun, Job())
        remove(server, begun, Job())
        raise Cancelled
    return begun


def state(server: Server, remote_job: RemoteJob, job: Job) -> RemoteState:
    """How the job stands now; raises CommandError when its folder is gone."""
    return _look(server, remote_job, job, offset=0, limit=0)[0]


def follow(
    server: Server,
    remote_job: RemoteJob,
    job: Job,
    *,
    on_output: Callable[[bytes], None] | None = None,
    deadline: float | None = None,
    offset: int = 0,
) -> Completed:
    """Wait for the job's end, handing over its log as it grows; may be called again after a lost connection.

    Args:
        on_output: gets the log's bytes from `offset` on, standard output and error as they came.
        deadline: seconds from now after which the job is killed; None: none.

    Returns:
        The job's exit status, whatever it is, and its log from `offset` on as `stdout`, 64 MiB of it at most.

    Raises:
        CommandError: the deadline passed and the job was killed; it ended without an exit status (the host was
            restarted); or the server did not answer in time how it stands, and then it goes on.
        UnreachableError: the connection was lost; the job goes on.
        Cancelled: the job was cancelled; the remote job is killed.
    """
    began = time.monotonic()
    kept = Kept()
    status: int | None = None
    try:
        for now, chunk in _growth(server, remote_job, job, offset, deadline):
            kept.add(chunk)
            if chunk and on_output is not None:
                on_output(chunk)
            status = now.exit_status
    except Cancelled:
        kill(server, remote_job, Job())  # a job of its own: this one may be cancelled already
        raise
    finally:
        seconds = time.monotonic() - began
        job.report(CommandEnded(server.name, remote_job.command, status, seconds))
    if status is None:
        raise CommandError(
            f"{server.name}: {remote_job.title} ended without an exit status",
            f"the host was restarted, or the job was killed; its log is {remote_job.folder}/log",
            command=remote_job.command,
        )
    return Completed(remote_job.command, status, kept.text(), "", seconds)


def ended_ago(server: Server, remote_job: RemoteJob, job: Job) -> float | None:
    """Seconds since the job ended, by the server's clock; None while it runs, and where nothing says when it ended."""
    asking = script(
        "cd @folder@ || exit 1\n[ ! -e exit ] || echo $(($(date +%s) - $(stat -c %Y exit)))",
        folder=_checked(remote_job.folder),
    )
    with _quiet(job) as quiet:
        said = server.run(asking, quiet, user=_user(server, remote_job)).stdout.strip()
    return max(0.0, float(said)) if said.lstrip("-").isdecimal() else None


def kill(server: Server, remote_job: RemoteJob, job: Job) -> None:
    """End the job with all its processes: TERM, then KILL. Raises CommandError when something still runs."""
    ending = script(
        _LOOK
        + """
[ $running = 1 ] || exit 0
kill -s TERM -- "-$leader" 2>/dev/null
tries=0
while kill -s 0 -- "-$leader" 2>/dev/null; do
  tries=$((tries+1))
  [ $tries -ne @grace@ ] || kill -s KILL -- "-$leader"
  [ $tries -lt @limit@ ] || { echo "process group $leader still runs" >&2; exit 1; }
  sleep 0.1
done
[ -e exit ] || echo 137 >exit
""",
        folder=_checked(remote_job.folder),
        grace=GRACE * 10,
        limit=GRACE * 10 + 30,
    )
    with _quiet(job) as quiet:
        server.run(ending, quiet, user=_user(server, remote_job))


def remove(server: Server, remote_job: RemoteJob, job: Job) -> None:
    """Remove all that is left of an ended job; raises CommandError when it still runs."""
    removing = script(
        _LOOK + "[ $running = 0 ] || [ -e exit ] || exit @busy@\nrm -rf -- @folder@",
        folder=_checked(remote_job.folder),
        busy=_BUSY,
    )
    with _quiet(job) as quiet:
        user = _user(server, remote_job)
        removed = server.run(removing, quiet, user=user, accept=(0, _BUSY))
    if removed.exit_status == _BUSY:
        raise CommandError(f"{server.name}: {remote_job.title} still runs", "kill it first")


def find(server: Server, job: Job) -> tuple[RemoteJob, ...]:
    """The jobs on the server, ended or not, of every user whose rights the profile has."""
    users = dict.fromkeys([None, "root", server.profile.database_user])
    found: dict[str, RemoteJob] = {}
    for user in users:
        if user is None or _may_become(server, user, job):
            found.update({each.folder: each for each in _find_of(server, user, job)})
    return tuple(found.values())


def _may_become(server: Server, user: str, job: Job) -> bool:
    with _quiet(job) as quiet:
        return server.can_become(user, quiet)


def _find_of(server: Server, user: str | None, job: Job) -> Iterator[RemoteJob]:
    # only folders of one's own: another user's could hold anything
    listing = script(
        'for folder in @base@/pghaul-job.*; do [ -d "$folder" ] && [ ! -L "$folder" ] && [ -O "$folder" ] && '
        '[ -f "$folder/about" ] && printf "%s %s\\n" "$folder" "$(head -n 1 "$folder/about")"; done; :',
        base=_BASE,
    )
    with _quiet(job) as quiet:
        text = server.run(listing, quiet, user=user).stdout
    for line in text.splitlines():
        folder, _, about = line.partition(" ")
        try:
            known = load(_About, about)
        except InputError as error:
            raise ParseError(f"{server.name}: {folder}/about cannot be read: {line!r}") from error
        yield RemoteJob(server.name, folder, known.title, known.user, None, known.command)


def _growth(
    server: Server, remote_job: RemoteJob, job: Job, offset: int, deadline: float | None
) -> Iterator[tuple[RemoteState, bytes]]:
    """Each look at the job with the new piece of its log, until it has ended and all of the log has come."""
    until = time.monotonic() + deadline if deadline is not None else math.inf
    looks, behind = 0, False
    while True:
        wait = 0.0 if behind else _SOON if looks < _SOON_LOOKS else _SELDOM
        now, chunk = _look(server, remote_job, job, offset, _CHUNK, wait=wait)
        offset += len(chunk)
        behind = offset < now.log_bytes
        yield now, chunk
        if not now.running and not behind:
            return
        if time.monotonic() > until:
            kill(server, remote_job, Job())
            raise CommandError(
                f"{server.name}: {remote_job.title} did not end within {deadline:.0f} s and was stopped",
                command=remote_job.command,
            )
        looks += 1


def _look(
    server: Server, remote_job: RemoteJob, job: Job, offset: int, limit: int, *, wait: float = 0.0
) -> tuple[RemoteState, bytes]:
    """The state, and then the log from `offset` on: of a job that has ended that is all there will be.

    `wait`: not before the job has ended or a second has passed; it is looked for every so many seconds.
    """
    received = bytearray()
    looking = script(
        """
cd @folder@ || exit 1
looks=0
until [ -e exit ] || [ $looks -ge @looks@ ]; do sleep @wait@; looks=$((looks+1)); done
"""
        + _LOOK
        + """
read -r status 2>/dev/null <exit || status=-
echo "$running $status $(wc -c <log)"
[ @limit@ = 0 ] || tail -c +@first@ log | head -c @limit@
""",
        folder=_checked(remote_job.folder),
        looks=round(1 / wait) if wait else 0,
        wait=str(wait),
        first=offset + 1,
        limit=limit,
    )
    with _quiet(job) as quiet:
        user = _user(server, remote_job)
        server.run(looking, quiet, user=user, on_stdout=received.extend)
    line, _, log = bytes(received).partition(b"\n")
    return _parse_state(line.decode(errors="replace")), log


def _parse_state(line: str) -> RemoteState:
    """`1 - 512`: running, exit status or `-`, bytes of the log."""
    found = re.fullmatch(r"([01]) (\d+|-) +(\d+)", line.strip())
    if found is None:
        raise ParseError(f"the state of a detached job cannot be read: {line!r}")
    status = None if found[2] == "-" else int(found[2])
    return RemoteState(found[1] == "1" and status is None, status, int(found[3]))


def _user(server: Server, remote_job: RemoteJob) -> str | None:
    return None if remote_job.user == server.login else remote_job.user


def _checked(folder: str) -> str:
    """The folder, if it is one that `start` makes: nothing else is ever removed."""
    if not _FOLDER.fullmatch(folder):
        raise InputError(f"{folder!r} is no folder of a detached job")
    return folder


@contextmanager
def _quiet(job: Job) -> Iterator[Job]:
    """A job for the machinery: cancelled with `job`, but its many small commands are nobody's news."""
    quiet = Job()
    with job.on_cancel(quiet.cancel):
        yield quiet
