"""What a page shows while it has nothing to show: what is missing, and the one thing to do next."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gui.widgets.label import Label


class Empty(QWidget):
    """A title, a sentence and perhaps a button. Signal: wanted(), the button was pressed."""

    wanted = Signal()

    def __init__(self, title: str, text: str, button: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        head = Label(title, self)
        font = head.font()
        font.setPointSizeF(font.pointSizeF() * 1.4)
        font.setBold(True)
        head.setFont(font)
        sentence = Label(text, self)
        sentence.setWordWrap(True)
        sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        sentence.setMinimumWidth(self.fontMetrics().averageCharWidth() * 40)
        self.button = QPushButton(button, self)
        self.button.setVisible(bool(button))
        self.button.clicked.connect(self.wanted)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addStretch(2)
        column.addWidget(head, 0, Qt.AlignmentFlag.AlignHCenter)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(sentence, 3)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
