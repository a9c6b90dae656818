"""Counters that filter: a chip for each kind of row, checked while its rows are shown."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from gui.appearance import tip
from gui.design.measures import GAP, GRID, ROW, font, scaled
from gui.design.painting import paint_box
from gui.design.palette import Ground, colour
from gui.design.parts import RING
from gui.guard import Guarded
from gui.models.verdict import Counter

DOT = 8
LEAST = 7
"""Of the letters of a word, where there is no room for all."""
SIDE = 3 * GRID


class Chip(Guarded, QAbstractButton):
    """A word and its number; its dot is full while it is checked. A chip of nothing is disabled.

    Where there is no room for the word it is cut, never the number.
    """

    def __init__(self, counter: Counter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_counter(counter)

    def show_counter(self, counter: Counter) -> None:
        """Show another number."""
        self.counter = counter
        self.setText(f"{counter.name} {counter.number}")
        self.setAccessibleName(f"{counter.name}: {counter.number}")
        self.setEnabled(counter.number > 0)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._around() + QFontMetrics(font()).horizontalAdvance(f"{self.counter.name} "), scaled(ROW))

    def minimumSizeHint(self) -> QSize:
        least = self._around() + LEAST * QFontMetrics(font()).averageCharWidth()
        return QSize(min(least, self.sizeHint().width()), scaled(ROW))

    def _around(self) -> int:
        """The width of all but the word."""
        number = QFontMetrics(font(bold=True)).horizontalAdvance(str(self.counter.number))
        return SIDE + DOT + GAP + number + SIDE

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room, on = QRectF(self.rect()), self.isEnabled()
        checked = self.isChecked() and on
        ground = Ground.HOVER if on and self.underMouse() else Ground.SELECTION if checked else Ground.SURFACE
        edge = Ground.EDGE if on else Ground.BORDER
        focused = self.hasFocus()
        shade = colour(self.counter.tone if on else Ground.DISABLED)
        paint_box(
            painter,
            room,
            colour(ground),
            colour(self.counter.tone) if checked or focused else colour(edge),
            width=RING if focused else 1,
            radius=room.height() / 2,
        )
        dot = QRectF(SIDE, room.center().y() - DOT / 2, DOT, DOT)
        paint_box(painter, dot, shade if checked else None, shade, width=1.5, radius=DOT / 2)
        inner = QRectF(dot.right() + GAP, 0, room.width() - SIDE - dot.right() - GAP, room.height())
        painter.setFont(font(bold=True))
        painter.setPen(shade)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(self.counter.number))
        painter.setFont(font())
        painter.setPen(colour(Ground.TEXT if on else Ground.DISABLED))
        shown = self.counter.name
        if self.width() < self.sizeHint().width():
            width = self.width() - self._around() - GRID
            shown = painter.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideRight, width)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, shown)
        self.setToolTip("" if shown == self.counter.name else tip(self.accessibleName()))
        painter.end()


class ChipRow(QWidget):
    """Chips beside each other. Signal: changed(), when the operator has pressed one.

    All but the `folded` ones are checked at first; once the operator has pressed one, what was pressed stays.
    """

    changed = Signal()

    def __init__(self, name: str, folded: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.chips: dict[str, Chip] = {}
        self._folded = folded
        self._pressed: dict[str, bool] = {}
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(GAP)
        self._line.addStretch()

    def show_counters(self, counters: Sequence[Counter]) -> None:
        """Show these numbers."""
        wanted = {one.id: one for one in counters}
        for gone in set(self.chips) - set(wanted):
            chip = self.chips.pop(gone)
            self._line.removeWidget(chip)
            chip.deleteLater()
        others = any(one.number for one in counters if one.id != self._folded)
        for place, (name, one) in enumerate(wanted.items()):
            chip = self.chips.get(name) or self._add(one, place)
            chip.show_counter(one)
            chip.setChecked(self._pressed.get(name, name != self._folded or not others))

    @property
    def wanted(self) -> frozenset[str]:
        """The ids of the chips whose rows are shown."""
        return frozenset(name for name, chip in self.chips.items() if chip.isChecked())

    def _add(self, counter: Counter, place: int) -> Chip:
        made = self.chips[counter.id] = Chip(counter, self)
        made.clicked.connect(lambda: self._press(counter.id))
        self._line.insertWidget(place, made)
        made.show()  # at once: a layout shows what is new only later, and until then Tab has no place for it
        return made

    def _press(self, name: str) -> None:
        self._pressed[name] = self.chips[name].isChecked()
        self.changed.emit()
