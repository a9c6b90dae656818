"""The downtime against what the plan expected of it: a bar that turns red beyond the plan."""

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core import units
from core.language import tr
from core.tones import Tone
from gui.design.measures import GAP, GRID
from gui.design.painting import paint_box
from gui.design.palette import Ground, colour
from gui.guard import Guarded

LINE = 2.0


class BudgetBar(Guarded, QWidget):
    """Fills until the plan's time is used. Then it shows by how much it is exceeded, with a line at the plan's end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._used, self._planned = 0.0, 0.0
        self.setAccessibleName(tr("Downtime compared with the plan"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_seconds(self, used: float, planned: float) -> None:
        """Show so many seconds of as many that were planned."""
        self._used, self._planned = used, planned
        words = tr("{used} of {planned}").format(used=units.clock(used), planned=units.duration(planned))
        self.setAccessibleDescription(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, GAP)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        whole = max(self._used, self._planned)
        used, planned = (units.quotient(each, whole) or 0.0 for each in (self._used, self._planned))
        over = self._used > self._planned
        track = QRectF(0, (self.height() - GRID) / 2, self.width(), GRID)
        paint_box(painter, track, colour(Ground.BORDER), None, radius=2)
        filled = QRectF(track.left(), track.top(), track.width() * min(1.0, max(0.0, used)), GRID)
        if filled.width() >= 1:
            paint_box(painter, filled, colour(Tone.BAD if over else Tone.ACCENT), None, radius=2)
        if over:
            at = track.width() * min(1.0, max(0.0, planned))
            painter.fillRect(QRectF(at - LINE / 2, 0, LINE, self.height()), colour(Ground.TEXT))
        painter.end()
