"""The one check box: its frame can be seen in the dark too."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QGuiApplication, QPalette
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
        if event.type() is QEvent.Type.ApplicationPaletteChange:
            self._fill()

    def _fill(self) -> None:
        palette = QPalette(QGuiApplication.palette())
        if appearance.is_dark():
            palette.setColor(QPalette.ColorRole.Base, QColor(FILLING))
        self.setPalette(palette)
