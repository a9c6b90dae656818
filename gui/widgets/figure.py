"""A figure that the eye falls on first, and a line of words below it."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from core import units
from core.tones import Tone
from gui.appearance import tip
from gui.design.measures import Type, set_type
from gui.widgets.label import Label, ToneLabel


class Figure(QWidget):
    """A figure at the size of figures, and what it is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figure, self.words = ToneLabel("", None, self), Label(parent=self)
        set_type(self.figure, Type.FIGURE, bold=True)
        self.words.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.figure)
        column.addWidget(self.words)

    def show_figure(self, figure: str, words: str, tone: Tone | None = None, more: str = "") -> None:
        """Show a figure; `more`: what its tool tip says besides."""
        self.figure.setText(figure)
        self.figure.show_tone(tone)
        self.words.setText(units.unbroken(words))
        self.setToolTip(tip(more))
