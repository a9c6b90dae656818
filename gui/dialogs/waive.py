"""Why a warning is waived: asked for one check at a time, recorded with it."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from core.errors import InputError
from core.language import tr
from core.migration.model.checks import CheckResult
from gui.dialogs.form import FormDialog
from gui.widgets.label import Label


class WaiveDialog(FormDialog):
    """Asks for the reason.

    Signal: submitted(the reason, never empty).
    """

    submitted = Signal(str)

    def __init__(self, result: CheckResult, parent: QWidget | None = None) -> None:
        super().__init__(tr("Waive: {title}").format(title=result.title), parent)
        message = Label(result.message, self)
        message.setWordWrap(True)
        self.reason = QLineEdit(self)
        self.form.addRow(message)
        self.add(
            tr("&Reason:"), self.reason, tr("Recorded with your name, printed in the report; for this evidence alone")
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 70)
        self.reason.setFocus()

    @Slot()
    def submit(self) -> None:
        reason = self.reason.text().strip()
        if reason:
            self.submitted.emit(reason)
        else:
            self.refuse(InputError(tr("a reason is missing"), tr("say why this warning does not matter here")))
