"""The milestones of a move's way, and how each stands."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Milestone(StrEnum):
    """A part of the way of a move, in its order; none is forced upon anybody but the last three on each other."""

    FACTS = "facts"
    MEASURE = "measure"
    COMPARE = "compare"
    CHECK = "check"
    PROBE = "probe"
    ESTIMATE = "estimate"
    PLAN = "plan"
    REHEARSE = "rehearse"
    MOVE = "move"
    AFTER = "after"


class Condition(StrEnum):
    """How a milestone stands."""

    OPEN = "to do"
    UNDER_WAY = "under way"
    DONE = "done"
    STALE = "out of date"
    """Something that it rests on is newer."""
    WARNING = "with warnings"
    BLOCKED = "stops the move"


@dataclass(frozen=True, slots=True)
class Mark:
    """One milestone: `at` is when it was last worked on, `said` what there is or what is missing."""

    milestone: Milestone
    condition: Condition
    said: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Next:
    """The next sensible thing, and where it is done."""

    milestone: Milestone
    words: str
