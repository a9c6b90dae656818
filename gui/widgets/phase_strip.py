"""The parts of an execution beside each other, with their progress and expected duration."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from core import units
from core.language import tr
from core.tones import Tone
from gui.appearance import tip
from gui.design.measures import GAP, GRID, font
from gui.design.painting import paint_box
from gui.design.palette import Ground, colour
from gui.guard import Guarded
from gui.models.progress import parts_done
from gui.models.steps import PART_TITLES, Part, Progressed
from gui.models.words import counted

INNER = 3 * GRID


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
        said = [f"{tr(PART_TITLES[one.part])}: {_words(one)}" for one in parts]
        self.setAccessibleDescription("; ".join(said))
        self.setToolTip(tip("\n".join(said)))
        self.update()

    def cut_texts(self) -> tuple[str, ...]:
        """Return the texts for which there is too little room."""
        room, metrics = round(self._field_width()) - 2 * INNER, QFontMetrics(font(bold=True))
        texts = (text for one in self._parts for text in (tr(PART_TITLES[one.part]), _short(one)))
        return tuple(text for text in texts if metrics.horizontalAdvance(text) > room)

    def _field_width(self) -> float:
        return (self.width() - GAP * (len(self._parts) - 1)) / max(1, len(self._parts))

    def sizeHint(self) -> QSize:
        return QSize(400, self.fontMetrics().height() * 2 + 24)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        width = self._field_width()
        for number, one in enumerate(self._parts):
            self._paint(painter, QRect(round(number * (width + GAP)), 0, round(width), self.height()), one)
        painter.end()

    def _paint(self, painter: QPainter, room: QRect, one: Progressed) -> None:
        palette = self.palette()
        edge = colour(Tone.ACCENT if one.under_way else Ground.BORDER)
        paint_box(painter, QRectF(room), palette.color(QPalette.ColorRole.Base), edge)
        over = one.done == one.steps
        shade = colour(Tone.GOOD if over else Tone.BAD if one.part is Part.DOWN else Tone.ACCENT)
        track = QRectF(room.left() + INNER, room.bottom() - 8, room.width() - 2 * INNER, GRID)
        paint_box(painter, track, colour(Ground.BORDER), None, radius=2)
        done = parts_done(one.done, one.steps, round(track.width())) or 0
        if done:
            paint_box(painter, QRectF(track.left(), track.top(), done, GRID), shade, None, radius=2)
        painter.setFont(font(bold=one.under_way))
        inner = room.adjusted(INNER, 6, -INNER, -14)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        painter.drawText(inner, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, tr(PART_TITLES[one.part]))
        painter.setFont(self.font())
        painter.setPen(colour(Tone.MUTED))
        words = painter.fontMetrics().elidedText(_short(one), Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, words)


def _short(one: Progressed) -> str:
    """Return what there is room for: the duration of a part to come, else its steps."""
    if one.done or one.under_way or one.expected_seconds is None:
        return tr("{done} of {steps}").format(
            done=one.done, steps=counted(one.steps, "{number} step", "{number} steps")
        )
    return tr("about {seconds}").format(seconds=units.duration(one.expected_seconds))


def _words(one: Progressed) -> str:
    about = (
        ""
        if one.expected_seconds is None or one.done == one.steps
        else tr(", about {expected_seconds}").format(expected_seconds=units.duration(one.expected_seconds))
    )
    return tr("{done} of {steps}{about}").format(
        done=one.done, steps=counted(one.steps, "{number} step", "{number} steps"), about=about
    )
