"""The dialog for the reason of a waiver."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from core.errors import InputError
from core.language import tr
from core.migration.model.checks import CheckResult
from gui.dialogs.form import FormDialog
from gui.models.sentences import compared
from gui.widgets.label import Label


class WaiveDialog(FormDialog):
    """Asks for the reason of a waiver. Signal: submitted(reason), which is never empty."""

    submitted = Signal(str)

    def __init__(self, result: CheckResult, parent: QWidget | None = None) -> None:
        super().__init__(tr("Waive a warning: {title}").format(title=tr(result.title)), parent)
        message = Label(compared(result.message), self)
        message.setWordWrap(True)
        self.reason = QLineEdit(self)
        self.form.addRow(message)
        self.add(
            tr("&Reason:"),
            self.reason,
            tr(
                "The reason is recorded with your name, and the report shows it. The waiver is valid for this "
                "evidence only."
            ),
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 70)
        self.reason.setFocus()

    @Slot()
    def submit(self) -> None:
        reason = self.reason.text().strip()
        if reason:
            self.submitted.emit(reason)
        else:
            self.refuse(InputError(tr("The waiver needs a reason."), tr("Say why this warning can be accepted.")))
