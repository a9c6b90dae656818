"""The settings of the operator: changed by menus and by their dialog, and kept in their file."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMainWindow

from core.errors import InputError
from core.user_settings import file
from core.user_settings.declaration import declared
from core.user_settings.file import Loaded
from core.user_settings.kinds import Value
from gui.work import Work

if TYPE_CHECKING:
    from gui.dialogs.settings import SettingsDialog


class Preferences(QObject):
    """Changes the settings of `work`. Signal: troubled(Exception): the file cannot be used or written."""

    troubled = Signal(object)

    def __init__(self, work: Work, window: QMainWindow) -> None:
        super().__init__(window)
        self._work = work
        self._window = window

    def change(self, key: str, value: Value) -> None:
        """Change one setting at once. If it cannot be kept, it holds until the window is closed."""
        self._work.use_settings(self._work.settings.having(key, value))
        try:
            self._work.use_settings(file.change({key: _written(key, value)}).settings)
        except InputError as error:
            self.troubled.emit(error)

    @Slot()
    def edit(self) -> None:
        """Show the settings as the file has them now."""
        try:
            loaded = file.load()
        except InputError as error:
            self.troubled.emit(error)
            return
        from gui.dialogs.settings import SettingsDialog  # of some use once it is opened, not at the start

        dialog = SettingsDialog(loaded.settings, self._window)
        dialog.submitted.connect(partial(self._save, dialog, loaded))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save(self, dialog: "SettingsDialog", loaded: Loaded, changes: Mapping[str, Value]) -> None:
        try:
            saved = file.change(changes, based_on=loaded)
        except InputError as error:
            dialog.refuse(error)
            return
        dialog.accept()
        self._work.use_settings(saved.settings)


def _written(key: str, value: Value) -> Value:
    """Return what the file says of a value: nothing of a default."""
    return None if value == declared()[key].default else value
