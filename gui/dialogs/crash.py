"""A bug: what happened, with the traceback to copy."""

import platform
import traceback

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from core.settings import PROGRAM, program_version
from gui.widgets.label import Label
from gui.widgets.text import TextView


def report_of(error: BaseException) -> str:
    """Everything that is needed to find the bug: versions and traceback."""
    where = f"{PROGRAM} {program_version()}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    return f"{where}\n\n{''.join(traceback.format_exception(error))}"


class CrashDialog(QDialog):
    """Shows a bug; the program goes on."""

    def __init__(self, error: BaseException, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("A bug in pghaul")
        words = Label(
            "This is a bug in pghaul. What was measured and planned is in the history; what you were doing may not "
            "have ended well. Please report it with the text below, in which you may blank out names.",
            self,
        )
        words.setWordWrap(True)
        self.text = TextView("Report", self)
        self.text.set_text(report_of(error))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (words, self.text, buttons):
            column.addWidget(widget)
        self.resize(760, 480)
