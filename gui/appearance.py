"""The name, the icon, the style and the theme of the program, and how the window shows texts and sizes."""

from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from core.settings import PROGRAM, program_version, resource
from core.text import printable_lines
from gui.design.measures import use_body_font
from gui.design.palette import palette
from gui.design.style import Style


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


def prepare(application: QApplication) -> None:
    """Set the name, the icon, the font and the style of the program, light or dark as the system is."""
    application.setApplicationName(PROGRAM)
    application.setApplicationDisplayName(PROGRAM)
    application.setApplicationVersion(program_version())
    application.setDesktopFileName(PROGRAM)
    application.setWindowIcon(QIcon(str(resource("icons", "pghaul.svg"))))
    use_body_font(application)
    if application.findChild(Style) is None:
        application.setStyle(Style(application))
        hints = application.styleHints()
        hints.colorSchemeChanged.connect(lambda scheme: _use_palette(application, scheme))
        _use_palette(application, hints.colorScheme())


def force(application: QApplication, scheme: Qt.ColorScheme) -> None:
    """Make the window light or dark; Unknown: as the system."""
    hints = application.styleHints()
    hints.setColorScheme(scheme)
    # a platform that knows no colour schemes keeps its own, and reports no change
    _use_palette(application, hints.colorScheme() if scheme is Qt.ColorScheme.Unknown else scheme)


def _use_palette(application: QApplication, scheme: Qt.ColorScheme) -> None:
    application.setPalette(palette(dark=scheme is Qt.ColorScheme.Dark))


def tip(text: str) -> str:
    """A tool tip of that text: Qt knows no plain ones; not longer than a screen."""
    short = text if len(text) <= 2000 else text[:2000] + "…"
    escaped = printable_lines(short).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<p style='white-space:pre-wrap'>{escaped}</p>" if escaped else ""
