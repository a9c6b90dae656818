"""The one message box: plain text, whoever wrote it, as in the one label."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from core.text import printable_lines


class MessageBox(QMessageBox):
    """Shows its texts as they are; what could turn the direction of writing, or cannot be seen, by its code."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def setText(self, text: str) -> None:
        super().setText(printable_lines(text))

    def setInformativeText(self, text: str) -> None:
        super().setInformativeText(printable_lines(text))
