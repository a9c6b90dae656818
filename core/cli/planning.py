"""What `pghaul estimate` says beyond the methods: what would help, whether it fits into a night, what comes later."""

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import units
from core.cli.terminal import table
from core.errors import InputError
from core.migration.model.estimate import Estimate, Span
from core.migration.model.move import Verify

if TYPE_CHECKING:
    from core.migration.estimate.advice import Help
    from core.migration.estimate.growth import Later
    from core.migration.estimate.night import Fit, Night
    from core.migration.estimate.spec import Spec

_DURATION = re.compile(r"(?P<number>\d{1,6}(?:\.\d{1,3})?)\s*(?P<unit>s|m|min|h|d)?", re.ASCII)
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_WINDOW = re.compile(r"(?P<from>[01]?\d|2[0-3]):(?P<m>[0-5]\d)-(?P<to>[01]?\d|2[0-3]):(?P<n>[0-5]\d)", re.ASCII)
_SIZE = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)\s*(?P<unit>[kMGT]?)B?", re.ASCII)
_BYTES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Planned:
    """What was asked beyond the methods, and the answers.

    `night_seconds`: how long clients may wait; `ends_at`: seconds of the day, None without a window.
    """

    helps: "tuple[Help, ...]"
    fits: "tuple[Fit, ...]"
    later: "tuple[Later, ...]"
    months_until_full: float | None
    night_seconds: float
    ends_at: float | None


def register(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--downtime", metavar="10m", help="how long clients may wait: how likely that is, what must hold"
    )
    parser.add_argument(
        "--window", metavar="22:00-02:00", help="when clients may wait: the same, with time for the way back"
    )
    parser.add_argument("--price", type=float, metavar="N", help="what an hour without the cluster costs")
    parser.add_argument("--growth", metavar="20GB", help="a month: what the move takes in 3, 6 and 12 months")


def plan(spec: "Spec", made: Estimate, options: argparse.Namespace) -> Planned:
    """The answers; raises InputError for an option that cannot be read."""
    from core.migration.estimate import simulated
    from core.migration.estimate.advice import helps
    from core.migration.estimate.growth import later, months_until_full
    from core.migration.estimate.night import fit

    checking = Verify(options.verify)
    night, ends_at = _night(options)
    if options.price is not None and not 0 <= options.price < float("inf"):
        raise InputError(f"--price is {options.price:g}: a price an hour is meant")
    possible = [each for each in simulated(spec, checking) if _possible(made, each.name)] if night is not None else []
    grows = size_of(options.growth) if options.growth is not None else spec.cluster.growth_bytes_per_month
    used, capacity = spec.old.used_bytes or spec.cluster.size_bytes, spec.old.capacity_bytes
    return Planned(
        helps=helps(spec, made.planned or made.advised, checking),
        fits=tuple(fit(spec, each, night, checking, options.price) for each in possible) if night is not None else (),
        later=later(spec, grows, checking) if grows else (),
        months_until_full=months_until_full(used, capacity, grows or 0.0) if capacity is not None else None,
        night_seconds=night.seconds if night is not None else 0.0,
        ends_at=ends_at,
    )


def _possible(made: Estimate, name: str) -> bool:
    method = made.method(name)
    return method is not None and not method.ruled_out


def _night(options: argparse.Namespace) -> "tuple[Night | None, float | None]":
    """The night that was asked about, and when its window ends."""
    from core.migration.estimate.night import Night

    if options.window is not None:
        begins, ends = window_of(options.window)
        length = (ends - begins) % _DAY or _DAY
        if options.downtime is None:
            return Night(length, way_back=True), ends
        return Night(min(length, seconds_of(options.downtime)), way_back=True), ends
    if options.downtime is not None:
        return Night(seconds_of(options.downtime), way_back=False), None
    return None, None


def seconds_of(text: str) -> float:
    """`10m`, `90 s`, `2h`; raises InputError."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or float(found["number"]) == 0:
        raise InputError(f"{text} is no duration", "such as 90s, 10m or 2h")
    return float(found["number"]) * _SECONDS[found["unit"]]


def window_of(text: str) -> tuple[float, float]:
    """`22:00-02:00` as seconds of the day; raises InputError."""
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text} is no window", "such as 22:00-02:00")
    begins, ends = (60.0 * (60 * int(found[hour]) + int(found[past])) for hour, past in (("from", "m"), ("to", "n")))
    return begins, ends


def size_of(text: str) -> float:
    """`20GB`, `1.5T`; decimal, in bytes; raises InputError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text} is no size", "such as 20GB or 1.5TB")
    return float(found["number"]) * _BYTES[found["unit"]]


def planned_text(planned: Planned) -> str:
    """The answers for people; empty where there is none."""
    parts = [_helps(planned), _fits(planned), _later(planned)]
    return "\n\n".join(part for part in parts if part)


def _helps(planned: Planned) -> str:
    rows = [
        (each.change, _saved(each.downtime_seconds), _saved(each.duration_seconds), each.then_bound_by)
        for each in planned.helps
    ]
    head = ("what would help", "of the downtime", "in all", "then bound by")
    return table(head, rows, right=(1, 2)) if rows else ""


def _saved(seconds: float) -> str:
    return f"-{units.duration(seconds)}" if seconds >= 1 else units.ABSENT


def _fits(planned: Planned) -> str:
    if not planned.fits:
        return ""
    priced = any(each.cost is not None for each in planned.fits)
    rows = [
        (
            each.method,
            f"{each.likelihood:.0%}",
            _start(each, planned),
            *([_cost(each.cost)] if priced else []),
            each.must_hold or "it fits",
        )
        for each in planned.fits
    ]
    start = "stop old by" if planned.ends_at is not None else "with the way back"
    head = ("method", "fits in", start, *(["costs (low – high)"] if priced else []), "what must hold")
    return table(head, rows, right=(1,))


def _start(each: "Fit", planned: Planned) -> str:
    """The latest time of the stop in a window, else how long stop and way back take at the most."""
    if planned.ends_at is None:
        return units.duration(each.start_by)
    if each.start_by > planned.night_seconds:
        return units.ABSENT
    minutes = int((planned.ends_at - each.start_by) % _DAY // 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _cost(cost: Span | None) -> str:
    return units.ABSENT if cost is None else f"{cost.likely:,.0f} ({cost.low:,.0f} – {cost.high:,.0f})"


def _later(planned: Planned) -> str:
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
        lines.append(table(("", "size", *(f"{name}, downtime" for name in names)), rows, right=(1, 2, 3, 4)))
    if planned.months_until_full is not None:
        months = round(planned.months_until_full)
        when = f"will be full to 80 % in {units.counted(max(1, months), 'month')}"
        lines.append(f"old's file system {when if planned.months_until_full else 'is fuller than 80 % now'}")
    return "\n".join(lines)
