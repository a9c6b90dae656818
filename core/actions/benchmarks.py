"""Measure the storages of a move and put them side by side."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from core.actions.facts import facts_of
from core.actions.locks import refuse_held
from core.actions.session import Session, record_commands
from core.actions.side_by_side import side_by_side
from core.benchmarks.folders import user_for
from core.benchmarks.model import Forecast, Outcome, Run, Side, Suite, Volume
from core.benchmarks.runs import MoveContext, remove_leftovers, run_suite, wait_until_in_sync
from core.benchmarks.runs import forecast as forecast_suite
from core.benchmarks.suites import load_suite
from core.comparison.compare import compare as compare_runs
from core.comparison.model import Comparison
from core.comparison.sets import over_time, place_of, set_of
from core.errors import InputError
from core.jobs import Event, Job, Note, Progress
from core.migration.model.move import Move
from core.servers.shell import call


def volume(move: Move, side: Side) -> Volume:
    """The volume that the move names for a side; the benchmarks make a folder of their own on it."""
    server, mount_point = (move.old, move.old_volume) if side is Side.OLD else (move.new, move.new_volume)
    return Volume(side=side, server=server, mount_point=mount_point, folder=mount_point)


def volumes(move: Move, sides: Sequence[Side], places: Sequence[str] = ()) -> tuple[Volume, ...]:
    """The volumes of the move on those sides, or the `places` that the DBA names instead, such as `old:/mnt/a`.

    Raises:
        InputError: a word names no volume of either server.
    """
    if not places:
        return tuple(volume(move, side) for side in sides)
    servers = {Side.OLD: move.old, Side.NEW: move.new}
    named = [place_of(word, servers, dated=False) for word in places]
    return tuple(Volume(place.side, servers[place.side], place.path, place.path) for place in named)


def forecast(
    session: Session,
    move: str,
    suite: str,
    job: Job,
    sides: Sequence[Side] = (Side.OLD, Side.NEW),
    places: Sequence[str] = (),
) -> tuple[Forecast, ...]:
    """What a suite takes on each volume: seconds, bytes, what forbids it, what colours it; see `volumes`."""
    job = record_commands(session.store, job, move)
    chosen, found = load_suite(suite), session.store.move(move)
    measured = _placed(session, found, volumes(found, sides, places), job)
    return tuple(_forecast(session, found, each, chosen, job) for each in measured)


def run_benchmarks(
    session: Session,
    move: str,
    suite: str,
    job: Job,
    sides: Sequence[Side] = (Side.OLD, Side.NEW),
    places: Sequence[str] = (),
    *,
    wait_for_resync: bool = False,
    at_once: bool = False,
) -> tuple[Run, ...]:
    """Run a suite on each volume (see `volumes`); nothing starts while a forecast has a problem.

    `wait_for_resync`: begin only when no array below the volume is being rebuilt. `at_once`: on both servers at the
    same time, else one after the other.

    Raises:
        InputError: not enough space, no such volume, a tool is missing: the forecast's problems; or the volumes cannot
            be measured at once.
    """
    job = record_commands(session.store, job, move)
    chosen, found = load_suite(suite), session.store.move(move)
    chosen_volumes = _placed(session, found, volumes(found, sides, places), job)
    if at_once:
        _refuse_at_once(chosen_volumes, chosen)
    refuse_held(session, [measured.server for measured in chosen_volumes], job)
    forecasts = [_forecast(session, found, measured, chosen, job) for measured in chosen_volumes]
    problems = [problem for forecast in forecasts for problem in forecast.problems]
    if problems:
        raise InputError("the benchmarks cannot start: " + "; ".join(problems), "nothing was written to the servers")
    each = [
        (measured, partial(_measure, session, found, measured, chosen, wait_for_resync)) for measured in chosen_volumes
    ]
    if at_once:
        made = side_by_side([(measured.side.value, work) for measured, work in each], job)
    elif len(each) == 1:
        made = [work(job) for _, work in each]
    else:
        seconds = [forecast.seconds for forecast in forecasts]
        made = [
            work(_of_several(job, f"{measured.side} ({number + 1} of {len(each)})", seconds, number))
            for number, (measured, work) in enumerate(each)
        ]
    return tuple(run for runs in made for run in runs)


def _placed(session: Session, move: Move, chosen: Sequence[Volume], job: Job) -> tuple[Volume, ...]:
    """Each where it can be measured: of a path to the target that the move will make, the nearest folder that is there.

    Any other path that is not there is a mistake, which the forecast names.
    """
    made = (move.target, *move.tablespace_targets.values())

    def placed(each: Volume) -> Volume:
        if each.server != move.new or not any(target.startswith(f"{each.folder.rstrip('/')}/") for target in made):
            return each
        server = session.server(each.server, job)
        looking, user = call("nearest_folder", each.folder), user_for(server, job)
        looked = server.run(looking, job, user=user, title="Find the file system of the target")
        nearest = looked.stdout.rstrip("\n")
        if nearest != each.folder:
            job.report(
                Note(
                    f"{each.folder} does not exist on {each.server} yet; its future parent folder {nearest} is measured"
                )
            )
        return replace(each, folder=nearest)

    return tuple(map(placed, chosen))


def _measure(
    session: Session, move: Move, measured: Volume, suite: Suite, wait_for_resync: bool, job: Job
) -> tuple[Run, ...]:
    """Run the suite on one volume."""
    server, side = session.server(measured.server, job), measured.side
    remove_leftovers(server, measured, job)
    facts, context = facts_of(session, move, side, job), _context(session, move, side, suite, job)
    if wait_for_resync:
        wait_until_in_sync(server, measured.folder, facts, job)
    return run_suite(server, measured, suite, facts, session.store, job, move=move.name, context=context)


def _refuse_at_once(chosen: Sequence[Volume], suite: Suite) -> None:
    """Raise InputError where two volumes would measure each other."""
    hint = "measure one after the other"
    if len({measured.server for measured in chosen}) < len(chosen):
        raise InputError(
            "two volumes of one server cannot be measured at the same time, because they would disturb each other", hint
        )
    driven = [one.title for one in suite.workloads if one.parameters.get("from_other_server") is True]
    if driven and len(chosen) > 1:
        raise InputError(
            f"{driven[0]} uses the other server, too; measuring both at the same time would disturb the results", hint
        )


def _of_several(job: Job, title: str, seconds: Sequence[float], number: int) -> Job:
    """The job of one storage among several: its progress is that of all, and says which storage it is.

    `seconds`: what each storage is expected to take; `number`: which of them this one is.
    """
    before, after = sum(seconds[:number]), sum(seconds[number + 1 :])

    def tell(event: Event) -> None:
        if isinstance(event, Progress):
            event = replace(event, whole=title)
            if event.unit == "seconds" and event.total is not None:
                event = replace(event, done=before + event.done, total=before + event.total + after)
        job.report(event)

    return job.relay(tell)


def compare(session: Session, move: str) -> Comparison:
    """The latest runs of each workload on both sides, side by side.

    Raises:
        InputError: nothing was measured yet.
    """
    sides = [
        session.store.runs(session.store.move(move).name, side=side, latest_only=True) for side in (Side.OLD, Side.NEW)
    ]
    if not any(sides):
        raise InputError(f"no benchmark of the move {move} has run yet", f"run: pghaul bench {move}")
    return compare_runs(*sides)


def compare_sets(session: Session, move: str, places: Sequence[str]) -> Comparison:
    """Sets of runs side by side: volumes of either server, one volume at several dates; one alone over all its time.

    Raises:
        InputError: a word names no volume, or nothing was measured there.
    """
    found = session.store.move(move)
    named = [place_of(word, {Side.OLD: found.old, Side.NEW: found.new}) for word in places]
    runs = session.store.runs(found.name)
    if len(named) == 1:
        sets = over_time(named[0], runs)
        if len(sets) < 2:
            times = "once" if sets else "never"
            raise InputError(
                f"{places[0]} was measured {times}, so its results cannot be compared over time",
                f"run: pghaul bench {move}",
            )
        return compare_runs(*sets, dated=True)
    sets = tuple(set_of(place, runs) for place in named)
    for word, one in zip(places, sets, strict=True):
        if not any(run.outcome is Outcome.DONE for run in one):
            raise InputError(
                f"no benchmark of {word} has finished yet",
                f"run: pghaul bench {move} --volume {word.partition('@')[0]}",
            )
    return compare_runs(*sets, dated=len({(place.side, place.path) for place in named}) < len(named))


def compare_two(session: Session, old: int, new: int, *further: int) -> Comparison:
    """Two runs or more by their numbers in the history, of whichever servers and volumes.

    What somebody else measured may have another name: it is held against the first by what both have measured.

    Raises:
        InputError: they ran different workloads.
    """
    first = session.store.run(old)
    return compare_runs([first], *([_alike(first, session.store.run(number))] for number in (new, *further)))


def _alike(first: Run, second: Run) -> Run:
    """The second run, as one of the first one's workload where it came from elsewhere; else it has to be one."""
    old, new = first.id, second.id
    if first.workload.tool == second.workload.tool and (first.volume.elsewhere or second.volume.elsewhere):
        return replace(second, workload=first.workload)
    if (first.workload.tool, first.workload.name) != (second.workload.tool, second.workload.name):
        raise InputError(
            f"run {old} is of {first.workload.title}, run {new} of {second.workload.title}; they cannot be compared",
            "name two runs of the same workload; list them with: pghaul history runs MOVE",
        )
    if first.workload.parameters != second.workload.parameters:
        raise InputError(
            f"runs {old} and {new} of {first.workload.title} had different parameters and cannot be compared",
            f"show the parameters with: pghaul history run {old} --json; pghaul history run {new} --json",
        )
    return second


def _forecast(session: Session, move: Move, measured: Volume, suite: Suite, job: Job) -> Forecast:
    facts, context = facts_of(session, move, measured.side, job), _context(session, move, measured.side, suite, job)
    return forecast_suite(session.server(measured.server, job), measured, suite, facts, job, context)


def _context(session: Session, move: Move, side: Side, suite: Suite, job: Job) -> MoveContext:
    """Return the major version of the cluster if known, and the other server if the workload is driven from it."""
    old = session.store.facts(move.old)
    cluster = old.cluster(move.cluster) if old is not None else None
    major_version = cluster.series if cluster is not None else None
    if not any(workload.parameters.get("from_other_server") is True for workload in suite.workloads):
        return MoveContext(major_version)
    other = Side.NEW if side is Side.OLD else Side.OLD
    server = session.server(move.new if other is Side.NEW else move.old, job)
    return MoveContext(major_version, server, facts_of(session, move, other, job))
