"""The simulation that an estimate is drawn from: some two thousand nights, the same ones each time.

A figure is an array with its value in each of these nights, so that a formula is plain arithmetic, and what it comes to
is read off as percentiles of the whole, not as a sum of the ends. Every figure has an order of its own by its name
(stratified: each hundredth of its spread is met equally often). So two specs that part in one figure meet the same
nights, and more bytes or a slower disk take longer in each of them. numpy loads with the first estimate: it takes long.
"""

from functools import cache, lru_cache, reduce
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from core.migration.model.estimate import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Draws: TypeAlias = "NDArray[np.float64]"

NIGHTS = 1999
"""Odd, so that the likely value of a figure is met."""

_NINETIETH = NormalDist().inv_cdf(0.9)


@lru_cache(maxsize=512)  # 8 MB: the figures of an estimate, which it meets dozens of times, and of the next ones
def drawn(name: str, low: float, likely: float, high: float) -> "Draws":
    """A figure whose 10th, 50th and 90th percentiles these are; log-normal on either side of the likely value.

    Where `low` is zero what lies below the likely value is spread evenly down to it. Drawn once, it stays as it is.
    """
    figure = _figure(name, low, likely, high)
    figure.flags.writeable = False
    return figure


def _figure(name: str, low: float, likely: float, high: float) -> "Draws":
    import numpy as np

    rank = _order(name)
    normal = _quantiles()[rank]
    if likely <= 0:
        return np.maximum(0.0, normal / _NINETIETH) * high
    above = likely * (high / likely) ** (normal / _NINETIETH)
    below = likely * (2 * rank + 1) / NIGHTS if low <= 0 else likely * (low / likely) ** (-normal / _NINETIETH)
    return np.where(normal > 0, above, below)


def fixed(value: float) -> "Draws":
    """A figure that is the same every night."""
    import numpy as np

    return np.full(NIGHTS, float(value))


def least(*figures: "Draws") -> "Draws":
    """The smallest, night by night."""
    import numpy as np

    return reduce(np.minimum, figures)


def most(*figures: "Draws") -> "Draws":
    """The largest, night by night."""
    import numpy as np

    return reduce(np.maximum, figures)


def only_from(limit: float, trigger: "Draws", figure: "Draws") -> "Draws":
    """The figure in the nights when `trigger` comes to the limit, and nothing in the others."""
    import numpy as np

    return np.where(trigger >= limit, figure, 0.0)


def span(figure: "Draws") -> Span:
    """Its 10th, 50th and 90th percentile."""
    import numpy as np

    ordered = np.sort(figure)
    return Span(*(_percentile(ordered, part) for part in (0.1, 0.5, 0.9)))


def _percentile(ordered: "Draws", part: float) -> float:
    """As numpy.percentile has it, which takes six times as long for so few nights: linear between the two around it."""
    at = (NIGHTS - 1) * part
    below, above = float(ordered[int(at)]), float(ordered[int(at) + 1])
    over = at - int(at)
    return below + (above - below) * over if over < 0.5 else above - (above - below) * (1 - over)


def share(figure: "Draws", limit: float) -> float:
    """In which part of the nights it is no more than the limit."""
    return float((figure <= limit).mean())


@cache
def _order(name: str) -> "NDArray[np.intp]":
    """The ranks that the nights have in a figure, in an order that its name seeds."""
    import numpy as np

    return np.random.default_rng(crc32(name.encode())).permutation(NIGHTS)


@cache
def _quantiles() -> "Draws":
    """Of the normal distribution, by rank."""
    import numpy as np

    normal = NormalDist()
    return np.array([normal.inv_cdf((number + 0.5) / NIGHTS) for number in range(NIGHTS)])
