"""What a person wants of a report."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.migration.model.standing import Condition, Mark, Milestone


@dataclass(frozen=True, slots=True)
class Wanted:
    """A report: words are those of the command line."""

    move: str
    kind: str
    shape: str = "pdf"
    language: str = "en"
    paper: str = "a4"
    masked: bool = False
    appendices: bool = False


def kind_for(marks: Sequence[Mark]) -> str:
    """The kind that a move which stands there is asked for first: of the furthest that it has come."""
    reached = {mark.milestone for mark in marks if mark.condition is not Condition.OPEN}
    if Milestone.MOVE in reached:
        return "execution"
    if reached & {Milestone.ESTIMATE, Milestone.PLAN} or Milestone.MEASURE not in reached:
        return "plan"
    return "storage"
