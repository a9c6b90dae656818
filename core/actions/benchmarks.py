"""Measure the storages of a move and put them side by side."""

from collections.abc import Sequence

from core.actions.desk import Desk, recorded
from core.actions.facts import facts_of
from core.benchmarks.model import Forecast, Run, Side, Suite, Volume
from core.benchmarks.runs import Surroundings, remove_leftovers, run_suite
from core.benchmarks.runs import forecast as forecast_suite
from core.benchmarks.suites import load_suite
from core.comparison.compare import compare as compare_runs
from core.comparison.model import Comparison
from core.errors import InputError
from core.jobs import Job
from core.migration.model import Move


def volume(move: Move, side: Side) -> Volume:
    """The volume that the move names for a side; the benchmarks make a folder of their own on it."""
    server, mount_point = (move.old, move.old_volume) if side is Side.OLD else (move.new, move.new_volume)
    return Volume(side=side, server=server, mount_point=mount_point, folder=mount_point)


def forecast(
    desk: Desk, move: str, suite: str, job: Job, sides: Sequence[Side] = (Side.OLD, Side.NEW)
) -> tuple[Forecast, ...]:
    """What a suite takes on each side: seconds, bytes, and what forbids it."""
    job = recorded(desk.store, job, move)
    chosen, found = load_suite(suite), desk.store.move(move)
    return tuple(_forecast(desk, found, side, chosen, job) for side in sides)


def run_benchmarks(
    desk: Desk, move: str, suite: str, job: Job, sides: Sequence[Side] = (Side.OLD, Side.NEW)
) -> tuple[Run, ...]:
    """Run a suite on each side, one after the other; nothing starts while a forecast has a problem.

    Raises:
        InputError: not enough space, no such volume, a tool is missing: the forecast's problems.
    """
    job = recorded(desk.store, job, move)
    chosen, found = load_suite(suite), desk.store.move(move)
    forecasts = [_forecast(desk, found, side, chosen, job) for side in sides]
    problems = [problem for forecast in forecasts for problem in forecast.problems]
    if problems:
        raise InputError("the benchmarks cannot start: " + "; ".join(problems), "nothing was written to either server")
    runs: list[Run] = []
    for side in sides:
        measured = volume(found, side)
        server = desk.server(measured.server, job)
        remove_leftovers(server, measured, job)
        facts, around = facts_of(desk, found, side, job), _around(desk, found, side, chosen, job)
        runs += run_suite(server, measured, chosen, facts, desk.store, job, move=move, around=around)
    return tuple(runs)


def compare(desk: Desk, move: str) -> Comparison:
    """The latest runs of each workload on both sides, side by side.

    Raises:
        InputError: nothing was measured yet.
    """
    sides = [desk.store.runs(desk.store.move(move).name, side=side, latest_only=True) for side in (Side.OLD, Side.NEW)]
    if not any(sides):
        raise InputError(f"nothing was measured for the move {move}", f"run: pghaul bench {move}")
    return compare_runs(*sides)


def compare_two(desk: Desk, old: int, new: int) -> Comparison:
    """Two runs by their numbers in the history, of whichever servers and volumes.

    Raises:
        InputError: they ran different workloads.
    """
    first, second = desk.store.run(old), desk.store.run(new)
    if (first.workload.tool, first.workload.name) != (second.workload.tool, second.workload.name):
        raise InputError(
            f"run {old} is of {first.workload.title}, run {new} of {second.workload.title}: nothing to compare",
            "name two runs of one workload; pghaul history runs MOVE lists them",
        )
    if first.workload.parameters != second.workload.parameters:
        raise InputError(
            f"runs {old} and {new} of {first.workload.title} had different parameters: nothing to compare",
            f"see them with: pghaul history run {old} --json, pghaul history run {new} --json",
        )
    return compare_runs([first], [second])


def _forecast(desk: Desk, move: Move, side: Side, suite: Suite, job: Job) -> Forecast:
    measured, facts = volume(move, side), facts_of(desk, move, side, job)
    around = _around(desk, move, side, suite, job)
    return forecast_suite(desk.server(measured.server, job), measured, suite, facts, job, around)


def _around(desk: Desk, move: Move, side: Side, suite: Suite, job: Job) -> Surroundings:
    """The series of the move's cluster, as far as it is known; the other server where a workload is driven from it."""
    old = desk.store.facts(move.old)
    cluster = old.cluster(move.cluster) if old is not None else None
    series = cluster.series if cluster is not None else None
    if not any(workload.parameters.get("from_other_server") is True for workload in suite.workloads):
        return Surroundings(series)
    other = Side.NEW if side is Side.OLD else Side.OLD
    server = desk.server(move.new if other is Side.NEW else move.old, job)
    return Surroundings(series, server, facts_of(desk, move, other, job))
