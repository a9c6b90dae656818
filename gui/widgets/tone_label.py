"""A label in the colour of a meaning, in light and in dark."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QWidget

from gui.appearance import Tone, colour
from gui.guard import Guarded
from gui.widgets.label import Label


class ToneLabel(Guarded, Label):
    """Plain text; its colour follows the palette."""

    def __init__(self, text: str, tone: Tone, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._tone = tone
        self._colour()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._colour()

    def _colour(self) -> None:
        palette, wanted = QPalette(), colour(self._tone)  # all other roles stay those of the parent
        if self.palette().color(QPalette.ColorRole.WindowText) == wanted:
            return
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):  # which one counts, a card's base decides
            palette.setColor(role, wanted)
        self.setPalette(palette)
