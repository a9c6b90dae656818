"""The table of a plan's steps: parts that fold, in whatever order the rows stand."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from gui.models.steps import PLAN_COLUMNS, RUN_COLUMNS, STEP_COLUMN, Part, StepRow, step_rows
from gui.widgets.step_table import RunTable, StepTable
from gui.widgets.table import Table
from tests.core.history import samples


def _spans(table: Table[StepRow]) -> list[int]:
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


def test_the_head_of_a_part_has_the_room_of_the_server_in_an_execution(qtbot: QtBot) -> None:
    table = RunTable()
    qtbot.addWidget(table)
    table.set_rows(step_rows(samples.plan()))
    heads = [row.step is None for row in table.rows.rows]
    assert any(heads)
    assert _spans(table) == [2 if head else 1 for head in heads]
    assert {table.rows.text(RUN_COLUMNS[STEP_COLUMN + 1], row) for row in table.rows.rows if row.step is None} == {""}
    table.sort(STEP_COLUMN)
    assert _spans(table) == [2 if row.step is None else 1 for row in table.rows.rows]


def test_the_head_of_a_part_is_cut_only_where_its_duration_begins(qtbot: QtBot) -> None:
    table = StepTable()
    qtbot.addWidget(table)
    table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.show_steps(step_rows(samples.plan()))
    table.show()
    head, duration = (table.rows.index(0, column) for column in (STEP_COLUMN, len(PLAN_COLUMNS) - 1))
    option = QStyleOptionViewItem()
    option.initFrom(table)
    text, beside = (table.itemDelegate().sizeHint(option, index).width() for index in (head, duration))

    def ends(width: int) -> tuple[QImage, QImage]:
        """The head's text, and the duration at the right, where the table is that wide."""
        table.resize(width, 300)
        room = table.visualRect(head)
        picture = table.viewport().grab(room).toImage()
        return picture.copy(0, 0, text, room.height()), picture.copy(room.width() - beside, 0, beside, room.height())

    whole = ends(2000)
    spare = table.visualRect(head).left() + 2 * table.frameWidth()
    assert ends(spare + text + beside) == whole
    cut = ends(spare + text + beside - 20)
    assert cut[0] != whole[0]
    assert cut[1] == whole[1]
