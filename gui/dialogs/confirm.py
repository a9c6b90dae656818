"""The dialog that asks for a name before a dangerous action."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from core.language import tr
from gui.widgets.label import Label


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
