"""The steps of a plan by their parts, which can be folded, with a line at the point of no return."""

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
from gui.models.steps import PLAN_COLUMNS, STEP_COLUMN, Part, StepRow, fold, ground, is_head
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
        self.clearSpans()
        for number, row in enumerate(self.rows.rows):
            if row.step is None:  # the duration of a part stands beside its head
                self.setSpan(number, STEP_COLUMN, 1, len(PLAN_COLUMNS) - STEP_COLUMN - (not row.is_divider))

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


def _key(row: StepRow) -> object:
    return row.head if row.step is None else row.step.number


class _Lines(Guarded, QStyledItemDelegate):
    """Draws the point of no return as a line with its sentence."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(Qt.ItemDataRole.UserRole)
        if not (isinstance(row, StepRow) and row.is_divider):
            super().paint(painter, option, index)
            return
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
