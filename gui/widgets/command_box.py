"""A command to run somewhere else: where, the command itself, and a button that copies it."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from core.language import tr
from core.tones import Tone
from gui.design.icons import Icon, button_icon
from gui.design.measures import CARD, GAP, GRID, Type, fixed_font, set_type
from gui.widgets.label import Label, ToneLabel


class CommandBox(QFrame):
    """Shows one command, or hides."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self._command = ""
        self.where = ToneLabel("", Tone.MUTED, self)
        set_type(self.where, Type.SMALL)
        self.shown = Label(parent=self)
        self.shown.setFont(fixed_font())
        self.shown.setWordWrap(True)
        self.shown.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.button = QPushButton(tr("Cop&y"), self)
        self.button.setIcon(button_icon(Icon.COPY))
        self.button.clicked.connect(self.copy)
        words = QVBoxLayout()
        words.setSpacing(GRID)
        words.addWidget(self.where)
        words.addWidget(self.shown)
        row = QHBoxLayout(self)
        row.setContentsMargins(CARD, GAP, GAP, GAP)
        row.addLayout(words, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_command(self, command: str, where: str) -> None:
        """Show this command; an empty one hides the box."""
        self._command = command
        self.where.setText(where)
        self.shown.setText(command)
        self.shown.setAccessibleName(where)
        self.button.setAccessibleName(tr("Copy: {title}").format(title=where))
        self.setVisible(bool(command))

    @Slot()
    def copy(self) -> None:
        """Copy the command as it is."""
        QGuiApplication.clipboard().setText(self._command)
