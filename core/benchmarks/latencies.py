"""Metrics from the latencies of single operations, as they are in logs. They have the names that tools use."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from core.benchmarks.model import Metrics

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
