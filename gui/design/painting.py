"""What several widgets and the style paint alike."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gui.design.measures import RADIUS


@contextmanager
def saved_state(painter: QPainter) -> Iterator[None]:
    """Restore the state of the painter afterwards, also after an exception: others use the same painter."""
    painter.save()
    try:
        yield
    finally:
        painter.restore()


def paint_box(
    painter: QPainter,
    room: QRectF,
    fill: QColor | None,
    edge: QColor | None,
    *,
    width: float = 1.0,
    radius: float = RADIUS,
) -> None:
    """Paint a rectangle with round corners whose edge lies inside the room."""
    with saved_state(painter):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
        painter.setPen(Qt.PenStyle.NoPen if edge is None else QPen(edge, width))
        half = 0.0 if edge is None else width / 2
        painter.drawRoundedRect(room.adjusted(half, half, -half, -half), radius - half, radius - half)
