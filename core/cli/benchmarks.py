"""`pghaul bench`: measure the storages of a move."""

import argparse
from typing import TYPE_CHECKING

from core import units
from core.benchmarks.model import Forecast, Outcome, Run, Side
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import table
from core.errors import InputError

if TYPE_CHECKING:
    from core.benchmarks.suites import Listed

BOTH = (Side.OLD, Side.NEW)


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    bench = nouns.add_parser("bench", help="measure both storages of a move")
    bench.add_argument("move", nargs="?")
    bench.add_argument("--list", action="store_true", help="list the suites, and measure nothing")
    bench.add_argument(
        "--suite",
        default="standard",
        help="name of a suite, a suite file of your own, or a fio job file that ends in .fio (default: standard)",
    )
    bench.add_argument("--side", type=Side, choices=list(Side), help="measure one side alone")
    bench.add_argument("--forecast", action="store_true", help="say how long and how much, and measure nothing")
    add_common(bench, server=True)
    bench.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core import actions

    if options.list:
        return _list(options)
    if options.move is None:
        raise InputError("which move is to be measured?", "name it, or list the suites with: pghaul bench --list")
    sides = (options.side,) if options.side else BOTH
    if options.forecast:
        forecasts = actions.forecast(context.desk, options.move, options.suite, context.job, sides)
        if options.json:
            print_document({"forecasts": forecasts})
        else:
            print("\n".join(_forecast(forecast) for forecast in forecasts))
        return 1 if any(forecast.problems for forecast in forecasts) else 0
    runs = actions.run_benchmarks(context.desk, options.move, options.suite, context.job, sides)
    if options.json:
        print_document({"runs": runs})
    else:
        print(text(runs))
    return 0 if all(run.outcome is Outcome.DONE for run in runs) else 1


def _list(options: argparse.Namespace) -> int:
    from core.benchmarks.suites import list_suites, own_suites

    found = list_suites()
    if options.json:
        print_document({"suites": found, "own": str(own_suites())})
        return 0
    rows = [
        (suite.name, suite.title, str(len(suite.workloads)), str(suite.repetitions), _needs(suite))
        if not suite.problem
        else (suite.name, f"cannot be read: {suite.problem}", "", "", "")
        for suite in found
    ]
    print(table(("suite", "measures", "workloads", "repetitions", "writes"), rows))
    print(f"\nSuites of your own: {own_suites()}")
    return 0


def _needs(suite: "Listed") -> str:
    memory = f"{suite.memory_multiple} × memory" if suite.memory_multiple else ""
    return " + ".join(part for part in (units.size(suite.bytes_needed) if suite.bytes_needed else "", memory) if part)


def _forecast(forecast: Forecast) -> str:
    volume = forecast.volume
    said = (
        f"{volume.side} ({volume.server}:{volume.mount_point}): about {units.duration(forecast.seconds)}, "
        f"{units.size(forecast.bytes_needed)} of {units.size(forecast.bytes_available)} available"
    )
    problems = [f"  cannot start: {problem}" for problem in forecast.problems]
    return "\n".join([said, *problems, *(f"  left out: {reason}" for reason in forecast.left_out)])


def text(runs: tuple[Run, ...]) -> str:
    """Runs for people, a line each."""
    rows = [
        (
            str(run.id or ""),
            run.volume.side,
            run.workload.title,
            ", ".join(
                units.metric(run.workload.headline, repetition.metrics.get(run.workload.headline))
                for repetition in run.repetitions
            ),
            _outcome(run),
        )
        for run in runs
    ]
    return table(("run", "side", "workload", "repetitions", "outcome"), rows)


def _outcome(run: Run) -> str:
    outcome = str(run.outcome or "not ended")
    messages = [repetition.message for repetition in run.repetitions if repetition.message]
    cached = " (caches not dropped)" if any(repetition.cached for repetition in run.repetitions) else ""
    return outcome + cached + (f": {messages[0]}" if messages else "")
