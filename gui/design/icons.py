"""The line icons: Lucide's (resources/icons/lucide, with its licence), each tinted as it is drawn."""

from enum import Enum
from functools import cache

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize
from PySide6.QtGui import QColor, QIcon, QImage, QImageReader, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from core.settings import resource
from core.tones import Tone
from gui.design.measures import ICON, scaled
from gui.design.palette import Ground, colour
from gui.guard import Guarded


class Icon(Enum):
    """What an icon stands for, with the name of its file."""

    COPY = "copy"
    CLOSE = "x"
    DONE = "circle-check"
    TOLD = "info"
    HELP = "circle-question-mark"
    WRONG = "circle-alert"
    NOTHING = "inbox"
    MOVES = "layout-list"
    OVERVIEW = "layout-dashboard"
    SERVERS = "server"
    FACTS = "database"
    BENCHMARKS = "gauge"
    COMPARISON = "scale"
    CHECKS = "list-checks"
    TRANSFER_TEST = "cable"
    ESTIMATE = "timer"
    PLAN = "clipboard-list"
    REHEARSAL = "flask-conical"
    MOVE = "arrow-right-left"
    FOLLOW_UP = "list-todo"
    SURVEY = "binoculars"
    HISTORY = "rotate-ccw-clock"


def paint_icon(painter: QPainter, room: QRectF, icon: Icon, shade: QColor) -> None:
    """Draw the icon in the middle of the room, as large as its shorter side."""
    side = min(room.width(), room.height())
    ratio = painter.device().devicePixelRatio()
    place = QRectF(0, 0, side, side)
    place.moveCenter(room.center())
    painter.drawImage(place, _image(icon, shade.name(), round(side * ratio)))


def button_icon(icon: Icon) -> QIcon:
    """Return the icon for a button. The style tints it with the colour of the button's text."""
    made = QIcon()
    for factor in (1, 2, 3):
        pixmap = QPixmap.fromImage(_image(icon, Ground.TEXT.value[0], ICON * factor))
        pixmap.setDevicePixelRatio(factor)
        made.addPixmap(pixmap)
    return made


@cache
def _image(icon: Icon, shade: str, side: int) -> QImage:
    drawn = resource("icons", "lucide", f"{icon.value}.svg").read_bytes().replace(b"currentColor", shade.encode())
    buffer = QBuffer()
    buffer.setData(QByteArray(drawn))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"svg"))
    reader.setScaledSize(QSize(side, side))
    return reader.read()


class IconView(Guarded, QWidget):
    """Shows one icon in the colour of its tone. It takes no focus and says nothing: words stand beside it."""

    def __init__(self, icon: Icon, tone: Tone, side: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.icon, self.tone = icon, tone
        self.setFixedSize(scaled(side), scaled(side))

    def show_icon(self, icon: Icon, tone: Tone) -> None:
        """Show this one from now on."""
        self.icon, self.tone = icon, tone
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_icon(painter, QRectF(self.rect()), self.icon, colour(self.tone))
        painter.end()
