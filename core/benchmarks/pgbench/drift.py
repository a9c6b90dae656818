"""How a storage ages under updates: random reads of a fresh database, updates, and the same reads again.

The protocol of Lentfer, "HAMMER and PostgreSQL Performance" (2010): a database larger than the memory is made on a
fresh file system; select-only runs fill the caches, the one after them is the initial figure; three TPC-B runs are
averaged; one more select-only run is the final figure. The decrease is (initial - final) / initial: 0.53 has lost half
of its reads, one below zero has gained. All of it is one repetition with a cluster of its own, for the second time on
the same database would start from what the first has worn out; nothing is restarted and no cache dropped within it.

Metrics: `initial_`, `tpcb_` and `final_` ahead of the name of each rate and latency, and `decrease_fraction`.
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
    """The fraction of the initial rate that is gone; below zero: it has grown.

    Raises:
        ParseError: the initial rate is not above zero.
    """
    # a fraction of nothing is no figure
    if initial <= 0:
        raise ParseError(f"pgbench did {initial:g} transactions a second at first: no decrease can be told from that")
    return (initial - final) / initial


def drift(initial: Metrics, updates: Sequence[Metrics], final: Metrics) -> Metrics:
    """The metrics of one pass: of the initial run, of the mean of the updates, of the final run, and the decrease."""
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
