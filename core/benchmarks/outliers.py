"""Which of a handful of values is an outlier: the generalised extreme studentised deviate test, from five values on.

The rule, stated whole: of n values at most n // 5 can be outliers, so one of five to nine, two of ten to fourteen; of
four or fewer none can be told from chance. Each in turn is the value farthest from the mean of those that are left, in
sample standard deviations; the last of them that lies above its critical value at ALPHA = 5 % (both tails), and all
taken out before it, are outliers (Rosner, "Percentage Points for a Generalized ESD Many-Outlier Procedure",
Technometrics 25, 1983; NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.17.3). For five to nine values this is
one Grubbs test, which must not be repeated on so few: NIST warns that it then tags most of the points (1.3.5.17.1). A
value within RESOLUTION of the mean of the others is never an outlier: no tool measures finer.

On normal samples it takes a good value out of one in twenty of them (4.6 to 5.1 % of samples of five to nine, 5.7 to
7.1 % of ten to thirty, measured).

The modified z-score (Iglewicz and Hoaglin, 1993) is not used: the median absolute deviation of five values is mostly
that of two neighbours, so that it would reject good ones.
"""

import math
import statistics
from collections.abc import Sequence
from functools import cache

from core.benchmarks.statistics import student_quantile

ALPHA = 0.05
FEWEST = 5
"""Values that may hold one outlier; each further five may hold one more."""
RESOLUTION = 0.01


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """The positions of the values that are outliers, in the order of `values`."""
    left = list(range(len(values)))
    taken: list[int] = []
    found = 0
    # all candidates are taken out before any is judged: two that hide each other are both found
    for _ in range(len(values) // FEWEST):
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
