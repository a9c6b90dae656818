"""The page Estimate: the duration of each method and stage, improvements, and the fit into a window."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QScrollArea, QTabWidget, QVBoxLayout, QWidget

from core import api, units
from core.language import marked, tr
from core.migration.model.asked import NOTHING, Asked
from core.migration.model.estimate import Estimate, Help, Method
from core.migration.model.move import Verify
from core.migration.model.standing import Milestone
from core.tones import Tone
from gui.design.measures import CARD, GAP, scaled
from gui.destinations import TITLES, PageId
from gui.models import migration as rows
from gui.models.chart import Chart
from gui.models.charts import timeline_chart
from gui.models.migration import StageRow
from gui.models.night import HELP_COLUMNS, HELPS_EXPLAINED, WITH_IT, helps_text
from gui.models.record import COUNTED, RECORD_COLUMNS, STAGES_COLUMNS, counted_differ, record_text
from gui.models.words import span as span_words
from gui.pages.page import PartPage
from gui.widgets.chart import ChartView
from gui.widgets.figure import Figure
from gui.widgets.label import Label, ToneLabel
from gui.widgets.night import NightView
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.migration import ByStage, EstimateComparison, Planned
    from core.api.session import Session
    from core.jobs import Job

    Shown: TypeAlias = tuple[Estimate | None, Asked, tuple[EstimateComparison, ...], tuple[ByStage, ...]]


WIDEST, FIRST = 290, 100
"""Of a figure of the planned method: in pixels before scaling, and by how much sooner it grows than the room behind."""
VERIFIED = {Verify.CHANGED: marked("changed files"), Verify.ALL: marked("all files")}


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
        self.whole, self.downtime = Figure(self), Figure(self)
        self.chart = ChartView(self)
        self._timeline: Chart | None = None
        self.table = Table[StageRow]("estimate", tr("Estimate"), rows.STAGE_COLUMNS, self)
        self.advice = Label(parent=self)
        self.helps = Table[Help]("improvements", tr("Improvements"), HELP_COLUMNS, self)
        self.explained = ToneLabel(tr(HELPS_EXPLAINED), Tone.MUTED, self)
        self.explained.setWordWrap(True)
        self._fitted = False
        """Whether the fits of methods were shown before."""
        self.night = NightView(self)
        self.night.asked.connect(self._ask)
        self._chosen: tuple[str, Verify] | None = None
        """The move for which another verification was chosen, and that."""
        self.verify = QComboBox(self)
        self.verifying = QWidget(self)
        self._make_verifying()
        self.asking = QWidget(self)
        self._make_asking()
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
            (self._scrolled(self._under(self.advice, self.helps, self.explained)), tr("Im&provements")),
            (self.night, tr("&Fit of each method")),
            (self._recorded, tr("Accu&racy")),
            (self.notes, tr("Ass&umptions")),
        ):
            self.tabs.addTab(widget, name)
        self.tabs.currentChanged.connect(self._show_chart)
        FilterBox(self.table, self, self.helps, self.record, self.by_stage).stand_in(self.tabs)
        self.parts = self.split(self.chart, self.tabs, (280, 280))
        self.column.addStretch()  # the page's words stand at its top also while there is nothing below

    def _make_verifying(self) -> None:
        """Put the choice of a verification beside the page's button."""
        self.verify.setAccessibleName(tr("Verification in the downtime"))
        self.verify.setToolTip(tr("The files whose checksums are compared while the old cluster is stopped"))
        for kind, words in VERIFIED.items():
            self.verify.addItem(tr(words), kind)
        self.verify.activated.connect(self._choose)
        label = Label(tr("V&erification:"), self.verifying)
        label.setBuddy(self.verify)
        line = QHBoxLayout(self.verifying)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(label)
        line.addWidget(self.verify)
        self.head.insertWidget(self.head.count() - 1, self.verifying)

    def _make_asking(self) -> None:
        """Put the figures of the planned method beside what can be asked of it."""
        line = QHBoxLayout()
        line.setSpacing(CARD)
        for figure in (self.whole, self.downtime):
            figure.setMaximumWidth(scaled(WIDEST))
            line.addWidget(figure, FIRST)
        line.addStretch(1)
        line.addWidget(self.night.controls)
        column = QVBoxLayout(self.asking)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(line)
        column.addWidget(self.night.message)
        self.column.addWidget(self.asking)

    def question(self) -> "Callable[[Session], Shown] | None":
        move = self.work.move
        return None if move is None else partial(self.read, move.name, verify=self._verify(move.name))

    def read(self, move: str, session: "Session", verify: Verify | None = None) -> "Shown":
        return (
            api.migration.estimate_with(session, move, verify),
            session.store.asked(move),
            api.migration.compare_with_estimates(session, move),
            api.migration.by_stage(api.migration.compare_with_estimates(session)),
        )

    def act(self, move: str, session: "Session", job: "Job") -> object:
        return api.migration.make_estimate(session, move, job)

    @Slot(int)
    def _choose(self, number: int) -> None:
        """Show the estimate with the verification that was chosen."""
        move = self.work.move
        if move is not None:
            self._chosen = move.name, Verify(self.verify.itemData(number))
            self.refresh()

    def _verify(self, move: str) -> Verify | None:
        """Return the verification that was chosen for a move; None: that of its latest estimate."""
        return self._chosen[1] if self._chosen is not None and self._chosen[0] == move else None

    def show_part(self, part: "Shown") -> None:
        estimate, kept, record, stages = part
        self.verifying.setVisible(estimate is not None)
        if self.work.move is not None and self.night.move_name != self.work.move.name:
            self._fitted = kept != NOTHING  # what is kept was not just asked
        self.night.show_kept("" if self.work.move is None else self.work.move.name, kept)
        self.by_stage.set_rows(stages)
        self.by_stage.setVisible(bool(stages))
        self.record.set_rows(record)
        self.record.setVisible(bool(record))
        self.record.setColumnHidden(COUNTED, not counted_differ(record))
        self.message.setText(record_text(record))
        self.parts.setVisible(estimate is not None or bool(stages))
        self.asking.setVisible(estimate is not None)
        for number in range(self.tabs.count()):
            self.tabs.setTabVisible(number, estimate is not None or self.tabs.widget(number) is self._recorded)
        self._show_estimate(estimate)
        self._show_night()
        self.night.ask()

    def _show_estimate(self, estimate: Estimate | None) -> None:
        if estimate is not None:
            self.verify.setCurrentIndex(self.verify.findData(estimate.checking))
        self._timeline = None if estimate is None else timeline_chart(estimate)
        self.summary.setText(self.describe_nothing() if estimate is None else rows.estimate_made(estimate))
        self._show_figures(None if estimate is None else estimate.method(estimate.planned or estimate.to_take))
        self.table.set_rows(() if estimate is None else rows.stage_rows(estimate))
        self.notes.set_text("" if estimate is None else rows.notes(estimate))
        self._show_helps(() if estimate is None else estimate.helps)
        self.advice.setText("" if estimate is None else helps_text(estimate))

    def _show_figures(self, method: Method | None) -> None:
        for figure, words, span, tone in (
            (self.whole, tr("whole move, {span}"), None if method is None else method.duration_seconds, None),
            (self.downtime, tr("downtime, {span}"), None if method is None else method.downtime_seconds, Tone.BAD),
        ):
            figure.setVisible(span is not None)
            if span is not None:
                more = tr("It lies between the low and the high value with a probability of 80 %.")
                figure.show_figure(units.duration(span.likely), words.format(span=span_words(span)), tone, more)

    def _show_helps(self, helps: tuple[Help, ...]) -> None:
        self.helps.set_rows(helps)
        self.helps.show_all_rows()
        for each in (self.helps, self.explained):
            each.setVisible(bool(helps))
        self.helps.setColumnHidden(WITH_IT, all(each.likelihood is None for each in helps))

    def _show_night(self) -> None:
        """Show the tab of the fits while there is something in it, and in front when something was just asked."""
        fits = bool(self.night.table.rows.rows)
        number = self.tabs.indexOf(self.night)
        self.tabs.setTabVisible(number, fits or bool(self.night.later.text()))
        if fits and not self._fitted:
            self.tabs.setCurrentIndex(number)
        self._fitted = fits
        self._show_chart()

    @Slot()
    def _show_chart(self) -> None:
        """Show the window above the fits, where there is one, and the stages above everything else."""
        window = self.night.chart if self.tabs.currentWidget() is self.night else None
        chart = window or self._timeline
        self.chart.show_chart(chart)
        self.chart.setVisible(chart is not None)

    def _show_answers(self, question: int, found: "tuple[Estimate, Planned] | None") -> None:
        """Show the answers, and the estimate whose figures they are."""
        self.night.show_answers(question, None if found is None else found[1])
        if found is not None and question == self.night.question:
            self._show_estimate(found[0])
            if self.night.kept != found[0].asked:  # it was kept just now, with an estimate that has answered it
                self.night.kept = found[0].asked
                self.work.changed.emit()
        self._show_night()

    def _refuse(self, question: int, error: Exception) -> None:
        self.night.refuse(question, error)
        self._show_night()

    @Slot(int, object)
    def _ask(self, question: int, asked: Asked) -> None:
        move = self.work.move
        if move is None or move.name != self.night.move_name:  # what is in the fields is of another move
            return
        name, verify = move.name, self._verify(move.name)
        task = self.work.ask(lambda session: api.migration.answer_planning(session, name, asked, verify))
        if task is not None:
            task.then(partial(self._show_answers, question))
            task.failed.connect(partial(self._refuse, question))

    def _under(self, words: Label, *parts: QWidget) -> QWidget:
        """Return a widget with a text above tables, and what else belongs to them."""
        words.setWordWrap(True)
        holder = QWidget(self)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, GAP, 0, 0)  # its tables stand where those of the other tabs do
        column.addWidget(words)
        for part in parts:
            column.addWidget(part, int(isinstance(part, Table)))
        column.addStretch()
        return holder

    def _scrolled(self, content: QWidget) -> QScrollArea:
        """Return an area that scrolls where it is lower than its content."""
        area = QScrollArea(self, widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAccessibleName(tr("Improvements"))
        area.setWidget(content)
        return area
