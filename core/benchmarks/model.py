"""Workloads, suites and runs. Metrics are names with numbers in SI base units."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.sides import Side

Metrics = dict[str, float]
"""The number of each metric in SI base units. An absent metric was not measured, which does not mean 0."""

Parameter = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Workload:
    """A named, parameterised test.

    Attributes:
        name: unique in its suite, such as `fio-random-write-direct`.
        tool: one of `core/benchmarks/tools.py`: fio, bonnie, pgbench…
        parameters: parameters of the tool's module, in base units: size_bytes, block_bytes, jobs, runtime_seconds…
        headline: the metric that represents the workload in a comparison.
    """

    name: str
    title: str
    tool: str
    headline: str
    # The parameters identify the workload: runs with different parameters are never compared.
    parameters: dict[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suite:
    """A list of workloads, repeated, as a file in resources/suites/ describes it."""

    name: str
    title: str
    repetitions: int
    """The least number of undisturbed repetitions."""
    workloads: tuple[Workload, ...]
    target_variation: float = 0.05
    """Further repetitions follow until the coefficient of variation of the headline is not above this value."""
    most_repetitions: int = 0
    """The largest number of repetitions. If it is below `repetitions`, that number counts."""

    @property
    def limit(self) -> int:
        """The largest number of repetitions of a workload, including disturbed ones."""
        return max(self.repetitions, self.most_repetitions)


ELSEWHERE = "elsewhere"
"""The server name of volumes that somebody else has measured."""


@dataclass(frozen=True, slots=True)
class Volume:
    """The subject of a run: a mount point on a server, with the folder that contains the test files."""

    side: Side | None
    """The side of the move that the run belongs to; None: it belongs to no move."""
    server: str
    mount_point: str
    folder: str
    """The run's own folder, which it creates and removes, below the mount point or a folder that the DBA names."""

    @property
    def elsewhere(self) -> bool:
        """Whether somebody else has measured this volume. Then it belongs to neither side, whatever `side` says."""
        return self.server == ELSEWHERE

    @property
    def words(self) -> str:
        """The name that is shown: `old: db1:/srv/pg`; without a move `db1:/srv/pg`, and `elsewhere:/vendor`."""
        place = f"{self.server}:{self.mount_point}"
        return place if self.elsewhere or self.side is None else f"{self.side}: {place}"

    @property
    def source(self) -> str:
        """What tells it apart from the others that are measured together: its side, or without a move its words."""
        return self.words if self.side is None else self.side.value


class Outcome(StrEnum):
    """How a run or a repetition ended. Only `done` counts in a comparison."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """pghaul was killed or stopped before the run had ended."""


class MarkKind(StrEnum):
    """The reasons why the results of a repetition differ from those of an undisturbed disk."""

    DISTURBED = "disturbed"
    """Other processes used the device."""
    CACHE = "cache"
    """The data were read from memory."""
    MEMORY = "memory"
    """The data that were written stayed in memory."""
    UNWATCHED = "not watched"
    """This is not known: the volume has no device of its own (overlay, nfs, btrfs), or only root could see it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on a repetition, with a sentence that contains the reason and its numbers."""

    kind: MarkKind
    text: str


@dataclass(frozen=True, slots=True)
class Repetition:
    """One repetition of a workload, with the raw output that contains its metrics."""

    number: int
    """The number of the repetition, from 1."""
    started_at: datetime
    seconds: float
    outcome: Outcome
    metrics: Metrics
    command: str
    raw: str
    # It is shown together with the result everywhere.
    cached: bool = False
    """Whether the caches could not be dropped before it."""
    message: str = ""
    """The reason why it failed."""
    marks: tuple[Mark, ...] = ()

    @property
    def disturbed(self) -> bool:
        return any(mark.kind is MarkKind.DISTURBED for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Run:
    """One workload on one volume."""

    move: str | None
    """The name of its move; None: it belongs to none."""
    volume: Volume
    workload: Workload
    started_at: datetime
    outcome: Outcome | None = None
    """None while the run is running."""
    ended_at: datetime | None = None
    repetitions: tuple[Repetition, ...] = ()
    tool_version: str | None = None
    id: int | None = None
    """Its number in the history; None before it is recorded."""
    stopped: str = ""
    """A sentence with the reason why no further repetition was made; empty if the run ended earlier."""

    @property
    def program(self) -> str:
        """The program that measured, with its version if it is known: `fio 3.33`."""
        tool, version = self.workload.tool, self.tool_version or ""
        return version if tool in version else f"{tool} {version}".rstrip()


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast of a suite on one volume."""

    volume: Volume
    seconds: float
    bytes_needed: int
    """The largest size of all files on the volume at one time."""
    bytes_available: int
    problems: tuple[str, ...] = ()
    """Sentences about what prevents the start: not enough space, inside a data directory…"""
    left_out: tuple[str, ...] = ()
    """Sentences about the workloads that cannot run there. The others run."""
    warnings: tuple[str, ...] = ()
    """Sentences about what does not prevent the start, but affects the results."""
    resync: str = ""
    """The warning about an array below the volume that is being rebuilt, for whose end pghaul can wait."""
    seconds_at_most: float | None = None
    """The duration if every workload repeats up to the suite's limit; None if `seconds` already assumes that."""


# This is a protocol, because this module is below the history and cannot import it.
class BenchmarkJournal(Protocol):
    """Records a run while it is running. The history implements it."""

    def run_started(self, run: Run) -> int:
        """Record a run without repetitions, and return its number."""
        ...

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        """Record one repetition with its metrics and its raw output."""
        ...

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        """Record how the run ended, and why no further repetition was made."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """One result in a tool's output: a fio job, a dd transfer."""

    name: str | None
    """None if the output does not contain a name."""
    metrics: Metrics
    interrupted: bool = False
    aborted: bool = False
    errors: int | None = None


LONGEST_COURSE = 7 * 86400
"""Seconds. A line of a log may name any time, and each second up to it takes memory: of a longer one is no course."""


@dataclass(frozen=True, slots=True)
class Series:
    """A metric in the course of one repetition.

    Attributes:
        metric: its name, as among the metrics of the repetition.
        points: seconds since the beginning, and the value until then since the point before.
    """

    metric: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Output:
    """A tool's output, as its parser has read it."""

    tool: str
    version: str | None
    results: tuple[Result, ...]
