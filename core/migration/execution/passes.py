"""When to stop repeating warm passes: as soon as another one would not shorten the stop by much."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.migration.estimate.copy_methods import WORTH_SECONDS

MOST = 6
"""Passes at the most: a cluster that changes as fast as it is copied never comes to rest."""


@dataclass(frozen=True, slots=True)
class PrecopyPass:
    """A warm pass that ended.

    Attributes:
        seconds: how long it took.
        bytes: of cluster, that it sent; None where it did not say.
        left: bytes of the files that changed since it began, whole: what another has to look through; None where it did
            not say.
        after: seconds from the beginning of the pass before it to its own; None: it came right behind that one.
    """

    seconds: float
    bytes: int | None
    left: int | None = None
    after: float | None = None


def estimate_gain(passes: Sequence[PrecopyPass], waited: float = 0.0) -> float:
    """Seconds by which one more pass would shorten the stop; `waited`: seconds since the last one ended.

    What is left to the final pass is what changed since the last one began, `change × age`; one more pass leaves what
    changes during itself, and it will take `look + change × age / rate`. So the stop is shortened by
    `change / rate × (age of the last − seconds of the next)`.

    The first pass shows the rate, a later one the change: what it sent came together since the pass before it began.
    After the first alone the change is not known: one more can spare at the most what the files that changed take to be
    sent whole, and its own time.
    """
    last, first = passes[-1], passes[0]
    age = last.seconds + waited
    rate = (first.bytes or 0) / max(first.seconds, 1e-3)
    if len(passes) == 1:
        known = rate > 0 and last.left is not None
        return min(last.seconds, (last.left or 0) * age / max(last.seconds, 1e-3) / rate) if known else last.seconds
    before = passes[-2]
    apart = last.after or before.seconds
    if not rate or last.bytes is None or apart <= 0:
        return before.seconds - last.seconds + waited
    change = last.bytes / apart
    look = max(0.0, last.seconds - last.bytes / rate)
    following = look + change * age / rate
    return change / rate * (age - following)


def is_another_pass_worthwhile(passes: Sequence[PrecopyPass], waited: float = 0.0) -> bool:
    """Whether one more warm pass is worth it; `waited`: seconds since the last one ended, while its files were read."""
    return len(passes) < MOST and estimate_gain(passes, waited) >= WORTH_SECONDS


def is_last_pass_outdated(passes: Sequence[PrecopyPass], waited: float) -> bool:
    """Whether so much time went by since the last pass, in seconds, that another one before the stop is worth it."""
    return bool(passes) and waited >= WORTH_SECONDS and estimate_gain(passes, waited) >= WORTH_SECONDS
