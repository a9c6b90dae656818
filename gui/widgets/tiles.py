"""The tiles of the benchmarks: a row for each workload, with the old server, the new server and their ratio."""

import math
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QToolTip, QWidget

from core.jobs import Live
from core.language import tr
from core.sides import Side
from core.tones import Tone
from gui.appearance import tip
from gui.design.measures import CARD, GAP, GRID, Type, bold_font, font, scaled
from gui.design.painting import paint_box
from gui.design.palette import Ground, colour
from gui.guard import Guarded
from gui.models.tiles import Dot, Tile, TileRow, describe_live_figure, live_figure
from gui.models.words import metric_value

INNER = 3 * GRID
REACH = 7.0
FRAME_MS = 50
"""20 pictures a second, while something moves."""
RATIO = 116
"""The width of the column of ratios, in pixels before scaling."""
SIDES = ((Side.OLD, Tone.OLD), (Side.NEW, Tone.NEW))

SECONDS = 60.0
"""What a line shows, from its left end to this moment."""
STALE_SECONDS = 3.0
RADIUS = 3.5


class Sparkline:
    """What moved on one volume: it wanders to the left as time passes.

    The disk may move other amounts than a tool reports, and in another unit. So only the values of one of them are
    shown: of the one that has reported the newest.
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, Live]] = deque()

    @property
    def by(self) -> str:
        """The tool that has reported the newest; empty: it is the disk's."""
        return self._seen[-1][1].by if self._seen else ""

    @property
    def figures(self) -> Mapping[str, float]:
        """The newest."""
        return self._seen[-1][1].figures if self._seen else {}

    @property
    def fresh(self) -> bool:
        """Whether something came a moment ago."""
        return bool(self._seen) and time.monotonic() - self._seen[-1][0] < STALE_SECONDS

    def add(self, event: Live) -> None:
        """What moves now."""
        now = time.monotonic()
        self._seen.append((now, event))
        while now - self._seen[0][0] > SECONDS:
            self._seen.popleft()

    def values(self, headline: str, metric: str) -> list[tuple[float, float]]:
        """Return when what was seen of that metric in the last minute, as long as the headline is seen by it."""
        found = ((at, live_figure(headline, event.figures)) for at, event in self._seen if event.by == self.by)
        return [(at, value) for at, (name, value) in found if name == metric]

    def highest(self, headline: str, metric: str) -> float:
        """The highest value of a metric in the last minute."""
        return max((value for _, value in self.values(headline, metric)), default=0.0)

    def paint(self, painter: QPainter, room: QRectF, headline: str, highest: float, shade: QColor) -> None:
        """The last minute on a scale from zero to `highest`."""
        now = time.monotonic()
        values = self.values(headline, live_figure(headline, self.figures)[0])
        line = [
            QPointF(
                room.right() - room.width() * (now - at) / SECONDS,
                room.bottom() - room.height() * _part(value, highest),
            )
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
        self.verticalScrollBar().valueChanged.connect(self.tiles.update)  # the heads of the columns stay at the top
        self._running: list[int] = []

    def show_rows(self, rows: tuple[TileRow, ...], names: tuple[str, str]) -> None:
        """Show these rows; `names`: of the two servers."""
        self.tiles.show_rows(rows, names)
        running = [n for n, row in enumerate(rows) if any(tile and tile.running for tile in (row.old, row.new))]
        if running and running != self._running:
            self.tiles.adjustSize()
            room = self.tiles.room(running[-1], 0)
            self.ensureVisible(0, room.center().y(), 0, room.height() // 2 + self.tiles.above)
        self._running = running


class Tiles(Guarded, QWidget):
    """Paints a row for each workload."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[TileRow, ...] = ()
        self._names: dict[Side, str] = {}
        self._live: dict[tuple[str, str], Sparkline] = {}
        self._frames = QTimer(self, interval=FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(self._move_on)
        self.setAccessibleName(tr("Workloads"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)

    def show_rows(self, rows: tuple[TileRow, ...], names: tuple[str, str]) -> None:
        """Show these rows; `names`: of the two servers. A screen reader gets their values."""
        names_by_side = dict(zip(Side, names, strict=True))
        if rows == self._rows and names_by_side == self._names:
            return
        self._rows, self._names = rows, names_by_side
        said = (
            f"{tr(row.title)}: {names[0]} {_tile_text(row.old)}, {names[1]} {_tile_text(row.new)}, "
            f"{row.ratio} {row.verdict}".rstrip()
            for row in rows
        )
        self.setAccessibleDescription("; ".join(said))
        self.updateGeometry()
        self.update()

    def take(self, event: Live) -> None:
        """Show the current rates of a workload on one side."""
        self._live.setdefault((event.subject, event.source), Sparkline()).add(event)
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
        return QSize(500, self._head() + len(self._rows) * self._step())

    def minimumSizeHint(self) -> QSize:
        return QSize(400, self.sizeHint().height())

    def room(self, row: int, column: int) -> QRect:
        """Return the place of a tile; column 0 is that of the old server, column 2 that of the ratio."""
        ratio = scaled(RATIO)
        width = (self.width() - 2 * GAP - ratio) // 2
        top = self._head() + row * self._step() + self._title()
        return QRect(column * (width + GAP), top, ratio if column == len(SIDES) else width, self._height())

    @property
    def above(self) -> int:
        """The height of what belongs above the tiles of a row: the names of the columns and of the workload."""
        return self._head() + self._title()

    def _head(self) -> int:
        """The height of the names of the columns."""
        return self.fontMetrics().height() + 2 * GAP

    def _title(self) -> int:
        """The height of the name of a workload above its tiles."""
        return self.fontMetrics().height() + GRID

    def _step(self) -> int:
        """The height of a row and of what lies between it and the next."""
        return self._title() + self._height() + CARD

    def _height(self) -> int:
        return (
            2 * self.fontMetrics().height() + QFontMetrics(font(Type.TITLE, bold=True)).height() + 2 * GRID + 2 * INNER
        )

    def _places(self) -> Iterator[tuple[QRect, TileRow, Side, Tile | None]]:
        for number, row in enumerate(self._rows):
            for column, tile in enumerate((row.old, row.new)):
                yield self.room(number, column), row, SIDES[column][0], tile

    def _line(self, row: TileRow, side: Side, tile: Tile | None) -> Sparkline | None:
        """Return the line of current rates of that tile."""
        return self._live.get((row.name, side.value)) if tile is not None and tile.running else None

    def _highest(self, row: TileRow, metric: str) -> float:
        """Return the highest current value of a metric on both sides: what has the same unit has the same scale."""
        lines = [self._line(row, side, tile) for (side, _), tile in zip(SIDES, (row.old, row.new), strict=True)]
        return max((line.highest(row.headline, metric) for line in lines if line is not None), default=0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for room, row, side, tile in self._places():
            if event.rect().intersects(room):
                self._paint(painter, room, row, side, tile)
        for number, row in enumerate(self._rows):
            self._paint_title(painter, number, row)
            self._paint_ratio(painter, self.room(number, len(SIDES)), row)
        if self._rows:
            self._paint_heads(painter)
        painter.end()

    def _paint_heads(self, painter: QPainter) -> None:
        """Name the columns at the top of what is seen, over the rows that are scrolled away."""
        top = max(0, -self.y())
        if top > 0:
            painter.fillRect(0, top, self.width(), self._head(), self.palette().window())
        for column, words in enumerate((*self._names.values(), tr("Ratio"))):
            place = self.room(0, column).adjusted(GAP if column == len(SIDES) else 0, 0, 0, 0)  # above the figures
            room = QRect(place.left(), top + GAP, place.width(), self._head())
            self._write(painter, room, words, colour(Tone.MUTED))

    def _paint_title(self, painter: QPainter, number: int, row: TileRow) -> None:
        top = self.room(number, 0).top() - self._title()
        painter.setFont(bold_font())
        place = QRect(0, top, self.width(), self._title())
        self._write(painter, place, tr(row.title), self.palette().color(QPalette.ColorRole.Text))
        painter.setFont(self.font())

    def _paint_ratio(self, painter: QPainter, room: QRect, row: TileRow) -> None:
        inner = room.adjusted(GAP, INNER, 0, -INNER)
        painter.setFont(font(Type.TITLE, bold=True))
        self._write(painter, inner, row.ratio, colour(row.tone))
        below = painter.fontMetrics().height() + GRID
        painter.setFont(self.font())
        self._write(painter, inner.adjusted(0, below, 0, 0), row.verdict, colour(Tone.MUTED))

    def _paint(self, painter: QPainter, room: QRect, row: TileRow, side: Side, tile: Tile | None) -> None:
        palette, shade = self.palette(), colour(dict(SIDES)[side])
        paint_box(painter, QRectF(room), colour(Ground.SURFACE), colour(Ground.BORDER))
        paint_box(painter, QRectF(room.left(), room.top(), GRID, room.height()), shade, None, radius=2)
        left, beside = _parts(room)
        muted, text = colour(Tone.MUTED), palette.color(QPalette.ColorRole.Text)
        line = self.fontMetrics().height()
        if tile is None:
            self._write(painter, left, tr("not measured yet"), muted)
            return
        moving = self._line(row, side, tile)
        now = self._now(row, moving)
        painter.setFont(font(Type.TITLE, bold=True))
        # without a result the moment's figure stands in its place, and the line below says what it is
        shown = (
            metric_value(*live_figure(row.headline, moving.figures)) if moving and now and not tile.dots else tile.value
        )
        high = painter.fontMetrics().height()
        self._write(painter, left, shown, text)
        beyond, fall = painter.fontMetrics().horizontalAdvance(f"{shown} "), painter.fontMetrics().ascent()
        painter.setFont(self.font())
        if tile.spread and shown == tile.value:
            lower = fall - painter.fontMetrics().ascent()
            self._write(painter, left.adjusted(beyond, lower, 0, 0), tile.spread, muted)
        below = now or tile.detail
        said = text if tile.tone is None else colour(tile.tone)
        self._write(painter, left.adjusted(0, high + GRID, 0, 0), tile.state, said)
        whole = QRect(left.left(), left.top() + high + line + 2 * GRID, room.right() - left.left() - GAP, line)
        self._write(painter, whole, below, shade if below == now else muted)
        if moving is not None:
            highest = self._highest(row, live_figure(row.headline, moving.figures)[0])
            moving.paint(painter, _upper(beside, tile), row.headline, highest, shade)
        paint_dots(painter, _lower(beside, tile, moving), tile.dots, row.highest, shade, colour(Tone.WARNING))

    @staticmethod
    def _now(row: TileRow, moving: Sparkline | None) -> str:
        """Return the current rate as text; empty if there is none."""
        return (
            describe_live_figure(row.headline, moving.figures, moving.by) if moving is not None and moving.fresh else ""
        )

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
            dots = place_dots(_lower(_parts(room)[1], tile, moving), tile.dots, row.highest)
            for number, (dot, spot) in enumerate(zip(tile.dots, dots, strict=True), 1):
                if (spot - place).manhattanLength() <= 2 * REACH:
                    return _of_dot(number, dot)
            value = f"{tile.value} {tile.spread}".rstrip()
            said = (f"{self._names[side]}: {tr(row.title)}", value, self._now(row, moving), tile.detail, tile.state)
            return "\n".join(line for line in said if line)
        return ""


def _parts(room: QRect) -> tuple[QRect, QRectF]:
    """Return the places of the text and of the picture of a tile; the last line of the text is below the picture."""
    left = QRect(room.left() + CARD, room.top() + INNER, round(room.width() * 0.67) - CARD, room.height() - 2 * INNER)
    return left, QRectF(left.right() + 14, room.top() + 12, room.width() * 0.33 - 26, (room.height() - 24) * 0.66)


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


def _part(value: float, highest: float) -> float:
    """Return the value as a part of the highest, from 0 to 1; 0 for what is no number."""
    if not (math.isfinite(value) and highest > 0):
        return 0.0
    return min(1.0, max(0.0, value / highest))


def place_dots(room: QRectF, dots: Sequence[Dot], highest: float) -> list[QPointF]:
    """Where each repetition stands, on a scale from zero to `highest`."""
    step = room.width() / max(4, len(dots))
    return [
        QPointF(
            room.left() + step * (number + 0.5),
            room.bottom() - room.height() * 0.9 * _part(dot.value, highest),
        )
        for number, dot in enumerate(dots)
    ]


def paint_dots(
    painter: QPainter, room: QRectF, dots: Sequence[Dot], highest: float, shade: QColor, warning: QColor
) -> None:
    """Each repetition: full where it counts, a cross where it is an outlier, hollow where it was disturbed."""
    painter.setPen(QPen(colour(Tone.MUTED), 1, Qt.PenStyle.DotLine))
    painter.drawLine(room.bottomLeft(), room.bottomRight())
    places = place_dots(room, dots, highest)
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
