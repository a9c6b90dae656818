"""`pghaul compare`: old against new, or one run against another."""

import argparse

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import table
from core.comparison.model import Comparison, Row, Sample, Verdict
from core.errors import InputError


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    compare = nouns.add_parser("compare", help="compare both storages of a move, or two runs")
    compare.add_argument("what", nargs="+", metavar="MOVE | RUN RUN")
    compare.add_argument("--all", action="store_true", help="every metric, not only each workload's own")
    add_common(compare)
    compare.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core import actions

    if len(options.what) == 1:
        compared, runs = actions.compare(context.desk, options.what[0]), None
    elif len(options.what) == 2:
        runs = (_number(options.what[0]), _number(options.what[1]))
        compared = actions.compare_two(context.desk, *runs)
    else:
        raise InputError(f"compare takes one move or two runs, not {len(options.what)} words")
    if options.json:
        print_document(compared)
    else:
        print(text(compared, every=options.all, runs=runs))
    return 0


def _number(word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise InputError(f"{word!r} is no run's number", "see them with: pghaul history runs")
    return int(word)


def text(comparison: Comparison, *, every: bool = False, runs: tuple[int, int] | None = None) -> str:
    """A comparison for people: medians, ratio with its interval, verdict. `runs`: the two runs' numbers."""
    old, new = ("old", "new") if runs is None else (f"run {number}" for number in runs)
    verdicts = {Verdict.OLD: f"{old} faster", Verdict.NEW: f"{new} faster"}
    rows = [
        (
            row.workload.title,
            row.metric,
            _sample(row.metric, row.old),
            _sample(row.metric, row.new),
            _ratio(row),
            verdicts.get(row.verdict, row.verdict),
        )
        for row in comparison.rows
        if every or row.headline
    ]
    head = ("workload", "metric", f"{old}: {comparison.old}", f"{new}: {comparison.new}", f"{new} / {old}", "verdict")
    return table(head, rows, right=(2, 3, 4))


def _sample(metric: str, sample: Sample | None) -> str:
    if sample is None:
        return units.ABSENT
    cached = " (cached)" if sample.cached else ""
    return f"{units.metric(metric, sample.median)} {units.spread(sample.variation)}".rstrip() + cached


def _ratio(row: Row) -> str:
    if row.ratio is None:
        return units.ABSENT
    interval = (
        f" ({row.ratio_low:.2f}–{row.ratio_high:.2f})"
        if row.ratio_low is not None and row.ratio_high is not None
        else ""
    )
    return units.ratio(row.ratio) + interval
