"""Compare: old against new, with verdicts that know the noise."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from core.comparison.model import Comparison, Row
from core.migration.model.standing import Milestone
from gui import actions
from gui.models import comparison as rows
from gui.pages.page import Page
from gui.states import Compared
from gui.widgets.check_box import CheckBox
from gui.widgets.label import Label
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.work import Work


class ComparePage(Page):
    """A table of metrics over bars of those that stand for their workloads."""

    title, milestone = "Compare", Milestone.COMPARE
    help = (
        "Old against new. A ratio is given with its interval; a difference within the noise is said to be none. "
        "Below, what explains poor results, and what to try."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._comparison: Comparison | None = None
        self.everything = CheckBox("Show &all metrics", self)
        self.everything.toggled.connect(self._show_rows)
        self.heading(self.everything)
        self.what = Label(parent=self)
        self.what.setWordWrap(True)
        self.table = Table[Row]("Comparison", rows.COLUMNS, self)
        self._plots = QWidget(self)
        QVBoxLayout(self._plots).setContentsMargins(0, 0, 0, 0)
        self.findings = TextView("Diagnosis: what explains poor results, and what to try", self)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.table)
        split.addWidget(self._plots)
        split.addWidget(self.findings)
        split.setSizes([200, 240, 130])
        split.setChildrenCollapsible(False)
        self.column.addWidget(self.what)
        self.column.addWidget(split)

    def question(self) -> Any:
        move = self.work.move
        return None if move is None else partial(_answer, move.name)

    def show_answer(self, answer: Compared | None) -> None:
        self._comparison = None if answer is None else answer.comparison
        if self.work.move is None:
            self.explain_no_move()
            return
        if answer is None:
            self.explain(
                "Nothing to compare yet",
                "Measure both storages first. Each workload is repeated, so that a difference can be told from noise.",
                "Go to Measure",
                "Measure",
            )
            return
        self.fill()
        compared = answer.comparison
        self.what.setText("\n".join([f"Old: {compared.old}      New: {compared.new}", *rows.notes(compared)]))
        self._show_rows()
        self._show_plots(compared)
        self.findings.set_text(rows.diagnosis_text(answer.diagnoses))

    @Slot()
    def _show_rows(self) -> None:
        if self._comparison is None:
            return
        every = self.everything.isChecked()
        self.table.set_rows([row for row in self._comparison.rows if every or row.headline])

    def _show_plots(self, comparison: Comparison) -> None:
        from gui.widgets.plots import ComparisonPlot

        column = self._plots.layout()
        old = self._plots.findChild(ComparisonPlot)
        if isinstance(column, QVBoxLayout) and old is None:
            old = ComparisonPlot(self._plots)
            column.addWidget(old)
        if old is not None:
            old.show_bars(rows.bars(comparison))


def _answer(move: str, session: Any) -> Compared | None:
    import gui.widgets.plots  # noqa: F401  loads pyqtgraph on this thread, not on the window's

    return actions.comparison(move, session)
