"""The tiles of the cockpit, painted in two columns: old at the left, new at the right."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from core.benchmarks.model import Side
from gui.appearance import Tone, colour
from gui.models.tiles import Tile, TileRow

GAP, RADIUS = 8, 3.5
SIDES = ((Side.OLD, Tone.OLD), (Side.NEW, Tone.NEW))


class TilesView(QScrollArea):
    """Scrolls where there are more than fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Workloads on both sides")
        self.tiles = Tiles(self)
        self.setWidget(self.tiles)

    def show_rows(self, rows: tuple[TileRow, ...]) -> None:
        """Show these."""
        self.tiles.show_rows(rows)


class Tiles(QWidget):
    """A row a workload."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[TileRow, ...] = ()
        self.setAccessibleName("Workloads")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)

    def show_rows(self, rows: tuple[TileRow, ...]) -> None:
        """Show these; each is read out with its values."""
        if rows == self._rows:
            return
        self._rows = rows
        said = (f"{row.title}: old {_said(row.old)}, new {_said(row.new)}" for row in rows)
        self.setAccessibleDescription("; ".join(said))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(500, len(self._rows) * (self._height() + GAP))

    def minimumSizeHint(self) -> QSize:
        return QSize(400, self.sizeHint().height())

    def _height(self) -> int:
        return self.fontMetrics().height() * 4 + 18

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height, width = self._height(), (self.width() - GAP) // 2
        for number, row in enumerate(self._rows):
            top = number * (height + GAP)
            if not event.rect().intersects(QRect(0, top, self.width(), height)):
                continue
            for column, ((side, shade), tile) in enumerate(zip(SIDES, (row.old, row.new), strict=True)):
                room = QRect(column * (width + GAP), top, width, height)
                self._paint(painter, room, (row.title, side), tile, colour(shade))
        painter.end()

    def _paint(self, painter: QPainter, room: QRect, named: tuple[str, Side], tile: Tile | None, shade: QColor) -> None:
        palette = self.palette()
        painter.fillRect(room, palette.color(QPalette.ColorRole.Base))
        painter.fillRect(QRect(room.left(), room.top(), 3, room.height()), shade)
        left = QRect(room.left() + 12, room.top() + 7, round(room.width() * 0.62) - 16, room.height() - 14)
        muted, text = colour(Tone.MUTED), palette.color(QPalette.ColorRole.Text)
        line = self.fontMetrics().height()
        self._line(painter, left, f"{named[1]}: {named[0]}", muted)
        if tile is None:
            self._line(painter, left.adjusted(0, line + 2, 0, 0), "not measured yet", muted)
            return
        large = QFont(self.font())
        large.setPointSizeF(large.pointSizeF() * 1.35)
        large.setBold(True)
        painter.setFont(large)
        self._line(painter, left.adjusted(0, line + 1, 0, 0), tile.value, text)
        painter.setFont(self.font())
        self._line(painter, left.adjusted(0, round(line * 2.35) + 1, 0, 0), tile.detail, muted)
        said = text if tile.tone is None else colour(tile.tone)
        self._line(painter, left.adjusted(0, round(line * 3.35) + 1, 0, 0), tile.state, said)
        beside = QRectF(left.right() + 14, room.top() + 12, room.width() * 0.38 - 26, room.height() - 24)
        self._dots(painter, beside, tile, shade)

    @staticmethod
    def _line(painter: QPainter, room: QRect, words: str, shade: QColor) -> None:
        painter.setPen(shade)
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft), shown)

    @staticmethod
    def _dots(painter: QPainter, room: QRectF, tile: Tile, shade: QColor) -> None:
        """Each repetition on a scale from zero; hollow where something speaks against it."""
        highest = max((dot.value for dot in tile.dots), default=0.0)
        painter.setPen(QPen(colour(Tone.MUTED), 1, Qt.PenStyle.DotLine))
        painter.drawLine(room.bottomLeft(), room.bottomRight())
        if highest <= 0:
            return
        step = room.width() / max(4, len(tile.dots))
        places = [
            QPointF(room.left() + step * (number + 0.5), room.bottom() - room.height() * 0.9 * dot.value / highest)
            for number, dot in enumerate(tile.dots)
        ]
        painter.setPen(QPen(shade, 1.2))
        painter.drawPolyline(places)
        for place, dot in zip(places, tile.dots, strict=True):
            painter.setBrush(shade if dot.counts else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(place, RADIUS, RADIUS)
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _said(tile: Tile | None) -> str:
    return "not measured yet" if tile is None else f"{tile.value}, {tile.state}"
