"""The table of a plan's steps: parts that fold, in whatever order the rows stand."""

from pytestqt.qtbot import QtBot

from gui.models.steps import STEP_COLUMN, Part, step_rows
from gui.widgets.step_table import StepTable
from tests.core.history import samples


def _spans(table: StepTable) -> list[int]:
    return [table.columnSpan(number, STEP_COLUMN) for number in range(table.model().rowCount())]


def test_a_step_has_its_own_cells_however_the_table_is_sorted(qtbot: QtBot) -> None:
    table = StepTable()
    qtbot.addWidget(table)
    table.folded.clear()
    table.show_steps(step_rows(samples.plan()))
    before = _spans(table)
    assert {1} < set(before)
    for _ in range(2):  # rising, then falling
        table.sort(STEP_COLUMN)
        heads = [row.step is None for row in table.rows.rows]
        assert [span > 1 for span in _spans(table)] == heads
    table.sort(STEP_COLUMN)
    assert _spans(table) == before
    table.folded.update(Part)
