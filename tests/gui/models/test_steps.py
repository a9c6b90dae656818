"""Steps as rows: a rehearsal stops nothing, so none of its steps is shown as downtime."""

from dataclasses import replace

from core.migration.model.execution import Kind
from gui.models.steps import Part, progressed, step_rows
from tests.core.migration.execution.builders import STEP, execution

WARM = replace(STEP, title="warm pass", warm_pass=True, rehearsed=True, stopped=False)
DOWN = replace(STEP, title="final pass", stopped=True, rehearsed=False)
TAKEN_AWAY = replace(STEP, title="remove the lists", stopped=True, rehearsed=True)
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
    assert not any(row.step.stopped for row in rows if row.step)
