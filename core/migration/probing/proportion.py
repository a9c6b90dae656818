"""The limits of the probes, in proportion to the move: a tenth of its duration, but at least fifteen seconds."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from core import units
from core.migration.model.probe import OF_A_DUMP, Probe, Quantity
from core.migration.probing import sampling

LEAST_SECONDS = 15.0
SHARE = 0.1
ASSUMED_BYTES_PER_SECOND = 100e6
"""The assumed rate of a move for which nothing has been measured yet."""

LATELY = timedelta(hours=1)
"""Results that are not older than this are used again."""

_CLOSING_SECONDS = 2.0
"""The time for removing the samples, the folders and the key at the end, and for starting the program."""

_LINK_PROBES = 5
"""The links, checksums and ssh, each of which takes about as long as the measurement of a link."""

_BESIDE_SAMPLE_SECONDS = 1.3
"""The time that each sample takes besides its own."""

_LINKS = (Quantity.READ, Quantity.WIRE, Quantity.WRITE)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of the probes of a pass.

    Attributes:
        seconds: the duration of the pass, from the reading of the facts to the removal of the last file. See `Budget`.
        route_seconds: no further transport of a route is tried after this time.
        closer_seconds: the time for larger samples by the transports that are nearly as fast as the fastest one.
        link_seconds: the duration of the measurement of each link.
        sample_seconds: the size of a sample, as the time that it takes on the slowest link.
        small_files: the number of small files in a sample; each needs a process to drop it from the page cache.
        dump_seconds: the time for COPY of a sample of tables on the old server.
        dump_bytes: the largest size of the pages in that sample. If less time is left, it is smaller.
    """

    seconds: float
    route_seconds: float
    closer_seconds: float
    link_seconds: int
    sample_seconds: float
    small_files: int
    dump_seconds: int
    dump_bytes: int


THOROUGH = Bounds(inf, 45.0, 60.0, 3, 1.5, 1000, 8, 96 * 1024**2)


