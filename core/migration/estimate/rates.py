"""Rates with their uncertainty and where they come from, and a chain of links bound by its slowest."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt
from statistics import median, stdev
from typing import TYPE_CHECKING

from core.migration.estimate.draws import drawn, fixed, least, most
from core.migration.estimate.evidence import widened

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws

Figure = tuple[float, float, float]
"""Low, likely and high of what is assumed: 10th, 50th and 90th percentile."""

MEASURED = (0.85, 1.15)
"""How far a measured or stated rate is off on the night."""

TIMED = (0.85, 1.2)
"""How far what was timed once is off the next time, as long as two of a kind tell no better."""

_NINETIETH = 1.28
"""So many standard deviations above the middle lies the 90th percentile."""

_LEAST_SPREAD = 0.05
"""Runs that came out alike leave as much: the next night is another."""


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """Bytes a second, night by night.

    Attributes:
        likely: the value that was given, measured or assumed.
        bound_by: what is busy at this rate.
        stated: it was given or measured, not assumed.
        evidence: where it comes from, for people.
    """

    draws: "Draws"
    likely: float
    bound_by: str
    stated: bool = True
    evidence: str = "given"

    def seconds(self, size: "float | Draws") -> "Draws":
        """How long `size` bytes take."""
        return size / self.draws

    def scaled(self, factor: float) -> "Rate":
        """The rate times a factor."""
        return replace(self, draws=self.draws * factor, likely=self.likely * factor)


def stated(
    value: float, bound_by: str, evidence: str = "given", spread: tuple[float, float] = MEASURED, name: str = ""
) -> Rate:
    """A given rate with the spread of its kind; infinite: it bounds nothing."""
    if value == inf:
        return Rate(fixed(inf), inf, bound_by, evidence=evidence)
    return Rate(
        drawn(name or bound_by, value * spread[0], value, value * spread[1]), value, bound_by, evidence=evidence
    )


def assumed(figure: Figure, bound_by: str, name: str = "") -> Rate:
    """A rate that nobody gave, as wide as what is met."""
    return Rate(drawn(name or bound_by, *figure), figure[1], bound_by, stated=False, evidence="assumed")


def of_its_time(before: Figure, of_now: Figure, bound_by: str, name: str = "", *, now: bool) -> Rate:
    """The same by the age of the servers; those of now are slower than earlier ones on no night."""
    earlier = assumed(before, bound_by, name)
    if not now:
        return earlier
    later = assumed(of_now, bound_by, name)
    return replace(later, draws=most(earlier.draws, later.draws))


def slowest(rates: Iterable[Rate]) -> Rate:
    """A chain moves at the rate of its slowest link, whichever that is on a night; named after the likely one."""
    chain = list(rates)
    bound = min(chain, key=lambda rate: rate.likely)
    return replace(bound, draws=least(*(rate.draws for rate in chain)))


def spread_of(values: tuple[float, ...]) -> tuple[float, float]:
    """Low and high for each likely one, from what was timed: of three and more by how far they lie apart."""
    if len(values) < 3 or min(values) <= 0:
        return TIMED
    apart = max(_LEAST_SPREAD, stdev(map(log, values)))
    return exp(-_NINETIETH * apart), exp(_NINETIETH * apart)


def off_by(factors: tuple[float, ...]) -> tuple[float, float]:
    """Low and high for each likely one, from how many times as long as likely earlier ones took: being wrong the same
    way each time is being wrong. Rates: what took longer goes slower."""
    apart = max(_LEAST_SPREAD, sqrt(sum(log(each) ** 2 for each in factors) / len(factors)))
    return exp(-_NINETIETH * apart), exp(_NINETIETH * apart)


def timed(name: str, values: tuple[float, ...], doubt: float = 0.0) -> "Draws":
    """Seconds of what was timed before, once or several times; `doubt`: what speaks against it, see `evidence`."""
    likely, (low, high) = median(values), widened(spread_of(values), doubt)
    return drawn(name, low * likely, likely, high * likely)
