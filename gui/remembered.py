"""What the window remembers from one day to the next: how it looks and where it stood; never what was measured."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QRect, QSettings
from PySide6.QtWidgets import QHeaderView, QMainWindow, QTableView

FILE_NAME = "window.ini"


class Remembered:
    """A file beside the history. What it holds is taken where it fits, and passed over where it does not."""

    def __init__(self, folder: Path) -> None:
        self._kept = QSettings(str(folder / FILE_NAME), QSettings.Format.IniFormat)

    def text(self, name: str) -> str:
        """What was kept under that name; empty where nothing was."""
        value: Any = self._kept.value(name, "")
        return value if isinstance(value, str) else ""

    def keep(self, name: str, text: str) -> None:
        self._kept.setValue(name, text)

    def restore(self, window: QMainWindow) -> None:
        """Place the window as it was, on a screen that is there."""
        geometry, state = self._kept.value("geometry"), self._kept.value("state")
        if isinstance(geometry, QByteArray):
            window.restoreGeometry(geometry)
        if isinstance(state, QByteArray):
            window.restoreState(state)
        self.clamp(window)

    @staticmethod
    def clamp(window: QMainWindow) -> None:
        """Within the screen that holds most of it: a smaller one may be there today."""
        room, wanted = window.screen().availableGeometry(), window.geometry()
        width, height = min(wanted.width(), room.width()), min(wanted.height(), room.height())
        left = max(room.left(), min(wanted.left(), room.right() - width + 1))
        top = max(room.top(), min(wanted.top(), room.bottom() - height + 1))
        if not room.contains(wanted):
            window.setGeometry(QRect(left, top, width, height))

    def keep_window(self, window: QMainWindow) -> None:
        """Keep where it is, and the columns of the tables that were dragged."""
        self._kept.setValue("geometry", window.saveGeometry())
        self._kept.setValue("state", window.saveState())
        for table in window.findChildren(QTableView):
            if getattr(table, "dragged", False):
                self._kept.setValue(f"columns/{table.accessibleName()}", table.horizontalHeader().saveState())
        self._kept.sync()

    def restore_columns(self, page: Any) -> None:
        """Give the tables below that widget the columns that they had."""
        for table in page.findChildren(QTableView):
            state = self._kept.value(f"columns/{table.accessibleName()}")
            head: QHeaderView = table.horizontalHeader()
            if isinstance(state, QByteArray) and head.restoreState(state):
                table.dragged = True
