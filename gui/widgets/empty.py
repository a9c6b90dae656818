"""What a page shows while it has nothing to show: what is missing, and the one thing to do next."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget


class Empty(QWidget):
    """A title, a sentence and perhaps a button. Signal: wanted(), the button was pressed."""

    wanted = Signal()

    def __init__(self, title: str, text: str, button: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        head = QLabel(title, self)
        font = head.font()
        font.setPointSizeF(font.pointSizeF() * 1.4)
        font.setBold(True)
        head.setFont(font)
        sentence = QLabel(text, self)
        sentence.setWordWrap(True)
        sentence.setMaximumWidth(self.fontMetrics().averageCharWidth() * 78)
        self.button = QPushButton(button, self)
        self.button.setVisible(bool(button))
        self.button.clicked.connect(self.wanted)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addStretch(2)
        for widget in (head, sentence, self.button):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
