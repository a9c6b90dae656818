"""Estimate: how long each method takes, as bars and stage by stage."""

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from core.migration.model.estimate import Estimate
from core.migration.model.standing import Milestone
from gui import actions
from gui.models import migration as rows
from gui.models.migration import StageRow
from gui.models.record import RECORD_COLUMNS, record_text
from gui.pages.part import PartPage
from gui.widgets.label import Label
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.migration.execution.record import Held


class EstimatePage(PartPage):
    """The estimate of the picked move."""

    title, milestone = "Estimate", Milestone.ESTIMATE
    help = (
        "How long each method takes: likely, and between which bounds. Each stage says what bounds it; below "
        "stands what was assumed. A rehearsal makes it better than anything else."
    )
    doing, button_text = "Estimating", "Ma&ke the estimate"
    nothing = (
        "No estimate yet. It is made from the facts, the runs and the probes; what is missing is assumed, and said."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.table = Table[StageRow]("Estimate", rows.STAGE_COLUMNS, self)
        self.notes = TextView("Warnings and assumptions", self)
        self._plot_place = QWidget(self)
        QVBoxLayout(self._plot_place).setContentsMargins(0, 0, 0, 0)
        self._plot_place.hide()
        split = self.split(self.table, self._plot_place, (190, 240))
        self.said = Label(parent=self)
        self.record: Table[Held] = Table("Estimated and taken", RECORD_COLUMNS, self)
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName("What the estimate rests on")
        self.tabs.addTab(self.notes, "Ass&umptions")
        self.tabs.addTab(self._record_tab(), "&Record")
        split.addWidget(self.tabs)

    def read(self, move: str, session: Any) -> Any:
        import gui.widgets.plots  # noqa: F401  loads pyqtgraph on this thread, not on the window's

        return actions.estimated(move, session), actions.record(move, session)

    def act(self, move: str, session: Any, job: Any) -> Any:
        return actions.estimate(move, session, job)

    def show_part(self, part: "tuple[Estimate | None, tuple[Held, ...]]") -> None:
        estimate, record = part
        self.record.set_rows(record)
        self.said.setText(record_text(record))
        self._plot_place.setVisible(estimate is not None)
        if estimate is None:
            self.summary.setText(self.nothing)
            self.table.set_rows(())
            self.notes.set_text("")
            return
        self.summary.setText(rows.estimate_summary(estimate))
        self.table.set_rows(rows.stage_rows(estimate))
        self.notes.set_text(rows.notes(estimate))
        self._plot().show_estimate(estimate)

    def _record_tab(self) -> QWidget:
        holder = QWidget(self)
        column = QVBoxLayout(holder)
        column.addWidget(self.said)
        column.addWidget(self.record)
        return holder

    def _plot(self) -> Any:
        from gui.widgets.plots import EstimatePlot

        found = self._plot_place.findChild(EstimatePlot)
        column = self._plot_place.layout()
        if found is None and column is not None:
            found = EstimatePlot(self._plot_place)
            column.addWidget(found)
        return found
