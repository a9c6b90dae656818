"""A bug, or a window that did not end as it should: what happened, with the report to copy."""

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


class TextDialog(QDialog):
    """Says what happened, over a text to copy; the program goes on."""

    def __init__(self, title: str, said: str, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        words = Label(said, self)
        words.setWordWrap(True)
        self.text = TextView("Report", self)
        self.text.set_text(report)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (words, self.text, buttons):
            column.addWidget(widget)
        self.resize(760, 480)


class CrashDialog(TextDialog):
    """Shows a bug."""

    def __init__(self, error: BaseException, parent: QWidget | None = None) -> None:
        super().__init__(
            "A bug in pghaul",
            "This is a bug in pghaul. What was measured and planned is in the history; what you were doing may not "
            "have ended well. Please report it with the text below, in which you may blank out names.",
            report_of(error),
            parent,
        )


class LastTimeDialog(TextDialog):
    """Shows what a window left that did not end as it should."""

    def __init__(self, log: str, parent: QWidget | None = None) -> None:
        super().__init__(
            "pghaul was not closed",
            "The window of pghaul crashed or was killed the last time. Everything that was done on the servers is in "
            "the history. If a move or a rehearsal is unfinished, the strip at the top of the window says so: "
            "Continue goes on with it. If pghaul crashed, please report it with the text below, in which you may "
            "blank out names.",
            log,
            parent,
        )
