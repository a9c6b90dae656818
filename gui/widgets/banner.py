"""A message at the foot of the page: an error with its hint, or a result. It blocks nothing."""

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDesktopServices, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from core.errors import PghaulError
from core.language import tr
from core.tones import Tone
from gui.design.icons import Icon, IconView, button_icon
from gui.design.measures import CARD, GAP, MARGIN
from gui.guard import Guarded
from gui.models.sentences import error_text
from gui.widgets.label import Label

SHOWN_MS = 15_000
"""How long a result is shown, in ms; an error stays until it is closed."""


class Mood(Enum):
    """The kind of a message, with its icon and its tone."""

    DONE = (Icon.DONE, Tone.GOOD)
    HELP = (Icon.HELP, Tone.ACCENT)
    TOLD = (Icon.TOLD, Tone.ACCENT)
    WRONG = (Icon.WRONG, Tone.BAD)


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
        self.setFrameStyle(QFrame.Shape.StyledPanel.value | QFrame.Shadow.Raised.value)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self._picture = IconView(*self.mood.value, 20, self)
        self._text = Label(parent=self)
        self._text.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setAccessibleName(tr("Message"))
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.open, self.folder = QPushButton(tr("Open"), self), QPushButton(tr("Show folder"), self)
        self.undo = QPushButton(tr("Restore"), self)
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

    def show_undoable(self, text: str) -> None:
        """Show what was done, with the button `undo`, until the message is closed."""
        self._show(text, Mood.TOLD, None)
        self.undo.show()
        self._place()

    def show_error(self, error: PghaulError, mood: Mood = Mood.WRONG) -> None:
        """Show an error with its hint."""
        self.show_message(error_text(error), mood)

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
        self.undo.hide()
        self.mood = mood
        self._picture.show_icon(*mood.value)
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
        height = 0 if layout is None else layout.totalHeightForWidth(width)
        self.setGeometry(MARGIN, self._over.height() - height - MARGIN, width, height)

    def _lay_out(self) -> None:
        close = QToolButton(self)
        close.setAutoRaise(True)
        close.setIcon(button_icon(Icon.CLOSE))
        close.setAccessibleName(tr("Close the message"))
        close.setToolTip(tr("Close the message"))
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(CARD, GAP, GAP, GAP)
        row.setSpacing(GAP)
        row.addWidget(self._picture)
        row.addWidget(self._text, 1)
        for widget in (self.open, self.folder, self.undo, close):
            row.addWidget(widget)


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
