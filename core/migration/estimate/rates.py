"""Rates and times with their uncertainty, and a chain of links bound by its slowest."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.migration.model.estimate import Span

INDEX_BUILD = (8e6, 25e6, 60e6)
"""Bytes of index that one process builds a second; a primary key over 100 M rows, 2.1 GB, in 59 to 67 s: 34 MB/s."""

MEASURED = (0.85, 1.1)
"""How far a measured or stated rate is off on the night: rather slower than faster, for the sample was short."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Bytes a second: the least, the likely and the most that is to be expected.

    `bound_by` names what is busy at this rate; `stated`: it was given, not assumed.
    """

    low: float
    likely: float
    high: float
    bound_by: str
    stated: bool = True

    def seconds(self, size: float) -> Span:
        """How long `size` bytes take."""
        return Span(size / self.high, size / self.likely, size / self.low)

    def scaled(self, factor: float) -> "Rate":
        """The rate times a factor."""
        return Rate(self.low * factor, self.likely * factor, self.high * factor, self.bound_by, self.stated)


def stated(value: float, bound_by: str, spread: tuple[float, float] = MEASURED) -> Rate:
    """A given rate with the spread of its kind."""
    return Rate(value * spread[0], value, value * spread[1], bound_by)


def assumed(low: float, likely: float, high: float, bound_by: str) -> Rate:
    """A rate that nobody gave, as wide as what is met."""
    return Rate(low, likely, high, bound_by, stated=False)


def slowest(rates: Iterable[Rate]) -> Rate:
    """A chain moves at the rate of its slowest link, whichever that is at the low, the likely and the high end."""
    chain = list(rates)
    bound = min(chain, key=lambda rate: rate.likely)
    return Rate(
        low=min(rate.low for rate in chain),
        likely=bound.likely,
        high=min(rate.high for rate in chain),
        bound_by=bound.bound_by,
        stated=bound.stated,
    )


def total(spans: Iterable[Span]) -> Span:
    """One after the other. The ends add up as if all went well, or all went badly, together: rather too wide."""
    listed = list(spans)
    return Span(
        sum(span.low for span in listed), sum(span.likely for span in listed), sum(span.high for span in listed)
    )


def longer(first: Span, second: Span) -> Span:
    """Side by side: the longer of the two at each end."""
    return Span(max(first.low, second.low), max(first.likely, second.likely), max(first.high, second.high))


def times(number: float, each: Span) -> Span:
    """`number` times the span."""
    return Span(number * each.low, number * each.likely, number * each.high)
