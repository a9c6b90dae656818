"""What a dress rehearsal cost the old server, by what the step of its pass has printed (`dress_pass` of dress.sh)."""

import re
from dataclasses import dataclass

from core import units
from core.migration.model import step_ids
from core.migration.model.execution import Execution

_KEPT = re.compile(r"^(\d+) bytes of WAL were kept for it$", re.MULTILINE)
_LOAD = re.compile(
    r"^(?P<part>before|during) it (?P<ended>\d+) transactions ended in (?P<seconds>[\d.]+) seconds, and "
    r"(?P<waited>[\d.]+|-) sessions waited for disks$",
    re.MULTILINE,
)
_FEW = 100
"""With fewer transactions counted, a ratio of two rates is chance."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the old server did in a while, by its own statistics.

    Attributes:
        transactions: that ended, in all databases.
        waiting: sessions of clients that waited for the disks, on average; None: the account could not see it.
    """

    seconds: float
    transactions: int
    waiting: float | None

    @property
    def per_second(self) -> float:
        """Transactions."""
        return self.transactions / self.seconds


@dataclass(frozen=True, slots=True)
class DressCost:
    """What the old server had to bear.

    Attributes:
        wal_bytes: the most WAL that was kept for it.
        before, during: what the server did ahead of the backup, and until it had ended; None where nothing tells.
    """

    wal_bytes: int
    before: Load | None
    during: Load | None


def dress_cost(execution: Execution) -> DressCost | None:
    """What the latest pass tells; None where there was none, or it did not come to its end."""
    step = execution.plan.step(step_ids.REHEARSE_PASS)
    run = execution.latest(step.number) if step is not None else None
    kept = _KEPT.search(run.output) if run is not None and run.done else None
    if run is None or kept is None:
        return None
    loads = {found["part"]: _load(found) for found in _LOAD.finditer(run.output)}
    return DressCost(int(kept[1]), loads.get("before"), loads.get("during"))


def _load(found: re.Match[str]) -> Load:
    waited = None if found["waited"] == "-" else float(found["waited"])
    return Load(float(found["seconds"]), int(found["ended"]), waited)


def cost_sentences(cost: DressCost) -> tuple[str, ...]:
    """What that was, and how much it tells, for people."""
    said = [f"The old server kept {units.size(cost.wal_bytes)} of WAL for it at most."]
    before, during = cost.before, cost.during
    if before is None or during is None:
        return (*said, "Its statistics do not tell whether it was slower meanwhile.")
    said.append(
        f"It ended {before.per_second:.1f} transactions per second in the {units.duration(before.seconds)} before the "
        f"backup, and {during.per_second:.1f} in the {units.duration(during.seconds)} of the backup."
    )
    said.append(_change(before, during))
    if before.waiting is not None and during.waiting is not None:
        said.append(
            f"On average {before.waiting:.1f} sessions of clients waited for its disks before it, and "
            f"{during.waiting:.1f} meanwhile."
        )
    said.append("Clients may have asked for more or less meanwhile: these figures do not tell that apart.")
    return tuple(said)


def _change(before: Load, during: Load) -> str:
    if before.transactions < _FEW:
        return "These are too few to compare."
    ratio = during.per_second / before.per_second
    percent = f"{abs(1 - ratio) * 100:.0f}"
    return f"That is {percent} % less." if ratio < 1 else f"That is {percent} % more."
