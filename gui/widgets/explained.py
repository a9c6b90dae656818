"""The chosen row of a list in full, beside it: labelled paragraphs, commands with Copy, and a link."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from core.language import tr
from core.tones import Tone
from gui.appearance import tip
from gui.design.measures import CARD, GAP, GRID, Type, set_type
from gui.design.parts import ButtonKind, kind_of, set_kind
from gui.models.explained import Explained
from gui.widgets.command_box import CommandBox
from gui.widgets.label import Label, ToneLabel


class ExplainedView(QScrollArea):
    """Shows one row; nothing while none is chosen."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.explained: Explained | None = None
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setMinimumWidth(240)

    def show_explained(self, explained: Explained | None) -> None:
        """Show this row."""
        if explained == self.explained:
            return
        self.explained = explained
        holder = QWidget(self)
        column = QVBoxLayout(holder)
        column.setContentsMargins(CARD, CARD, CARD, CARD)
        column.setSpacing(GRID)
        if explained is not None:
            _fill(column, explained, holder)
        column.addStretch()
        self.setWidget(holder)  # Qt deletes what was there
        holder.setBackgroundRole(QPalette.ColorRole.Base)


class ExplainedCard(QFrame):
    """What is said of a row, and below it the buttons for it."""

    def __init__(self, name: str, parent: QWidget | None = None, *buttons: QPushButton) -> None:
        super().__init__(parent)
        self.view = ExplainedView(name, self)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.addWidget(self.view, 1)
        line = QHBoxLayout()
        line.setContentsMargins(CARD, 0, CARD, CARD)
        line.addStretch()
        for button in buttons:  # what destroys stands apart
            line.insertWidget(line.count() if kind_of(button) is ButtonKind.DANGER else line.count() - 1, button)
        column.addLayout(line)


def _fill(column: QVBoxLayout, explained: Explained, holder: QWidget) -> None:
    if explained.status:
        _add_text(column, ToneLabel(explained.status, explained.tone, holder))
    title = Label(explained.title, holder)
    set_type(title, Type.HEADLINE, bold=True)
    _add_text(column, title)
    if explained.lead:
        _add_text(column, Label(explained.lead, holder))
    for paragraph in explained.paragraphs:
        column.addSpacing(GAP)
        _add_text(column, ToneLabel(paragraph.title, Tone.MUTED, holder))
        _add_text(column, Label(paragraph.text, holder))
        for command in paragraph.commands:
            column.addWidget(_box(command, holder))
    if explained.link:
        column.addSpacing(GAP)
        column.addWidget(_link(explained.link, holder), 0, Qt.AlignmentFlag.AlignLeft)


def _box(command: str, parent: QWidget) -> CommandBox:
    """Return a box for a command that the paragraph above it introduces: it is narrow, so an icon copies."""
    made = CommandBox(parent)
    made.show_command(command, command)
    made.where.hide()
    made.button.setText("")
    made.button.setToolTip(tr("Copy"))
    set_kind(made.button, ButtonKind.QUIET)
    return made


def _add_text(column: QVBoxLayout, label: Label) -> None:
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    column.addWidget(label)


def _link(address: str, parent: QWidget) -> QPushButton:
    made = QPushButton(tr("PostgreSQL's documentation"), parent)
    set_kind(made, ButtonKind.LINK)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    made.setToolTip(tip(address))
    made.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(address)))
    return made
