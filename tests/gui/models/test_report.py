"""Which kind of report a move is asked for first."""

import pytest

from core.migration.model.standing import Condition, Mark, Milestone
from gui.models.report import kind_for


@pytest.mark.parametrize(
    ("reached", "kind"),
    [
        ([], "plan"),
        ([Milestone.FACTS], "plan"),
        ([Milestone.FACTS, Milestone.MEASURE, Milestone.COMPARE], "storage"),
        ([Milestone.FACTS, Milestone.MEASURE, Milestone.ESTIMATE], "plan"),
        ([Milestone.FACTS, Milestone.PROBE, Milestone.PLAN], "plan"),
        ([Milestone.MEASURE, Milestone.PLAN, Milestone.REHEARSE], "plan"),
        ([Milestone.FACTS, Milestone.PLAN, Milestone.MOVE], "execution"),
    ],
)
def test_the_report_is_of_the_furthest_that_a_move_has_come(reached: list[Milestone], kind: str) -> None:
    marks = [Mark(one, Condition.DONE if one in reached else Condition.OPEN, "") for one in Milestone]
    assert kind_for(marks) == kind
