"""When a workload has been repeated often enough."""

from collections.abc import Sequence

from core import units
from core.benchmarks import statistics
from core.benchmarks.model import Repetition, Suite
from core.benchmarks.outliers import outliers


def why_enough(suite: Suite, headline: str, repetitions: Sequence[Repetition]) -> str:
    """Why no more repetitions are made, as a sentence; empty where more are.

    At least `suite.repetitions` undisturbed ones are made, and more until the coefficient of variation of their
    headline, outliers left out, is no greater than `suite.target_variation`; never more than `suite.limit` in all.
    """
    calm = [one for one in repetitions if not one.disturbed]
    last = len(repetitions) >= suite.limit
    if len(calm) < suite.repetitions:
        return (
            f"{len(calm)} of {len(repetitions)} repetitions undisturbed, and the suite allows no more" if last else ""
        )
    values = [one.metrics[headline] for one in calm if headline in one.metrics]
    extreme = outliers(values)
    kept = [value for position, value in enumerate(values) if position not in extreme]
    spread = statistics.variation(kept) if kept else None
    made = f"{len(repetitions)} repetition{'s' if len(repetitions) > 1 else ''}"
    if spread is None:
        return f"{made}, as many as the suite wants"
    target = units.spread(suite.target_variation)
    if spread <= suite.target_variation:
        return f"steady after {made}: {units.spread(spread)}, the target is {target}"
    return (
        f"not steady after {made}, the most of the suite: {units.spread(spread)}, the target is {target}"
        if last
        else ""
    )
