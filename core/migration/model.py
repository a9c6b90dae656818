"""A move and what is found out, planned and done for it: checks, probes, estimate, plan, execution. SI base units."""

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
        plain_text: the cluster's bytes may cross the network unencrypted.
    """

    name: str
    old: str
    new: str
    cluster: str
    target: str
    old_volume: str
    new_volume: str
    tablespace_targets: dict[str, str] = field(default_factory=dict)
    plain_text: bool = False


class Status(StrEnum):
    """How a check came out, from worst to best."""

    BLOCKER = "blocker"
    UNKNOWN = "unknown"
    WARNING = "warning"
    PASS = "pass"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Waiver:
    """A warning that somebody took on: it holds as long as the check comes out so, with this very evidence."""

    check: str
    reason: str
    by: str
    """`user@workstation`."""
    at: datetime
    status: Status
    old: str
    new: str


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
    waiver: Waiver | None = None
    """Of a warning that somebody took on; it still is a warning."""

    @property
    def stops(self) -> bool:
        """Whether it stops an execution."""
        return self.status is Status.BLOCKER or (self.status is Status.UNKNOWN and self.blocking)


class Quantity(StrEnum):
    """What a probe measures."""

    READ = "read"
    WIRE = "wire"
    SSH = "ssh"
    WRITE = "write"
    END_TO_END = "end-to-end"


class Route(StrEnum):
    """The way that rsync's bytes take from old to new."""

    SSH = "ssh"
    DAEMON = "daemon"
    """Contents by an rsync daemon on new, unencrypted; folders, links and what is gone over ssh."""
    NFS = "nfs"
    """Into new's folders, mounted on old, unencrypted."""
    LOCAL = "local"
    """From folder to folder: both lie on one server."""

    @property
    def text(self) -> str:
        """For people."""
        return _ROUTE_TITLES[self]


UNENCRYPTED = frozenset({Route.DAEMON, Route.NFS})
"""Routes whose bytes anybody on the network may read: for moves that allow plain text."""

_ROUTE_TITLES = {
    Route.SSH: "rsync over ssh",
    Route.DAEMON: "rsync daemon",
    Route.NFS: "rsync over NFS",
    Route.LOCAL: "rsync from folder to folder",
}


@dataclass(frozen=True, slots=True)
class Transport:
    """How the files of a copy travel: by rsync, and the rest of it.

    Attributes:
        cipher: ssh's name of it; empty: what both ends of ssh agree on by themselves.
        compression: `lz4`, `zstd:1`, `zlib:1`, the level behind the colon; empty: none.
        streams: how many rsyncs run side by side.
        route: the way that the bytes take.
        mount: over NFS, the options in which one mount differs from another: `vers=4.2,nconnect=4`.
    """

    cipher: str = ""
    compression: str = ""
    streams: int = 1
    route: Route = Route.SSH
    mount: str = ""

    @property
    def name(self) -> str:
        """For people: `rsync over ssh, lz4, aes128-ctr, 2 streams`."""
        parts = [self.route.text]
        parts += [part for part in (self.mount, self.compression.replace(":", " level "), self.cipher) if part]
        return ", ".join([*parts, "one stream" if self.streams == 1 else f"{self.streams} streams"])


PLAIN = Transport()
"""What every pair of servers has: one stream of rsync over ssh, with nothing added."""


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
    transport: Transport | None = None
    """What was tried; None: a link that is the same for every transport."""
    ratio: float | None = None
    """Bytes of files for each byte that crossed the wire; None: not told."""
    began_at: datetime | None = None
    """When the pass of probes began that it belongs to."""


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
    planned: str = ""
    """The method that a plan from the same facts follows; empty where it was made without any."""

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
    name: str = ""
    """What programs know it by, the same in every plan; empty where none asks for it."""
    warm_pass: int = 0
    """Which warm pass it belongs to; the last one of a plan may be repeated. 0: none."""
    detached: bool = False
    """It takes long: it is run so that it goes on without the workstation, and its output is followed."""
    renewed: bool = False
    """A resumed execution runs it again while a step that closes is still to come: a proof, or the way of the copy."""
    closes: bool = False
    """It takes away what the copy needed on a server: run as well when an execution ends before it got there."""
    beside: bool = False
    """It may run at the same time as the step before it."""
    agrees_with: int | None = None
    """Number of the step whose output its own must equal: what is on old and on new, what was and is."""
    rehearsed: bool = False
    """It belongs to a rehearsal too, which stops and starts nothing."""
    private: bool = False
    """Its output may hold secrets: it is handed to the step that reads it and kept nowhere."""
    bytes: int | None = None
    """What it copies or reads, for its progress; None where that is not known."""
    listing: str = ""
    """Prints the lists that its output sums up, packed by gzip and base64: where it does not agree, they name why."""
    table: str = ""
    """What a person needs to see for it, lines of text."""
    proves: bool = False
    """It only looks, and where it fails something does not hold; no command went wrong."""


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
    cluster: str = ""
    """The name that a person types before old is stopped: the service manager's, else the data directory."""
    data_directory: str = ""
    target: str = ""
    """The data directories on old and on new."""
    way_back: tuple[Step, ...] = ()
    """The steps that make old what it was, from wherever the plan has got to before its point of no return."""
    later: tuple[Step, ...] = ()
    """What is no part of the plan, but worth doing when it suits."""
    remains: tuple[str, ...] = ()
    """What lies on the servers when all is done, in sentences."""
    advice: tuple[str, ...] = ()
    """What is still to do then, in sentences."""

    @property
    def method(self) -> str:
        """Of the estimate's methods the one that it follows."""
        return "warm-copy" if any(step.warm_pass for step in self.steps) else "cold-copy"


