"""Results of checks, and waivers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Status(StrEnum):
    """Status of a check, from worst to best."""

    BLOCKER = "blocker"
    UNKNOWN = "unknown"
    WARNING = "warning"
    PASS = "pass"  # noqa: S105  a status, no password


@dataclass(frozen=True, slots=True)
class Waiver:
    """A warning that the operator has accepted; it applies while the check has this status and this evidence."""

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
    """The result of one check; `old` and `new` are the compared values as text.

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
    """The waiver of a warning, which still is a warning."""

    @property
    def stops(self) -> bool:
        """Whether it stops an execution."""
        return self.status is Status.BLOCKER or (self.status is Status.UNKNOWN and self.blocking)

    @property
    def warns(self) -> bool:
        """Whether it is a warning that nobody has accepted.

        An unknown that cannot stop the move is none: nothing was found that needs an action.
        """
        return self.status is Status.WARNING and self.waiver is None
