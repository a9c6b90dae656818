"""The appearance of the window: the palette of the system, and a few colours that have a meaning in light and dark.

No colour stands alone: wherever one is used, a word says the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPalette
from PySide6.QtWidgets import QApplication

from core.settings import PROGRAM, program_version, resource
from core.text import printable_lines


class Tone(Enum):
    """The meaning of a colour: (in light, in dark), each with a contrast of at least 4.5 to the base."""

    BAD = ("#b3261e", "#ff9a92")
    WARNING = ("#8a5200", "#f5bd5c")
    GOOD = ("#1b6e3a", "#7fd69b")
    MUTED = ("#5f6368", "#a6abb3")
    OLD = ("#9a4f08", "#e8a15c")
    NEW = ("#1a5fb4", "#78b4ff")


class Theme(Enum):
    """The theme of the window: that of the system, light, or dark."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Sizes(Enum):
    """The units of sizes: binary as in df -h and PostgreSQL, or decimal as disks are sold."""

    BINARY = "binary"
    DECIMAL = "decimal"


SCHEMES = {
    Theme.SYSTEM: Qt.ColorScheme.Unknown,
    Theme.LIGHT: Qt.ColorScheme.Light,
    Theme.DARK: Qt.ColorScheme.Dark,
}
DARK = {
    QPalette.ColorRole.Window: "#282b30",
    QPalette.ColorRole.WindowText: "#e6e8eb",
    QPalette.ColorRole.Base: "#17191c",
    QPalette.ColorRole.AlternateBase: "#1f2226",
    QPalette.ColorRole.ToolTipBase: "#383d44",
    QPalette.ColorRole.ToolTipText: "#e6e8eb",
    QPalette.ColorRole.PlaceholderText: "#8b9098",
    QPalette.ColorRole.Text: "#e6e8eb",
    QPalette.ColorRole.Button: "#343940",
    QPalette.ColorRole.ButtonText: "#e6e8eb",
    QPalette.ColorRole.BrightText: "#ff9a92",
    QPalette.ColorRole.Light: "#4d535c",
    QPalette.ColorRole.Midlight: "#41474f",
    QPalette.ColorRole.Dark: "#121417",
    QPalette.ColorRole.Mid: "#2f3338",
    QPalette.ColorRole.Shadow: "#0b0c0e",
    QPalette.ColorRole.Highlight: "#2f6fbd",
    QPalette.ColorRole.HighlightedText: "#ffffff",
    QPalette.ColorRole.Link: "#78b4ff",
    QPalette.ColorRole.LinkVisited: "#b79cff",
}


def prepare(application: QApplication) -> None:
    """Set the name, the icon and the style of the program; the palette stays that of the system."""
    application.setApplicationName(PROGRAM)
    application.setApplicationDisplayName(PROGRAM)
    application.setApplicationVersion(program_version())
    application.setDesktopFileName(PROGRAM)
    application.setWindowIcon(QIcon(str(resource("icons", "pghaul.svg"))))
    application.setStyle("Fusion")


def force(application: QApplication, scheme: Qt.ColorScheme) -> None:
    """Make the window light or dark; Unknown: as the system."""
    application.styleHints().setColorScheme(scheme)
    palette = application.style().standardPalette()
    if scheme is Qt.ColorScheme.Dark and not _is_dark(palette):
        palette = _dark_palette()
    application.setPalette(palette)


def is_dark() -> bool:
    """Whether the window is dark now."""
    return _is_dark(QGuiApplication.palette())


def colour(tone: Tone) -> QColor:
    """Return the colour of the tone in the current palette."""
    return QColor(tone.value[is_dark()])


def fixed_font() -> QFont:
    """Return the system's font for commands and outputs."""
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


def bold_font() -> QFont:
    """Return the window's font in bold."""
    font = QFont(QGuiApplication.font())
    font.setBold(True)
    return font


def _is_dark(palette: QPalette) -> bool:
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def _dark_palette() -> QPalette:
    palette = QPalette()
    for role, name in DARK.items():
        palette.setColor(role, QColor(name))
    faint = QColor("#767b83")
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, faint)
    return palette


@contextmanager
def saved_state(painter: QPainter) -> Iterator[None]:
    """Restore the state of the painter afterwards, also after an exception: others use the same painter."""
    painter.save()
    try:
        yield
    finally:
        painter.restore()


def tip(text: str) -> str:
    """A tool tip of that text: Qt knows no plain ones; not longer than a screen."""
    short = text if len(text) <= 2000 else text[:2000] + "…"
    escaped = printable_lines(short).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<p style='white-space:pre-wrap'>{escaped}</p>" if escaped else ""
