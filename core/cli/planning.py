"""What `pghaul estimate` says beyond the methods: what would help, what fits into a window, how it changes with "
"growth."""

import argparse
from typing import TYPE_CHECKING

from core import units
from core.cli.terminal import table
from core.errors import InputError
from core.migration.model.asked import Asked, price_of, seconds_of, size_of, window_of
from core.migration.model.estimate import Estimate, Span, method_title
from core.migration.model.move import Verify

if TYPE_CHECKING:
    from core.api.migration import Fit, Planned, Spec


def register(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--downtime",
        metavar="TIME",
        help="longest acceptable downtime, for example 10m: shows how likely each method meets it and what is needed",
    )
    parser.add_argument(
        "--window",
        metavar="FROM-TO",
        help="maintenance window, for example 22:00-02:00: shows the same, with time for a rollback in the window",
    )
    parser.add_argument("--price", metavar="AMOUNT", help="cost of an hour of downtime, in any currency")
    parser.add_argument(
        "--growth",
        metavar="SIZE",
        help="growth of the cluster per month, for example 20GB: shows the move in 3, 6 and 12 months",
    )


def plan(spec: "Spec", made: Estimate, options: argparse.Namespace) -> "Planned":
    """Return the answers to the planning questions; raise InputError for an invalid option."""
    from core.api.migration import answer_from_spec

    asked = Asked(
        window=None if options.window is None else window_of(options.window),
        downtime_seconds=None if options.downtime is None else seconds_of(options.downtime),
        price=None if options.price is None else price_of(options.price),
        growth_bytes_per_month=None if options.growth is None else size_of(options.growth),
    )
    if asked.price is not None and asked.window is None and asked.downtime_seconds is None:
        raise InputError(
            f"--price {options.price} needs --window or --downtime",
            "add one of them: the costs are shown for it",
        )
    return answer_from_spec(spec, made, asked, Verify(options.verify))


def planned_text(planned: "Planned") -> str:
    """Return the answers for display; empty if there are none."""
    parts = [_helps(planned), _fits(planned), _later(planned)]
    return "\n\n".join(part for part in parts if part)


def _helps(planned: "Planned") -> str:
    rows = [
        (each.change, _saved(each.downtime_seconds), _saved(each.duration_seconds), each.then_bound_by)
        for each in planned.helps
    ]
    head = ("what would help", "downtime", "duration", "then limited by")
    return table(head, rows, right=(1, 2)) if rows else ""


def _saved(seconds: float) -> str:
    return f"-{units.duration(seconds)}" if seconds >= 1 else units.ABSENT


def _fits(planned: "Planned") -> str:
    if not planned.fits:
        return ""
    priced = any(each.cost is not None for each in planned.fits)
    rows = [
        (
            method_title(each.method),
            f"{each.likelihood:.0%}",
            _start(each, planned),
            *([_cost(each.cost)] if priced else []),
            each.must_hold or "nothing more",
        )
        for each in planned.fits
    ]
    start = "stop the old cluster by" if planned.ends_at is not None else "with a rollback"
    head = ("method", "likelihood", start, *(["costs (low – high)"] if priced else []), "what is needed")
    lines = [table(head, rows, right=(1,))]
    if planned.changes is not None:
        lines.append(
            f"according to the watch, {units.size(planned.changes)} change per hour in that window (clock of the old "
            "server)"
        )
    return "\n".join(lines)


def _start(each: "Fit", planned: "Planned") -> str:
    """Return the latest time of the stop in a window, else the maximum duration of downtime and rollback."""
    from core.api.migration import stop_by

    if planned.ends_at is None:
        return units.duration(each.start_by)
    latest = stop_by(each, planned)
    if latest is None:
        return units.ABSENT
    return f"{int(latest // 3600):02d}:{int(latest % 3600 // 60):02d}"


def _cost(cost: Span | None) -> str:
    return units.ABSENT if cost is None else f"{cost.likely:,.0f} ({cost.low:,.0f} – {cost.high:,.0f})"


def _later(planned: "Planned") -> str:
    lines = []
    if planned.later:
        names = list(planned.later[0].downtime_seconds)
        rows = [
            (
                f"in {each.months} months" if each.months else "now",
                units.size(each.size_bytes),
                *(units.duration(each.downtime_seconds[name].likely) for name in names),
            )
            for each in planned.later
        ]
        lines.append(table(("time", "size", *(f"{name}, downtime" for name in names)), rows, right=(1, 2, 3, 4)))
    if planned.months_until_full is not None:
        months = round(planned.months_until_full)
        when = f"will be 80 % full in {units.counted(max(1, months), 'month')}"
        lines.append(
            "the file system of the old cluster "
            f"{when if planned.months_until_full else 'is already more than 80 % full'}"
        )
    return "\n".join(lines)
