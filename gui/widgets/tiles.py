"""The tiles of the benchmarks in two columns: the old server at the left, the new server at the right."""

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QToolTip, QWidget

from core.jobs import Live
from core.language import tr
from core.sides import Side
from gui.appearance import Tone, colour, tip
from gui.guard import Guarded
from gui.models.tiles import Dot, Tile, TileRow, describe_live_figure, live_figure
from gui.models.words import side_name

GAP, REACH = 8, 7.0
FRAME_MS = 50
"""20 pictures a second, while something moves."""
SIDES = ((Side.OLD, Tone.OLD), (Side.NEW, Tone.NEW))

SECONDS = 60.0
"""What a line shows, from its left end to this moment."""
STALE_SECONDS = 3.0
RADIUS = 3.5


class Sparkline:
    """What moved on one volume: it wanders to the left as time passes."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, Mapping[str, float]]] = deque()

    @property
    def figures(self) -> Mapping[str, float]:
        """The newest."""
        return self._seen[-1][1] if self._seen else {}

    @property
    def fresh(self) -> bool:
        """Whether something came a moment ago."""
        return bool(self._seen) and time.monotonic() - self._seen[-1][0] < STALE_SECONDS

    def add(self, figures: Mapping[str, float]) -> None:
        """What moves now."""
        now = time.monotonic()
        self._seen.append((now, figures))
        while now - self._seen[0][0] > SECONDS:
            self._seen.popleft()

    def paint(self, painter: QPainter, room: QRectF, headline: str, shade: QColor) -> None:
        """The last minute on a scale from zero to its own highest."""
        now = time.monotonic()
        values = [(at, live_figure(headline, figures)[1]) for at, figures in self._seen]
        highest = max((value for _, value in values), default=0.0)
        if highest <= 0:
            return
        line = [
            QPointF(room.right() - room.width() * (now - at) / SECONDS, room.bottom() - room.height() * value / highest)
            for at, value in values
            if now - at <= SECONDS
        ]
        if len(line) < 2:
            return
        filling = QColor(shade)
        filling.setAlpha(60)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(filling)
        painter.drawPolygon(
            QPolygonF([QPointF(line[0].x(), room.bottom()), *line, QPointF(line[-1].x(), room.bottom())])
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(shade, 1))
        painter.drawPolyline(line)


class TilesView(QScrollArea):
    """Scrolls to the workload that is being measured."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Workloads on both servers"))
        self.tiles = Tiles(self)
        self.setWidget(self.tiles)
        self._running: list[int] = []

    def show_rows(self, rows: tuple[TileRow, ...]) -> None:
        """Show these rows."""
        self.tiles.show_rows(rows)
        running = [n for n, row in enumerate(rows) if any(tile and tile.running for tile in (row.old, row.new))]
        if running and running != self._running:
            self.tiles.adjustSize()
            room = self.tiles.room(running[-1], 0)
            self.ensureVisible(0, room.center().y(), 0, room.height())
        self._running = running


