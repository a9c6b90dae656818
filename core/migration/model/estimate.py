"""How long each method of moving takes. SI base units."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.language import marked
from core.migration.model.asked import NOTHING, Asked
from core.migration.model.move import Verify
from core.migration.model.plan import Phase


@dataclass(frozen=True, slots=True)
class Span:
    """Low, likely and high, in seconds: the 10th, 50th and 90th percentile."""

    low: float
    likely: float
    high: float


_STAGES = {
    "analyze": marked("ANALYZE"),
    "base copy": marked("Base copy"),
    "catch up": marked("Catch-up"),
    "dump": marked("Dump"),
    "load": marked("Load"),
    "indexes": marked("Indexes"),
    "pg_upgrade": marked("pg_upgrade"),
    "downtime": marked("Downtime"),
    "whole": marked("Whole move"),
}
"""Stages of estimates besides those that a plan knows as its phases, and what stands behind them in a record."""


_METHODS = {
    "cold-copy": marked("Copy with the cluster stopped"),
    "warm-copy": marked("Pre-copy and final sync"),
    "dump-restore": marked("Dump & restore"),
    "parallel-dump-restore": marked("Parallel dump & restore"),
    "streaming-replica": marked("Streaming replica"),
    "pg-upgrade-copy": marked("Pre-copy, then pg_upgrade --copy"),
    "pg-upgrade-clone": marked("Pre-copy, then pg_upgrade --clone"),
    "pg-upgrade-link": marked("Pre-copy, then pg_upgrade --link"),
}
"""The titles of the methods, by their ids."""
CARRIED_OUT = frozenset({"cold-copy", "warm-copy"})
"""The methods that pghaul plans and carries out; the others are estimated for comparison."""


_WHILE_CLIENTS_WORK = frozenset(
    {Phase.PREPARE, Phase.WARM, Phase.CHECKPOINT, Phase.DRESS, Phase.BEFORE_STOP, Phase.AFTER, "base copy", "catch up"}
)


_BOTTLENECKS = {
    "cpu": marked("CPU (checksums)"),
    "files": marked("number of files"),
    "limit": marked("limit of the move"),
    "new cpu": marked("CPU of the new server"),
    "new disk": marked("disk of the new server"),
    "objects": marked("number of objects"),
    "observed rate": marked("rate of an earlier run"),
    "old cpu": marked("CPU of the old server"),
    "old disk": marked("disk of the old server"),
    "round trips": marked("network round trips"),
    "wire": marked("network"),
}


def bottleneck_title(bound: str) -> str:
    """Return what people see of what limits a stage, by its id."""
    return _BOTTLENECKS.get(bound, bound)


def method_title(method: str) -> str:
    """Return the English title of a method for people, as it begins a line."""
    return _METHODS.get(method, method)


def stage_heading(name: str) -> str:
    """What people see of a stage: that of the phase of a plan, where it is one."""
    phase = next((phase for phase in Phase if phase == name), None)
    return _STAGES.get(name, f"{name[:1].upper()}{name[1:]}") if phase is None else phase.heading


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a method; `bound_by` is `old disk`, `wire`, `old cpu`, `new disk`, `new cpu`, `files`…

    The likely seconds of the stages of the stop add up to the downtime's; low and high ones do not. `evidence`: where
    the figure comes from, for people.
    """

    name: str
    seconds: Span
    bound_by: str
    evidence: str = ""

    @property
    def in_downtime(self) -> bool:
        """Whether clients wait meanwhile."""
        return self.name not in _WHILE_CLIENTS_WORK


@dataclass(frozen=True, slots=True)
class PassSeconds:
    """Likely seconds of a pre-copy pass: until it has copied, and until what it brought is read on both sides, or
    flushed on the new one."""

    copy: float
    read: float


