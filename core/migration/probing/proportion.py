"""How far probes go beside the move that they are for: a tenth of what it takes, a quarter of a minute at least."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from core import units
from core.migration.model.probe import OF_A_DUMP, Probe, Quantity

LEAST_SECONDS = 15.0
SHARE = 0.1
ASSUMED_BYTES_PER_SECOND = 100e6
"""Of a move about which nothing was measured yet."""

LATELY = timedelta(hours=1)
"""What was measured within that is used again."""

_LINKS = (Quantity.READ, Quantity.WIRE, Quantity.WRITE)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the probes of a pass go.

    Attributes:
        seconds: no sample begins after so many, but the first of each route, and one in place of one that told nothing.
        route_seconds: no further transport of a route is tried after so many.
        closer_seconds: for larger samples of what is near the fastest.
        link_seconds: each link is measured for so many.
        sample_seconds: a sample has bytes for so many, by the slowest link.
        small_files: of a sample; each is taken out of the page cache by a process of its own.
        dump_seconds, dump_bytes: for COPY of a sample of tables on the old server; of their pages so many at the most.
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
        """No sample begins after so many: then tables have their turn, on old and about as long on new."""
        return self.seconds - 2 * self.dump_seconds


THOROUGH = Bounds(inf, 45.0, 60.0, 3, 1.5, 1000, 8, 96 * 1024**2)


def in_proportion(size_bytes: int | None, bytes_per_second: float | None) -> Bounds:
    """The bounds for a move of so many bytes at such a rate; what is not known is assumed."""
    moved = (size_bytes or 0) / (bytes_per_second or ASSUMED_BYTES_PER_SECOND)
    seconds = max(LEAST_SECONDS, SHARE * moved)
    if seconds >= THOROUGH.route_seconds + THOROUGH.closer_seconds:
        return THOROUGH
    if seconds >= 2 * LEAST_SECONDS:
        return Bounds(seconds, seconds / 2, seconds / 2, 2, 1.0, 500, 4, 64 * 1024**2)
    return Bounds(seconds, seconds, 0.0, 1, 0.5, 100, 2, 48 * 1024**2)


def slowest(probes: Sequence[Probe]) -> float | None:
    """Bytes a second of the slowest link by the latest probes; None where none was measured."""
    latest = {probe.quantity: probe.bytes_per_second for probe in sorted(probes, key=lambda each: each.taken_at)}
    return min((latest[each] for each in _LINKS if each in latest), default=None)


def lately(probes: Sequence[Probe], now: datetime) -> dict[Quantity, Probe]:
    """The latest probe of each link that was measured not long ago; samples are taken anew.

    Of a dump & restore all or nothing: without the rows of the one there is nothing for the others.
    """
    fresh = sorted((each for each in probes if now - each.taken_at <= LATELY), key=lambda each: each.taken_at)
    found = {each.quantity: each for each in fresh if each.quantity in {*_LINKS, Quantity.SUMS, *OF_A_DUMP}}
    return found if found.keys() >= OF_A_DUMP else {key: each for key, each in found.items() if key not in OF_A_DUMP}


def forecast(bounds: Bounds, again: Sequence[Quantity]) -> str:
    """What is about to be measured, for people: for how long, how much crosses the wire, what is used again."""
    longest = THOROUGH.route_seconds + THOROUGH.closer_seconds
    until = f"about {units.duration(min(bounds.seconds, longest))}"
    used = f"; measured within the hour and used again: {', '.join(again)}" if again else ""
    tables = "" if set(again) >= OF_A_DUMP else f" and up to {units.size(bounds.dump_bytes)} of its tables' rows"
    return (
        f"the probes take {until}. They send samples of the cluster{tables} to the new server and remove them "
        f"again{used}"
    )