class Tiles(Guarded, QWidget):
    """Paints a row for each workload."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[TileRow, ...] = ()
        self._live: dict[tuple[str, str], Sparkline] = {}
        self._frames = QTimer(self, interval=FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(self._move_on)
        self.setAccessibleName(tr("Workloads"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)

    def show_rows(self, rows: tuple[TileRow, ...]) -> None:
        """Show these rows; a screen reader gets their values."""
        if rows == self._rows:
            return
        self._rows = rows
        said = (
            tr("{title}: old server {said}, new server {said2}").format(
                title=tr(row.title), said=_tile_text(row.old), said2=_tile_text(row.new)
            )
            for row in rows
        )
        self.setAccessibleDescription("; ".join(said))
        self.updateGeometry()
        self.update()

    def take(self, event: Live) -> None:
        """Show the current rates of a workload on one side."""
        line = self._live.setdefault((event.subject, event.source), Sparkline())
        line.add(event.figures)
        if not self._frames.isActive():
            self._frames.start()

    @Slot()
    def rest(self) -> None:
        """Stop showing current rates."""
        self._live.clear()
        self._frames.stop()
        self.update()

    @property
    def moving(self) -> bool:
        """Whether a picture follows the other."""
        return self._frames.isActive()

    @Slot()
    def _move_on(self) -> None:
        live = [room for room, row, side, tile in self._places() if self._line(row, side, tile) is not None]
        for room in live:
            self.update(room)
        if not any(line.fresh for line in self._live.values()):
            self._frames.stop()

    def sizeHint(self) -> QSize:
        return QSize(500, len(self._rows) * (self._height() + GAP))

    def minimumSizeHint(self) -> QSize:
        return QSize(400, self.sizeHint().height())

    def room(self, row: int, column: int) -> QRect:
        """Return the place of a tile; column 0 is that of the old server."""
        height, width = self._height(), (self.width() - GAP) // 2
        return QRect(column * (width + GAP), row * (height + GAP), width, height)

    def _height(self) -> int:
        return round(self.fontMetrics().height() * 4.5) + 16

    def _places(self) -> Iterator[tuple[QRect, TileRow, Side, Tile | None]]:
        for number, row in enumerate(self._rows):
            for column, tile in enumerate((row.old, row.new)):
                yield self.room(number, column), row, SIDES[column][0], tile

    def _line(self, row: TileRow, side: Side, tile: Tile | None) -> Sparkline | None:
        """Return the line of current rates of that tile."""
        return self._live.get((row.name, side.value)) if tile is not None and tile.running else None

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for room, row, side, tile in self._places():
            if event.rect().intersects(room):
                self._paint(painter, room, row, side, tile)
        painter.end()

    def _paint(self, painter: QPainter, room: QRect, row: TileRow, side: Side, tile: Tile | None) -> None:
        palette, shade = self.palette(), colour(dict(SIDES)[side])
        painter.fillRect(room, palette.color(QPalette.ColorRole.Base))
        painter.fillRect(QRect(room.left(), room.top(), 3, room.height()), shade)
        left, beside = _parts(room)
        muted, text = colour(Tone.MUTED), palette.color(QPalette.ColorRole.Text)
        line = self.fontMetrics().height()
        self._write(painter, left, f"{side_name(side)}: {tr(row.title)}", muted)
        if tile is None:
            self._write(painter, left.adjusted(0, line + 2, 0, 0), tr("not measured yet"), muted)
            return
        moving = self._line(row, side, tile)
        now = self._now(row, moving)
        large = QFont(self.font())
        large.setPointSizeF(large.pointSizeF() * 1.35)
        large.setBold(True)
        painter.setFont(large)
        shown = now if now and not tile.dots else tile.value
        self._write(painter, left.adjusted(0, line + 1, 0, 0), shown, text)
        beyond, fall = painter.fontMetrics().horizontalAdvance(f"{shown} "), painter.fontMetrics().ascent()
        painter.setFont(self.font())
        if tile.spread and shown == tile.value:
            lower = line + 1 + fall - painter.fontMetrics().ascent()
            self._write(painter, left.adjusted(beyond, lower, 0, 0), tile.spread, muted)
        below = now if now and tile.dots else tile.detail
        self._write(painter, left.adjusted(0, round(line * 2.35) + 1, 0, 0), below, shade if below == now else muted)
        said = text if tile.tone is None else colour(tile.tone)
        self._write(painter, left.adjusted(0, round(line * 3.35) + 1, 0, 0), tile.state, said)
        if moving is not None:
            moving.paint(painter, _upper(beside, tile), row.headline, shade)
        paint_dots(painter, _lower(beside, tile, moving), tile.dots, shade, colour(Tone.WARNING))

    @staticmethod
    def _now(row: TileRow, moving: Sparkline | None) -> str:
        """Return the current rate as text; empty if there is none."""
        return describe_live_figure(row.headline, moving.figures) if moving is not None and moving.fresh else ""

    @staticmethod
    def _write(painter: QPainter, room: QRect, words: str, shade: QColor) -> None:
        painter.setPen(shade)
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft), shown)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), tip(self.tip_at(event.pos())), self)
            return True
        return super().event(event)

    def tip_at(self, place: QPoint) -> str:
        """Return the tool tip of a dot or of a tile; empty beside the tiles."""
        for room, row, side, tile in self._places():
            if not room.contains(place) or tile is None:
                continue
            moving = self._line(row, side, tile)
            dots = place_dots(_lower(_parts(room)[1], tile, moving), tile.dots)
            for number, (dot, spot) in enumerate(zip(tile.dots, dots, strict=True), 1):
                if (spot - place).manhattanLength() <= 2 * REACH:
                    return _of_dot(number, dot)
            value = f"{tile.value} {tile.spread}".rstrip()
            said = (f"{side_name(side)}: {tr(row.title)}", value, self._now(row, moving), tile.detail, tile.state)
            return "\n".join(line for line in said if line)
        return ""


def _parts(room: QRect) -> tuple[QRect, QRectF]:
    """Return the places of the text and of the picture of a tile."""
    left = QRect(room.left() + 12, room.top() + 7, round(room.width() * 0.67) - 16, room.height() - 14)
    return left, QRectF(left.right() + 14, room.top() + 12, room.width() * 0.33 - 26, room.height() - 24)


def _upper(beside: QRectF, tile: Tile) -> QRectF:
    """The moment's part of the picture: all of it until there are repetitions."""
    return QRectF(beside.left(), beside.top(), beside.width(), beside.height() * (0.5 if tile.dots else 1.0))


