"""Which report is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.migration.model.standing import Condition, Mark, Milestone


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The report that is asked for; `kind`, `shape` and `paper` are words of the command line."""

    move: str
    kind: str
    shape: str = "pdf"
    language: str = "en"
    paper: str = "a4"
    masked: bool = False
    appendices: bool = False


def kind_for(marks: Sequence[Mark]) -> str:
    """Return the kind of report that fits the furthest milestone of a move."""
    reached = {mark.milestone for mark in marks if mark.condition is not Condition.OPEN}
    if Milestone.MOVE in reached:
        return "execution"
    if reached & {Milestone.ESTIMATE, Milestone.PLAN} or Milestone.MEASURE not in reached:
        return "plan"
    return "storage"
