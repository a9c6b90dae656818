"""Steps as rows: a rehearsal stops nothing, so none of its steps is shown as downtime."""

from core.migration.model import step_ids
from core.migration.model.execution import Kind
from core.migration.model.plan import Phase
from gui.models.steps import Part, parts, progressed, step_rows
from tests.core.migration.execution.builders import STEP, execution
from tests.steps import change_step

WARM = change_step(STEP, title="warm pass", precopy_pass=True, in_rehearsal=True, downtime=False)
DOWN = change_step(STEP, title="final pass", downtime=True, in_rehearsal=False)
TAKEN_AWAY = change_step(STEP, title="remove the lists", downtime=True, in_rehearsal=True)
STEPS = (WARM, DOWN, TAKEN_AWAY)


def test_the_checks_before_the_stop_have_a_head_of_their_own_where_there_is_a_stop() -> None:
    last = change_step(STEP, phase=Phase.BEFORE_STOP, downtime=False)
    stop = change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, phase=Phase.STOP, downtime=True)
    assert [part for part, _ in parts((last, stop))] == [Part.BEFORE_STOP, Part.DOWN]
    copy = change_step(STEP, phase=Phase.COPY, downtime=True)
    assert [part for part, _ in parts((last, copy))] == [Part.PREPARE, Part.DOWN]


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
