"""What a handful of repetitions says: centre, spread, and how sure a ratio of two sides is.

Pure functions over plain numbers; the random draws of the bootstrap have a fixed seed, so the same values always give
the same interval.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 10_000
FEWEST = 3
"""Below this many repetitions on a side a bootstrap only repeats the values that it was given."""
ASSUMED_NOISE = 0.10
"""The relative noise assumed of a side with fewer repetitions than that."""
_SEED = 20_070_515


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio with the bounds it lies between at the level of CONFIDENCE."""

    ratio: float
    low: float
    high: float


def median(values: Sequence[float]) -> float:
    """The middle value; of an even number of values the mean of the middle two."""
    return statistics.median(values)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return statistics.fmean(values)


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1); None of fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def variation(values: Sequence[float]) -> float | None:
    """The coefficient of variation: sample standard deviation over mean; None where either does not exist."""
    spread, centre = deviation(values), mean(values)
    return None if spread is None or centre == 0 else spread / abs(centre)


def ratio_of_means(over: Sequence[float], under: Sequence[float]) -> Interval | None:
    """mean(over) / mean(under) with its interval; None where a value under the line is not above zero.

    With at least FEWEST values a side: the percentile bootstrap (Efron, 1979) of the ratio of means. With fewer, the
    interval reaches from the least to the greatest ratio of any two values, widened by ASSUMED_NOISE on both ends: one
    value cannot show its own noise.
    """
    if not over or not under or min(under) <= 0 or min(over) < 0:
        return None
    ratio = mean(over) / mean(under)
    if min(len(over), len(under)) < FEWEST:
        widened = 1 + ASSUMED_NOISE
        return Interval(ratio, min(over) / max(under) / widened, max(over) / min(under) * widened)
    ratios = _resampled_means(over, 0) / _resampled_means(under, 1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ratios, (tail, 1 - tail))
    return Interval(ratio, float(low), float(high))


def _resampled_means(values: Sequence[float], stream: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    draws = np.random.default_rng((_SEED, stream)).integers(len(values), size=(RESAMPLES, len(values)))
    means: np.ndarray[tuple[int], np.dtype[np.float64]] = np.asarray(values, dtype=float)[draws].mean(axis=1)
    return means
