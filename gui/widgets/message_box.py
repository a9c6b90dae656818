"""The one message box: plain text, whoever wrote it, as in the one label."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from core.text import printable_lines


def question_box(parent: QWidget, title: str, text: str, more: str) -> "MessageBox":
    """A question without its buttons; it goes when it is answered."""
    box = MessageBox(parent)
    box.setWindowTitle(title)
    box.setIcon(QMessageBox.Icon.Question)
    box.setText(text)
    box.setInformativeText(more)
    box.finished.connect(box.deleteLater)
    return box


class MessageBox(QMessageBox):
    """Shows its texts as they are; what could turn the direction of writing, or cannot be seen, by its code."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def setText(self, text: str) -> None:
        super().setText(printable_lines(text))

    def setInformativeText(self, text: str) -> None:
        super().setInformativeText(printable_lines(text))
