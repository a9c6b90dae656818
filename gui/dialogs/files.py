"""Which file, to be read or saved: the platform's own dialog, without a nested event loop."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget


def ask_path(parent: QWidget, title: str, name: str, ending: str, then: Callable[[Path], None]) -> QFileDialog:
    """Ask where to save, proposing `name`; `then` gets the path, which always has the ending."""
    dialog = QFileDialog(parent.window(), title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(ending)
    dialog.setNameFilter(f"{ending.upper()} (*.{ending})")
    dialog.selectFile(file_name(name))
    dialog.fileSelected.connect(partial(_chosen, then))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def file_name(name: str) -> str:
    """The name as every file system takes it."""
    return "".join(letter if letter not in '/\\:*?"<>|' else "-" for letter in name)


def ask_file(parent: QWidget, title: str, then: Callable[[Path], None]) -> QFileDialog:
    """Ask for a file that is there; `then` gets its path."""
    dialog = QFileDialog(parent.window(), title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(partial(_chosen, then))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def _chosen(then: Callable[[Path], None], path: str) -> None:
    then(Path(path))
