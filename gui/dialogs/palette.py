"""The command palette: every action of the window, found by its name."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from core.language import tr
from gui.guard import Guarded


class CommandPalette(Guarded, QDialog):
    """Filters the actions by the typed text; Return runs the selected one."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("All commands"))
        self._actions = sorted({plain(action): action for action in actions if action.isEnabled()}.items())
        self.field = QLineEdit(self)
        self.field.setAccessibleName(tr("Command"))
        self.field.setPlaceholderText(tr("Type a part of the name of a command"))
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Commands"))
        self.field.textChanged.connect(self._show)
        self.field.returnPressed.connect(self._run)
        self.list.itemActivated.connect(self._run)
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.resize(self.fontMetrics().averageCharWidth() * 70, self.fontMetrics().height() * 22)
        self._show("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move through the list with the up and down keys while the field has the focus."""
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.list.setCurrentRow(max(0, min(self.list.count() - 1, self.list.currentRow() + step)))

    @Slot(str)
    def _show(self, typed: str) -> None:
        words = typed.lower().split()
        self.list.clear()
        for name, action in self._actions:
            if all(word in name.lower() for word in words):
                keys = action.shortcut().toString()
                item = QListWidgetItem(f"{name}    {keys}" if keys else name, self.list)
                item.setData(Qt.ItemDataRole.UserRole, action)
        self.list.setCurrentRow(0)

    @Slot()
    def _run(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.accept()
            item.data(Qt.ItemDataRole.UserRole).trigger()


def plain(action: QAction) -> str:
    """Return the name of an action without mnemonics and dots."""
    return action.text().replace("&", "").rstrip("…")
