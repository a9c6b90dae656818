"""When to stop repeating warm passes: as soon as another one would not shorten the stop by much."""

from collections.abc import Sequence
from dataclasses import dataclass

WORTH_SECONDS = 5.0
"""A pass that shortens the stop by less is not made."""

MOST = 6
"""Passes at the most: a cluster that changes as fast as it is copied never comes to rest."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A warm pass that ended: how long it took, and the bytes of cluster that it sent; None where it did not say."""

    seconds: float
    bytes: int | None


def gain(passes: Sequence[Pass]) -> float:
    """Seconds by which one more pass would shorten the stop.

    What is left to the final pass is what changed during the last one, `change × seconds`; one more pass leaves what
    changes during itself, and it will take `look + change × seconds / rate`. So the stop is shortened by
    `change / rate × (seconds of the last − seconds of the next)`.

    The first pass shows the rate, a later one the change: what it sent came together since the pass before it began.
    After the first alone the change is not known: one more can spare its whole time at the most.
    """
    last = passes[-1]
    if len(passes) == 1:
        return last.seconds
    first, before = passes[0], passes[-2]
    if not first.bytes or last.bytes is None or before.seconds <= 0:
        return before.seconds - last.seconds
    rate = first.bytes / max(first.seconds, 1e-3)
    change = last.bytes / before.seconds
    look = max(0.0, last.seconds - last.bytes / rate)
    following = look + change * last.seconds / rate
    return change / rate * (last.seconds - following)


def another(passes: Sequence[Pass]) -> bool:
    """Whether one more warm pass is worth it."""
    return len(passes) < MOST and gain(passes) >= WORTH_SECONDS
