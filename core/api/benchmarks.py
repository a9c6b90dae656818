"""Run benchmarks on volumes, of a move or of any servers: which, how long, one after the other or side by side."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TypeVar

from core.api.facts import get_facts, get_facts_of_server
from core.api.servers import refuse_locked_servers
from core.api.session import Session, record_commands
from core.benchmarks.folders import user_for
from core.benchmarks.forecasts import ALONE, major_version
from core.benchmarks.installing import Installation, install, installation
from core.benchmarks.model import Forecast, Run, Suite, Volume
from core.benchmarks.runs import MoveContext, remove_leftovers, run_suite, wait_until_in_sync
from core.benchmarks.runs import forecast as forecast_suite
from core.benchmarks.suites import Listed, list_suites, load_suite, own_suites
from core.comparison.sets import place_of, place_on_server
from core.errors import InputError
from core.facts.model import Facts
from core.jobs import Event, Job, Note, Progress
from core.migration.model.move import Move
from core.servers.shell import call
from core.sides import Side

__all__ = [
    "Listed",
    "T",
    "find_missing_tools",
    "forecast_benchmarks",
    "install_tools",
    "list_suites",
    "own_suites",
    "run_benchmarks",
    "run_side_by_side",
    "select_volumes",
    "volume_of_side",
    "volumes_of_servers",
]


def volume_of_side(move: Move, side: Side) -> Volume:
    """Return the volume that the move names for a side; the benchmarks create their own folder on it."""
    server, mount_point = (move.old, move.old_volume) if side is Side.OLD else (move.new, move.new_volume)
    return Volume(side=side, server=server, mount_point=mount_point, folder=mount_point)


def select_volumes(move: Move, sides: Sequence[Side], places: Sequence[str] = ()) -> tuple[Volume, ...]:
    """Return the volumes of the move on those sides, or those that the operator names.

    Args:
        move: the move.
        sides: the sides.
        places: volumes such as `old:/mnt/a`; if there are any, they are returned instead.

    Raises:
        InputError: a word does not name a volume of either server.
    """
    if not places:
        return tuple(volume_of_side(move, side) for side in sides)
    servers = {Side.OLD: move.old, Side.NEW: move.new}
    named = [place_of(word, servers, dated=False) for word in places]
    return tuple(Volume(place.side, servers[place.side], place.path, place.path) for place in named)


def volumes_of_servers(places: Sequence[str]) -> tuple[Volume, ...]:
    """Return the volumes that words such as `db1:/srv/pg` name, without a move.

    Raises:
        InputError: a word does not name a volume, or there is none.
    """
    if not places:
        raise InputError("neither a move nor a volume is given", "name a move, or volumes such as db1:/srv/pg")
    named = [place_on_server(word, dated=False) for word in places]
    return tuple(Volume(None, place.server, place.path, place.path) for place in named)


def forecast_benchmarks(
    session: Session,
    move: str | None,
    suite: str,
    job: Job,
    sides: Sequence[Side] = (Side.OLD, Side.NEW),
    places: Sequence[str] = (),
) -> tuple[Forecast, ...]:
    """Return for each volume how long a suite takes, how much it writes, and its problems and warnings.

    Args:
        session: the history and the connections.
        move: the name of the move; None: no move takes part, and `places` names the volumes of any servers.
        suite: the name of the suite.
        job: the job that reports progress.
        sides: the sides to measure.
        places: other volumes, see `select_volumes`; without a move, see `volumes_of_servers`.
    """
    job = record_commands(session.store, job, move)
    chosen = load_suite(suite)
    found, measured = _move_and_volumes(session, move, sides, places, job)
    forecasts = _forecast_volumes(session, found, measured, chosen, job)
    warnings = _warn_of_versions(session, found, measured, chosen, job)
    return tuple(replace(forecast, warnings=(*forecast.warnings, *warnings)) for forecast in forecasts)


def run_benchmarks(
    session: Session,
    move: str | None,
    suite: str,
    job: Job,
    sides: Sequence[Side] = (Side.OLD, Side.NEW),
    places: Sequence[str] = (),
    *,
    wait_for_resync: bool = False,
    at_once: bool = False,
) -> tuple[Run, ...]:
    """Run a suite on each volume, and return the runs. Nothing starts if a forecast has a problem.

    Args:
        session: the history and the connections.
        move: the name of the move; None: no move takes part, and `places` names the volumes of any servers.
        suite: the name of the suite.
        job: the job that reports progress.
        sides: the sides to measure.
        places: other volumes, see `select_volumes`; without a move, see `volumes_of_servers`.
        wait_for_resync: wait until no array below the volume is being rebuilt.
        at_once: measure the servers at the same time, instead of one after the other.

    Raises:
        InputError: a forecast has a problem, such as lack of space or a missing tool. Or there is no such volume, or
            the volumes cannot be measured at the same time.
    """
    job = record_commands(session.store, job, move)
    chosen = load_suite(suite)
    found, chosen_volumes = _move_and_volumes(session, move, sides, places, job)
    if at_once:
        _refuse_simultaneous(chosen_volumes, chosen)
    refuse_locked_servers(session, [measured.server for measured in chosen_volumes], job)
    forecasts = _forecast_volumes(session, found, chosen_volumes, chosen, job)
    problems = [problem for forecast in forecasts for problem in forecast.problems]
    if problems:
        raise InputError("the benchmarks cannot start: " + "; ".join(problems), "nothing was written to the servers")
    for warning in _warn_of_versions(session, found, chosen_volumes, chosen, job):
        job.report(Note(warning, "warning"))
    each = [
        (measured, partial(_measure, session, found, measured, chosen, wait_for_resync)) for measured in chosen_volumes
    ]
    if at_once:
        runs_by_volume = run_side_by_side([(measured.source, work) for measured, work in each], job)
    elif len(each) == 1:
        runs_by_volume = [work(job) for _, work in each]
    else:
        seconds = [forecast.seconds for forecast in forecasts]
        runs_by_volume = [
            work(_job_for_one_of_several(job, f"{measured.source} ({number + 1} of {len(each)})", seconds, number))
            for number, (measured, work) in enumerate(each)
        ]
    return tuple(run for runs in runs_by_volume for run in runs)


def find_missing_tools(session: Session, server: str, tools: Sequence[str], job: Job) -> Installation:
    """Return which of the tools a server lacks, and the command that would install them; nothing is changed."""
    job = record_commands(session.store, job)
    return installation(session.server(server, job), tools, job)


def install_tools(session: Session, wanted: Installation, job: Job) -> None:
    """Install the tools as root."""
    job = record_commands(session.store, job)
    install(session.server(wanted.server, job), wanted, job)


def _move_and_volumes(
    session: Session, move: str | None, sides: Sequence[Side], places: Sequence[str], job: Job
) -> tuple[Move | None, tuple[Volume, ...]]:
    """Return the move, if one takes part, and the volumes to measure."""
    if move is None:
        return None, volumes_of_servers(places)
    found = session.store.move(move)
    return found, _with_existing_folders(session, found, select_volumes(found, sides, places), job)


def _with_existing_folders(session: Session, move: Move, chosen: Sequence[Volume], job: Job) -> tuple[Volume, ...]:
    """Return the volumes with folders that exist.

    For a folder that the move will create on the path to a target, that is its nearest existing parent. Any other
    missing path is a mistake, which the forecast names.
    """
    future_folders = (move.target, *move.tablespace_targets.values())

    def with_existing_folder(each: Volume) -> Volume:
        if each.server != move.new or not any(
            target.startswith(f"{each.folder.rstrip('/')}/") for target in future_folders
        ):
            return each
        server = session.server(each.server, job)
        search, user = call("nearest_folder", each.folder), user_for(server, job)
        result = server.run(search, job, user=user, title="Find the file system of the target")
        nearest = result.stdout.rstrip("\n")
        if nearest != each.folder:
            job.report(
                Note(
                    f"{each.folder} does not exist on {each.server} yet; its future parent folder {nearest} is measured"
                )
            )
        return replace(each, folder=nearest)

    return tuple(map(with_existing_folder, chosen))


def _measure(
    session: Session, move: Move | None, measured: Volume, suite: Suite, wait_for_resync: bool, job: Job
) -> tuple[Run, ...]:
    """Run the suite on one volume, and return the runs.

    Args:
        session: the history and the connections.
        move: the move; None: no move takes part.
        measured: the volume.
        suite: the suite.
        wait_for_resync: wait until no array below the volume is being rebuilt.
        job: the job that reports progress.
    """
    server = session.server(measured.server, job)
    remove_leftovers(server, measured, job)
    facts, context = _facts_and_context(session, move, measured, suite, job)
    if wait_for_resync:
        wait_until_in_sync(server, measured.folder, facts, job)
    name = None if move is None else move.name
    return run_suite(server, measured, suite, facts, session.store, job, move=name, context=context)


def _refuse_simultaneous(chosen: Sequence[Volume], suite: Suite) -> None:
    """Raise InputError if the measurements of two volumes would disturb each other."""
    hint = "measure one after the other"
    if len({measured.server for measured in chosen}) < len(chosen):
        raise InputError(
            "two volumes of one server cannot be measured at the same time, because they would disturb each other", hint
        )
    driven = [one.title for one in suite.workloads if one.parameters.get("from_other_server") is True]
    # without a move such a workload is skipped
    if driven and len(chosen) > 1 and any(measured.side is not None for measured in chosen):
        raise InputError(
            f"{driven[0]} uses the other server, too; measuring both at the same time would disturb the results", hint
        )


def _job_for_one_of_several(job: Job, title: str, seconds: Sequence[float], number: int) -> Job:
    """Return the job of one volume among several; its progress is that of all volumes and names the volume.

    Args:
        job: the job of all volumes.
        title: the title of this volume.
        seconds: the expected duration of each volume.
        number: the index of this volume.
    """
    before, after = sum(seconds[:number]), sum(seconds[number + 1 :])

    def report(event: Event) -> None:
        if isinstance(event, Progress):
            event = replace(event, whole=title)
            if event.unit == "seconds" and event.total is not None:
                event = replace(event, done=before + event.done, total=before + event.total + after)
        job.report(event)

    return job.relay(report)


def _forecast_volumes(
    session: Session, move: Move | None, chosen: Sequence[Volume], suite: Suite, job: Job
) -> tuple[Forecast, ...]:
    """Return the forecast of each volume."""

    def of(measured: Volume) -> Forecast:
        facts, context = _facts_and_context(session, move, measured, suite, job)
        return forecast_suite(session.server(measured.server, job), measured, suite, facts, job, context)

    return tuple(map(of, chosen))


def _warn_of_versions(
    session: Session, move: Move | None, chosen: Sequence[Volume], suite: Suite, job: Job
) -> tuple[str, ...]:
    """Return a warning if pgbench would run another major version on each server; a move has one for both."""
    if move is not None or not any(workload.tool == "pgbench" for workload in suite.workloads):
        return ()
    found = {each.server: major_version(get_facts_of_server(session, each.server, job)) for each in chosen}
    known = {server: version for server, version in found.items() if version}
    if len(set(known.values())) < 2:
        return ()
    each = ", ".join(f"PostgreSQL {version} on {server}" for server, version in known.items())
    return (f"pgbench runs {each}: its results show more than the difference between the storages",)


def _facts_and_context(
    session: Session, move: Move | None, measured: Volume, suite: Suite, job: Job
) -> tuple[Facts, MoveContext]:
    """Return the facts of the server of a volume, and the move's part in the benchmark."""
    if move is None or measured.side is None:
        return get_facts_of_server(session, measured.server, job), ALONE
    facts = get_facts(session, move, measured.side, job)
    return facts, _move_context(session, move, measured.side, suite, job)


