"""Two or more sets of runs side by side, with verdicts that know the noise."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.benchmarks.model import Workload


class Verdict(StrEnum):
    """What a comparison of one metric says."""

    OLD = "old faster"
    NEW = "new faster"
    NONE = "no difference beyond noise"
    ONE_SIDED = "measured on one side only"
    UNLIKE = "not comparable: cached on one side only"
    """The old set stands for the first, the new set for any other one."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A value that was measured and is shown, but counts neither in mean nor median nor ratio."""

    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """The repetitions of one metric in one set of runs, the good ones alone."""

    values: tuple[float, ...]
    median: float
    mean: float
    low: float
    high: float
    variation: float | None
    """Coefficient of variation, standard deviation over mean; None with fewer than two values."""
    server: str
    volume: str
    cached: bool = False
    """The caches could not be dropped before some of them."""
    run_ids: tuple[int, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """Outliers, and what was disturbed where enough was not."""
    disturbed: bool = False
    """Some of `values` were disturbed: too few were not."""
    from_memory: bool = False
    """Some of `values` were read from memory or stayed in it: they are not the disk's."""
    measured_at: datetime | None = None
    """When its run began."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A further set against the first, as a row holds the second (new) against the first (old)."""

    sample: Sample | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one workload on both sides. `ratio` is new over old, for a metric where more is better; for a
    latency of the old set over that of the new one, so that above 1 speaks for the new one. None where a side is
    missing."""

    workload: Workload
    metric: str
    old: Sample | None
    new: Sample | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    verdict: Verdict
    headline: bool = False
    further: tuple[Contrast, ...] = ()
    """The third set and those after it, each against the first."""
    note: str = ""
    """What must be known to read the interval: fewer values than it needs, say."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two or more sets of runs side by side: an old and a new one, or a first, a second and further ones."""

    old: str
    """What is compared, for people: server and volume."""
    new: str
    rows: tuple[Row, ...]
    further: tuple[str, ...] = ()
    """The third set and those after it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a volume that explains a poor result, or will make one.

    Attributes:
        name: the same for ever: history, reports and scripts may refer to it.
        evidence: sentences with the very values, of figures and of facts; never empty.
        advice: what to try, the likeliest first.
        run_ids: the runs whose figures it rests on.
    """

    name: str
    title: str
    evidence: tuple[str, ...]
    advice: tuple[str, ...]
    run_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found on one volume, and what was looked at for it.

    Attributes:
        figures: how many means of measurements were looked at.
        findings: what costs most first; empty: nothing was found, which is not to say that all is well.
    """

    server: str
    volume: str
    facts_taken_at: datetime
    figures: int
    findings: tuple[Finding, ...]
