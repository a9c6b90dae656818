"""A cell of two lines: what the row is, and below it in muted type what is said of it."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from core.text import printable
from core.tones import Tone
from gui.design.measures import GAP, ROW, font, scaled
from gui.design.painting import saved_state
from gui.design.palette import Ground, colour
from gui.guard import Guarded, attempt
from gui.widgets.table import Table

HIGH = ROW + 20
"""The height of a row with two lines."""


class TwoLines(Guarded, QStyledItemDelegate):
    """Draws the cell's own text, and below it what `second` says of the row, in its tone."""

    def __init__(self, second: Callable[[Any], str], tone: Callable[[Any], Tone], parent: Table[Any]) -> None:
        super().__init__(parent)
        self._second = second
        self._tone = tone

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        first, shown.text = shown.text, ""
        shown.widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        row = index.data(Qt.ItemDataRole.UserRole)
        second = printable(attempt(self._second, lambda _row: "", row))
        tone_below = attempt(self._tone, _muted, row)
        middle, room = shown.rect.center().y(), shown.rect.adjusted(GAP - 2, 0, -GAP, 0)
        with saved_state(painter):
            for text, tone, bold, below in ((first, Ground.TEXT, True, False), (second, tone_below, False, True)):
                made = font(bold=bold)
                metrics = QFontMetrics(made)
                high = metrics.height()
                place = QRect(room.left(), middle if below else middle - high, room.width(), high)
                painter.setFont(made)
                painter.setPen(colour(tone))
                elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, elided)


def _muted(_row: object) -> Tone:
    return Tone.MUTED


def use_two_lines(
    table: Table[Any], column: int, second: Callable[[Any], str], tone: Callable[[Any], Tone] = _muted
) -> None:
    """Give the rows of a table two lines, with `second` below the text of that column, in its tone."""
    table.setItemDelegateForColumn(column, TwoLines(second, tone, table))
    table.verticalHeader().setDefaultSectionSize(scaled(HIGH))
