"""The dialog that asks for a name before a dangerous action."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QDialog, QDialogButtonBox, QLineEdit, QMessageBox, QVBoxLayout, QWidget

from core.language import tr
from core.text import capital
from gui.widgets.label import Label
from gui.widgets.message_box import MessageBox


class NameDialog(QDialog):
    """Explains an action, and confirms it when the name was typed.

    Attributes:
        field: the field for the name.
        column: the layout, for further widgets.
    """

    def __init__(self, title: str, text: str, name: str, go_on: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setWindowTitle(title)
        self.setModal(True)
        label = self.text = Label(text, self)
        label.setWordWrap(True)
        self.field = QLineEdit(self)
        self.field.setAccessibleName(tr("Name of the cluster"))
        label.setBuddy(self.field)
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel, self)
        self.buttons.button(standard.Ok).setText(go_on)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.field.textChanged.connect(self._compare)
        self._compare("")
        self.column = QVBoxLayout(self)
        for widget in (label, self.field, self.buttons):
            self.column.addWidget(widget)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 60)

    def _compare(self, typed: str) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(typed == self._name)


def ask_about_resync(parent: QWidget, resync: str, start: Callable[[bool], None]) -> QMessageBox:
    """Open the question; `start` is called with whether to wait, and is not called after Cancel."""
    box = MessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(tr("Wait for the array?"))
    box.setText(f"{capital(resync)}.")
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
