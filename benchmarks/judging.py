"""How good estimates were against the clock: likely near it, the clock inside, the interval score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

PERCENTILES = {"low": 0.1, "likely": 0.5, "high": 0.9}
WAYS = {"dump": "dump-restore", "warm": "warm-copy", "all": "warm-copy", "cold": "cold-copy"}
"""The method of each way, in the order in which they are done: a dump leaves old as it is."""


@dataclass(frozen=True, slots=True)
class Clock:
    """What one way took: all of it, and without the cluster. Seconds."""

    whole: float
    down: float


@dataclass(frozen=True, slots=True)
class Judged:
    """One estimate against the clock. Seconds; `within`: how far likely may be off."""

    title: str
    low: float
    likely: float
    high: float
    clock: float
    within: float

    @property
    def right(self) -> bool:
        """Likely is as near to the clock as it should be."""
        return abs(self.likely / self.clock - 1) <= self.within

    @property
    def inside(self) -> bool:
        """The clock lies between low and high."""
        return self.low <= self.clock <= self.high

    @property
    def score(self) -> float:
        """The interval score: the pinball loss of the three, in seconds. What the clock exceeds a percentile by costs
        that part, the rest the other way; wide ranges do not win."""
        spans = {"low": self.low, "likely": self.likely, "high": self.high}
        return sum(
            max(part * (self.clock - spans[name]), (part - 1) * (self.clock - spans[name]))
            for name, part in PERCENTILES.items()
        )


@dataclass(frozen=True, slots=True)
class Probing:
    """How long the probes of a setting took, and the move that they were for. Seconds."""

    title: str
    seconds: float
    whole: float

    @property
    def most(self) -> float:
        """What they may take: a tenth of the move, and 15 s at least."""
        return max(15.0, 0.1 * self.whole)

    @property
    def right(self) -> bool:
        """They took no longer than that."""
        return self.seconds <= self.most

    def __str__(self) -> str:
        verdict = "right" if self.right else "MISSED"
        share = f"{self.seconds / self.whole:.0%} of {self.whole:.1f} s, at most {self.most:.1f} s"
        return f"{self.title}: probed in {self.seconds:.1f} s, {share}: {verdict}"


def judged(setting: str, way: str, estimate: Mapping[str, Any], clock: Clock) -> list[Judged]:
    """What one way came to: the whole and, of a copy, the downtime. `estimate`: as `pghaul estimate --json` prints."""
    method = next(each for each in estimate["methods"] if each["method"] == WAYS[way])
    title = f"{setting}, {way}"
    found = [Judged(f"{title}: whole", **method["duration_seconds"], clock=clock.whole, within=0.15)]
    if way != "dump":
        found.append(Judged(f"{title}: downtime", **method["downtime_seconds"], clock=clock.down, within=0.25))
    return found


def table(rows: Sequence[Judged]) -> str:
    """The rows for people, then the sums."""
    head = f"{'':58}{'low':>8}{'likely':>8}{'high':>8}{'clock':>8}{'l/clock':>9}{'score':>7}\n"
    return head + "".join(f"{line(row)}\n" for row in rows) + sums(rows)


def line(row: Judged) -> str:
    """One row for people."""
    figures = "".join(f"{each:8.1f}" for each in (row.low, row.likely, row.high, row.clock))
    verdict = f"{'' if row.right else 'OFF '}{'inside' if row.inside else 'OUTSIDE'}"
    return f"{row.title:58}{figures}{row.likely / row.clock:9.2f}{row.score:7.1f}  {verdict}"


def sums(rows: Sequence[Judged]) -> str:
    """How good they were, of the whole and of the downtime: a line each."""
    said = ""
    for kind, within in (("whole", "15 %"), ("downtime", "25 %")):
        mine = [row for row in rows if row.title.endswith(kind)]
        if mine:
            said += f"{kind}: likely within {within} in {sum(row.right for row in mine)} of {len(mine)}, "
            said += f"inside in {sum(row.inside for row in mine)}, "
            said += f"interval score {sum(row.score for row in mine):.1f} s (pinball loss at 10, 50 and 90 %)\n"
    return said


def best_possible(rows: Sequence[Judged]) -> str:
    """How good an estimate were whose likely is the median of the clocks of a title that was done several times.

    What the same move takes on the same hosts differs from time to time: no estimate is nearer than that. Empty where
    nothing was repeated.
    """
    clocks = {row.title: [each.clock for each in rows if each.title == row.title] for row in rows}
    best = [replace(row, likely=median(clocks[row.title])) for row in rows if len(clocks[row.title]) > 1]
    said = "the median of its own clocks as likely:\n" if best else ""
    for kind, within in (("whole", "15 %"), ("downtime", "25 %")):
        mine = [row for row in best if row.title.endswith(kind)]
        if mine:
            apart = max(max(clocks[row.title]) / min(clocks[row.title]) for row in mine)
            said += f"{kind}: within {within} in {sum(row.right for row in mine)} of {len(mine)}, "
            said += f"clocks of one move up to {apart:.2f} times apart\n"
    return said


def good(rows: Sequence[Judged], probed: Sequence[Probing] = ()) -> bool:
    """Likely right in nine of ten and the clock inside in eight, of the whole and of the downtime; all probes short."""
    kinds = [[row for row in rows if row.title.endswith(kind)] for kind in ("whole", "downtime")]
    near = all(
        sum(row.right for row in mine) >= 0.9 * len(mine) and sum(row.inside for row in mine) >= 0.8 * len(mine)
        for mine in kinds
    )
    return bool(rows) and near and all(each.right for each in probed)
