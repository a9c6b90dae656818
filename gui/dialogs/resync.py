"""Asks whether the benchmarks are to wait while an array below a volume is being rebuilt."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget

from core.language import tr
from gui.widgets.message_box import MessageBox


def ask_about_resync(parent: QWidget, resync: str, start: Callable[[bool], None]) -> QMessageBox:
    """Open the question; `start` is called with whether to wait, and is not called after Cancel."""
    box = MessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(tr("Wait for the array?"))
    box.setText(f"{resync[:1].upper()}{resync[1:]}.")
    box.setInformativeText(tr("The benchmarks can wait until this has finished. To stop waiting, cancel the job."))
    wait = box.addButton(tr("&Wait before the start"), QMessageBox.ButtonRole.AcceptRole)
    now = box.addButton(tr("&Start now"), QMessageBox.ButtonRole.DestructiveRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(wait)
    box.finished.connect(partial(_decide, box, wait, now, start))
    box.open()
    return box


def _decide(
    box: QMessageBox, wait: QAbstractButton, now: QAbstractButton, start: Callable[[bool], None], _result: int
) -> None:
    if box.clickedButton() in (wait, now):
        start(box.clickedButton() is wait)
