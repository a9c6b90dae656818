"""The dialogs for a bug and for a window that crashed before, each with a report to copy."""

import platform
import traceback

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from core.settings import PROGRAM, program_version
from gui.widgets.label import Label
from gui.widgets.text import TextView


def format_crash_report(error: BaseException) -> str:
    """Return the report of a bug: versions and traceback."""
    where = f"{PROGRAM} {program_version()}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    return f"{where}\n\n{''.join(traceback.format_exception(error))}"


class TextDialog(QDialog):
    """Shows a message and a text to copy. The program continues."""

    def __init__(self, title: str, message: str, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        words = Label(message, self)
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
            "This is a bug in pghaul. The history contains everything that was measured and planned. The last action "
            "may not have been completed. Please report the bug with the text below. You can blank out names in it.",
            format_crash_report(error),
            parent,
        )


class LastTimeDialog(TextDialog):
    """Shows the log of a window that crashed or was killed."""

    def __init__(self, log: str, parent: QWidget | None = None) -> None:
        super().__init__(
            "pghaul was not closed",
            "The window of pghaul crashed or was killed the last time. The history contains everything that was done "
            "on the servers. If a move or a rehearsal is unfinished, the banner at the top of the window says so. "
            "Press Continue there to continue it. If pghaul crashed, please report this with the text below. You can "
            "blank out names in it.",
            log,
            parent,
        )
