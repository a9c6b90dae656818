"""The page Estimate: the duration of each method and stage, improvements, and the fit into a window."""

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from core import api
from core.language import marked, tr
from core.migration.model.asked import Asked
from core.migration.model.estimate import Estimate, Help
from core.migration.model.standing import Milestone
from gui.destinations import TITLES, PageId
from gui.models import migration as rows
from gui.models.charts import estimate_chart
from gui.models.migration import StageRow
from gui.models.night import HELP_COLUMNS, helps_text
from gui.models.record import RECORD_COLUMNS, STAGES_COLUMNS, record_text
from gui.pages.page import PartPage
from gui.widgets.chart import ChartView
from gui.widgets.label import Label
from gui.widgets.night import NightView
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.migration import ByStage, EstimateComparison
    from core.api.session import Session
    from core.jobs import Job

    Shown: TypeAlias = tuple[Estimate | None, tuple[EstimateComparison, ...], tuple[ByStage, ...]]


class EstimatePage(PartPage["Shown"]):
    """The estimate of the selected move."""

    id, title, milestone = PageId.ESTIMATE, TITLES[PageId.ESTIMATE], Milestone.ESTIMATE
    help = marked(
        "This page shows how long each method of moving takes, as low, likely and high values, and what limits "
        "each stage. The tabs show improvements and the time that they save, whether a method fits into a "
        "window or a downtime, how good earlier estimates were, and the assumptions. A copy rehearsal improves "
        "the estimate the most."
    )
    doing, button_text = marked("Estimate of {move}"), marked("Ma&ke the estimate")
    nothing = marked(
        "There is no estimate yet. It uses the facts, the benchmark runs and the probes, and reads the facts of {old} "
        "if there are none yet. This takes seconds, and nothing is written on the servers. It lists an assumption for "
        "each value that is missing."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.chart = ChartView(self)
        self.table = Table[StageRow]("estimate", tr("Estimate"), rows.STAGE_COLUMNS, self)
        self.advice = Label(parent=self)
        self.helps = Table[Help]("improvements", tr("Improvements"), HELP_COLUMNS, self)
        self.night = NightView(self)
        self.night.asked.connect(self._ask)
        self.message = Label(parent=self)
        self.record: Table[EstimateComparison] = Table(
            "estimated-and-measured", tr("Estimated and measured durations"), RECORD_COLUMNS, self
        )
        self.notes = TextView(tr("Warnings and assumptions"), self)
        self.by_stage: Table[ByStage] = Table(
            "accuracy", tr("Accuracy of the estimates of each stage"), STAGES_COLUMNS, self
        )
        self._recorded = self._under(self.message, self.record, self.by_stage)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("Details of the estimate"))
        for widget, name in (
            (self.table, tr("&Stages")),
            (self._under(self.advice, self.helps), tr("Im&provements")),
            (self.night, tr("&Window and downtime")),
            (self._recorded, tr("Accu&racy")),
            (self.notes, tr("Ass&umptions")),
        ):
            self.tabs.addTab(widget, name)
        FilterBox(self.table, self, self.helps, self.record, self.by_stage).stand_in(self.tabs)
        self.parts = self.split(self.chart, self.tabs, (280, 280))
        self.column.addStretch()  # the page's words stand at its top also while there is nothing below

    def read(self, move: str, session: "Session") -> "Shown":
        return (
            session.store.estimate(move),
            api.migration.compare_with_estimates(session, move),
            api.migration.by_stage(api.migration.compare_with_estimates(session)),
        )

    def act(self, move: str, session: "Session", job: "Job") -> object:
        return api.migration.make_estimate(session, move, job)

    def show_part(self, part: "Shown") -> None:
        estimate, record, stages = part
        self.by_stage.set_rows(stages)
        self.by_stage.setVisible(bool(stages))
        self.record.set_rows(record)
        self.record.setVisible(bool(record))
        self.message.setText(record_text(record))
        self.parts.setVisible(estimate is not None or bool(stages))
        chart = None if estimate is None else estimate_chart(estimate)
        self.chart.show_chart(chart)
        self.chart.setVisible(chart is not None)
        for number in range(self.tabs.count()):
            self.tabs.setTabVisible(number, estimate is not None or self.tabs.widget(number) is self._recorded)
        self.summary.setText(self.describe_nothing() if estimate is None else rows.estimate_summary(estimate))
        self.table.set_rows(() if estimate is None else rows.stage_rows(estimate))
        self.notes.set_text("" if estimate is None else rows.notes(estimate))
        helps = () if estimate is None else estimate.helps
        self.helps.set_rows(helps)
        self.helps.setVisible(bool(helps))
        self.advice.setText("" if estimate is None else helps_text(estimate))
        self.night.ask()

    @Slot(int, object)
    def _ask(self, question: int, asked: Asked) -> None:
        move = self.work.move
        if move is None:
            return
        name = move.name
        task = self.work.ask(lambda session: api.migration.answer_planning(session, name, asked))
        if task is not None:
            task.then(partial(self.night.show_answers, question))
            task.failed.connect(partial(self.night.refuse, question))

    def _under(self, words: Label, *tables: QWidget) -> QWidget:
        """Return a widget with a text above tables."""
        words.setWordWrap(True)
        holder = QWidget(self)
        column = QVBoxLayout(holder)
        column.addWidget(words)
        for table in tables:
            column.addWidget(table, 1)
        column.addStretch()
        return holder
