"""A watch on the old server: a detached job that records how much the cluster changes, for minutes to days.

It continues without the workstation. On the old server it writes only its log, in a folder of its own below /var/tmp.
There is at most one watch of a move at a time. It is found again by its title, which only this history can know.
"""

from dataclasses import dataclass

from core import units
from core.errors import CommandError, InputError
from core.facts.model import Cluster, Facts
from core.facts.programs import programs_of
from core.jobs import Job, Note
from core.migration.findings.cluster import find_cluster
from core.migration.model.move import Move
from core.migration.model.watch import WatchResult, parse_watch
from core.migration.transports.copy_channel import unique_name
from core.servers import remote_jobs
from core.servers.connection import Server
from core.servers.remote_jobs import RemoteJob
from core.servers.shell import Shell, call, quoted

LEAST_SECONDS, MOST_SECONDS = 10.0, 14 * 86400.0
_LOOKS, _SELDOM = 96, 900.0
"""The number of looks of a watch, and the longest time between two of them in seconds."""
_LEAST_PAUSE = 1.0
_LOG_BYTES = 4 << 20
"""The largest part of the log that is read: five times the size of the log of two weeks, the longest watch."""


@dataclass(frozen=True, slots=True)
class Watching:
    """The state of a watch on the old server.

    Attributes:
        job: the detached job.
        running: whether it is still running.
        log: its log so far.
        watch: the results of its looks; None before the first one.
    """

    job: RemoteJob
    running: bool
    log: str
    watch: WatchResult | None


def begin(old: Server, facts: Facts, move: Move, seed: str, seconds: float, job: Job) -> RemoteJob:
    """Begin a watch on the old server. A note announces what it does.

    Args:
        old: the old server.
        facts: its facts.
        move: the move.
        seed: a secret from which the title of the watch is made.
        seconds: the duration of the watch.
        job: receives the note, and can be cancelled.

    Raises:
        InputError: the cluster is not running, the time is too short or too long, or the move already has a watch.
        ServerError: as Server.run does.
    """
    cluster = find_cluster(facts, move.cluster)
    owner = cluster.owner or old.profile.database_user
    if not cluster.running:
        raise InputError(
            f"{move.cluster} on {old.name} is not running, so nothing changes in it",
            "start the watch while the cluster is running",
        )
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise InputError(f"a watch must last {units.duration(LEAST_SECONDS)} to {units.duration(MOST_SECONDS)}")
    if find(old, facts, move, seed, job) is not None:
        raise InputError(
            f"there is already a watch of {move.name}",
            f"pghaul probe {quoted(move.name)} --watch --status, --collect or --end",
        )
    shell = _shell(facts, cluster, owner, seconds)
    every = units.duration(_every(seconds))
    files = f"the times of {units.counted(cluster.files, 'file')}" if cluster.files else "the times of its files"
    job.report(
        Note(
            f"{old.name} is watched for {units.duration(seconds)}. Every {every} the watch records the "
            f"position in the WAL and {files}, at low priority, as {owner}. It continues without this "
            f"workstation and writes only its own log: {shell.shown}"
        )
    )
    return remote_jobs.start(old, shell, job, title=_title(move, seed), user=owner)


def find(old: Server, facts: Facts | None, move: Move, seed: str, job: Job) -> RemoteJob | None:
    """Return the watch of the move on the old server, running or ended; None if there is none.

    Args:
        old: the old server.
        facts: its facts, for the owner of the cluster; None if not known.
        move: the move.
        seed: the secret from which the title of the watch was made.
        job: receives progress, and can be cancelled.
    """
    cluster = facts.cluster(move.cluster) if facts is not None else None
    others = [cluster.owner] if cluster is not None and cluster.owner else []
    title = _title(move, seed)
    return next((each for each in remote_jobs.find(old, job, *others) if each.title == title), None)


def look(old: Server, watch: RemoteJob, job: Job) -> Watching:
    """Return the state of the watch and its results so far."""
    state, log = remote_jobs.read(old, watch, job, _LOG_BYTES)
    text = log.decode(errors="replace")
    return Watching(watch, state.running, text, parse_watch(text) if "\nlook " in f"\n{text}" else None)


def end(old: Server, watching: Watching, job: Job) -> None:
    """End the watch if it is running, and remove its files. Raise CommandError if its folder still exists."""
    remote_jobs.kill(old, watching.job, job)
    remote_jobs.remove(old, watching.job, job)
    if watching.job in remote_jobs.find(old, job, watching.job.user):
        raise CommandError(f"{old.name}: {watching.job.folder} is still there", "remove it as its user")
    job.report(Note(f"{old.name}: the watch has vanished together with its folder {watching.job.folder}"))


def _title(move: Move, seed: str) -> str:
    return f"watch of {move.name}, {unique_name(move, seed)}"


def _shell(facts: Facts, cluster: Cluster, owner: str, seconds: float) -> Shell:
    path = programs_of(facts, cluster, owner)
    where = (path, cluster.socket_directory or "-", cluster.port or 5432, cluster.series)
    return call(
        "run_at_low_priority", "watch_changes", cluster.data_directory, round(seconds), round(_every(seconds)), *where
    )


def _every(seconds: float) -> float:
    return max(_LEAST_PAUSE, min(_SELDOM, seconds / _LOOKS))