def _move_context(session: Session, move: Move, side: Side, suite: Suite, job: Job) -> MoveContext:
    """Return the major version of the cluster if known, and the other server if the workload is driven from it."""
    old = session.store.facts(move.old)
    cluster = old.cluster(move.cluster) if old is not None else None
    major_version = cluster.series if cluster is not None else None
    if not any(workload.parameters.get("from_other_server") is True for workload in suite.workloads):
        return MoveContext(major_version)
    other = Side.NEW if side is Side.OLD else Side.OLD
    server = session.server(move.new if other is Side.NEW else move.old, job)
    return MoveContext(major_version, server, get_facts(session, move, other, job))


T = TypeVar("T")


class _CombinedProgress:
    """The combined progress of parts that run at the same time: it lasts as long as the slowest part.

    Its methods can be called from several threads.
    """

    def __init__(self, names: Sequence[str], job: Job) -> None:
        self._job = job
        self._lock = threading.Lock()
        self._parts: dict[str, Progress | None] = dict.fromkeys(names)

    def report_part(self, name: str, event: Event) -> None:
        """Report an event of one part; progress is combined with that of the others."""
        with self._lock:
            if isinstance(event, Progress):
                self._parts[name] = event
                event = self._combine(event)
            self._job.report(event)

    def end(self, name: str) -> None:
        """Mark one part as ended: from now on only the others count."""
        with self._lock:
            del self._parts[name]

    def _combine(self, last: Progress) -> Progress:
        known = {name: part for name, part in self._parts.items() if part is not None}
        title = "; ".join(f"{name}: {part.title}" for name, part in known.items())
        progress_id = ";".join(f"{name}:{part.id}" for name, part in known.items())
        totals = [part.total for part in known.values() if part.total is not None]
        # progress in the same unit can be combined; progress in different units cannot
        if (
            len(known) < len(self._parts)
            or len(totals) < len(known)
            or {part.unit for part in known.values()} != {last.unit}
        ):
            return Progress(progress_id, title, 0.0, None, last.unit)
        remaining = max(part.total - part.done for part in known.values() if part.total is not None)
        return Progress(progress_id, title, max(totals) - remaining, max(totals), last.unit)


def run_side_by_side(parts: Sequence[tuple[str, Callable[[Job], T]]], job: Job) -> list[T]:
    """Run all parts at the same time and return their results in order.

    If one fails, the others still run to their end. Then the first error is raised.

    Args:
        parts: a name for display and the function of each part.
        job: the job that reports the combined progress.
    """
    progress = _CombinedProgress([name for name, _ in parts], job)
    with ThreadPoolExecutor(len(parts), thread_name_prefix="side") as pool:
        running = [pool.submit(_carry_out, work, name, progress, job) for name, work in parts]
    return [one.result() for one in running]


def _carry_out(work: Callable[[Job], T], name: str, progress: _CombinedProgress, job: Job) -> T:
    try:
        return work(job.relay(partial(progress.report_part, name)))
    finally:
        progress.end(name)
