"""The parts of an execution beside each other, with their progress and expected duration."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from core import units
from core.language import tr
from gui.appearance import Tone, colour
from gui.guard import Guarded
from gui.models.progress import parts_done
from gui.models.steps import PART_TITLES, Part, Progressed
from gui.models.words import counted


class PhaseStrip(Guarded, QWidget):
    """Shows one field for each part."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[Progressed, ...] = ()
        self.setAccessibleName(tr("Parts of the execution"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_parts(self, parts: tuple[Progressed, ...]) -> None:
        """Show these parts."""
        self._parts = parts
        self.setVisible(bool(parts))
        self.setAccessibleDescription("; ".join(f"{tr(PART_TITLES[one.part])}: {_words(one)}" for one in parts))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, self.fontMetrics().height() * 2 + 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        gap = 4
        width = (self.width() - gap * (len(self._parts) - 1)) / max(1, len(self._parts))
        for number, one in enumerate(self._parts):
            self._paint(painter, QRect(round(number * (width + gap)), 0, round(width), self.height()), one)
        painter.end()

    def _paint(self, painter: QPainter, room: QRect, one: Progressed) -> None:
        palette = self.palette()
        painter.fillRect(room, palette.color(QPalette.ColorRole.AlternateBase))
        shade = colour(Tone.BAD if one.part is Part.DOWN else Tone.GOOD if one.done == one.steps else Tone.NEW)
        track = QRect(room.left(), room.bottom() - 4, room.width(), 5)
        painter.fillRect(track, palette.color(QPalette.ColorRole.Mid))
        painter.fillRect(
            QRect(track.left(), track.top(), parts_done(one.done, one.steps, track.width()) or 0, 5), shade
        )
        font = self.font()
        font.setBold(one.under_way)
        painter.setFont(font)
        inner = room.adjusted(10, 5, -8, -8)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        painter.drawText(inner, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, tr(PART_TITLES[one.part]))
        painter.setFont(self.font())
        painter.setPen(colour(Tone.MUTED))
        words = painter.fontMetrics().elidedText(_words(one), Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, words)


def _words(one: Progressed) -> str:
    about = (
        ""
        if one.expected_seconds is None
        else tr(", about {expected_seconds}").format(expected_seconds=units.duration(one.expected_seconds))
    )
    return tr("{done} of {steps}{about}").format(
        done=one.done, steps=counted(one.steps, "{number} step", "{number} steps"), about=about
    )
