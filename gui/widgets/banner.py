"""A line above the page that says what went wrong and what to do, or that something is done. It blocks nothing."""

from enum import Enum

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QStyle, QToolButton, QWidget

from core.errors import PghaulError
from gui.models.words import in_window
from gui.widgets.label import Label


class Mood(Enum):
    """What the banner says, with the style's own picture for it."""

    DONE = QStyle.StandardPixmap.SP_DialogApplyButton
    TOLD = QStyle.StandardPixmap.SP_MessageBoxInformation
    WRONG = QStyle.StandardPixmap.SP_MessageBoxWarning


class Banner(QFrame):
    """Stays until it is closed or another message takes its place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.setAutoFillBackground(True)
        self._picture = Label(parent=self)
        self._text = Label(parent=self)
        self._text.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setAccessibleName("Message")
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        close = QToolButton(self)
        close.setAutoRaise(True)
        close.setIcon(self.style().standardIcon(QStyle.StandardPixmap.SP_TitleBarCloseButton))
        close.setAccessibleName("Close the message")
        close.setToolTip("Close the message")
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 8, 6, 8)
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    @Slot(str)
    def say(self, text: str, mood: Mood = Mood.DONE) -> None:
        """Show a message, and have a screen reader say it."""
        self._picture.setPixmap(self.style().standardIcon(mood.value).pixmap(20, 20))
        self._text.setText(text)
        self.show()
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def complain(self, error: PghaulError) -> None:
        """Show a user's error: the sentence and the hint."""
        self.say(in_window(str(error)), Mood.WRONG)
