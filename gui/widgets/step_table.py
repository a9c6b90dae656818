"""The steps of a plan and of an execution by their parts; those of a plan can be folded."""

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QModelIndex, QPersistentModelIndex, QRect, Qt, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from core.language import tr
from core.tones import Tone
from gui.design.measures import GAP, bold_font
from gui.design.painting import saved_state
from gui.design.palette import Ground, colour
from gui.guard import Guarded
from gui.models.steps import PLAN_COLUMNS, RUN_COLUMNS, STEP_COLUMN, Part, StepRow, fold, ground, is_head
from gui.widgets.table import Table


class StepTable(Table[StepRow]):
    """The steps of a plan. At first all parts but the downtime are folded.

    A click, Return or the space bar on a head folds its part, and unfolds it.

    Attributes:
        folded: the parts whose steps are not shown.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "plan-steps", tr("Steps of the plan"), PLAN_COLUMNS, parent, strong=is_head, follow=_key, ground=ground
        )
        self.folded = set(Part) - {Part.DOWN}
        self._steps: tuple[StepRow, ...] = ()
        self._searched = False
        self.setItemDelegate(_Lines(self))
        self.clicked.connect(self._toggle)

    def show_steps(self, rows: tuple[StepRow, ...]) -> None:
        """Show these steps by their parts."""
        self._steps = rows
        self.set_rows(rows if self._searched else fold(rows, self.folded))

    def set_rows(self, rows: Sequence[StepRow]) -> None:
        """Show these rows, also in another order."""
        super().set_rows(rows)
        _span_heads(self, len(PLAN_COLUMNS) - STEP_COLUMN)

    @Slot(str)
    def filter(self, text: str) -> None:
        """Search the steps of folded parts, too."""
        self._searched = bool(text.strip())
        super().filter(text)
        self.show_steps(self._steps)

    @Slot(QModelIndex)
    def _toggle(self, index: QModelIndex) -> None:
        row = self.rows.row(index.row())
        if row.folds:
            self._change(row.part)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current()
        if row is not None and row.folds and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self._change(row.part)
        else:
            super().keyPressEvent(event)

    def _change(self, part: Part) -> None:
        self.folded ^= {part}
        self.show_steps(self._steps)


class RunTable(Table[StepRow]):
    """The steps of an execution by their parts, whose heads have the room of the server, too."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("execution-steps", tr("Steps of the execution"), RUN_COLUMNS, parent, strong=is_head)

    def set_rows(self, rows: Sequence[StepRow]) -> None:
        """Show these rows, also in another order."""
        super().set_rows(rows)
        _span_heads(self, 2)


def _span_heads(table: Table[StepRow], columns: int) -> None:
    """Let the heads of parts have the room of so many columns, from that of the step on."""
    table.clearSpans()
    for number, row in enumerate(table.rows.rows):
        if row.step is None:
            table.setSpan(number, STEP_COLUMN, 1, columns)


def _key(row: StepRow) -> object:
    return row.head if row.step is None else row.step.number


class _Lines(Guarded, QStyledItemDelegate):
    """Draws the point of no return as a line with its sentence, and the duration of a part behind its head."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(Qt.ItemDataRole.UserRole)
        if isinstance(row, StepRow) and row.is_divider:
            self._paint_divider(painter, option, index, row)
        elif isinstance(row, StepRow) and row.step is None and index.column() == STEP_COLUMN:
            self._paint_head(painter, option, index)
        else:
            super().paint(painter, option, index)

    def _paint_head(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """The duration takes the room of its text, not that of its column: the head has the rest."""
        whole, duration = QRect(option.rect), index.sibling(index.row(), len(PLAN_COLUMNS) - 1)
        width = self.sizeHint(option, duration).width()
        option.rect = whole.adjusted(0, 0, -width, 0)
        super().paint(painter, option, index)
        option.rect = whole.adjusted(whole.width() - width, 0, 0, 0)
        super().paint(painter, option, duration)

    def _paint_divider(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        row: StepRow,
    ) -> None:
        room: QRect = option.rect
        middle = room.center().y()
        painter.fillRect(room, colour(Ground.STOPPED))
        with saved_state(painter):
            painter.setPen(QPen(colour(Tone.BAD), 2))
            start = room.left()
            if index.column() == STEP_COLUMN:
                painter.setFont(bold_font())
                metrics = QFontMetrics(bold_font())
                words = metrics.elidedText(tr(row.head), Qt.TextElideMode.ElideRight, room.width() - 2 * GAP)
                painter.drawText(room.adjusted(GAP, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), words)
                start += metrics.horizontalAdvance(words) + 2 * GAP
            if start < room.right():
                painter.drawLine(QLineF(start, middle, room.right(), middle))
