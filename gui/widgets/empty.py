"""What a page shows while it has nothing to show: what is missing, and the one thing to do next."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from core.tones import Tone
from gui.design.icons import Icon, IconView
from gui.design.measures import CARD, MARGIN, READABLE, Type, scaled, set_type
from gui.design.parts import ButtonKind, set_kind
from gui.widgets.label import EvenLabel, Label


class Empty(QWidget):
    """An icon, a title, a sentence and perhaps a button. Signal: wanted(), the button was pressed."""

    wanted = Signal()

    def __init__(self, icon: Icon, title: str, text: str, button: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        head = Label(title, self)
        set_type(head, Type.TITLE, bold=True)
        self.sentence = sentence = EvenLabel(text, self)
        sentence.setMinimumWidth(self.fontMetrics().averageCharWidth() * 40)
        sentence.setMaximumWidth(scaled(READABLE // 2))
        self.button = QPushButton(button, self)
        set_kind(self.button, ButtonKind.PRIMARY)
        self.button.setAccessibleName(button or title)
        self.button.setVisible(bool(button))
        self.button.clicked.connect(self.wanted)
        self.column = column = QVBoxLayout(self)
        column.setSpacing(CARD)
        column.addStretch(2)
        column.addWidget(IconView(icon, Tone.MUTED, 2 * MARGIN, self), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(head, 0, Qt.AlignmentFlag.AlignHCenter)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(sentence, 3)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