class Budget:
    """The time of a pass of probes. Whatever takes time asks it how much is left.

    The links and one sample of the copy are always measured, because without them there is no estimate. Everything else
    begins only if it ends in time.

    Attributes:
        bounds: the limits, which are set again when the rates of the links are known.
    """

    def __init__(self, bounds: Bounds, began: float | None = None) -> None:
        self.bounds = bounds
        self._began = time.monotonic() if began is None else began

    @property
    def elapsed(self) -> float:
        """The duration of this pass so far, in seconds."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """The seconds that are left for measuring."""
        return max(0.0, self.bounds.seconds - _CLOSING_SECONDS - self.elapsed)

    @property
    def left_for_samples(self) -> float:
        """The same without the time for the tables on both servers."""
        return max(0.0, self.left - 2 * self.bounds.dump_seconds)

    def left_beside(self, samples: int) -> float:
        """The same without the time for so many samples either."""
        return max(0.0, self.left_for_samples - samples * (self.bounds.sample_seconds + _BESIDE_SAMPLE_SECONDS))


def in_proportion(
    size_bytes: int | None, bytes_per_second: float | None, expected_seconds: float | None = None
) -> Bounds:
    """Return the limits of the probes of a move.

    Args:
        size_bytes: the size of the cluster.
        bytes_per_second: the rate of the slowest link; if it is not known, it is assumed.
        expected_seconds: the duration of the move by an estimate, which also knows how well the cluster compresses.
    """
    moved = (size_bytes or 0) / (bytes_per_second or ASSUMED_BYTES_PER_SECOND)
    seconds = max(LEAST_SECONDS, SHARE * (moved if expected_seconds is None else expected_seconds))
    if seconds >= THOROUGH.route_seconds + THOROUGH.closer_seconds:
        return THOROUGH
    if seconds >= 2 * LEAST_SECONDS:
        return Bounds(seconds, seconds / 2, seconds / 2, 2, 1.0, 500, 4, 64 * 1024**2)
    return Bounds(seconds, seconds, 0.0, 1, 0.5, 100, 2, 48 * 1024**2)


def slowest(probes: Sequence[Probe]) -> float | None:
    """Return the rate of the slowest link by the latest probes, in bytes per second; None if none was measured."""
    return min((each.bytes_per_second for each in latest_links(probes).values()), default=None)


def latest_links(probes: Sequence[Probe]) -> dict[Quantity, Probe]:
    """Return the latest probe of each link."""
    return {each.quantity: each for each in sorted(probes, key=lambda one: one.taken_at) if each.quantity in _LINKS}


def lately(probes: Sequence[Probe], now: datetime) -> dict[Quantity, Probe]:
    """Return the latest probe of each link that was measured within the last hour. Samples are always taken again.

    The probes of a dump & restore are returned only if there are all of them, because the later ones need the rows of
    the first.
    """
    fresh = sorted((each for each in probes if now - each.taken_at <= LATELY), key=lambda each: each.taken_at)
    found = {each.quantity: each for each in fresh if each.quantity in {*_LINKS, Quantity.SUMS, *OF_A_DUMP}}
    return found if found.keys() >= OF_A_DUMP else {key: each for key, each in found.items() if key not in OF_A_DUMP}


@dataclass(frozen=True, slots=True)
class ProbeForecast:
    """What the coming probes take, about; they remove what they write.

    Attributes:
        seconds: the duration.
        written_bytes: what they write to the disk of the new server.
        sent_bytes: what they send over the network.
        again: what was measured within the last hour and is used again.
    """

    seconds: float
    written_bytes: int
    sent_bytes: int
    again: tuple[Quantity, ...] = ()


def forecast(
    bounds: Bounds, rates: Mapping[Quantity, float], again: Collection[Quantity], *, over_network: bool = True
) -> ProbeForecast:
    """Return what the coming probes take, by the time that the samples have and the sizes that they get.

    Args:
        bounds: the limits of the probes.
        rates: the rates of the links as far as they were measured before, in bytes per second.
        again: what was measured lately and is used again.
        over_network: whether the servers are two.
    """
    known = {each: rates.get(each, ASSUMED_BYTES_PER_SECOND) for each in _LINKS}
    seconds = min(bounds.seconds, THOROUGH.route_seconds + THOROUGH.closer_seconds)
    tables = 0 if set(again) >= OF_A_DUMP else bounds.dump_bytes
    links = _LINK_PROBES * bounds.link_seconds
    each = bounds.sample_seconds + _BESIDE_SAMPLE_SECONDS
    count = max(1.0, (seconds - links - 2 * bounds.dump_seconds) / each)
    samples = count * sample_bytes(known, bounds.sample_seconds)
    link_bytes = {link: 0.0 if link in again else known[link] * bounds.link_seconds for link in _LINKS}
    return ProbeForecast(
        seconds,
        round(min(link_bytes[Quantity.WRITE], 2 * sampling.MOST_BYTES) + samples + tables),
        round(link_bytes[Quantity.WIRE] + samples + tables) if over_network else 0,
        tuple(again),
    )


def forecast_text(coming: ProbeForecast) -> str:
    """Return a sentence with the forecast."""
    until, written, sent = (
        units.duration(coming.seconds),
        units.size(coming.written_bytes),
        units.size(coming.sent_bytes),
    )
    used = f"; measured within the hour and used again: {', '.join(coming.again)}" if coming.again else ""
    return (
        f"the probes take about {until}. They write up to {written} to the disk of the new server, send up to {sent} "
        f"over the network, and remove what they have written{used}"
    )


def sample_bytes(rates: Mapping[Quantity, float], seconds: float) -> int:
    """Return the bytes of a sample that takes `seconds`, by the rates of the disks and of the network.

    Compression may make the network four times as fast.
    """
    carried = rates.get(Quantity.WIRE, 30e6) * 4
    bound = min(carried, rates.get(Quantity.READ, carried), rates.get(Quantity.WRITE, carried))
    return round(max(sampling.LEAST_BYTES, min(sampling.MOST_BYTES, seconds * bound)))
