"""`pghaul estimate`: how long each method of moving takes, and what limits its speed.

The planning questions are what would help, what fits into a window, and how it changes with growth.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core import documents, units
from core.cli.context import Context, add_common, print_document
from core.cli.moves import limits_text
from core.cli.own_settings import add_from_setting
from core.cli.sizes import size
from core.cli.terminal import show, table
from core.errors import InputError
from core.inputs import read_input
from core.jobs import Note
from core.migration.model.asked import NOTHING, Asked, price_of, seconds_of, size_of, window_of
from core.migration.model.estimate import Estimate, Fit, Method, Span, method_title, stage_heading
from core.migration.model.move import Verify

if TYPE_CHECKING:
    from core.api.migration import EstimateComparison, Spec

SPEC_EXAMPLE = """\
Example of a TOML file for --spec (only cluster.size_bytes is required; missing values are assumed):
  [cluster]
  size_bytes = 1_220_000_000_000
  files = 12000
  tables = 900
  [old]
  read_bytes_per_second = 180e6
  version = 15
  [new]
  write_bytes_per_second = 400e6
  cores = 16
  [link]
  bits_per_second = 1e9
  [copy]
  compression_ratio = 2.5
  [dump]
  jobs = 8
  [observed]
  dump_seconds = 14400
  restore_seconds = 30000
  at_size_bytes = 610_000_000_000
  [claimed]
  low_seconds = 10800
  high_seconds = 14400"""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    parser = nouns.add_parser(
        "estimate",
        help="estimate the duration and the downtime of each method of moving",
        epilog=SPEC_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("move", nargs="?", metavar="MOVE", help="name of the move")
    parser.add_argument(
        "--spec",
        metavar="FILE",
        help="estimate from the values in a TOML or JSON file, without servers; - reads standard input",
    )
    add_from_setting(
        parser,
        "move.verify",
        "--verify",
        choices=[each.value for each in Verify],
        help="estimate for an execution with this --verify, see pghaul execute",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="compare earlier moves and rehearsals with the estimates that were made before them (of MOVE, or of all)",
    )
    _register_planning(parser)
    add_common(parser, server=True)
    parser.set_defaults(run=_estimate)


def _estimate(context: Context, options: argparse.Namespace) -> int:
    if options.record:
        return _record(context, options)
    if (options.spec is None) == (options.move is None):
        raise InputError("estimate needs either a move or --spec FILE", "give exactly one of them")
    from core.api.migration import answer_from_spec

    asked = _asked(context, options)
    made, spec = _make_estimate(context, options, asked)
    planned = answer_from_spec(spec, made, asked)
    over = _completion_note(context, options)
    if options.json:
        if over:
            context.job.report(Note(over, "warning"))
        print_document({**documents.to_plain(made), "planning": planned})
    else:
        show("\n\n".join(text for text in (over, estimate_text(made), _planned_text(planned, asked)) if text))
    return 0


def _completion_note(context: Context, options: argparse.Namespace) -> str:
    from core.api import migration as actions

    return "" if options.move is None else actions.describe_completion(context.session, options.move)


def _make_estimate(context: Context, options: argparse.Namespace, asked: Asked) -> "tuple[Estimate, Spec]":
    """The estimate, and what it was made from."""
    checking = Verify(options.verify)
    from core.api import migration as actions

    if options.spec is not None:
        return actions.estimate_from_spec(read_input(options.spec), options.spec, checking, asked)
    return actions.make_estimate_with_spec(
        context.session, options.move, context.job, verify=checking, asked=asked.kept
    )


def _record(context: Context, options: argparse.Namespace) -> int:
    from core.api import migration as actions

    if any(each is not None for each in (options.window, options.downtime, options.price, options.growth)):
        raise InputError(
            "--record cannot be combined with --window, --downtime, --price or --growth",
            "pghaul estimate [MOVE] --record",
        )
    if options.spec is not None:
        raise InputError(
            "--record cannot be combined with --spec: a file has no executions", "pghaul estimate [MOVE] --record"
        )
    rows = actions.compare_with_estimates(context.session, options.move)
    of_all = rows if options.move is None else actions.compare_with_estimates(context.session)
    if options.json:
        print_document(
            {
                "record": rows,
                "hit_rate": actions.hit_rate(rows),
                "bias": actions.bias(rows),
                "stages_of_all_moves": actions.by_stage(of_all),
            }
        )
    else:
        show("\n\n".join(text for text in (record_text(rows), by_stage_text(of_all)) if text))
    return 0


def by_stage_text(rows: "Sequence[EstimateComparison]") -> str:
    """Return how good the estimates of each stage were, over all moves; empty without any."""
    from core.api.migration import by_stage

    cells = [
        (
            stage_heading(each.stage),
            f"{each.times}",
            units.share(each.inside / each.times),
            units.ABSENT if each.bias is None else units.ratio(each.bias),
        )
        for each in by_stage(rows)
    ]
    head = ("stage, all moves", "measured", "within low to high", "actual / likely, mean")
    return table(head, cells, right=(1, 2, 3)) if cells else ""


def record_text(rows: "Sequence[EstimateComparison]") -> str:
    """Return executions beside their estimates for display, and how good the estimates were."""
    from core.api.migration import bias, select_counted

    if not rows:
        return "no move or rehearsal has an estimate that was made before it started"
    cells = [
        (
            f"{row.began_at:%Y-%m-%d %H:%M}",
            f"{row.move}, {row.name}",
            stage_heading(row.stage),
            _span(row.estimated),
            units.duration(row.seconds),
            units.ratio(row.factor),
            _compare_with_range(row),
        )
        for row in rows
    ]
    head = ("started (UTC)", "move", "stage", "estimated (low – high)", "actual", "actual / likely", "result")
    counted = select_counted(rows)
    remarks = (
        [f"within low to high: {sum(row.inside for row in counted)} of {len(counted)} (good estimates: 8 of 10)"]
        if counted
        else []
    )
    if len(counted) < len(rows):
        remarks.append(f"{units.counted(len(rows) - len(counted), 'line')} from imported histories not counted")
    mean = bias(rows)
    if mean is not None:
        remarks.append(f"geometric mean of actual / likely: {units.ratio(mean)}")
    return "\n".join([table(head, cells, right=(4, 5)), "", *remarks])


def _compare_with_range(row: "EstimateComparison") -> str:
    result = "within" if row.inside else "below low" if row.seconds < row.estimated.low else "above high"
    return result if row.counts else f"{result}, not counted"


def estimate_text(made: Estimate) -> str:
    """Return an estimate for display: the methods, the stages of the recommended one, and the assumptions."""
    rows = [
        (_name(each), _span(each.duration_seconds), _span(each.downtime_seconds), _space(each), _bounds(each))
        for each in made.methods
    ]
    head = ("method", "duration (low – high)", "downtime (low – high)", "space on the new server", "limited by")
    lines = [*_headline(made), table(head, rows, right=(3,))]
    lines += [f"  {name} is not possible: {reason}" for reason, name in _ruled_out(made)]
    taken = made.method(made.planned or made.advised)
    if taken is not None and taken.stages:
        lines += ["", f"stages of {method_title(taken.method)}:", _stages(taken)]
    for kind in ("warnings", "assumptions"):
        texts = list(dict.fromkeys(text for method in made.methods for text in getattr(method, kind)))
        if texts:
            lines += ["", f"{kind}:", *(f"  {text}" for text in texts)]
    return "\n".join(lines)


def _name(method: Method) -> str:
    title = method_title(method.method)
    return f"({title})" if method.ruled_out else title


def _ruled_out(made: Estimate) -> Iterable[tuple[str, str]]:
    """Each reason with the methods that it rules out."""
    for reason in dict.fromkeys(each.ruled_out for each in made.methods if each.ruled_out):
        yield reason, ", ".join(method_title(each.method) for each in made.methods if each.ruled_out == reason)


def _space(method: Method) -> str:
    """Return the space that a method needs on the new server, and on the old one if it needs any there."""
    on_old = f", on the old server {size(method.bytes_on_old)}" if method.bytes_on_old >= 1 else ""
    return f"{size(method.bytes_on_new)}{on_old}" if method.bytes_on_new else units.ABSENT


def _bounds(method: Method) -> str:
    """What its stages wait for, the longest first."""
    from core.reports.words import bottleneck

    longest = sorted(method.stages, key=lambda stage: -stage.seconds.likely)
    return ", ".join(list(dict.fromkeys(bottleneck(stage.bound_by) for stage in longest))[:3])


def _stages(method: Method) -> str:
    from core.reports.words import bottleneck

    rows = [
        (stage_heading(stage.name), _span(stage.seconds), bottleneck(stage.bound_by), stage.evidence)
        for stage in method.stages
    ]
    return table(("stage", "duration (low – high)", "limited by", "source of the value"), rows)


def _headline(made: Estimate) -> list[str]:
    """Return the expected duration of the move, and for comparison the downtime of a copy of the stopped cluster."""
    method, cold = made.method(made.planned), made.method("cold-copy")
    if method is None:
        return []
    if method.ruled_out:
        return [f"pghaul execute cannot carry out this move: {method.ruled_out}", ""]
    parts = [
        f"pghaul execute takes about {_span(method.duration_seconds)}",
        f"method: {_lower(method_title(method.method))}",
        f"downtime: {_span(method.downtime_seconds)}",
    ]
    if cold is not None and cold is not method:
        parts.append(f"downtime of a copy with the cluster stopped: {units.duration(cold.downtime_seconds.likely)}")
    lines = ["; ".join(parts)]
    if made.advised not in {"", made.planned}:
        advised = _lower(method_title(made.advised))
        lines.append(f"advice: use {advised}; its downtime is as short, and it needs no pre-copy passes")
    return [*lines, ""]


def _lower(title: str) -> str:
    return f"{title[:1].lower()}{title[1:]}"


def _span(span: Span) -> str:
    return f"{units.duration(span.likely)} ({units.duration(span.low)} – {units.duration(span.high)})"


if TYPE_CHECKING:
    from core.api.migration import Planned, Spec


def _register_planning(parser: argparse.ArgumentParser) -> None:
    """Add the options of the planning questions."""
    parser.add_argument(
        "--downtime",
        metavar="TIME",
        help="longest acceptable downtime, for example 10m: shows how likely each method meets it and what is needed. "
        "It is kept with the move, and later estimates and reports use it; none removes it",
    )
    parser.add_argument(
        "--window",
        metavar="FROM-TO",
        help="maintenance window, for example 22:00-02:00: shows the same, with time for a rollback in the window. It "
        "is kept with the move in the same way",
    )
    parser.add_argument("--price", metavar="AMOUNT", help="cost of an hour of downtime, in any currency")
    parser.add_argument(
        "--growth",
        metavar="SIZE",
        help="growth of the cluster per month, for example 20GB: shows the move in 3, 6 and 12 months",
    )


_NONE = "none"
"""What is typed to ask about a window or a downtime no longer."""


def _asked(context: Context, options: argparse.Namespace) -> Asked:
    """Return what is asked, which of a move is what is kept with it if nothing else is given.

    Raises:
        InputError: an option is invalid, or there is no such move.
    """
    kept = NOTHING if options.move is None else context.session.store.asked(options.move)
    if options.window is not None:
        kept = replace(kept, window=None if options.window == _NONE else window_of(options.window))
    if options.downtime is not None:
        kept = replace(kept, downtime_seconds=None if options.downtime == _NONE else seconds_of(options.downtime))
    asked = replace(
        kept,
        price=None if options.price is None else price_of(options.price),
        growth_bytes_per_month=None if options.growth is None else size_of(options.growth),
    )
    if asked.price is not None and asked.kept == NOTHING:
        raise InputError(
            f"--price {options.price} needs --window or --downtime",
            "add one of them: the costs are shown for it",
        )
    return asked


def _planned_text(planned: "Planned", asked: Asked) -> str:
    """Return the answers for display; empty if there are none."""
    parts = [_helps(planned), _fits(planned, asked), _later(planned)]
    return "\n\n".join(part for part in parts if part)


def _helps(planned: "Planned") -> str:
    from core.reports.words import bottleneck

    rows = [
        (
            each.change,
            _saved(each.downtime_seconds),
            _saved(each.duration_seconds),
            units.ABSENT if each.effort is None else each.effort.heading,
            *([] if each.likelihood is None else [units.share(each.likelihood)]),
            bottleneck(each.then_bound_by),
        )
        for each in planned.helps
    ]
    likely = ["likelihood"] if planned.fits else []
    head = ("what would help", "downtime saved", "total time saved", "effort", *likely, "then limited by")
    return table(head, rows, right=(1, 2, 4) if likely else (1, 2)) if rows else ""


def _saved(seconds: float) -> str:
    return units.duration(seconds) if seconds >= 1 else "none"


def _fits(planned: "Planned", asked: Asked) -> str:
    if not planned.fits:
        return ""
    priced = any(each.cost is not None for each in planned.fits)
    rows = [
        (
            method_title(each.method),
            units.share(each.likelihood),
            _begin(each, planned),
            _stop(each, planned),
            *([_cost(each.cost)] if priced else []),
            each.must_hold or "nothing more",
        )
        for each in planned.fits
    ]
    times = (
        ("before the downtime", "with a rollback") if planned.ends_at is None else ("begin by", "stop the cluster by")
    )
    head = ("method", "likelihood", *times, *(["costs (low – high)"] if priced else []), "what is needed")
    back = planned.fits[0].way_back
    lines = [
        f"has to fit into: {limits_text(asked)}",
        table(head, rows, right=(1,)),
        f"a rollback to the old server takes {_span(back)}",
        *_latest(planned),
    ]
    if planned.changes is not None:
        lines.append(
            f"according to the watch, {size(planned.changes)} change per hour in that window (clock of the old server)"
        )
    return "\n".join(lines)


def _latest(planned: "Planned") -> Iterable[str]:
    """Return by when the method of the plan must begin, and the old cluster be stopped, as a sentence."""
    from core.api.migration import begins_with_a_precopy, clock

    each = next((each for each in planned.fits if each.method == planned.method), None)
    if each is None or each.begin_by is None or each.stop_by is None:
        return
    what = "the pre-copy" if begins_with_a_precopy(each.method) else "the move"
    begin, stop = clock(each.begin_by, planned), clock(each.stop_by, planned)
    if each.next_window is not None:
        later = clock(each.next_window, planned)
        yield f"it is too late for this window: {what} had to begin by {begin}; begin now for that of {later}"
    else:
        yield f"begin {what} by {begin}, and stop the old cluster by {stop} (clock of the old server)"


def _begin(each: Fit, planned: "Planned") -> str:
    """Return the latest begin of the move for a window, else the maximum duration of what precedes the downtime."""
    from core.api.migration import clock

    if each.begin_before < 1:
        return units.ABSENT
    if planned.ends_at is None:
        return units.duration(each.begin_before)
    if each.begin_by is None:
        return units.ABSENT
    begin = clock(each.begin_by, planned)
    return begin if each.next_window is None else f"too late ({begin})"


def _stop(each: Fit, planned: "Planned") -> str:
    """Return the latest time of the stop in a window, else the maximum duration of downtime and rollback."""
    from core.api.migration import clock

    if planned.ends_at is None:
        return units.duration(each.start_by)
    return units.ABSENT if each.stop_by is None else clock(each.stop_by, planned)


def _cost(cost: Span | None) -> str:
    return units.ABSENT if cost is None else f"{cost.likely:,.0f} ({cost.low:,.0f} – {cost.high:,.0f})"


def _later(planned: "Planned") -> str:
    lines = []
    if planned.later:
        names = list(planned.later[0].downtime_seconds)
        rows = [
            (
                f"in {each.months} months" if each.months else "now",
                size(each.size_bytes),
                *(units.duration(each.downtime_seconds[name].likely) for name in names),
            )
            for each in planned.later
        ]
        head = ("time", "size", *(f"{method_title(name)}, downtime" for name in names))
        lines.append(table(head, rows, right=(1, 2, 3, 4)))
    if planned.months_until_full is not None:
        months = round(planned.months_until_full)
        when = f"will be 80 % full in {units.counted(max(1, months), 'month')}"
        lines.append(
            "the file system of the old cluster "
            f"{when if planned.months_until_full else 'is already more than 80 % full'}"
        )
    return "\n".join(lines)
