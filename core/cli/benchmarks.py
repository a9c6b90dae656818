"""`pghaul bench`: measure the storages of a move."""

import argparse
from typing import TYPE_CHECKING

from core import units
from core.benchmarks.model import Forecast, Outcome, Run, Side
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show, table
from core.errors import InputError

if TYPE_CHECKING:
    from core.benchmarks.suites import Listed

BOTH = (Side.OLD, Side.NEW)

_DESCRIPTION = """\
Measure both storages of a move, one side alone, or any volumes or folders of its servers.
Each workload is repeated as often as the suite says at least, without repetitions that others disturbed, and then until
the coefficient of variation is under the suite's target, or its limit is reached; the run says why it stopped.
Of five values or more, outliers by the generalised extreme studentised deviate test (5 %; one Grubbs test for five to
nine values) are kept and shown but left out of mean, spread and ratio.
A server is measured by one benchmark at a time. Exit code 1 also says that a run failed."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    bench = nouns.add_parser("bench", help="measure both storages of a move", description=_DESCRIPTION)
    bench.add_argument("move", nargs="?")
    bench.add_argument("--list", action="store_true", help="list the suites and the tools, and measure nothing")
    bench.add_argument(
        "--suite",
        default="standard",
        help="name of a suite, a suite file of your own, or a fio job file that ends in .fio (default: standard)",
    )
    where = bench.add_mutually_exclusive_group()
    where.add_argument("--side", type=Side, choices=list(Side), help="measure one side alone")
    where.add_argument(
        "--volume",
        action="append",
        metavar="SIDE:PATH",
        help="measure this volume or folder of a server instead, such as old:/mnt/a; may be given several times",
    )
    bench.add_argument(
        "--wait-for-resync", action="store_true", help="begin only when no array below the volume is being rebuilt"
    )
    bench.add_argument(
        "--at-once", action="store_true", help="measure both servers at the same time, not one after the other"
    )
    bench.add_argument("--forecast", action="store_true", help="say how long and how much, and measure nothing")
    add_common(bench, server=True)
    bench.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.actions import benchmarks as actions

    if options.list:
        return _list(options)
    if options.move is None:
        raise InputError("which move is to be measured?", "name it, or list the suites with: pghaul bench --list")
    sides, places = (options.side,) if options.side else BOTH, options.volume or ()
    if options.forecast:
        forecasts = actions.forecast(context.session, options.move, options.suite, context.job, sides, places)
        if options.json:
            print_document({"forecasts": forecasts})
        else:
            show("\n".join(forecast_text(forecast) for forecast in forecasts))
        return 1 if any(forecast.problems for forecast in forecasts) else 0
    runs = actions.run_benchmarks(
        context.session,
        options.move,
        options.suite,
        context.job,
        sides,
        places,
        wait_for_resync=options.wait_for_resync,
        at_once=options.at_once,
    )
    if options.json:
        print_document({"runs": runs})
    else:
        show(text(runs))
    return 0 if all(run.outcome is Outcome.DONE for run in runs) else 1


def _list(options: argparse.Namespace) -> int:
    from core.benchmarks.suites import list_suites, own_suites
    from core.benchmarks.tools import TOOLS

    found = list_suites()
    if options.json:
        print_document({"suites": found, "tools": tuple(TOOLS), "own": str(own_suites())})
        return 0
    rows = [
        (suite.name, suite.title, str(len(suite.workloads)), str(suite.repetitions), _needs(suite))
        if not suite.problem
        else (suite.name, f"cannot be read: {suite.problem}", "", "", "")
        for suite in found
    ]
    show(table(("suite", "measures", "workloads", "repetitions", "writes"), rows))
    show(f"\nTools for suites of your own: {', '.join(TOOLS)}\nSuites of your own: {own_suites()}")
    return 0


def _needs(suite: "Listed") -> str:
    memory = f"{suite.memory_multiple} × memory" if suite.memory_multiple else ""
    return " + ".join(part for part in (units.size(suite.bytes_needed) if suite.bytes_needed else "", memory) if part)


def forecast_text(forecast: Forecast) -> str:
    """A forecast for people: the volume, how long and how much, then what is in the way."""
    volume = forecast.volume
    where, seconds = f"{volume.side} ({volume.server}:{volume.mount_point})", units.duration(forecast.seconds)
    said = (
        f"{where}: about {seconds}{_most(forecast)}, "
        f"{units.size(forecast.bytes_needed)} of {units.size(forecast.bytes_available)} available"
    )
    problems = [f"  cannot start: {problem}" for problem in forecast.problems]
    warnings = [f"  warning: {warning}" for warning in forecast.warnings]
    offer = ["  to wait for that: pghaul bench --wait-for-resync"] if forecast.resync else []
    return "\n".join([said, *problems, *(f"  left out: {reason}" for reason in forecast.left_out), *warnings, *offer])


def _most(forecast: Forecast) -> str:
    if forecast.seconds_at_most is None:
        return ""
    return f" (up to {units.duration(forecast.seconds_at_most)} where the figures are not steady)"


def text(runs: tuple[Run, ...]) -> str:
    """Runs for people, a line each."""
    rows = [
        (
            str(run.id or ""),
            f"{run.volume.server if run.volume.elsewhere else run.volume.side}:{run.volume.mount_point}",
            run.workload.title,
            _figures(run),
            _outcome(run),
        )
        for run in runs
    ]
    return table(("run", "volume", "workload", "repetitions", "outcome"), rows)


def _figures(run: Run) -> str:
    """The headline of each repetition, with what is to be said of it."""
    from core.comparison.samples import remarks

    said = remarks(run.workload.headline, run)
    figures = []
    for one in run.repetitions:
        words = [word for word in said[one.number] if word not in ("cached", Outcome.FAILED)]
        if "decrease_fraction" in one.metrics:
            words.append(f"decrease {units.percent(one.metrics['decrease_fraction'])}")
        figure = units.metric(run.workload.headline, one.metrics.get(run.workload.headline))
        figures.append(f"{figure} ({', '.join(words)})" if words else figure)
    return ", ".join(figures)


def _outcome(run: Run) -> str:
    outcome = str(run.outcome or "not ended")
    messages = [repetition.message for repetition in run.repetitions if repetition.message]
    cached = " (caches not dropped)" if any(repetition.cached for repetition in run.repetitions) else ""
    why = messages[0] if messages else run.stopped
    return outcome + cached + (f": {why}" if why else "")
