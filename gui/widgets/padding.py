"""Room around the text of a view's items. A style sheet would do it too, but cuts the palette off from the system's."""

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSize
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gui.guard import Guarded


class PaddedDelegate(Guarded, QStyledItemDelegate):
    """Draws an item as the style does, its text a little away from the edges; sizes are in pixels."""

    def __init__(self, sides: int, ends: int = 0, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sides = sides
        self._ends = ends

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        whole = QStyleOptionViewItem(option)
        self.initStyleOption(whole, index)
        widget = option.widget
        widget.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, whole, painter, widget)
        if whole.state & QStyle.StateFlag.State_Selected:
            whole.state &= ~QStyle.StateFlag.State_Selected
            whole.palette.setBrush(QPalette.ColorRole.Text, whole.palette.highlightedText())
        whole.rect = option.rect.adjusted(self._sides, 0, -self._sides, 0)
        widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, whole, painter, widget)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + 2 * self._sides, size.height() + 2 * self._ends)
