"""How much a cluster changes, by hour of the day and by how long one looks, from a watch on the old server.

WAL tells how much changes: a page is in it whole at its first change after a checkpoint, and a change of a byte with
some fifty. The times of files tell what a pass has to look through: the same files again and again, so that what was
written to within a day is hardly more than within an hour where the set is small.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from math import log
from statistics import median, quantiles
from typing import TYPE_CHECKING

from core import units
from core.migration.estimate.draws import drawn, fixed, least
from core.migration.model.watch import AGES, WatchResult, WatchSample

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws

HOURS = 24
HOUR_SECONDS = 3600.0

_CHANGES = (0.5, 2.0)
"""What a pass sends for a byte of WAL, low and high: WAL holds more than pages do where it is of small changes to the
same ones, and rsync sends blocks of up to 128 KiB for a page of 8."""

_LEAST = (0.8, 1.3)
"""How far what is touched is off on another day, where all looks saw the same."""

_COVERED = 0.5
"""An hour of the day of which less than this part was seen is not known."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a watch tells an estimate.

    Attributes:
        taken_at, seconds: when it ended, how long it lasted.
        bytes_per_hour: that change, on average; None where the server did not tell of its WAL.
        by_hour: the same in each hour of the old server's day; None: it was not seen.
        curve: for each of AGES the bytes of the files that are written to in so many seconds, likely.
        spread: of them, low and high for each likely one, by how the looks differ.
        scale: how many times as much changes as was seen.
    """

    taken_at: datetime
    seconds: float
    bytes_per_hour: float | None
    by_hour: tuple[float | None, ...]
    curve: tuple[float, ...]
    spread: tuple[float, float]
    scale: float = 1.0

    @property
    def change_spread(self) -> tuple[float, float]:
        """Low and high for each byte that likely changes in an hour: hours differ, and WAL is no copy."""
        known = sorted(each for each in self.by_hour if each)
        mean = self.bytes_per_hour or 0.0
        if len(known) < 2 or not mean:
            return _CHANGES
        return min(_CHANGES[0], known[0] / mean), max(_CHANGES[1], known[-1] / mean)

    def scaled(self, factor: float) -> "Watched":
        """The same where so many times as much changes."""
        return replace(self, scale=self.scale * factor)

    def touched(self, seconds: "Draws", size: float) -> "Draws":
        """Bytes of the files that are written to in so many seconds, night by night; never more than all."""
        import numpy as np

        ages, seen = np.log(AGES), np.log(np.maximum(1.0, self.curve))
        known = np.exp(np.interp(np.log(np.maximum(seconds, AGES[0])), ages, seen)) * np.minimum(seconds / AGES[0], 1.0)
        beyond = np.maximum(seconds / AGES[-1], 1.0) ** _slope(self.curve)
        return least(known * beyond * self.scale * drawn("touched", self.spread[0], 1.0, self.spread[1]), fixed(size))

    def alike(self, rate: float) -> "Watched":
        """The same where each hour is like one in which so much changes."""
        return replace(self, bytes_per_hour=rate, by_hour=(None,) * HOURS)

    def between(self, begins: float, seconds: float) -> float | None:
        """Bytes an hour that change from `begins`, seconds of the old server's day, for so long; None where that was
        not seen."""
        parts = [(each, self.by_hour[hour]) for hour, each in _hours_of(begins, seconds)]
        known = [(part, rate) for part, rate in parts if rate is not None]
        whole = sum(part for part, _ in known)
        if whole < _COVERED * seconds:
            return None
        return sum(part * rate for part, rate in known) / whole * self.scale


def watched(watch: WatchResult) -> Watched:
    """What a watch tells an estimate."""
    steps = watch.wal
    seconds = sum(step[1] for step in steps)
    curve = tuple(float(median(look.touched[at] for look in watch.looks)) for at in range(len(AGES)))
    return Watched(
        taken_at=watch.looks[-1].at,
        seconds=watch.seconds,
        bytes_per_hour=sum(step[2] for step in steps) / seconds * HOUR_SECONDS if seconds else None,
        by_hour=_by_hour(watch),
        curve=curve,
        spread=_spread(watch.looks, curve),
    )


def describe_watch(known: Watched) -> tuple[str, ...]:
    """Return sentences on the watch: the best and the worst hour, and how much data is written in total."""
    hour, day = (units.size(known.curve[AGES.index(age)] * known.scale) for age in (3600, 86_400))
    sentences = [
        f"In the watch of {units.duration(known.seconds)}, files of {hour} were written to in 1 h, and {day} in 24 h."
    ]
    rated = [(rate, at) for at, rate in enumerate(known.by_hour) if rate is not None]
    if len(rated) > 1:
        (low, quiet), (high, busy) = (pick(rated, key=lambda each: each[0]) for pick in (min, max))
        sentences.append(
            f"The fewest changes are between {_clock(quiet)} and {_clock(quiet + 1)} ({units.size(low)} an hour), the "
            f"most between {_clock(busy)} and {_clock(busy + 1)} ({units.size(high)}), by the clock of the old server."
        )
    return tuple(sentences)


def _clock(hour: int) -> str:
    return f"{hour % HOURS:02d}:00"


def _by_hour(watch: WatchResult) -> tuple[float | None, ...]:
    """WAL by hour of the day: of a step that reaches into the next hour each has its part."""
    seen, grown = [0.0] * HOURS, [0.0] * HOURS
    for begun, seconds, bytes_ in watch.wal:
        of_day = begun.hour * HOUR_SECONDS + begun.minute * 60.0 + begun.second
        for hour, part in _hours_of(of_day, seconds):
            seen[hour] += part
            grown[hour] += bytes_ * part / seconds
    return tuple(
        HOUR_SECONDS * bytes_ / each if each >= _COVERED * HOUR_SECONDS else None
        for each, bytes_ in zip(seen, grown, strict=True)
    )


def _hours_of(begins: float, seconds: float) -> Iterator[tuple[int, float]]:
    """The hours of the day that a time reaches into, each with the seconds of it."""
    at, left = begins, seconds
    while left > 0:
        part = min(left, HOUR_SECONDS - at % HOUR_SECONDS)
        yield int(at // HOUR_SECONDS) % HOURS, part
        at, left = at + part, left - part


def _spread(looks: tuple[WatchSample, ...], curve: tuple[float, ...]) -> tuple[float, float]:
    """By what was touched within an hour: it is there that the passes of a stop lie."""
    at = AGES.index(3600)
    seen = [look.touched[at] / curve[at] for look in looks] if curve[at] else []
    if len(seen) < 2:
        return _LEAST
    tenths = quantiles(seen, n=10, method="inclusive")
    return min(_LEAST[0], max(tenths[0], 0.01)), max(_LEAST[1], tenths[-1])


def _slope(curve: tuple[float, ...]) -> float:
    """How what is touched grows beyond the last of AGES, as a power of the time: as between the last two."""
    before, last = curve[-2:]
    if before <= 0 or last <= before:
        return 0.0
    return min(1.0, log(last / before) / log(AGES[-1] / AGES[-2]))
