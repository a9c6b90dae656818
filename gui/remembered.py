"""What the window remembers: its appearance and position, never measurements."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QRect, QSettings
from PySide6.QtWidgets import QHeaderView, QMainWindow, QTableView

FILE_NAME = "window.ini"


class Remembered:
    """A file beside the history. Values that do not fit are ignored."""

    def __init__(self, folder: Path) -> None:
        self._settings = QSettings(str(folder / FILE_NAME), QSettings.Format.IniFormat)

    def text(self, name: str) -> str:
        """Return the saved text of that name; empty if there is none."""
        value: Any = self._settings.value(name, "")
        return value if isinstance(value, str) else ""

    def save(self, name: str, text: str) -> None:
        self._settings.setValue(name, text)

    def restore(self, window: QMainWindow) -> None:
        """Restore the position of the window on an existing screen."""
        geometry, state = self._settings.value("geometry"), self._settings.value("state")
        if isinstance(geometry, QByteArray):
            window.restoreGeometry(geometry)
        if isinstance(state, QByteArray):
            window.restoreState(state)
        self.clamp(window)

    @staticmethod
    def clamp(window: QMainWindow) -> None:
        """Move the window into its screen, which may be smaller than before."""
        room, wanted = window.screen().availableGeometry(), window.geometry()
        width, height = min(wanted.width(), room.width()), min(wanted.height(), room.height())
        left = max(room.left(), min(wanted.left(), room.right() - width + 1))
        top = max(room.top(), min(wanted.top(), room.bottom() - height + 1))
        if not room.contains(wanted):
            window.setGeometry(QRect(left, top, width, height))

    def save_window(self, window: QMainWindow) -> None:
        """Save the position of the window, and the columns that the operator has resized."""
        self._settings.setValue("geometry", window.saveGeometry())
        self._settings.setValue("state", window.saveState())
        for table in window.findChildren(QTableView):
            if getattr(table, "dragged", False):
                self._settings.setValue(f"columns/{table.objectName()}", table.horizontalHeader().saveState())
        self._settings.sync()

    def restore_columns(self, page: Any) -> None:
        """Restore the column widths of the tables below that widget."""
        for table in page.findChildren(QTableView):
            state = self._settings.value(f"columns/{table.objectName()}")
            head: QHeaderView = table.horizontalHeader()
            if isinstance(state, QByteArray) and head.restoreState(state):
                table.dragged = True
