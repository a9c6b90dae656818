"""Workloads, suites and runs: what is measured, and what was. Metrics are names and numbers in SI base units."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

Metrics = dict[str, float]
"""Metric name -> number in SI base units. An absent metric was not measured: it is never zero for that."""

Parameter = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Workload:
    """A named, parameterised test.

    Attributes:
        name: unique in its suite, such as `fio-random-write-direct`.
        tool: one of `core/benchmarks/tools.py`: fio, bonnie, pgbench…
        parameters: what the tool's module understands, in base units: size_bytes, block_bytes, jobs, runtime_seconds…
        headline: the metric that stands for the workload in a comparison.
    """

    name: str
    title: str
    tool: str
    headline: str
    # part of what a workload is: two with others are never compared
    parameters: dict[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suite:
    """A list of workloads, repeated, as a file in resources/suites/ describes it."""

    name: str
    title: str
    repetitions: int
    """Undisturbed ones that are made at least."""
    workloads: tuple[Workload, ...]
    target_variation: float = 0.05
    """More are made until the headline's coefficient of variation is no greater than this…"""
    most_repetitions: int = 0
    """…or there are so many; fewer than `repetitions`: no more than those."""

    @property
    def limit(self) -> int:
        """The most repetitions of a workload, disturbed ones among them."""
        return max(self.repetitions, self.most_repetitions)


ELSEWHERE = "elsewhere"
"""The server of volumes on none: what somebody else measured lies there, whichever side of its move it bears."""


class Side(StrEnum):
    """The old or the new server of a move."""

    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Volume:
    """What a run measures: a mount point of one side of a move, with the folder that the test files lie in."""

    side: Side
    server: str
    mount_point: str
    folder: str
    """The run's own folder, made and removed by it, below the mount point or a folder the DBA names."""

    @property
    def elsewhere(self) -> bool:
        """Whether somebody else measured there: it is on neither side then."""
        return self.server == ELSEWHERE

    @property
    def words(self) -> str:
        """For people: `old: db1:/srv/pg`, `elsewhere:/vendor`."""
        place = f"{self.server}:{self.mount_point}"
        return place if self.elsewhere else f"{self.side}: {place}"


class Outcome(StrEnum):
    """How a run or a repetition ended. Only `done` counts in a comparison."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """Its pghaul was killed, or stopped at once, before it ended."""


class MarkKind(StrEnum):
    """What makes a repetition's figures other than those of an undisturbed disk."""

    DISTURBED = "disturbed"
    """Others used the device meanwhile."""
    CACHE = "cache"
    """What it read came from memory."""
    MEMORY = "memory"
    """What it wrote stayed in memory."""
    UNWATCHED = "not watched"
    """Nobody can tell: the volume has no device of its own (overlay, nfs, btrfs), or only root could see it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on a repetition, with the figures that it rests on as a sentence."""

    kind: MarkKind
    text: str


@dataclass(frozen=True, slots=True)
class Repetition:
    """One pass of a workload, with the raw output that its metrics were read from."""

    number: int
    """From 1."""
    started_at: datetime
    seconds: float
    outcome: Outcome
    metrics: Metrics
    command: str
    raw: str
    # shown with the figure wherever it is
    cached: bool = False
    """The caches could not be dropped before it."""
    message: str = ""
    """Why it failed."""
    marks: tuple[Mark, ...] = ()

    @property
    def disturbed(self) -> bool:
        return any(mark.kind is MarkKind.DISTURBED for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Run:
    """One workload on one volume."""

    move: str
    volume: Volume
    workload: Workload
    started_at: datetime
    outcome: Outcome | None = None
    """None while it runs."""
    ended_at: datetime | None = None
    repetitions: tuple[Repetition, ...] = ()
    tool_version: str | None = None
    id: int | None = None
    """The history's number for it; None before it is recorded."""
    stopped: str = ""
    """Why no more repetitions were made, as a sentence; empty where it did not come to that."""

    @property
    def program(self) -> str:
        """What measured, with its version where it is known: `fio 3.33`."""
        tool, version = self.workload.tool, self.tool_version or ""
        return version if tool in version else f"{tool} {version}".rstrip()


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a suite on one volume will take, before it starts."""

    volume: Volume
    seconds: float
    bytes_needed: int
    """The most that lies on the volume at one time."""
    bytes_available: int
    problems: tuple[str, ...] = ()
    """Sentences that forbid the start: not enough space, inside a data directory…"""
    left_out: tuple[str, ...] = ()
    """Sentences: which workloads cannot run there, and why; the others do."""
    warnings: tuple[str, ...] = ()
    """Sentences on what does not forbid the start but colours the figures."""
    resync: str = ""
    """The one of `warnings` on an array that is being rebuilt below the volume; that can be waited for."""
    seconds_at_most: float | None = None
    """Where every workload repeats up to the suite's limit; None: `seconds` is that already."""


# a protocol: the work stands below the history and cannot import it
class BenchmarkJournal(Protocol):
    """Who records a run while it happens; implemented by the history."""

    def run_started(self, run: Run) -> int:
        """Record a run without repetitions; the number it has from now on."""
        ...

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        """Record one repetition with its metrics and its raw output."""
        ...

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        """Record how the run ended, and why no more repetitions were made."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """One result inside a tool's output: a fio job, a dd transfer."""

    name: str | None
    """None where the output does not tell what it was."""
    metrics: Metrics
    interrupted: bool = False
    aborted: bool = False
    errors: int | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A tool's output as its parser read it."""

    tool: str
    version: str | None
    results: tuple[Result, ...]
