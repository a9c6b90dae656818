"""The RAID estimate: the expected performance of each RAID level, from that of one drive."""

from itertools import pairwise
from math import isfinite

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from core import units
from core.comparison.raid import MOST_DRIVES, Drive
from core.errors import PghaulError
from core.language import marked, tr
from core.sides import Side
from core.text import capital
from gui.design.measures import GAP
from gui.models.sentences import recorded
from gui.models.storage import ARRAY_COLUMNS, ArrayRow
from gui.widgets.label import Label
from gui.widgets.table import Table

SOURCES = (
    (Side.NEW, marked("new server (measured)")),
    (Side.OLD, marked("old server (measured)")),
    (None, marked("your values:")),
)
"""From where it is known what one drive does; None: the operator enters it."""
STATE_IT = marked("Enter the performance of one drive. Values that are left empty are not calculated.")
NO_NUMBER = marked("The performance of one drive must be a number above zero, such as 450.")
FIGURES = (
    ("read_iops", marked("Read IOPS"), 1.0),
    ("write_iops", marked("Write IOPS"), 1.0),
    ("read_bytes_per_second", marked("Read MB/s"), 1e6),
    ("write_bytes_per_second", marked("Write MB/s"), 1e6),
)


class WhatIfView(QWidget):
    """Attributes:
        question: the number of what was asked last: an answer to an earlier one is late.

    Signal: asked(drives, drive or None, side): what is wanted has changed; who answers calls `show_arrays`.
    """

    asked = Signal(int, object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = 0
        self.drives = QSpinBox(self)
        self.drives.setRange(2, MOST_DRIVES)
        self.drives.setValue(8)
        self.source = QComboBox(self)
        self.source.addItems([tr(title) for _, title in SOURCES])
        self.fields = {name: QLineEdit(self) for name, _, _ in FIGURES}
        self.stated = QWidget(self)
        head, figures = QHBoxLayout(), QHBoxLayout(self.stated)
        figures.setContentsMargins(0, 0, 0, 0)
        for words, field, spoken in (
            (tr("Drive&s:"), self.drives, tr("Number of drives")),
            (tr("Ea&ch drive:"), self.source, tr("Performance of one drive")),
        ):
            head.addWidget(self._named(words, field))
            field.setAccessibleName(spoken)
            head.addWidget(field)
        for name, words, _ in FIGURES:
            figure = self.fields[name]
            figure.setAccessibleName(tr(words))
            figure.setMaximumWidth(self.fontMetrics().averageCharWidth() * 12)
            figure.editingFinished.connect(self.ask)
            figures.addWidget(Label(tr(words), self.stated))
            figures.addWidget(figure)
        head.addStretch()
        figures.addStretch()
        self.message = Label(parent=self)
        self.message.setWordWrap(True)
        self.table = Table[ArrayRow]("raid-arrays", tr("Expected performance of RAID arrays"), ARRAY_COLUMNS, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GAP, 0, 0)
        column.addLayout(head)
        column.addWidget(self.stated)
        column.addWidget(self.message)
        column.addWidget(self.table, 1)
        self.drives.valueChanged.connect(self.ask)
        self.source.currentIndexChanged.connect(self.ask)
        self._show_fields()

    def _named(self, words: str, field: QWidget) -> Label:
        label = Label(words, self)
        label.setBuddy(field)
        return label

    @Slot()
    def ask(self) -> None:
        """Ask for the answers to the current values."""
        self.question += 1
        self._show_fields()
        side = SOURCES[self.source.currentIndex()][0]
        if side is not None:
            self.asked.emit(self.drives.value(), None, side)
            return
        try:
            drive = self._stated()
        except ValueError:
            self.show_message(tr(NO_NUMBER))
            return
        if drive != Drive():
            self.asked.emit(self.drives.value(), drive, Side.NEW)
        else:
            self.show_message(tr(STATE_IT))

    def _stated(self) -> Drive:
        figures = {}
        for name, _, factor in FIGURES:
            typed = self.fields[name].text().strip()
            if typed:
                figures[name] = units.parse(typed) * factor
                if not isfinite(figures[name]):
                    raise ValueError(typed)
        return Drive(**figures)

    def _show_fields(self) -> None:
        stated = SOURCES[self.source.currentIndex()][0] is None
        self.stated.setVisible(stated)
        for before, behind in pairwise((self.source, *self.fields.values(), self.table)):
            QWidget.setTabOrder(before, behind)  # the page orders what is visible

    def show_arrays(self, question: int, rows: tuple[ArrayRow, ...]) -> None:
        """Show the expected performance of the arrays."""
        if question != self.question:
            return
        self.message.setText(
            tr(
                "These values follow from the rules of each RAID level and the performance of one drive. The "
                "write thread of md can limit the writes."
            )
        )
        self.table.set_rows(rows)

    def refuse(self, question: int, error: Exception) -> None:
        """Show why the arrays cannot be calculated."""
        if question == self.question:
            said = recorded(error.message) if isinstance(error, PghaulError) else str(error)
            self.show_message(f"{capital(said)}.")

    def show_message(self, words: str) -> None:
        """Show a message, and no rows."""
        self.message.setText(words)
        self.table.set_rows(())
