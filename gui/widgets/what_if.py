"""What if the storage were an array: of how many drives, and what one does; the table says what each level would."""

from math import isfinite

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from core.benchmarks.model import Side
from core.comparison.raid import MOST_DRIVES, Drive
from core.errors import PghaulError
from core.language import marked, tr
from gui.models.sentences import recorded
from gui.models.storage import ARRAY_COLUMNS, ArrayRow
from gui.widgets.label import Label
from gui.widgets.table import Table

SOURCES = {
    marked("as new was measured"): Side.NEW,
    marked("as old was measured"): Side.OLD,
    marked("as stated:"): None,
}
STATE_IT = marked("State what one drive does; what is left empty is not reckoned.")
NO_NUMBER = marked("What one drive does is a number above zero, such as 450.")
FIGURES = (
    ("read_iops", marked("reads /s"), 1.0),
    ("write_iops", marked("writes /s"), 1.0),
    ("read_bytes_per_second", marked("read MB/s"), 1e6),
    ("write_bytes_per_second", marked("write MB/s"), 1e6),
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
        self.source.addItems([*map(tr, SOURCES)])
        self.fields = {name: QLineEdit(self) for name, _, _ in FIGURES}
        head = QHBoxLayout()
        for words, field, spoken in (
            (tr("&Number of drives:"), self.drives, tr("Drives")),
            (tr("ea&ch"), self.source, tr("What one drive does")),
        ):
            head.addWidget(self._named(words, field))
            field.setAccessibleName(spoken)
            head.addWidget(field)
        for name, words, _ in FIGURES:
            figure = self.fields[name]
            figure.setAccessibleName(tr(words))
            figure.setMaximumWidth(self.fontMetrics().averageCharWidth() * 12)
            figure.editingFinished.connect(self.ask)
            head.addWidget(self._named(tr(words), figure))
            head.addWidget(figure)
        head.addStretch()
        self.said = Label(parent=self)
        self.said.setWordWrap(True)
        self.table = Table[ArrayRow](tr("What arrays may be expected to do"), ARRAY_COLUMNS, self)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addWidget(self.said)
        column.addWidget(self.table, 1)
        self.drives.valueChanged.connect(self.ask)
        self.source.currentIndexChanged.connect(self.ask)
        self._show_fields()

    def _named(self, words: str, field: QWidget) -> Label:
        label = Label(words, self)
        if "&" in words:
            label.setBuddy(field)
        return label

    @Slot()
    def ask(self) -> None:
        """Ask for what stands there now."""
        self.question += 1
        self._show_fields()
        side = tuple(SOURCES.values())[self.source.currentIndex()]
        if side is not None:
            self.asked.emit(self.drives.value(), None, side)
            return
        try:
            drive = self._stated()
        except ValueError:
            self.say(tr(NO_NUMBER))
            return
        if drive != Drive():
            self.asked.emit(self.drives.value(), drive, Side.NEW)
        else:
            self.say(tr(STATE_IT))

    def _stated(self) -> Drive:
        figures = {}
        for name, _, factor in FIGURES:
            typed = self.fields[name].text().strip().replace(",", ".")
            if typed:
                figures[name] = float(typed) * factor
                if not isfinite(figures[name]):
                    raise ValueError(typed)
        return Drive(**figures)

    def _show_fields(self) -> None:
        stated = tuple(SOURCES.values())[self.source.currentIndex()] is None
        for field in self.fields.values():
            field.setEnabled(stated)

    def show_arrays(self, question: int, rows: tuple[ArrayRow, ...]) -> None:
        """What such arrays may be expected to do."""
        if question != self.question:
            return
        self.said.setText(
            tr("By each level's own rules, from what one drive does; md's write thread can bound the writes.")
        )
        self.table.set_rows(rows)

    def refuse(self, question: int, error: Exception) -> None:
        """Why they cannot be reckoned."""
        if question == self.question:
            said = recorded(error.message) if isinstance(error, PghaulError) else str(error)
            self.say(f"{said[:1].upper()}{said[1:]}.")

    def say(self, words: str) -> None:
        """Say it in place of the table's rows."""
        self.said.setText(words)
        self.table.set_rows(())
