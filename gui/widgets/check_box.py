"""The one check box, by itself and in a list: its frame can be seen in the dark too."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QCheckBox, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gui import appearance
from gui.guard import Guarded

FILLING = "#68717f"


class CheckBox(Guarded, QCheckBox):
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


class CheckedItems(Guarded, QStyledItemDelegate):
    """Draws the items of a list that are ticked off."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        if appearance.is_dark():
            palette = QPalette(option.palette)
            palette.setColor(QPalette.ColorRole.Base, QColor(FILLING))
            option.palette = palette
