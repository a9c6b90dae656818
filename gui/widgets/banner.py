"""A message at the foot of the page: an error with its hint, or a result. It blocks nothing."""

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDesktopServices, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QStyle, QToolButton, QWidget

from core.errors import PghaulError
from core.language import tr
from gui.guard import Guarded
from gui.models.sentences import error_text
from gui.models.words import use_window_terms
from gui.widgets.label import Label

MARGIN = 12
SHOWN_MS = 15_000
"""How long a result is shown, in ms; an error stays until it is closed."""


class Mood(Enum):
    """The kind of a message, with the icon of the style for it."""

    DONE = QStyle.StandardPixmap.SP_DialogApplyButton
    HELP = QStyle.StandardPixmap.SP_DialogHelpButton
    TOLD = QStyle.StandardPixmap.SP_MessageBoxInformation
    WRONG = QStyle.StandardPixmap.SP_MessageBoxWarning


class Banner(Guarded, QFrame):
    """Lies over the foot of its parent. A message stays until it is closed or replaced.

    Attributes:
        mood: the kind of the message that was shown last.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._path = Path()
        self.mood = Mood.DONE
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
        self._text.setAccessibleName(tr("Message"))
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.open, self.folder = QPushButton(tr("Open"), self), QPushButton(tr("Show folder"), self)
        self.open.clicked.connect(lambda: _open(self._path))
        self.folder.clicked.connect(lambda: _open(self._path.parent))
        self._gone = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._gone.timeout.connect(self.hide)
        self._lay_out()
        parent.installEventFilter(self)
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    @Slot(str)
    def show_message(self, text: str, mood: Mood = Mood.DONE) -> None:
        """Show a message, and announce it to a screen reader."""
        self._show(text, mood, None)

    @Slot(object)
    def show_saved(self, path: Path) -> None:
        """Show that a file was saved, with buttons that open it."""
        self._show(tr("The file {path} was saved.").format(path=path), Mood.DONE, path)

    def show_error(self, error: PghaulError, mood: Mood = Mood.WRONG) -> None:
        """Show an error with its hint."""
        self.show_message(use_window_terms(error_text(error)), mood)

    @Slot()
    def turn(self) -> None:
        """Stay above the page that is shown now; the help of another page goes."""
        if self.mood is Mood.HELP:
            self.hide()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._over and event.type() is QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _show(self, text: str, mood: Mood, path: Path | None) -> None:
        self._path = Path() if path is None else path
        for button in (self.open, self.folder):
            button.setVisible(path is not None)
        self.mood = mood
        self._picture.setPixmap(self.style().standardIcon(mood.value).pixmap(20, 20))
        self._text.setText(text)
        self.show()
        self._place()
        self.raise_()
        self._gone.stop()
        if mood is Mood.DONE:
            self._gone.start()
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _place(self) -> None:
        """Place the banner at the foot of the page, as high as its text."""
        width = self._over.width() - 2 * MARGIN
        layout = self.layout()
        height = 40 if layout is None else max(layout.minimumSize().height(), layout.totalHeightForWidth(width))
        self.setGeometry(MARGIN, self._over.height() - height - MARGIN, width, height)

    def _lay_out(self) -> None:
        close = QToolButton(self)
        close.setAutoRaise(True)
        close.setIcon(self.style().standardIcon(QStyle.StandardPixmap.SP_TitleBarCloseButton))
        close.setAccessibleName(tr("Close the message"))
        close.setToolTip(tr("Close the message"))
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 8, 6, 8)
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        for widget in (self.open, self.folder, close):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
