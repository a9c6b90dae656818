"""The one label: plain text, whoever wrote it. Qt's own takes what looks like markup for markup."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from core.text import printable_lines


class Label(QLabel):
    """Shows its text as it is; what could turn the direction of writing, or cannot be seen, by its code."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(printable_lines(text))


def tip(text: str) -> str:
    """A tool tip of that text: Qt knows no plain ones; not longer than a screen."""
    short = text if len(text) <= 2000 else text[:2000] + "…"
    escaped = printable_lines(short).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<p style='white-space:pre-wrap'>{escaped}</p>" if escaped else ""
