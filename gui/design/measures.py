"""The type scale and the spacing grid. Sizes of type grow with the system's font, where that is larger than ours."""

from enum import Enum

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication
from PySide6.QtWidgets import QApplication, QComboBox, QWidget

GRID = 4
GAP = 2 * GRID
"""Between what belongs together."""
CARD = 4 * GRID
"""Around what stands in a card, and between cards."""
MARGIN = 6 * GRID
"""Around a page."""
ROW = 28
CONTROL = 32
"""The height of a button and of a field."""
RADIUS = 6
READABLE = 1280
"""How wide text and cards become at most; tables and charts take all the room."""
ICON = 16


class Type(Enum):
    """The sizes of type in pixels, at a system font of BODY or less."""

    SMALL = 12
    BODY = 13
    HEADLINE = 15
    TITLE = 20
    FIGURE = 28
    CLOCK = 40


def use_body_font(application: QApplication) -> None:
    """Make the window's font ours: of the system's family and size, at least BODY, with figures of one width."""
    font = QFont(application.font())
    font.setPixelSize(max(Type.BODY.value, QFontInfo(font).pixelSize()))
    font.setFeature(QFont.Tag("tnum"), 1)
    if font != application.font():
        application.setFont(font)


def scale() -> float:
    """By how much the system's font is larger than ours; 1 where it is not."""
    return max(1.0, QGuiApplication.font().pixelSize() / Type.BODY.value)


def scaled(pixels: int) -> int:
    """A height that holds text, grown with the type."""
    return round(pixels * scale())


def font(size: Type = Type.BODY, *, bold: bool = False) -> QFont:
    """Return the window's font in that size."""
    made = QFont(QGuiApplication.font())
    made.setPixelSize(scaled(size.value))
    if bold:
        made.setWeight(QFont.Weight.DemiBold)
    return made


def set_type(widget: QWidget, size: Type, *, bold: bool = False) -> None:
    """Set the size of a widget's text."""
    widget.setFont(font(size, bold=bold))


def keep_narrow(box: QComboBox, letters: int) -> None:
    """Let a box be as narrow as so many letters need, however long its entries are."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)


def bold_font() -> QFont:
    """Return the window's font in bold."""
    return font(bold=True)


def fixed_font() -> QFont:
    """Return the system's font for commands and outputs."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    made.setPixelSize(scaled(Type.SMALL.value))
    return made
