"""The dialogs for opening and saving files, without a nested event loop."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget


def ask_path(
    parent: QWidget, title: str, name: str, ending: str, then: Callable[[Path], None], *others: str
) -> QFileDialog:
    """Ask where to save, and propose `name`; `then` is called with the path, which always has an ending.

    Args:
        parent: the widget whose content is saved.
        title: of the dialog.
        name: of the file.
        ending: of the file, if no other is chosen.
        then: is called with the path.
        others: endings that may be chosen instead.
    """
    dialog = QFileDialog(parent.window(), title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    filters = {f"{each.upper()} (*.{each})": each for each in (ending, *others)}
    dialog.setDefaultSuffix(ending)
    dialog.setNameFilters([*filters])
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(filters[chosen]))
    dialog.selectFile(file_name(name))
    dialog.fileSelected.connect(partial(_chosen, then))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def file_name(name: str) -> str:
    """Return the name without characters that a file system may refuse."""
    return "".join(letter if letter not in '/\\:*?"<>|' else "-" for letter in name)


def ask_file(parent: QWidget, title: str, then: Callable[[Path], None]) -> QFileDialog:
    """Ask for an existing file; `then` is called with its path."""
    dialog = QFileDialog(parent.window(), title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(partial(_chosen, then))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def _chosen(then: Callable[[Path], None], path: str) -> None:
    then(Path(path))
