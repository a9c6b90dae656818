"""Results of checks, how many there are of each kind, and waivers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.language import marked


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


MANUAL = "https://www.postgresql.org/docs/"
"""Where PostgreSQL's documentation is."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check; `old` and `new` are the compared values as text.

    `blocking` says that it can stop a real execution: an unknown then counts as a blocker, unless it is `pending`.
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
    pending: bool = False
    """Whether it could be a blocker, and is unknown only because no temporary cluster was created for this move yet.

    The checks of the move create one, and so does an execution before it begins. A survey creates none.
    """

    @property
    def stops(self) -> bool:
        """Whether it stops the move. What is pending does not: it is to be run first."""
        return self.status is Status.BLOCKER or (self.status is Status.UNKNOWN and self.blocking and not self.pending)

    @property
    def warns(self) -> bool:
        """Whether it is a warning that nobody has accepted.

        An unknown that cannot stop the move is none: nothing was found that needs an action.
        """
        return self.status is Status.WARNING and self.waiver is None

    @property
    def state(self) -> str:
        """What a list calls it: its status, or that it was waived, or is to be run first."""
        if self.waiver is not None:
            return marked("waived")
        return marked("to run") if self.pending else str(self.status)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many results there are of each kind. Each result is counted once.

    Attributes:
        blockers: they stop the move.
        unanswered: they have no result and could be blockers, so they stop the move.
        pending: they have no result yet, because the checks of the move were not run.
        unknown: they have no result, and could be warnings at worst.
        warnings: nobody has accepted them.
        waived: warnings, and unknowns that could be warnings, that the operator has accepted.
        passed: they need no action.
    """

    blockers: int = 0
    unanswered: int = 0
    pending: int = 0
    unknown: int = 0
    warnings: int = 0
    waived: int = 0
    passed: int = 0

    @property
    def stopping(self) -> int:
        """How many stop the move."""
        return self.blockers + self.unanswered


def tally(results: Iterable[CheckResult]) -> Tally:
    """Return how many results there are of each kind. Whatever counts results counts them by this."""
    found = list(results)
    unknown = [each for each in found if each.status is Status.UNKNOWN and each.waiver is None]
    return Tally(
        blockers=sum(each.status is Status.BLOCKER for each in found),
        unanswered=sum(each.stops for each in unknown),
        pending=sum(each.pending for each in unknown),
        unknown=sum(not each.stops and not each.pending for each in unknown),
        warnings=sum(each.warns for each in found),
        waived=sum(each.waiver is not None for each in found),
        passed=sum(each.status is Status.PASS for each in found),
    )
