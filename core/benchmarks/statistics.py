"""Statistics of a few repetitions: centre, spread, outliers, percentiles, and the interval of the ratio of two sides.

Pure functions over plain numbers; the random draws of the bootstrap have a fixed seed, so the same values always give
the same interval.

A value that is infinite or NaN is no measurement. Every function leaves it out, as the history does not record it.
"""

import math
import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from core.benchmarks.model import Metrics

if TYPE_CHECKING:
    import numpy as np


CONFIDENCE = 0.95
RESAMPLES = 10_000
FEWEST = 3
"""With fewer repetitions on a side, a bootstrap only repeats the given values."""
ASSUMED_NOISE = 0.10
"""The assumed relative noise of a side with fewer repetitions than FEWEST."""
_SEED = 20_070_515


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio with the bounds of its confidence interval, at the level of CONFIDENCE."""

    ratio: float
    low: float
    high: float


def median(values: Sequence[float]) -> float:
    """The middle value; of an even number of values the mean of the middle two; NaN without values."""
    known = _finite(values)
    return statistics.median(known) if known else math.nan


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; NaN without values."""
    known = _finite(values)
    return statistics.fmean(known) if known else math.nan


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1); None of fewer than two values."""
    known = _finite(values)
    return statistics.stdev(known) if len(known) > 1 else None


def variation(values: Sequence[float]) -> float | None:
    """The coefficient of variation: sample standard deviation over mean; None where either does not exist."""
    spread, centre = deviation(values), mean(values)
    return None if spread is None or centre == 0 else spread / abs(centre)


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def ratio_of_means(over: Sequence[float], under: Sequence[float]) -> Interval | None:
    """mean(over) / mean(under) with its interval; None where a value under the line is not above zero.

    With at least FEWEST values a side: the expanded percentile bootstrap of the ratio of means (Hesterberg, "What
    Teachers Should Know About the Bootstrap", The American Statistician 69, 2015). The plain percentile interval is too
    narrow for a handful: of pairs of five normal values without a difference it calls 12 % one, the expanded 3 %
    (measured). With fewer, the interval reaches from the least to the greatest ratio of any two values, widened by
    ASSUMED_NOISE on both ends: one value cannot show its own noise.
    """
    over, under = _finite(over), _finite(under)
    # a ratio to zero is none, and a rate below zero is no measurement
    if not over or not under or min(under) <= 0 or min(over) < 0:
        return None
    ratio = mean(over) / mean(under)
    # resampling two values gives the same two values back
    if min(len(over), len(under)) < FEWEST:
        widened = 1 + ASSUMED_NOISE
        return Interval(ratio, min(over) / max(under) / widened, max(over) / min(under) * widened)
    import numpy as np  # of all that this module does the bootstrap alone needs it, and it takes long to load

    ratios = _resampled_means(over, 0) / _resampled_means(under, 1)
    # by the side that knows less
    tail = _expanded_tail(min(len(over), len(under)))
    low, high = np.quantile(ratios, (tail, 1 - tail))
    return Interval(ratio, float(low), float(high))


def _expanded_tail(count: int) -> float:
    """What to cut off at each end so that the interval of `count` values is as wide as Student's t has it."""
    t = student_quantile((1 + CONFIDENCE) / 2, count - 1)
    return statistics.NormalDist().cdf(-t * math.sqrt(count / (count - 1)))


def _resampled_means(values: Sequence[float], stream: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    import numpy as np

    # one stream a side: two sides of the same values must not be drawn alike
    draws = np.random.default_rng((_SEED, stream)).integers(len(values), size=(RESAMPLES, len(values)))
    means: np.ndarray[tuple[int], np.dtype[np.float64]] = np.asarray(values, dtype=float)[draws].mean(axis=1)
    return means


@cache
def student_quantile(probability: float, freedom: int) -> float:
    """Student's t with `freedom` degrees of freedom for a probability above one half, by bisection."""
    low, high = 0.0, 1.0
    # double until it lies beyond, then halve: 80 times are more than a double's digits
    while _central(high, freedom) < 2 * probability - 1:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if _central(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return high


def _central(t: float, freedom: int) -> float:
    """The probability that Student's t lies between -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2 == 1
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for number in range(3 if odd else 2, freedom - 1, 2):
        term *= square * (number - 1) / number
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


# Which of a handful of values is an outlier: the generalised extreme studentised deviate test, from five values on.
#
# The rule, stated whole: of n values at most n // 5 can be outliers, so one of five to nine, two of ten to fourteen; of
# four or fewer none can be told from chance. Each in turn is the value farthest from the mean of those that are left,
# in sample standard deviations; the last of them that lies above its critical value at ALPHA = 5 % (both tails), and
# all taken out before it, are outliers (Rosner, "Percentage Points for a Generalized ESD Many-Outlier Procedure",
# Technometrics 25, 1983; NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.17.3). For five to nine values this is
# one Grubbs test, which must not be repeated on so few: NIST warns that it then tags most of the points (1.3.5.17.1). A
# value within RESOLUTION of the mean of the others is never an outlier: no tool measures finer.
#
# On normal samples it takes a good value out of one in twenty of them (4.6 to 5.1 % of samples of five to nine, 5.7 to
# 7.1 % of ten to thirty, measured).
#
# The modified z-score (Iglewicz and Hoaglin, 1993) is not used: the median absolute deviation of five values is mostly
# that of two neighbours, so that it would reject good ones.

ALPHA = 0.05
_FEWEST_TO_TEST = 5
"""Values that may hold one outlier; each further five may hold one more."""
RESOLUTION = 0.01


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """The positions of the values that are outliers, in the order of `values`."""
    left = [position for position, value in enumerate(values) if math.isfinite(value)]
    taken: list[int] = []
    found = 0
    # all candidates are taken out before any is judged: two that hide each other are both found
    for _ in range(len(left) // _FEWEST_TO_TEST):
        centre = statistics.fmean(values[position] for position in left)
        spread = math.hypot(*(values[position] - centre for position in left)) / math.sqrt(len(left) - 1)
        # equal values: nothing sticks out, and nothing may be divided by
        if spread == 0:
            break
        farthest = max(left, key=lambda position: abs(values[position] - centre))
        extreme = abs(values[farthest] - centre) / spread
        critical = critical_value(len(left))
        left.remove(farthest)
        taken.append(farthest)
        others = statistics.fmean(values[position] for position in left)
        # the last one that is extreme decides, and all taken out before it go with it
        if extreme > critical and abs(values[farthest] - others) > RESOLUTION * abs(others):
            found = len(taken)
    return tuple(sorted(taken[:found]))


@cache
def critical_value(count: int, alpha: float = ALPHA) -> float:
    """What the farthest of `count` normal values (at least 3), in standard deviations, exceeds with `alpha`."""
    freedom = count - 2
    t = student_quantile(1 - alpha / (2 * count), freedom)
    return (count - 1) * t / math.sqrt((freedom + t * t) * count)


# Metrics from the latencies of single operations, as they are in logs. They have the names that tools use.

_PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def latencies(values: Sequence[int], seconds: float, prefix: str = "") -> Metrics:
    """Return mean, standard deviation, percentiles by nearest rank, and maximum; nothing if there are no values.

    Args:
        values: one value per operation, in any order.
        seconds: their unit in seconds.
        prefix: the prefix of the metrics: `read_`, `write_` or nothing.
    """
    return latencies_counted(Counter(values), seconds, prefix)


def latencies_counted(counts: Mapping[int, int], seconds: float, prefix: str = "") -> Metrics:
    """Return the same metrics for values that are given together with their numbers.

    Args:
        counts: how often each value occurs.
    """
    number = sum(counts.values())
    if not number:
        return {}
    ordered = sorted(counts)
    up_to = list(accumulate(counts[value] for value in ordered))
    mean = sum(value * counts[value] for value in ordered) / number
    found = {
        "mean": mean,
        "stddev": math.sqrt(sum(counts[value] * (value - mean) ** 2 for value in ordered) / number),
        **{name: float(ordered[bisect_left(up_to, math.ceil(part * number))]) for name, part in _PERCENTILES.items()},
        "max": float(ordered[-1]),
    }
    return {f"{prefix}latency_{name}_seconds": value * seconds for name, value in found.items()}
