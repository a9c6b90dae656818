"""Where a measured figure comes from, and what speaks against it on the night: its age, another way, other hardware.

Each doubt is a factor by which such a figure is off in one case of ten. Doubts that have nothing to do with each other
add up as variances do: as the squares of their logarithms. So a doubt never makes a range narrower, and the largest one
decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp, log, sqrt

_A_MONTH = log(1.1)
"""Disks fill, arrays lose their cache's battery, networks get neighbours: as one does not know which way, the doubt
grows with the root of the age."""

_TRANSPORT = log(1.5)
"""Compression or a second stream makes as much (docs/speed.md: one stream plain to two with lz4)."""

_HARDWARE = log(2.0)
"""Volumes of one server part by as much: a turning disk beside an SSD by more, two of a kind by less."""

_CLEARLY = log(1.3)
"""What tells more by its kind counts until it is doubted by so much more than the other."""

_MONTH_SECONDS = 30.44 * 86400.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a figure comes from.

    Attributes:
        words: for people.
        taken_at: when it was measured; None: nobody knows, or it was given, and counts as of now.
        transport: the name of the transport that it was measured with; empty: it is the same for each.
        other_transport, other_hardware: it went another way than the copy will, or over another disk.
        apart: by how its own parts lie apart, the logarithm of the factor by which it is off in one case of ten.
    """

    words: str = "given"
    taken_at: datetime | None = None
    transport: str = ""
    other_transport: bool = False
    other_hardware: bool = False
    apart: float = 0.0

    @property
    def description(self) -> str:
        """The source for people, with the reasons to doubt it."""
        against = (("by another transport", self.other_transport), ("on another disk", self.other_hardware))
        return ", ".join([self.words, *(words for words, holds in against if holds)])

    def doubt(self, now: datetime | None) -> float:
        """Of what was measured so: the logarithm of the factor by which it is off in one case of ten."""
        months = 0.0
        if now is not None and self.taken_at is not None:
            months = max(0.0, (now - self.taken_at).total_seconds() / _MONTH_SECONDS)
        doubts = (
            min(_A_MONTH * sqrt(months), _HARDWARE),
            _TRANSPORT * self.other_transport,
            _HARDWARE * self.other_hardware,
            self.apart,
        )
        return sqrt(sum(each**2 for each in doubts))


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure with where it comes from."""

    value: float
    evidence: Evidence


def surest(found: Sequence[Measured | None], now: datetime | None) -> Measured | None:
    """Of several for one figure, those that tell more by their kind first: the first that no other clearly beats."""
    known = [each for each in found if each is not None]
    if not known:
        return None
    best = known[0]
    for each in known[1:]:
        if each.evidence.doubt(now) + _CLEARLY < best.evidence.doubt(now):
            best = each
    return best


def widened(spread: tuple[float, float], doubt: float) -> tuple[float, float]:
    """Low and high for each likely one, with a further doubt: never narrower."""
    low, high = (sqrt(log(each) ** 2 + doubt**2) for each in spread)
    return exp(-low), exp(high)
