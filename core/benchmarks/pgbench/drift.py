"""The ageing of a storage under updates: random reads of a new database, updates, and the same reads again.

The protocol is that of Lentfer, "HAMMER and PostgreSQL Performance" (2010). A database larger than the memory is
created on a fresh file system. Select-only runs fill the caches, and the run after them gives the initial rate. Three
TPC-B runs are averaged. One more select-only run gives the final rate. The decrease is (initial - final) / initial: at
0.53 about half of the reads are lost, below 0 the rate has grown. All this is one repetition with a cluster of its own,
because a second one on the same database would start with its aged files. Nothing is restarted within a repetition,
and no cache is dropped.

The metrics are each rate and latency with the prefixes `initial_`, `tpcb_` and `final_`, and `decrease_fraction`.
"""

from collections.abc import Sequence

from core.benchmarks.model import Metrics
from core.benchmarks.statistics import mean
from core.errors import ParseError

RATE = "transactions_per_second"
HEADLINES = tuple(f"{phase}_{RATE}" for phase in ("final", "initial", "tpcb"))
_OF_RUNS = ("clients", "threads")
_OF_ALL = ("transactions", "failed_transactions")


def decrease(initial: float, final: float) -> float:
    """Return the fraction by which the initial rate has decreased; below 0 if it has grown.

    Raises:
        ParseError: the initial rate is not above zero.
    """
    # a fraction of nothing is no figure
    if initial <= 0:
        raise ParseError(
            f"the initial run of pgbench reached {initial:g} transactions/s, so the decrease cannot be computed",
            "run the benchmark again",
        )
    return (initial - final) / initial


def drift(initial: Metrics, updates: Sequence[Metrics], final: Metrics) -> Metrics:
    """Return the metrics of a repetition: the initial run, the mean of the updates, the final run, and the decrease."""
    averaged = {
        # a mean over some of the runs would be one of something else
        name: mean([run[name] for run in updates])
        for name in updates[0]
        if all(name in run for run in updates)
    }
    metrics = {name: initial[name] for name in _OF_RUNS if name in initial}
    # all that the pass did, and all that failed in it
    for name in _OF_ALL:
        done = [run[name] for run in (initial, *updates, final) if name in run]
        metrics |= {name: sum(done)} if done else {}
    for phase, figures in (("initial", initial), ("tpcb", averaged), ("final", final)):
        metrics |= {f"{phase}_{name}": value for name, value in figures.items() if name == RATE or "latency" in name}
    metrics["decrease_fraction"] = decrease(initial[RATE], final[RATE])
    return metrics
