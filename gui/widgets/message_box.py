"""The one message box: plain text, whoever wrote it, as in the one label."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget

from core.text import printable_lines
from gui.design.measures import GAP


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

    def keep_lines_whole(self) -> None:
        """Make the box so wide that no path or command in its informative text is broken."""
        label = self.findChild(QLabel, "qt_msgbox_informativelabel")
        if label is not None:
            words = self.informativeText().split()
            commands = [line for line in self.informativeText().split("\n") if "/" in line]
            label.setMinimumWidth(max(map(label.fontMetrics().horizontalAdvance, [*words, *commands])) + GAP)
