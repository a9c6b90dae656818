"""How a check came out, and the warning that somebody took on."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Status(StrEnum):
    """How a check came out, from worst to best."""

    BLOCKER = "blocker"
    UNKNOWN = "unknown"
    WARNING = "warning"
    PASS = "pass"  # noqa: S105  a status, no password


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
