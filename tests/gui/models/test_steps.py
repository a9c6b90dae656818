"""Steps as rows: a rehearsal stops nothing, so none of its steps is shown as downtime."""

from core.migration.model.execution import Kind
from gui.models.steps import Part, progressed, step_rows
from tests.core.migration.execution.builders import STEP, execution
from tests.steps import change_step

WARM = change_step(STEP, title="warm pass", precopy_pass=True, in_rehearsal=True, downtime=False)
DOWN = change_step(STEP, title="final pass", downtime=True, in_rehearsal=False)
TAKEN_AWAY = change_step(STEP, title="remove the lists", downtime=True, in_rehearsal=True)
STEPS = (WARM, DOWN, TAKEN_AWAY)


def test_a_move_has_its_downtime() -> None:
    made = execution(*STEPS)
    assert [each.part for each in progressed(made)] == [Part.WARM, Part.DOWN]
    assert [row.part for row in step_rows(made.plan, made) if row.step] == [Part.WARM, Part.DOWN, Part.DOWN]


def test_a_rehearsal_has_none() -> None:
    made = execution(*STEPS, kind=Kind.REHEARSAL)
    assert [(each.part, each.steps) for each in progressed(made)] == [(Part.WARM, 2)]
    rows = step_rows(made.plan, made, rehearsed=True)
    assert [row.step.title for row in rows if row.step] == ["warm pass", "remove the lists"]
    assert not any(row.step.downtime for row in rows if row.step)
