"""What is asked of an estimate, and how each method fits: its likelihood, latest stop, condition and costs."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLineEdit, QVBoxLayout, QWidget

from core.errors import PghaulError
from core.language import marked, tr
from core.migration.model.asked import (
    NOTHING,
    Asked,
    price_of,
    seconds_of,
    seconds_text,
    size_of,
    window_of,
    window_text,
)
from gui.models.chart import Chart
from gui.models.night import (
    BEGIN,
    BEGINS,
    COSTS,
    FIT_COLUMNS,
    STOP,
    STOPS,
    FitRow,
    fit_rows,
    later_text,
    window_chart,
    window_summary,
)
from gui.models.sentences import recorded
from gui.widgets.label import Label
from gui.widgets.table import Table

if TYPE_CHECKING:
    from core.api.migration import Planned

PADDING = 16
"""Pixels of a field beside its text."""

FIELDS = (
    (
        "window",
        marked("Window"),
        marked("Wi&ndow:"),
        "22:00-02:00",
        marked("The window for the downtime, by the clock of the old server. It is kept with the move."),
    ),
    (
        "downtime",
        marked("Downtime"),
        marked("D&owntime:"),
        "10m",
        marked("The longest acceptable downtime, such as 90s, 10m or 2h. It is kept with the move."),
    ),
    (
        "price",
        marked("Costs per hour"),
        marked("&Costs/hour:"),
        "5000",
        marked("The costs of one hour of downtime"),
    ),
    (
        "growth",
        marked("Growth per month"),
        marked("&Growth/month:"),
        "20GB",
        marked(
            "The growth of the cluster per month. If this is empty, it is the growth between the facts that were read."
        ),
    ),
)


class NightView(QWidget):
    """Shows how each method fits.

    Attributes:
        question: the number of what was asked last: an answer to an earlier one is late.
        move_name: the move whose window and downtime are in the fields; empty: none.
        kept: the window and the downtime that were known last to be kept with it.
        chart: the window that was asked about, for the page to paint; None: none was.
        controls: the fields in which it is asked, and what can be said of them, for the page to place.

    Signal: asked(number, Asked): what is wanted has changed; who answers calls `show_answers`.
    """

    asked = Signal(int, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = 0
        self.move_name = ""
        self.kept = NOTHING
        self._answered = 0
        self.chart: Chart | None = None
        self.fields: dict[str, QLineEdit] = {}
        self.controls = QWidget(self)
        head = QGridLayout(self.controls)
        head.setContentsMargins(0, 0, 0, 0)
        head.setVerticalSpacing(2)
        for number, (name, spoken, words, example, tip) in enumerate(FIELDS):
            field = QLineEdit(self.controls)
            field.setAccessibleName(tr(spoken))
            field.setPlaceholderText(example)
            field.setToolTip(tr(tip))
            least = self.fontMetrics().horizontalAdvance(example) + PADDING
            field.setMinimumWidth(least)
            field.setMaximumWidth(max(least, self.fontMetrics().averageCharWidth() * max(10, len(example) + 3)))
            field.editingFinished.connect(self.ask)
            label = Label(tr(words), self.controls)
            label.setBuddy(field)
            head.addWidget(label, 0, number)
            head.addWidget(field, 1, number)
            self.fields[name] = field
        self.message = Label(parent=self)
        self.message.setWordWrap(True)
        self.table = Table[FitRow]("window-fits", tr("Likelihood of each method"), FIT_COLUMNS, self)
        self.later = Label(parent=self)
        self.later.setWordWrap(True)
        column = QVBoxLayout(self)
        column.addWidget(self.table, 1)
        column.addWidget(self.later)
        column.addStretch()

    def show_kept(self, move: str, kept: Asked) -> None:
        """Show the window and the downtime that are kept with a move.

        What is being typed stays while they do, and while what was typed last is not kept yet.
        """
        if move == self.move_name and (kept == self.kept or self._answered != self.question):
            return
        self.move_name, self.kept = move, kept
        self.fields["window"].setText("" if kept.window is None else window_text(kept.window))
        seconds = kept.downtime_seconds
        self.fields["downtime"].setText("" if seconds is None else seconds_text(seconds))

    @Slot()
    def ask(self) -> None:
        """Ask for the answers to the current values, or show which value cannot be read."""
        self.question += 1
        texts = {name: field.text().strip() for name, field in self.fields.items()}
        try:
            wanted = Asked(
                window_of(texts["window"]) if texts["window"] else None,
                seconds_of(texts["downtime"]) if texts["downtime"] else None,
                price_of(texts["price"]) if texts["price"] else None,
                size_of(texts["growth"]) if texts["growth"] else None,
            )
        except PghaulError as error:
            self.refuse(self.question, error)
            return
        self.asked.emit(self.question, wanted)

    def show_answers(self, question: int, planned: "Planned | None") -> None:
        """Show how each method fits; None: there is no estimate."""
        if question != self.question:
            return
        self._answered = question
        if planned is None:
            self._say(tr("Make the estimate first."))
            return
        for column, heads in ((BEGIN, BEGINS), (STOP, STOPS)):
            self.table.rename(column, heads[planned.ends_at is not None])
        self.chart = window_chart(planned)
        rows = fit_rows(planned)
        self.table.setColumnHidden(COSTS, all(row.fit.cost is None for row in rows))
        self.table.set_rows(rows)
        self.table.setVisible(bool(rows))
        self.message.setText(window_summary(planned))
        self.later.setText(later_text(planned))
        self.later.setVisible(bool(self.later.text()))

    def refuse(self, question: int, error: Exception) -> None:
        """Show why there is no answer."""
        if question == self.question:
            self._answered = question
            said = (
                f"{recorded(error.message)}: {recorded(error.hint)}"
                if isinstance(error, PghaulError) and error.hint
                else str(error)
            )
            self._say(f"{said}.")

    def _say(self, words: str) -> None:
        self.message.setText(words)
        self.chart = None
        self.table.set_rows(())
        self.table.hide()
        self.later.hide()