@dataclass(frozen=True, slots=True)
class Method:
    """One way to bring the cluster over.

    `method`: cold-copy, warm-copy, dump-restore, parallel-dump-restore or streaming-replica; for another major version
    pg-upgrade-copy, -clone or -link, a warm copy with pg_upgrade behind it. `verify_all_seconds`: what the downtime
    grows by at the most where a plan compares every file in it, `looks_seconds` by pg_checksums and pg_amcheck, which
    --verify all adds; None where it never does so. `bytes_on_old`,
    `bytes_on_new`: what it needs there besides what is there. `ruled_out`: why it cannot be taken; empty where it can.
    `passes`: the pre-copy passes, by which a plan divides their stage among its steps.
    """

    method: str
    duration_seconds: Span
    downtime_seconds: Span
    stages: tuple[Stage, ...]
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    verify_all_seconds: Span | None = None
    looks_seconds: Span | None = None
    bytes_on_old: float = 0.0
    bytes_on_new: float = 0.0
    ruled_out: str = ""
    passes: tuple[PassSeconds, ...] = ()


class Effort(StrEnum):
    """What a change costs whoever makes it; the least comes first."""

    NONE = "none"
    """Another choice for the same move."""
    MINUTES = "minutes"
    """A command or a measurement."""
    HOURS = "hours"
    """Work on the old cluster, which its clients notice."""
    PURCHASE = "purchase"
    """Other hardware."""

    @property
    def heading(self) -> str:
        """The effort in a word or two, in English."""
        return _EFFORTS[self]


_EFFORTS = {
    Effort.NONE: marked("no effort"),
    Effort.MINUTES: marked("minutes"),
    Effort.HOURS: marked("hours"),
    Effort.PURCHASE: marked("a purchase"),
}


@dataclass(frozen=True, slots=True)
class Help:
    """One change: what it saves in all and of the downtime, likely seconds; what the longest stage waits for then.

    `effort`: what it costs; None in estimates that were recorded before it was told. `likelihood`: that the move fits
    with it into the window or downtime that was asked about; None where none was.
    """

    change: str
    duration_seconds: float
    downtime_seconds: float
    then_bound_by: str
    effort: Effort | None = None
    likelihood: float | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """How a method fits into the window or downtime that was asked about.

    Attributes:
        likelihood: the part of the simulated nights in which it fits.
        start_by: so many seconds before the end the stop must begin, so that there is time for the way back.
        must_hold: what must be so that it fits in nine nights of ten; empty where it does.
        begin_before: so many seconds before the stop the move must begin, its pre-copy above all.
        downtime: in that night, low, likely and high.
        way_back: to the old cluster, should the new one not do; it is a part of `start_by`.
        cost: of the downtime, low, likely and high; None without a price.
        begin_by, stop_by: the latest moments, by the old server's clock; None without a long enough window.
        next_window: the begin of the first window that it is not too late for; None: it is not for the next one.

    An estimate holds the fits without the last four: they depend on a price, and on when they are read.
    """

    method: str
    likelihood: float
    start_by: float
    must_hold: str
    begin_before: float
    downtime: Span
    way_back: Span
    cost: Span | None = None
    begin_by: datetime | None = None
    stop_by: datetime | None = None
    next_window: datetime | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long each method takes."""

    methods: tuple[Method, ...]
    made_at: datetime | None = None
    planned: str = ""
    """The method that a plan from the same facts follows; empty where it was made without any."""
    advised: str = ""
    """The copy of files that is worth its while: a warm one, unless its stop is hardly shorter than a cold one's."""
    helps: tuple[Help, ...] = ()
    """What would shorten the method to take."""
    checking: Verify = Verify.CHANGED
    """What the stop of a copy proves in it: it is of plans that prove that much."""
    asked: Asked = NOTHING
    """The window and the downtime that `fits` and the likelihoods of `helps` are about."""
    fits: tuple[Fit, ...] = ()
    """Of the methods that can be taken; empty where nothing was asked."""
    changes: float | None = None
    """Bytes an hour that change in the window; None: nothing was asked, or no watch has seen it."""

    @property
    def to_take(self) -> str:
        """The method that a plan follows, or that is advised; another where that one is ruled out."""
        names = (self.planned, self.advised, *(each.method for each in self.methods))
        possible = {each.method for each in self.methods if not each.ruled_out}
        return next((name for name in names if name in possible), "")

    def fit(self, name: str) -> Fit | None:
        """How the method of that name fits; None where nothing was asked, or it cannot be taken."""
        return next((fit for fit in self.fits if fit.method == name), None)

    def method(self, name: str) -> Method | None:
        """The method of that name."""
        return next((method for method in self.methods if method.method == name), None)
