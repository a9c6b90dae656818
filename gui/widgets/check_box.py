"""The one check box: its frame can be seen in the dark too."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QCheckBox, QWidget

from gui import appearance

FILLING = "#5a6270"


class CheckBox(QCheckBox):
    """Fusion draws the frame of a box darker than the window: on a dark one only the filling tells where it is."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._fill()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._fill()

    def _fill(self) -> None:
        palette, dark = QPalette(), appearance.is_dark()  # all other roles stay those of the parent
        if (self.palette().color(QPalette.ColorRole.Base) == QColor(FILLING)) is dark:
            return
        if dark:
            palette.setColor(QPalette.ColorRole.Base, QColor(FILLING))
        self.setPalette(palette)
