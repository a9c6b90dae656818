"""Text to read and copy: a command, an output, a traceback."""

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from core.language import tr
from core.text import printable_lines
from gui.design.icons import Icon, button_icon
from gui.design.measures import GAP, fixed_font
from gui.widgets.label import ElidedLabel

LONGEST = 2_000_000
LEAST_LINES = 2.5


class TextView(QWidget):
    """A titled, read-only text with a button that copies it whole.

    Args:
        fixed: all letters have one width.
        headed: the title stands above the text. Otherwise something beside it, such as a tab, shows the title.
    """

    def __init__(self, title: str, parent: QWidget | None = None, *, fixed: bool = True, headed: bool = True) -> None:
        super().__init__(parent)
        self._text = ""
        self.edit = QPlainTextEdit(self, readOnly=True)
        if fixed:
            self.edit.setFont(fixed_font())
        self.edit.document().setDocumentMargin(GAP)
        self.edit.setTabChangesFocus(True)
        self.edit.setMinimumHeight(round(self.edit.fontMetrics().height() * LEAST_LINES))
        self.edit.setAccessibleName(title)
        self._copy = QPushButton(tr("Cop&y"), self)
        self._copy.setIcon(button_icon(Icon.COPY))
        self._copy.setAccessibleName(tr("Copy: {title}").format(title=title))
        self._copy.setEnabled(False)
        self._copy.clicked.connect(self.copy)
        self.head = QHBoxLayout()
        named = ElidedLabel(self)
        named.setText(title if headed else "")
        self.head.addWidget(named, 1)
        self.head.addWidget(self._copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self.head)
        column.addWidget(self.edit)

    def set_text(self, text: str) -> None:
        """Show this text; beyond what a window can lay out it is cut, but copied whole."""
        self._text = text
        self._copy.setEnabled(bool(text))
        shown = printable_lines(
            text
            if len(text) <= LONGEST
            else text[:LONGEST] + tr("\n… (The text is cut here. Copy it to get all of it.)")
        )
        if shown != self.edit.toPlainText():
            self.edit.setPlainText(shown)

    @property
    def text(self) -> str:
        return self._text

    @Slot()
    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