def _lower(beside: QRectF, tile: Tile, moving: Sparkline | None) -> QRectF:
    """The repetitions' part."""
    return beside if moving is None else beside.adjusted(0, beside.height() * 0.6 if tile.dots else 0, 0, 0)


def _of_dot(number: int, dot: Dot) -> str:
    said = tr(": {remarks}, excluded from the mean").format(remarks=", ".join(dot.remarks)) if dot.remarks else ""
    return tr("Repetition {number}: {shown}{said}").format(number=number, shown=dot.shown, said=said)


def _tile_text(tile: Tile | None) -> str:
    return tr("not measured yet") if tile is None else f"{tile.value}, {tile.state}"


def place_dots(room: QRectF, dots: Sequence[Dot]) -> list[QPointF]:
    """Where each repetition stands, on a scale from zero."""
    highest = max((dot.value for dot in dots), default=0.0)
    step = room.width() / max(4, len(dots))
    return [
        QPointF(
            room.left() + step * (number + 0.5),
            room.bottom() - (room.height() * 0.9 * dot.value / highest if highest > 0 else 0.0),
        )
        for number, dot in enumerate(dots)
    ]


def paint_dots(painter: QPainter, room: QRectF, dots: Sequence[Dot], shade: QColor, warning: QColor) -> None:
    """Each repetition: full where it counts, a cross where it is an outlier, hollow where it was disturbed."""
    painter.setPen(QPen(colour(Tone.MUTED), 1, Qt.PenStyle.DotLine))
    painter.drawLine(room.bottomLeft(), room.bottomRight())
    places = place_dots(room, dots)
    painter.setPen(QPen(shade, 1.2))
    painter.drawPolyline([place for place, dot in zip(places, dots, strict=True) if dot.counts])
    for place, dot in zip(places, dots, strict=True):
        painter.setPen(QPen(shade if dot.counts else warning, 1.6))
        painter.setBrush(shade if dot.counts else Qt.BrushStyle.NoBrush)
        if dot.outlying:
            for turn in (1, -1):
                arm = QPointF(RADIUS, turn * RADIUS)
                painter.drawLine(place - arm, place + arm)
        else:
            painter.drawEllipse(place, RADIUS, RADIUS)
    painter.setBrush(Qt.BrushStyle.NoBrush)
