"""Two sets of runs side by side, with verdicts that know the noise."""

from dataclasses import dataclass
from enum import StrEnum

from core.benchmarks.model import Workload


class Verdict(StrEnum):
    """What a comparison of one metric says."""

    OLD = "old faster"
    NEW = "new faster"
    NONE = "no difference beyond noise"
    ONE_SIDED = "measured on one side only"
    UNLIKE = "not comparable: cached on one side only"


@dataclass(frozen=True, slots=True)
class Sample:
    """The repetitions of one metric on one side, the good ones alone."""

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
    run_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one workload on both sides. `ratio` is new over old, for a metric where more is better; for a
    latency old over new, so that above 1 always speaks for new. None where a side is missing."""

    workload: Workload
    metric: str
    old: Sample | None
    new: Sample | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    verdict: Verdict
    headline: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Old against new."""

    old: str
    """What is compared, for people: server and volume."""
    new: str
    rows: tuple[Row, ...]
