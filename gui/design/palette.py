"""The grounds, borders and texts of the window in light and dark. The colours with a meaning are in `core.tones`."""

from enum import Enum
from functools import cache

from PySide6.QtGui import QColor, QGuiApplication, QPalette

from core.tones import Tone


class Ground(Enum):
    """What lies behind and around the texts, as (in light, in dark)."""

    WINDOW = ("#f6f7f9", "#14171b")
    SURFACE = ("#ffffff", "#1c2026")
    ALTERNATE = ("#f9fafb", "#20252c")
    HOVER = ("#eef1f5", "#2a3038")
    PRESSED = ("#e3e8ee", "#333a44")
    SELECTION = ("#dfeafb", "#22334b")
    STOPPED = ("#fcf1f0", "#2a1e22")
    """Of rows of the downtime."""
    BORDER = ("#d9dee5", "#343b44")
    EDGE = ("#b4bcc7", "#4d5763")
    """Of what takes input: fields, boxes and buttons."""
    TEXT = ("#1b1f24", "#e6e9ed")
    DISABLED = ("#7d8590", "#77818e")
    ON_ACCENT = ("#ffffff", "#0f141b")
    """The text of a primary button."""


def colour(of: Tone | Ground) -> QColor:
    """Return the colour in the current palette."""
    return _shade(of.value[is_dark()])


def is_dark() -> bool:
    """Whether the window is dark now."""
    return QGuiApplication.palette().color(QPalette.ColorRole.Window).lightness() < 128


@cache
def palette(*, dark: bool) -> QPalette:
    """Return the palette of the whole window."""
    made, role = QPalette(), QPalette.ColorRole
    for roles, of in (
        ((role.Window,), Ground.WINDOW),
        ((role.Base, role.Button, role.Light, role.ToolTipBase), Ground.SURFACE),
        ((role.AlternateBase,), Ground.ALTERNATE),
        ((role.Midlight, role.Mid), Ground.BORDER),
        ((role.Dark, role.Shadow), Ground.EDGE),
        ((role.WindowText, role.Text, role.ButtonText, role.ToolTipText), Ground.TEXT),
        ((role.Highlight,), Ground.SELECTION),
        ((role.HighlightedText,), Ground.TEXT),
        ((role.PlaceholderText,), Tone.MUTED),
        ((role.Link, role.Accent), Tone.ACCENT),
        ((role.LinkVisited,), Tone.NEW),
        ((role.BrightText,), Tone.BAD),
    ):
        for each in roles:
            made.setColor(each, _shade(of.value[dark]))
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, each, _shade(Ground.DISABLED.value[dark]))
    return made


@cache
def _shade(name: str) -> QColor:
    return QColor(name)
