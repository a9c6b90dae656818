"""Two or more sets of runs side by side, with verdicts that know the noise."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.benchmarks.model import Workload
from core.language import tr


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
class MeasuredVolume:
    """A volume on which runs of a set were measured, with its machine.

    Attributes:
        removed: whether the server has been removed from pghaul since.
        since: when the first run on this machine began, if several machines had the server's name, one after another.
            None: only one machine of this name is known.
    """

    server: str
    volume: str
    removed: bool = False
    since: datetime | None = None

    @property
    def place(self) -> str:
        """`db1:/srv/pg`, which several machines may have had."""
        return f"{self.server}:{self.volume}"

    @property
    def name(self) -> str:
        """What it is called: `db1:/srv/pg`, `db1:/srv/pg (removed)`, `db1:/srv/pg (machine since 2026-03-14 20:00)`."""
        if self.removed:
            return tr("{volume} (removed)").format(volume=self.place)
        if self.since is None:
            return self.place
        since = f"{self.since:{tr('%Y-%m-%d')} %H:%M}"
        return tr("{volume} (machine since {time})").format(volume=self.place, time=since)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two or more sets of runs side by side: an old and a new one, or a first, a second and further ones."""

    old: str
    """What is compared, for people: server and volume."""
    new: str
    rows: tuple[Row, ...]
    further: tuple[str, ...] = ()
    """The third set and those after it."""
    measured: tuple[tuple[MeasuredVolume, ...], ...] = ()
    """Of each set the volumes on which it was measured; empty for outputs that somebody else has produced."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each set is called, with what has become of its servers and which of several machines it is about."""
        titles = (self.old, self.new, *self.further)
        if not self.measured:
            return titles
        return tuple(_set_name(title, volumes) for title, volumes in zip(titles, self.measured, strict=True))

    @property
    def machines_note(self) -> str:
        """Return a sentence on the names of servers that several machines had; empty if there are none."""
        volumes = (volume for one in self.measured for volume in one)
        servers = dict.fromkeys(volume.server for volume in volumes if volume.since is not None)
        said = tr(
            "Several machines had the same name, one after another: {servers}. Each is named by the time of its first "
            "run."
        )
        return said.format(servers=", ".join(servers)) if servers else ""


def _set_name(title: str, volumes: tuple[MeasuredVolume, ...]) -> str:
    # the title ends with a time where other sets are of the same volumes
    time = title.removeprefix(", ".join(dict.fromkeys(volume.place for volume in volumes)))
    return ", ".join(dict.fromkeys(volume.name for volume in volumes)) + time


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
        since: when the first run on the machine began, as in `MeasuredVolume`.
        unused: how many finished runs on the volume do not count, because another machine had the server's name then.
    """

    server: str
    volume: str
    facts_taken_at: datetime
    figures: int
    findings: tuple[Finding, ...]
    since: datetime | None = None
    unused: int = 0

    @property
    def measured(self) -> MeasuredVolume:
        """The volume, as that of its machine."""
        return MeasuredVolume(self.server, self.volume, since=self.since)
