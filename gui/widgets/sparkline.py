"""Small pictures of a tile: what moved in the last minute, and repetitions as dots."""

import time
from collections import deque
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gui.appearance import Tone, colour
from gui.models.tiles import Dot, live_figure

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
