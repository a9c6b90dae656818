"""A field that leaves of a table what holds its text."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from gui.widgets.table import Table


class FilterBox(QLineEdit):
    """For one table of a page; Ctrl+F leads to it, Escape empties it."""

    def __init__(self, table: Table[Any], parent: QWidget) -> None:
        super().__init__(parent)
        self.setClearButtonEnabled(True)
        for clear in self.findChildren(QToolButton):
            clear.setAccessibleName("Clear the filter")
        self.setPlaceholderText("Filter (Ctrl+F)")
        self.setAccessibleName(f"Filter: {table.accessibleName()}")
        self.setMaximumWidth(self.fontMetrics().averageCharWidth() * 30)
        self.textChanged.connect(table.filter)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), parent)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.setFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
        else:
            super().keyPressEvent(event)