class Hook(StrEnum):
    """What a person does in a plan, or a command of the DBA's own does in their stead."""

    STOP_APPLICATIONS = "stop-applications"
    MOVE_CRON_JOBS = "move-cron-jobs"
    MOVE_ADDRESS = "move-address"
    TELL_POOLER = "tell-pooler"


@dataclass(frozen=True, slots=True)
class HookCommand:
    """The DBA's own command for a hook. `side` is `old`, `new` or `workstation`; `user` None: who logs in there."""

    hook: Hook
    side: str
    command: str
    user: str | None = None


class Verify(StrEnum):
    """Whose contents are compared before new starts; names, sizes, times and modes always are, of all."""

    CHANGED = "changed"
    """Of every file that changed since the copy began; rsync itself sums up what it sends."""
    ALL = "all"


class Kind(StrEnum):
    """What an execution is."""

    REAL = "real"
    REHEARSAL = "rehearsal"


class State(StrEnum):
    """How an execution stands."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """A server was lost: what runs there goes on, and what the copy needs still lies there."""
    STOPPED = "stopped"
    """A step failed; nothing of ours runs, and what the copy needed was taken away."""
    CANCELLED = "cancelled"
    DONE = "done"
    ROLLED_BACK = "rolled back"


@dataclass(frozen=True, slots=True)
class StepRun:
    """One try at a step.

    Attributes:
        id: its number in the history.
        back: it is a step of the way back.
        attempt: which try it is, from 1.
        exit_status: None while it runs, or when nobody saw how it ended.
        bytes: what it sent, in bytes of cluster; None where it copies nothing or does not say. While it runs, how much
            it is through with of the `total`, which is None where it is not known.
        output: the end of what it printed.
        void: what happened later makes it count as not done.
    """

    id: int
    number: int
    title: str
    attempt: int
    started_at: datetime
    ended_at: datetime | None = None
    exit_status: int | None = None
    bytes: int | None = None
    output: str = ""
    message: str = ""
    back: bool = False
    void: bool = False
    total: int | None = None

    @property
    def done(self) -> bool:
        """It ended well, and nothing has overruled it since."""
        return self.exit_status == 0 and not self.void


@dataclass(frozen=True, slots=True)
class Execution:
    """A plan being carried out. Its rows in the history are its state.

    Attributes:
        token: what tells this execution from every other one, on whatever workstation: the locks bear it.
        owner: `user@workstation` who carries it out.
        message: why it ended where it did; empty while it runs or when it is done.
    """

    id: int
    move: str
    kind: Kind
    state: State
    token: str
    owner: str
    started_at: datetime
    ended_at: datetime | None
    plan: Plan
    steps: tuple[StepRun, ...] = ()
    message: str = ""
    cancel_asked: bool = False

    @property
    def steps_taken(self) -> tuple[Step, ...]:
        """The steps of the plan that it takes: a rehearsal leaves out what stops or starts anything."""
        return tuple(step for step in self.plan.steps if self.kind is Kind.REAL or step.rehearsed)

    def latest(self, number: int, *, back: bool = False) -> StepRun | None:
        """The latest try at a step."""
        runs = [run for run in self.steps if run.number == number and run.back == back]
        return runs[-1] if runs else None

    def done(self, number: int) -> bool:
        """Whether the latest try at a step of the plan ended well."""
        latest = self.latest(number)
        return latest is not None and latest.done

    @property
    def past_return(self) -> bool:
        """Whether the point of no return was reached: its step has begun, however it ended."""
        points = {step.number for step in self.plan.steps if step.point_of_no_return}
        return any(run.number in points and not run.back for run in self.steps)


class ExecutionJournal(Protocol):
    """Who records an execution as it happens; implemented by the history."""

    def execution_started(self, execution: Execution) -> int:
        """Record a new execution; the number it has from now on."""
        ...

    def execution(self, execution_id: int) -> Execution:
        """The execution of that number with every step so far."""
        ...

    def execution_changed(self, execution_id: int, state: State, message: str = "") -> None:
        """Record how it stands; all but RUNNING end it for now. RUNNING forgets that a cancel was asked for."""
        ...

    def ask_cancel(self, execution_id: int) -> None:
        """Ask whoever carries it out to stop."""
        ...

    def cancel_asked(self, execution_id: int) -> bool:
        """Whether somebody asked it to stop."""
        ...

    def step_started(self, execution_id: int, run: StepRun) -> int:
        """Record the start of a try at a step; the number it has from now on."""
        ...

    def step_progressed(self, run_id: int, done: int, total: int | None) -> None:
        """Record how many bytes a try that runs is through with, and of how many."""
        ...

    def step_ended(self, run: StepRun) -> None:
        """Record the end of that try."""
        ...

    def steps_void(self, execution_id: int, first: int) -> None:
        """From now on the steps of the plan from that number on count as not done."""
        ...


class ProbeJournal(Protocol):
    """Who records a probe; implemented by the history."""

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Record one probe of a move."""
        ...
