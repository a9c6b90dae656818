"""Student's t distribution, for what only a handful of values can say."""

import math
from functools import cache


@cache
def student_quantile(probability: float, freedom: int) -> float:
    """Student's t with `freedom` degrees of freedom for a probability above one half, by bisection."""
    low, high = 0.0, 1.0
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
