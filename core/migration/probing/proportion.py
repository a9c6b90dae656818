"""The limits of the probes, in proportion to the move: a tenth of its duration, but at least fifteen seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from core import units
from core.migration.model.probe import OF_A_DUMP, Probe, Quantity

LEAST_SECONDS = 15.0
SHARE = 0.1
ASSUMED_BYTES_PER_SECOND = 100e6
"""The assumed rate of a move for which nothing has been measured yet."""

LATELY = timedelta(hours=1)
"""Results that are not older than this are used again."""

_LINKS = (Quantity.READ, Quantity.WIRE, Quantity.WRITE)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of the probes of a pass.

    Attributes:
        seconds: no sample begins after this time, except the first of each route, and the repetition of a sample that
            returned no measurement.
        route_seconds: no further transport of a route is tried after this time.
        closer_seconds: the time for larger samples by the transports that are nearly as fast as the fastest one.
        link_seconds: the duration of the measurement of each link.
        sample_seconds: the size of a sample, as the time that it takes on the slowest link.
        small_files: the number of small files in a sample; each needs a process to drop it from the page cache.
        dump_seconds: the time for COPY of a sample of tables on the old server.
        dump_bytes: the largest size of the pages in that sample.
    """

    seconds: float
    route_seconds: float
    closer_seconds: float
    link_seconds: int
    sample_seconds: float
    small_files: int
    dump_seconds: int
    dump_bytes: int

    @property
    def samples_seconds(self) -> float:
        """The time after which no sample begins, so that time remains for the tables on both servers."""
        return self.seconds - 2 * self.dump_seconds


THOROUGH = Bounds(inf, 45.0, 60.0, 3, 1.5, 1000, 8, 96 * 1024**2)


def in_proportion(size_bytes: int | None, bytes_per_second: float | None) -> Bounds:
    """Return the limits for a move of `size_bytes` at this rate; if the rate is not known, it is assumed."""
    moved = (size_bytes or 0) / (bytes_per_second or ASSUMED_BYTES_PER_SECOND)
    seconds = max(LEAST_SECONDS, SHARE * moved)
    if seconds >= THOROUGH.route_seconds + THOROUGH.closer_seconds:
        return THOROUGH
    if seconds >= 2 * LEAST_SECONDS:
        return Bounds(seconds, seconds / 2, seconds / 2, 2, 1.0, 500, 4, 64 * 1024**2)
    return Bounds(seconds, seconds, 0.0, 1, 0.5, 100, 2, 48 * 1024**2)


def slowest(probes: Sequence[Probe]) -> float | None:
    """Return the rate of the slowest link by the latest probes, in bytes per second; None if none was measured."""
    latest = {probe.quantity: probe.bytes_per_second for probe in sorted(probes, key=lambda each: each.taken_at)}
    return min((latest[each] for each in _LINKS if each in latest), default=None)


def lately(probes: Sequence[Probe], now: datetime) -> dict[Quantity, Probe]:
    """Return the latest probe of each link that was measured within the last hour. Samples are always taken again.

    The probes of a dump & restore are returned only if there are all of them, because the later ones need the rows of
    the first.
    """
    fresh = sorted((each for each in probes if now - each.taken_at <= LATELY), key=lambda each: each.taken_at)
    found = {each.quantity: each for each in fresh if each.quantity in {*_LINKS, Quantity.SUMS, *OF_A_DUMP}}
    return found if found.keys() >= OF_A_DUMP else {key: each for key, each in found.items() if key not in OF_A_DUMP}


def forecast(bounds: Bounds, again: Sequence[Quantity]) -> str:
    """Return a sentence about the coming probes: their duration, what they send, and which results are used again."""
    longest = THOROUGH.route_seconds + THOROUGH.closer_seconds
    until = f"about {units.duration(min(bounds.seconds, longest))}"
    used = f"; measured within the hour and used again: {', '.join(again)}" if again else ""
    tables = "" if set(again) >= OF_A_DUMP else f" and up to {units.size(bounds.dump_bytes)} of its tables' rows"
    return (
        f"the probes take {until}. They send samples of the cluster{tables} to the new server and remove them "
        f"again{used}"
    )
