"""The dialogs for a bug and for a window that crashed before, each with a report to copy."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from core.language import tr
from gui.last_time import format_crash_report
from gui.widgets.label import Label
from gui.widgets.text import TextView


class TextDialog(QDialog):
    """Shows a message and a text to copy. The program continues."""

    def __init__(self, title: str, message: str, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        words = Label(message, self)
        words.setWordWrap(True)
        self.text = TextView(tr("Report"), self)
        self.text.set_text(report)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (words, self.text, self.buttons):
            column.addWidget(widget)
        self.resize(760, 480)


class CrashDialog(TextDialog):
    """Shows a bug."""

    def __init__(self, error: BaseException, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("A bug in pghaul"),
            tr(
                "This is a bug in pghaul. The history contains everything that was measured and planned. The last "
                "action may not have been completed. Please report the bug with the text below. You can blank out "
                "names in it."
            ),
            format_crash_report(error),
            parent,
        )


class LastTimeDialog(TextDialog):
    """Shows the log of a window that crashed or was killed. It is not modal, so that the banner can be used beside it.

    Signal: move_wanted(), the page of the unfinished execution is to be shown.
    """

    move_wanted = Signal()

    def __init__(self, log: str, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("pghaul was not closed"),
            tr(
                "The window of pghaul crashed or was killed the last time. The history contains everything that was "
                "done on the servers. If a move or a rehearsal is unfinished, the banner at the top of the window "
                "says so, and you can continue it there. If pghaul crashed, please report this with the text below. "
                "You can blank out names in it."
            ),
            log,
            parent,
        )
        self.go = self.buttons.addButton(tr("&Go to the move"), QDialogButtonBox.ButtonRole.ActionRole)
        self.go.clicked.connect(self.move_wanted)
        self.go.hide()

    @Slot(bool)
    def offer_move(self, unfinished: bool) -> None:
        """Offer to go to the unfinished execution, if there is one."""
        self.go.setVisible(unfinished)
        self.go.setDefault(unfinished)
