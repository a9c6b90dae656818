"""The latencies of single operations, as logs keep them, in the metrics that tools print of them."""

import math
from collections.abc import Sequence

from core.benchmarks.model import Metrics

_PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def latencies(values: Sequence[int], seconds: float, prefix: str = "") -> Metrics:
    """Mean, standard deviation, percentiles by nearest rank, and the longest; none of no values.

    Args:
        values: one an operation, in any order.
        seconds: what their unit is worth.
        prefix: `read_`, `write_` or nothing.
    """
    if not values:
        return {}
    ordered = sorted(values)
    mean = sum(ordered) / len(ordered)
    found = {
        "mean": mean,
        "stddev": math.sqrt(sum((one - mean) ** 2 for one in ordered) / len(ordered)),
        **{name: float(ordered[math.ceil(part * len(ordered)) - 1]) for name, part in _PERCENTILES.items()},
        "max": float(ordered[-1]),
    }
    return {f"{prefix}latency_{name}_seconds": value * seconds for name, value in found.items()}
