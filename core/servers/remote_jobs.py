"""Detached work on a server: it survives a closed laptop, is found again, followed, and ended as a whole.

A job runs in a session of its own under a keeper, a small shell that writes down which process group it is and, at the
end, the exit status, so that both are known although nobody was connected. All that belongs to it lies in one folder of
mode 0700 that its user owns, below /var/tmp: that survives a restart of the host, exists for users without a home, and
is on no cluster's volume. The command lies there too, with the functions that it calls, and is run only if its sum is
the one that was sent; so it may hold no secret. What happens on the server stands in `resources/sh/detached.sh`.
"""

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from core.documents import dump, load
from core.errors import Cancelled, CommandError, InputError, ParseError
from core.jobs import CommandEnded, CommandStarted, Job
from core.servers.connection import Completed, Server
from core.servers.functions import library
from core.servers.remote_process import GRACE, BoundedOutput
from core.servers.shell import Shell, call
from core.text import counted

_BASE = "/var/tmp"  # noqa: S108  mktemp -d makes an own folder in it
_PROGRAM = '{functions}\njob_command() {{\n{command}\n}}\njob_keep "$1"\n'
_FOLDER = re.compile(rf"{_BASE}/pghaul-job\.[A-Za-z0-9]+")
_CHUNK, _STATE = 4 << 20, 1000
"""Bytes of a log that are looked at together, and that its state may take."""
_SOON, _SELDOM = 0.05, 0.2
"""Seconds after which a look that waits sees the end: at first, so that many short jobs take no longer; later."""
_BUSY = 75
"""What a removal ends with when the job still runs."""
_SOON_LOOKS = 20
"""So many looks, each of a second at the most, wait in small steps."""


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


def start(
    server: Server, shell: Shell, job: Job, *, title: str, user: str | None = None, stdin: bytes = b""
) -> RemoteJob:
    """Start a command detached, as `user`; it runs on when the connection ends. Raises what Server.run raises.

    A job that is cancelled meanwhile leaves nothing behind: the start, a moment, is finished and then undone.

    Raises:
        InputError: the command holds a secret.
    """
    job.check()
    # The command is stored in the folder of the job until the job is removed, where a secret must not lie.
    if shell.text != shell.shown:
        raise InputError(f"{title}: a command with a secret cannot be detached", "pass the secret on standard input")
    runs_as = user or server.login
    shown = server.become(user, shell).shown
    functions = "\n".join((shell.functions, library(["job_keep"])))
    program = _PROGRAM.format(functions=functions, command=shell.text).encode("utf-8", "surrogateescape")
    about = dump(_About(title, runs_as, shown))
    starting = call("job_start", _BASE, about, len(program), sha256(program).hexdigest())
    job.report(CommandStarted(server.name, runs_as, shown, title=title))
    # The start itself is not cancelled, because it takes only a moment. If it were, nobody would know whether the job
    # runs, nor in which folder.
    folder = server.run(starting, Job(), user=user, stdin=program + stdin).stdout.strip()
    begun = RemoteJob(server.name, _checked(folder), title, runs_as, None, shown)
    if job.cancelled:
        kill(server, begun, Job())
        remove(server, begun, Job())
        raise Cancelled
    return begun


def state(server: Server, remote_job: RemoteJob, job: Job) -> RemoteState:
    """How the job stands now; raises CommandError when its folder is gone."""
    return _look(server, remote_job, job, offset=0, limit=0)[0]


def read(server: Server, remote_job: RemoteJob, job: Job, limit: int) -> tuple[RemoteState, bytes]:
    """How the job stands, and its log so far, so many bytes at most; raises CommandError when its folder is gone."""
    return _look(server, remote_job, job, offset=0, limit=limit)


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
    kept = BoundedOutput()
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
    asking = call("job_ended_ago", _checked(remote_job.folder))
    with _quiet(job) as quiet:
        said = server.run(asking, quiet, user=_user(server, remote_job)).stdout.strip()
    return max(0.0, float(said)) if re.fullmatch(r"-?[0-9]{1,12}", said) else None


def kill(server: Server, remote_job: RemoteJob, job: Job) -> None:
    """End the job with all its processes: TERM, then KILL. Raises CommandError when something still runs."""
    ending = call("job_kill", _checked(remote_job.folder), GRACE * 10)
    with _quiet(job) as quiet:
        server.run(ending, quiet, user=_user(server, remote_job))


def remove(server: Server, remote_job: RemoteJob, job: Job) -> None:
    """Remove all that is left of an ended job; raises CommandError when it still runs."""
    removing = call("job_remove", _checked(remote_job.folder))
    with _quiet(job) as quiet:
        user = _user(server, remote_job)
        removed = server.run(removing, quiet, user=user, accept=(0, _BUSY))
    if removed.exit_status == _BUSY:
        raise CommandError(f"{server.name}: {remote_job.title} is still running", "kill it first")


def find(server: Server, job: Job, *others: str) -> tuple[RemoteJob, ...]:
    """The jobs on the server, ended or not, of every user whose rights the profile has, and of others by name."""
    users = dict.fromkeys([None, "root", server.profile.database_user, *others])
    found: dict[str, RemoteJob] = {}
    for user in users:
        if user is None or _may_become(server, user, job):
            found.update({each.folder: each for each in _find_of(server, user, job)})
    return tuple(found.values())


def _may_become(server: Server, user: str, job: Job) -> bool:
    with _quiet(job) as quiet:
        return server.can_become(user, quiet)


def _find_of(server: Server, user: str | None, job: Job) -> Iterator[RemoteJob]:
    with _quiet(job) as quiet:
        lines = counted(server.run(call("job_list", _BASE), quiet, user=user).stdout, "jobs")
    for line in lines:
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
    received = BoundedOutput(limit + _STATE)
    looks = round(1 / wait) if wait else 0
    looking = call("job_state", _checked(remote_job.folder), looks, str(wait), offset + 1, limit)
    with _quiet(job) as quiet:
        user = _user(server, remote_job)
        server.run(looking, quiet, user=user, on_stdout=received.add)
    line, _, log = bytes(received.data).partition(b"\n")
    return _parse_state(line.decode(errors="replace")), log


def _parse_state(line: str) -> RemoteState:
    """`1 - 512`: running, exit status or `-`, bytes of the log."""
    found = re.fullmatch(r"([01]) (\d{1,3}|-) +(\d{1,18})", line.strip())
    if found is None:
        raise ParseError(f"the state of a detached job cannot be read: {line!r}")
    status = None if found[2] == "-" else int(found[2])
    return RemoteState(found[1] == "1" and status is None, status, int(found[3]))


def _user(server: Server, remote_job: RemoteJob) -> str | None:
    return None if remote_job.user == server.login else remote_job.user


def _checked(folder: str) -> str:
    """The folder, if it is one that `start` makes: nothing else is ever removed."""
    if not _FOLDER.fullmatch(folder):
        raise InputError(f"{folder!r} is not the folder of a detached job")
    return folder


@contextmanager
def _quiet(job: Job) -> Iterator[Job]:
    """A job for the machinery: cancelled with `job`, but its many small commands are nobody's news."""
    quiet = Job()
    with job.on_cancel(quiet.cancel):
        yield quiet
