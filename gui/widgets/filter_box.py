"""A field that leaves of a table what holds its text."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QTabWidget, QToolButton, QWidget

from core.language import tr
from gui.guard import Guarded
from gui.widgets.table import Table


class FilterBox(Guarded, QLineEdit):
    """For a table of a page, and those `further` that stand beside it; Ctrl+F leads to it, Escape empties it."""

    def __init__(self, table: Table[Any], parent: QWidget, *further: Table[Any]) -> None:
        super().__init__(parent)
        self._tables = (table, *further)
        self.setClearButtonEnabled(True)
        for clear in self.findChildren(QToolButton):
            clear.setAccessibleName(tr("Clear the filter"))
        self.setPlaceholderText(tr("Filter (Ctrl+F)"))
        self.setAccessibleName(tr("Filter: {table}").format(table=table.accessibleName()))
        self.setMaximumWidth(self.fontMetrics().averageCharWidth() * 30)
        for each in self._tables:
            self.textChanged.connect(each.filter)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), parent)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.setFocus)

    def stand_in(self, tabs: QTabWidget) -> None:
        """In the corner of these tabs, while one with a table of its own is in front."""
        tabs.setCornerWidget(self)
        tabs.currentChanged.connect(partial(self._follow, tabs))
        self._follow(tabs)

    def _follow(self, tabs: QTabWidget, _number: int = 0) -> None:
        front = tabs.currentWidget()
        self.setVisible(any(front is each or front.isAncestorOf(each) for each in self._tables))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
        else:
            super().keyPressEvent(event)
