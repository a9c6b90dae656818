"""A move and what is found out and planned for it: checks, probes, estimate, plan. Numbers in SI base units."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Move:
    """One undertaking.

    Attributes:
        name: the DBA's name for it, unique in the history.
        old, new: names of the server profiles.
        cluster: the cluster's data directory on old.
        target: the data directory to be on new.
        old_volume, new_volume: mount points (or folders) that the benchmarks measure.
        tablespace_targets: location on old -> location on new, for those that differ.
    """

    name: str
    old: str
    new: str
    cluster: str
    target: str
    old_volume: str
    new_volume: str
    tablespace_targets: dict[str, str] = field(default_factory=dict)


class Status(StrEnum):
    """How a check came out, from worst to best."""

    BLOCKER = "blocker"
    UNKNOWN = "unknown"
    WARNING = "warning"
    PASS = "pass"  # noqa: S105


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check. `old` and `new` are the very values that it compared, as text.

    `blocking` says that it can stop a real execution: an unknown then counts as a blocker.
    """

    id: str
    title: str
    status: Status
    old: str
    new: str
    message: str
    hint: str = ""
    blocking: bool = True
    documentation: str = ""


class Quantity(StrEnum):
    """What a probe measures."""

    READ = "read"
    WIRE = "wire"
    SSH = "ssh"
    WRITE = "write"
    END_TO_END = "end-to-end"


@dataclass(frozen=True, slots=True)
class Probe:
    """A short measurement of one link of the copy chain. A rate in bytes a second; `seconds` and `bytes` measured."""

    quantity: Quantity
    bytes_per_second: float
    bytes: int
    seconds: float
    method: str
    """How, for people: `dd of 42 relation files, cold`, `iperf3, 1 stream`."""
    command: str
    raw: str
    taken_at: datetime


@dataclass(frozen=True, slots=True)
class Span:
    """Low, likely and high, in seconds."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a method; `bound_by` is `old disk`, `wire`, `old cpu`, `new disk`, `new cpu`, `files`…"""

    name: str
    seconds: Span
    bound_by: str


@dataclass(frozen=True, slots=True)
class Method:
    """One way to bring the cluster over.

    `method`: cold-copy, warm-copy, dump-restore, parallel-dump-restore or streaming-replica.
    """

    method: str
    duration_seconds: Span
    downtime_seconds: Span
    stages: tuple[Stage, ...]
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long each method takes."""

    methods: tuple[Method, ...]
    made_at: datetime | None = None

    def method(self, name: str) -> Method | None:
        """The method of that name."""
        return next((method for method in self.methods if method.method == name), None)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan. `side` is `old`, `new` or `you` (a person does it); `command` is the exact text to run."""

    number: int
    title: str
    side: str
    server: str
    user: str
    command: str
    reason: str
    expected_seconds: float | None
    undo: str
    point_of_no_return: bool = False
    """The first step that cannot be undone without losing what clients wrote since."""
    stopped: bool = False
    """The cluster is stopped while this step runs: it counts as downtime."""
    input_from: int | None = None
    """Number of the step whose output this one reads on standard input: a public key, a host key, a sum."""
    skippable: bool = True
    """False: it proves something, or without it the copy is not whole. It may be repeated, never left out."""


@dataclass(frozen=True, slots=True)
class Login:
    """How a plan's script reaches a server: `ssh` is the exact text of the ssh command, up to the destination."""

    side: str
    server: str
    ssh: str
    user: str | None
    rights: str
    """As `Rights` has them: how the login user becomes another."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The ordered steps of a move."""

    move: str
    transport: str
    why: str
    """Which figures chose the transport."""
    steps: tuple[Step, ...]
    made_at: datetime
    warnings: tuple[str, ...] = ()
    logins: tuple[Login, ...] = ()


class ProbeJournal(Protocol):
    """Who records a probe; implemented by the history."""

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Record one probe of a move."""
        ...
