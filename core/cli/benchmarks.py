"""`pghaul bench`: measure the storages of a move, or of any servers."""

import argparse
from typing import TYPE_CHECKING

from core import units
from core.benchmarks.model import Forecast, Outcome, Run
from core.cli.context import Context, add_common, add_former_name, print_document
from core.cli.own_settings import add_from_setting
from core.cli.sizes import size
from core.cli.terminal import show, table
from core.comparison.sets import is_place_on_server
from core.errors import InputError
from core.sides import Side

if TYPE_CHECKING:
    from core.benchmarks.suites import Listed

BOTH = (Side.OLD, Side.NEW)

_DESCRIPTION = """\
Benchmark the storage of both servers of a move, of one server only, or of any volumes or folders on them. Without a
move, name volumes or folders of any servers: pghaul bench db1:/srv/pg db2:/mnt/a.
Each workload is repeated at least as often as the suite says. Repetitions that other activity disturbed do not count.
Further repetitions follow until the coefficient of variation is below the target of the suite, or until the limit of
the suite is reached. Each run records why it stopped.
With five or more values, outliers are shown but do not count for mean, spread and ratio. They are found by the
generalised extreme studentised deviate test at a significance level of 5 % (by one Grubbs test for five to nine
values).
Only one benchmark at a time can measure a server. The exit code is 1 if a run failed."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    bench = nouns.add_parser(
        "bench", help="benchmark the storage of a move, or of any servers", description=_DESCRIPTION
    )
    bench.add_argument(
        "what",
        nargs="*",
        metavar="MOVE | SERVER:/PATH...",
        help="name of the move; or volumes or folders of any servers, such as db1:/srv/pg, without a move",
    )
    bench.add_argument("--list", action="store_true", help="list the suites and the tools without measuring")
    add_from_setting(
        bench,
        "benchmark.suite",
        "--suite",
        metavar="SUITE",
        help="name of a suite, path of your own suite file, or a fio job file whose name ends in .fio",
    )
    where = bench.add_mutually_exclusive_group()
    where.add_argument("--side", type=Side, choices=list(Side), help="measure only this server (default: both)")
    where.add_argument(
        "--volume",
        action="append",
        metavar="SIDE:PATH",
        help="measure this volume or folder instead of the move's volumes, for example old:/mnt/a; may be repeated",
    )
    bench.add_argument(
        "--wait-for-resync", action="store_true", help="wait until no RAID array under the volume is resynchronising"
    )
    parallel = bench.add_argument(
        "--parallel", action="store_true", help="measure the servers at the same time (default: one after the other)"
    )
    add_former_name(bench, "--at-once", parallel)
    bench.add_argument(
        "--forecast",
        action="store_true",
        help="show how long the suite takes and how much it writes, without measuring",
    )
    add_common(bench, server=True)
    bench.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.api import benchmarks as actions

    if options.list:
        return _list(options)
    move, places = _subject(context, options)
    sides = (options.side,) if options.side else BOTH
    if options.forecast:
        forecasts = actions.forecast_benchmarks(context.session, move, options.suite, context.job, sides, places)
        if options.json:
            print_document({"forecasts": forecasts})
        else:
            show("\n".join(forecast_text(forecast) for forecast in forecasts))
        return 1 if any(forecast.problems for forecast in forecasts) else 0
    runs = actions.run_benchmarks(
        context.session,
        move,
        options.suite,
        context.job,
        sides,
        places,
        wait_for_resync=options.wait_for_resync,
        at_once=options.parallel,
    )
    if options.json:
        print_document({"runs": runs})
    else:
        show(text(runs))
    return 0 if all(run.outcome is Outcome.DONE for run in runs) else 1


def _subject(context: Context, options: argparse.Namespace) -> tuple[str | None, list[str]]:
    """Return the name of the move, if one is given, and the volumes that are named."""
    match options.what:
        case []:
            raise InputError(
                "neither a move nor a volume is given", "name one of them, or list the suites with: pghaul bench --list"
            )
        case [move] if not is_place_on_server(move):
            context.refuse_server(move)
            return move, options.volume or []
        case words:
            strange = next((word for word in words if not is_place_on_server(word)), None)
            if strange is not None:
                context.refuse_server(strange)
                raise InputError(
                    f"{strange!r} is not a volume of a server",
                    "name one move, or volumes of servers such as db1:/srv/pg; volumes of a move are named by --volume",
                )
            if options.side or options.volume:
                raise InputError(
                    "--side and --volume need a move", "leave them out: the volumes of servers are named already"
                )
            return None, words


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
    show(table(("suite", "measures", "workloads", "min. repetitions", "writes"), rows))
    show(f"\nTools that your own suites can use: {', '.join(TOOLS)}\nFolder for your own suites: {own_suites()}")
    return 0


def _needs(suite: "Listed") -> str:
    memory = f"{suite.memory_multiple} × memory" if suite.memory_multiple else ""
    return " + ".join(part for part in (size(suite.bytes_needed) if suite.bytes_needed else "", memory) if part)


def forecast_text(forecast: Forecast) -> str:
    """A forecast for people: the volume, how long and how much, then what is in the way."""
    volume, seconds = forecast.volume, units.duration(forecast.seconds)
    place = f"{volume.server}:{volume.mount_point}"
    where = place if volume.side is None else f"{volume.side} ({place})"
    heading = (
        f"{where}: about {seconds}{_most(forecast)}, "
        f"needs {size(forecast.bytes_needed)} of {size(forecast.bytes_available)} available"
    )
    problems = [f"  cannot start: {problem}" for problem in forecast.problems]
    warnings = [f"  warning: {warning}" for warning in forecast.warnings]
    offer = ["  to wait for the end of the resync: pghaul bench --wait-for-resync"] if forecast.resync else []
    return "\n".join([heading, *problems, *(f"  skipped: {reason}" for reason in forecast.left_out), *warnings, *offer])


def _most(forecast: Forecast) -> str:
    if forecast.seconds_at_most is None:
        return ""
    return f" (up to {units.duration(forecast.seconds_at_most)} if the results vary)"


def text(runs: tuple[Run, ...], *, by_server: bool = False) -> str:
    """Runs for people, a line each; `by_server`: they may be of several moves, in which the server has other sides."""
    rows = [
        (
            str(run.id or ""),
            f"{run.volume.server}:{run.volume.mount_point}" if by_server else _volume(run),
            run.workload.title,
            _figures(run),
            _outcome(run),
        )
        for run in runs
    ]
    return table(("run", "volume", "workload", "repetitions", "outcome"), rows)


def _volume(run: Run) -> str:
    volume = run.volume
    return f"{volume.server if volume.elsewhere or volume.side is None else volume.side}:{volume.mount_point}"


def _figures(run: Run) -> str:
    """The headline of each repetition, with what is to be said of it."""
    from core.comparison.compare import remarks

    remarks_by_number = remarks(run.workload.headline, run)
    figures = []
    for one in run.repetitions:
        words = [word for word in remarks_by_number[one.number] if word not in ("cached", Outcome.FAILED)]
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
