"""A dialog with a form that stays open until its input has been saved."""

from PySide6.QtCore import Slot
from PySide6.QtGui import QPalette, QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLayout, QVBoxLayout, QWidget

from core.errors import PghaulError
from core.language import tr
from core.tones import Tone
from gui.design.palette import colour
from gui.guard import Guarded
from gui.models.sentences import error_text
from gui.widgets.label import Label


class FormDialog(Guarded, QDialog):
    """Shows labelled fields over OK and Cancel. Return is OK, except with the focus on another button.

    A subclass reads the fields in `submit`, and emits a signal. The receiver saves the input, and calls `accept` or
    `refuse`.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setModal(True)
        self.form = QFormLayout()
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.trouble = Label(parent=self)
        self.trouble.setWordWrap(True)
        self.trouble.setAccessibleName(tr("Error"))
        self.trouble.hide()
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel, self)
        self.buttons.button(standard.Ok).setDefault(True)
        self.buttons.accepted.connect(self.submit)
        self.buttons.rejected.connect(self.reject)
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.form)
        self.column.addWidget(self.trouble)
        self.column.addStretch()
        self.column.addWidget(self.buttons)

    def add(self, label: str, field: QWidget, tip: str = "", row: QLayout | None = None) -> None:
        """Add a field with its label; `row`: the layout that contains the field."""
        self.add_to(self.form, label, field, tip, row)

    @staticmethod
    def add_to(form: QFormLayout, label: str, field: QWidget, tip: str = "", row: QLayout | None = None) -> None:
        """Add a field to another form of the dialog."""
        if row is None:
            form.addRow(label, field)
        else:
            named = Label(label)
            named.setBuddy(field)
            form.addRow(named, row)
        field.setAccessibleName(label.replace("&", "").rstrip(":"))
        field.setAccessibleDescription(tip)
        field.setToolTip(tip)

    @Slot()
    def submit(self) -> None:
        """Read the fields, and emit them."""
        raise NotImplementedError

    @Slot(object)
    def refuse(self, error: Exception) -> None:
        """Show the error, and stay open."""
        text = error_text(error) if isinstance(error, PghaulError) else f"{type(error).__name__}: {error}"
        palette = self.trouble.palette()
        palette.setColor(QPalette.ColorRole.WindowText, colour(Tone.BAD))
        self.trouble.setPalette(palette)
        self.trouble.setText(text)
        self.trouble.show()
        self.grow()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():  # a window that was only hidden by the desktop keeps its height
            self.resize(self.width(), self._needed_height())

    def grow(self) -> None:
        """Be high enough for all texts."""
        self.resize(self.width(), max(self.height(), self._needed_height()))

    def _needed_height(self) -> int:
        """Return the height for the texts at this width: Qt wraps each as if it had a width of its own choice."""
        layout = self.layout()
        if layout is None:
            return self.height()
        layout.activate()
        return layout.totalHeightForWidth(self.width())
