"""How long each method of moving takes. SI base units."""

from dataclasses import dataclass
from datetime import datetime


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

    `method`: cold-copy, warm-copy, dump-restore, parallel-dump-restore or streaming-replica. `verify_all_seconds`: what
    the downtime grows by at the most where a plan compares every file in it; None where it does so anyway, or never.
    """

    method: str
    duration_seconds: Span
    downtime_seconds: Span
    stages: tuple[Stage, ...]
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    verify_all_seconds: Span | None = None


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
