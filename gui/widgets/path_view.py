"""The path between the servers as a pipe: each link as thick as its rate, the slowest marked by colour and word."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.language import tr
from core.text import printable
from core.tones import Tone
from gui.design.measures import GAP, GRID, Type, font, scaled
from gui.design.painting import paint_box
from gui.design.palette import Ground, colour
from gui.guard import Guarded
from gui.models.transfer import Link

THICK, THIN = 40, 4
"""The thickness of the fastest link, and that of one that lets nothing through."""
CARD_WIDTH, CARD_HEIGHT = 128, 52
LINES = 2
"""How many lines the name of a link may take."""
Flag = Qt.AlignmentFlag


class PathView(Guarded, QWidget):
    """Paints the old server at the left, the links, and the new server at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.links: tuple[Link, ...] = ()
        self._servers = ("", "")
        self.setAccessibleName(tr("Path of the data"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_links(self, links: tuple[Link, ...], servers: tuple[str, str], told: str) -> None:
        """Show these links between the servers; `told`: what a screen reader says of them."""
        self.links, self._servers = links, servers
        self.setAccessibleDescription(told)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(720, self._above() + THICK + self._below() + 2 * GRID)

    def minimumSizeHint(self) -> QSize:
        return QSize(560, self.sizeHint().height())

    def _above(self) -> int:
        return LINES * self.fontMetrics().height() + GAP

    def _below(self) -> int:
        return GAP + QFontMetrics(font(Type.HEADLINE, bold=True)).height() + self.fontMetrics().height()

    def pipes(self) -> list[QRectF]:
        """Return where each link is drawn."""
        middle, card = self._above() + THICK / 2, scaled(CARD_WIDTH)
        left, room = card + GAP, self.width() - 2 * (card + GAP)
        wide = room / max(1, len(self.links))
        made = []
        for number, link in enumerate(self.links):
            thick = THIN + (THICK - THIN) * min(1.0, max(0.0, link.part))
            made.append(QRectF(left + number * wide, middle - thick / 2, wide, thick))
        return made

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, card = self._above() + THICK / 2, scaled(CARD_WIDTH)
        for left, server, tone, role in (
            (0, self._servers[0], Tone.OLD, tr("old server")),
            (self.width() - card, self._servers[1], Tone.NEW, tr("new server")),
        ):
            high = scaled(CARD_HEIGHT)
            self._paint_server(painter, QRectF(left, middle - high / 2, card, high), server, role, tone)
        for link, pipe in zip(self.links, self.pipes(), strict=True):
            self._paint_link(painter, link, pipe)
        painter.end()

    def _paint_server(self, painter: QPainter, room: QRectF, server: str, role: str, tone: Tone) -> None:
        paint_box(painter, room, colour(Ground.SURFACE), colour(tone), width=2)
        inner, metrics = room.adjusted(GAP, GRID, -GAP, -GRID), QFontMetrics(font(bold=True))
        name = metrics.elidedText(printable(server), Qt.TextElideMode.ElideMiddle, int(inner.width()))
        painter.setFont(font(bold=True))
        painter.setPen(colour(tone))
        half = inner.height() / 2
        painter.drawText(inner.adjusted(0, 0, 0, -half), Flag.AlignHCenter | Flag.AlignBottom, name)
        painter.setFont(font())
        painter.setPen(colour(Tone.MUTED))
        painter.drawText(inner.adjusted(0, half, 0, 0), Flag.AlignHCenter | Flag.AlignTop, role)

    def _paint_link(self, painter: QPainter, link: Link, pipe: QRectF) -> None:
        paint_box(painter, pipe, colour(Tone.WARNING if link.slowest else Ground.EDGE), None, radius=0)
        left, wide = pipe.left() + GRID, pipe.width() - 2 * GRID
        painter.setFont(font())
        painter.setPen(colour(Tone.MUTED))
        wrapped = int(Flag.AlignHCenter | Flag.AlignBottom) | int(Qt.TextFlag.TextWordWrap)
        painter.drawText(QRectF(left, 0, wide, self._above() - GAP), wrapped, link.short)
        made = font(Type.HEADLINE, bold=True)
        high, top = QFontMetrics(made).height(), self._above() + THICK + GAP
        painter.setFont(made)
        painter.setPen(colour(Tone.WARNING if link.slowest else Ground.TEXT))
        painter.drawText(QRectF(left, top, wide, high), Flag.AlignHCenter | Flag.AlignVCenter, link.shown)
        if link.slowest:
            painter.setFont(font())
            below = QRectF(left, top + high, wide, self.fontMetrics().height())
            painter.drawText(below, Flag.AlignHCenter | Flag.AlignVCenter, tr("slowest"))
