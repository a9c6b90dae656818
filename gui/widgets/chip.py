"""Counters that filter: a chip for each kind of row, checked while its rows are shown."""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

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


class ChipRow(Guarded, QWidget):
    """Chips beside each other, and below each other where one line has no room for all.

    Signal: changed(), when the operator has pressed one.

    All but the `folded` ones are checked at first; once the operator has pressed one, what was pressed stays.
    """

    changed = Signal()

    def __init__(self, name: str, folded: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.chips: dict[str, Chip] = {}
        self._folded = folded
        self._pressed: dict[str, bool] = {}
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_counters(self, counters: Sequence[Counter]) -> None:
        """Show these numbers."""
        wanted = {one.id: one for one in counters}
        for gone in set(self.chips) - set(wanted):
            chip = self.chips.pop(gone)
            chip.hide()
            chip.deleteLater()
        others = any(one.number for one in counters if one.id != self._folded)
        for name, one in wanted.items():
            chip = self.chips.get(name) or self._add(one)
            chip.show_counter(one)
            chip.setChecked(self._pressed.get(name, name != self._folded or not others))
        self.chips = {name: self.chips[name] for name in wanted}
        for before, behind in pairwise(self.chips.values()):
            self.setTabOrder(before, behind)
        self._lay_out()
        self.updateGeometry()

    @property
    def wanted(self) -> frozenset[str]:
        """The ids of the chips whose rows are shown."""
        return frozenset(name for name, chip in self.chips.items() if chip.isChecked())

    def sizeHint(self) -> QSize:
        sizes = [chip.sizeHint().width() for chip in self.chips.values()]
        return QSize(sum(sizes) + GAP * max(0, len(sizes) - 1), self.heightForWidth(self.width()))

    def minimumSizeHint(self) -> QSize:
        widest = max((chip.minimumSizeHint().width() for chip in self.chips.values()), default=0)
        return QSize(widest, scaled(ROW))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max((place.bottom() + 1 for place in self._places(width)), default=scaled(ROW))

    def resizeEvent(self, _event: QResizeEvent) -> None:
        self._lay_out()

    def _places(self, width: int) -> list[QRect]:
        """Where each chip is in a row of that width."""
        found: list[QRect] = []
        x = y = 0
        for chip in self.chips.values():
            size = chip.sizeHint().boundedTo(QSize(max(width, chip.minimumSizeHint().width()), scaled(ROW)))
            if x and x + size.width() > width:
                x, y = 0, y + size.height() + GAP
            found.append(QRect(QPoint(x, y), size))
            x += size.width() + GAP
        return found

    def _lay_out(self) -> None:
        for chip, place in zip(self.chips.values(), self._places(self.width()), strict=True):
            chip.setGeometry(place)

    def _add(self, counter: Counter) -> Chip:
        made = self.chips[counter.id] = Chip(counter, self)
        made.clicked.connect(lambda: self._press(counter.id))
        made.show()
        return made

    def _press(self, name: str) -> None:
        self._pressed[name] = self.chips[name].isChecked()
        self.changed.emit()
