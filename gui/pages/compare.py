"""The page Comparison: the old with the new server, or any two measurements, with their noise."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSizePolicy, QTabWidget, QWidget

from core import api
from core.api.model import Compared, MetricOverTime
from core.comparison.model import Comparison
from core.language import marked, tr
from core.migration.model.standing import Milestone
from core.sides import Side
from core.text import capital
from gui.design.measures import CARD, GAP, Type, keep_narrow, set_type
from gui.destinations import TITLES, PageId
from gui.dialogs.outputs import OutputsDialog
from gui.models import comparison as rows
from gui.models.chart import Chart
from gui.models.charts import bar_chart, depth_charts, latency_chart, ratio_chart, repetitions_chart, time_chart
from gui.models.comparison import ComparedRow
from gui.models.storage import array_rows
from gui.models.words import minute, plain_names, side_head, side_names
from gui.pages.page import Page
from gui.widgets.chart import ChartRow
from gui.widgets.label import ElidedLabel, Label, ToneLabel
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.widgets.what_if import WhatIfView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.comparison import Start
    from core.api.session import Session
    from core.api.storage import Drive

USUAL = (Side.OLD, Side.NEW)
LATEST = (marked("old server, latest runs"), marked("new server, latest runs"))
MOST_ROWS = 12
"""Of the table at once: the charts need room, too."""
LEAST_ROWS = 4
"""Of the table, also on a small screen: the charts give way."""
NOT_OVER_TIME = marked(
    "This workload was measured only once on each server.\n"
    "Run the benchmarks again to see how the results change over time."
)
NOT_MEASURED = marked("There are no results for this selection. Instead, these are shown:")


class ComparePage(Page["tuple[Compared | None, tuple[Start, ...]]"]):
    """A table of metrics above charts of all rows or of the selected row."""

    id, title, milestone = PageId.COMPARE, TITLES[PageId.COMPARE], Milestone.COMPARE
    help = marked(
        "This page compares the storage of the old and the new server. At the left and at the right you can "
        "select any other measurement, also of other moves. A ratio says how many times better one side is, "
        "with its 95 % interval. Differences within the noise count as no difference. The tabs show charts, "
        "the repetitions, latencies and runs of the selected workload, a diagnosis of poor results, and what "
        "RAID arrays of such drives would achieve. You can also read and compare outputs of benchmark tools "
        "from elsewhere."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._comparison: Comparison | None = None
        self._read: Comparison | None = None
        self._starts: tuple[Start, ...] = ()
        self._remark = ""
        self._asking: OutputsDialog | None = None
        self._make_head()
        self.said = ToneLabel("", None, self)
        self.said.setWordWrap(True)
        set_type(self.said, Type.TITLE, bold=True)
        self.what = Label(parent=self)
        self.what.setWordWrap(True)
        self.sets = ElidedLabel(self), ElidedLabel(self)
        self.table = Table[ComparedRow]("comparison", tr("Comparison"), rows.COLUMNS, self)
        self.table.chosen.connect(self._show_chosen)
        self.findings = TextView(tr("Diagnosis: reasons for poor results, and suggestions"), self)
        self.findings.setContentsMargins(0, GAP, 0, 0)
        self.what_if = WhatIfView(self)
        self.what_if.asked.connect(self._ask_what_if)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("Charts of the comparison"))
        self._make_tabs()
        self.differing = QCheckBox(tr("Di&fferences only"), self)
        self.differing.setToolTip(tr("Show only rows in which one side is better by more than the noise"))
        self.differing.toggled.connect(self._show_rows)
        line = QHBoxLayout()
        line.setSpacing(CARD)
        for each in self.sets:
            each.setSizePolicy(
                QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred
            )  # beside each other, at the left
            line.addWidget(each)
        line.addStretch()
        line.addWidget(self.everything)
        line.addWidget(self.differing)
        line.addWidget(FilterBox(self.table, self))
        self.column.addWidget(self.said)
        self.column.addWidget(self.what)
        self.column.addLayout(line)
        self.column.addWidget(self.table)
        self.column.addWidget(self.tabs, 1)

    def _make_head(self) -> None:
        self.left, self.right = QComboBox(self), QComboBox(self)
        labels = []
        for box, side, words, spoken in (
            (self.left, Side.OLD, tr("L&eft:"), tr("Left side of the comparison")),
            (self.right, Side.NEW, tr("Righ&t:"), tr("Right side of the comparison")),
        ):
            box.setAccessibleName(spoken)
            box.addItems([*map(tr, LATEST)])
            box.setCurrentText(tr(LATEST[USUAL.index(side)]))
            box.setMaximumWidth(self.fontMetrics().averageCharWidth() * 34)
            keep_narrow(box, 13)
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            box.activated.connect(self._picked)
            label = Label(words, self)
            label.setBuddy(box)
            labels += [label, box]
        self.outputs = self.button(
            tr("Read &outputs…"), self.add_one, tr("Open or paste outputs of benchmark tools, and compare them")
        )
        self.everything = QCheckBox(tr("&All metrics"), self)
        self.everything.toggled.connect(self._show_rows)
        head = self.heading(*labels, self.outputs)
        for box in (self.left, self.right):
            head.setStretchFactor(box, 1)

    def _make_tabs(self) -> None:
        self.bars, self.ratios, self.workload, self.depths, self.over_time = (ChartRow(self.tabs) for _ in range(5))
        for row, name in (
            (self.bars, tr("&Bars")),
            (self.ratios, tr("&Ratios")),
            (self.workload, tr("Selected wor&kload")),
            (self.depths, tr("&Queue depth")),
            (self.over_time, tr("Over t&ime")),
        ):
            self.tabs.addTab(row, name)
        self.tabs.addTab(self.findings, tr("Dia&gnosis"))
        self.tabs.addTab(self.what_if, tr("RAI&D estimate"))
        self.tabs.currentChanged.connect(self._show_tab)

    # --- what is compared

    def question(self) -> "Callable[[Session], tuple[Compared | None, tuple[Start, ...]]] | None":
        move = self.work.move
        return partial(_answer, None if move is None else move.name, self.picked)

    @property
    def picked(self) -> "tuple[Start | Side, Start | Side]":
        """The left and the right selection; a side stands for its latest runs."""
        known: tuple[Start | Side, ...] = (*USUAL, *self._starts)
        return known[self.left.currentIndex()], known[self.right.currentIndex()]

    def show_answer(self, answer: "tuple[Compared | None, tuple[Start, ...]]") -> None:
        compared, starts = answer
        self._show_starts(starts)
        if self._read is None and self.work.move is None:
            self.explain_no_move()
            return
        if self._read is None and compared is None and self.picked != USUAL:
            self._pick_usual()
            return
        if self._read is None and compared is None:
            self.explain(
                tr("Nothing to compare yet"),
                tr(
                    "Run the benchmarks on both servers first. Each workload is repeated, to distinguish "
                    "differences from noise."
                ),
                tr("Go to the benchmarks"),
                PageId.MEASURE,
            )
            return
        self.fill()
        self._comparison = self._read or (None if compared is None else compared.comparison)
        self.findings.set_text("" if compared is None else rows.diagnosis_text(compared.diagnoses))
        self._show_comparison()

    def _show_starts(self, starts: "tuple[Start, ...]") -> None:
        if starts == self._starts:
            return
        picked, self._starts = self.picked, starts
        known = (*USUAL, *starts)
        for box, before in zip((self.left, self.right), picked, strict=True):
            box.clear()
            box.addItems([*map(tr, LATEST)])
            for start in starts:
                box.addItem(f"{minute(start.began_at)}  {start.place}")
            # what was picked may be gone with its move
            box.setCurrentIndex(known.index(before) if before in known else int(box is self.right))

    @Slot()
    def _picked(self) -> None:
        """Compare another selection, and close the outputs that were read."""
        self._read = None
        self._remark = ""
        self.refresh()

    def _pick_usual(self) -> None:
        """Return to the latest runs, and say why: there are no results for the selection."""
        self._remark = tr(NOT_MEASURED)
        for box, side in ((self.left, Side.OLD), (self.right, Side.NEW)):
            box.setCurrentIndex(USUAL.index(side))
        self.refresh()

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two sets."""
        return side_names(self.work.move) if self._usual else (tr("left"), tr("right"))

    @property
    def _usual(self) -> bool:
        """Whether the old server is compared with the new one."""
        return self.picked == USUAL and self._read is None

    @property
    def called(self) -> tuple[str, str]:
        """What the two sets are called where colours or a sentence say which is which."""
        return plain_names(self.work.move) if self._usual else self.names

    def _heads(self) -> tuple[str, str]:
        """Return the names of the two sets as they begin a sentence."""
        move = self.work.move
        if move is None or self.names != side_names(move):
            return capital(self.names[0]), capital(self.names[1])
        return side_head(Side.OLD, move.old), side_head(Side.NEW, move.new)

    def _show_comparison(self) -> None:
        compared = self._comparison
        if compared is None:
            return
        first, second = self._heads()
        for column, name in ((rows.FIRST, first), (rows.SECOND, second)):
            self.table.rename(column, tr("{name}, mean").format(name=name))
        heads = (tr("Old"), tr("New")) if self._usual else (first, second)
        for label, head, name in zip(self.sets, heads, compared.names, strict=False):
            label.setText(f"{head}: {name}")
        self.what.setText("\n".join(line for line in (*rows.notes(compared), self._remark) if line))
        self.what.setVisible(bool(self.what.text()))
        sets = self.called if self._usual else (tr("The left side"), tr("The right side"))
        headline = rows.headline(compared, sets, wanted=self._usual)
        self.said.setText(headline.text)
        self.said.show_tone(headline.tone)
        self.said.setVisible(bool(headline.text))
        self.tabs.setTabVisible(self.tabs.indexOf(self.depths), rows.depths(compared, self.names, None) is not None)
        self._show_rows()

    @Slot()
    def _show_rows(self) -> None:
        if self._comparison is None:
            return
        every = self.everything.isChecked() or self._read is not None
        shown = rows.compared_rows(self._comparison, self.called, every=every)
        self.table.setColumnHidden(rows.METRIC, not every)
        self.table.setColumnHidden(rows.INTERVAL, every)  # there is room for one of them at the least width
        self.table.set_rows([row for row in shown if row.differs] if self.differing.isChecked() else shown)
        self.table.limit_height(MOST_ROWS, LEAST_ROWS)
        if self.table.current() is None:
            self.table.choose(0)
        self._show_tab()

    # --- pictures

    @Slot()
    def _show_tab(self) -> None:
        """Draw the chart of the visible tab only."""
        shown, comparison = self.tabs.currentWidget(), self._comparison
        if comparison is None:
            return
        if shown is self.what_if:
            self.what_if.ask()
            return
        if shown is self.findings:
            return
        row = self.table.current()
        if shown is self.bars:
            self.bars.show_charts(tuple(bar_chart(one, self.names) for one in rows.bars(comparison)))
        elif shown is self.ratios:
            ratios = ratio_chart(rows.compared_rows(comparison, self.called, every=False))
            self.ratios.show_charts(_known(ratios), tr("No workload was measured on both sides, so there is no ratio."))
        elif shown is self.depths:
            found = rows.depths(comparison, self.names, None if row is None else row.row)
            self.depths.show_charts(() if found is None else depth_charts(found, self.names))
        elif shown is self.workload and row is not None:
            curves = rows.latencies(comparison, row.row)
            latencies = None if curves is None else latency_chart(curves, row.names)
            self.workload.show_charts(_known(repetitions_chart(row), latencies))
        elif shown is self.over_time and row is not None:
            self._ask_over_time(row)

    @Slot()
    def _show_chosen(self) -> None:
        if self.tabs.currentWidget() in (self.workload, self.depths, self.over_time):
            self._show_tab()

    def _ask_over_time(self, row: ComparedRow) -> None:
        move = self.work.move
        if move is None or self._read is not None:
            self.over_time.show_charts((), tr(NOT_OVER_TIME))
            return
        name, workload, metric = move.name, row.row.workload, row.row.metric
        task = self.work.read(
            lambda session: api.comparison.metric_over_time(session, name, workload.tool, workload.name, metric)
        )
        if task is not None:
            task.then(partial(self._show_over_time, row))

    def _show_over_time(self, row: ComparedRow, seen: MetricOverTime) -> None:
        if row == self.table.current():
            several = max(len(seen.old), len(seen.new)) > 1
            charts = (time_chart(row, seen, side_names(self.work.move)),) if several else ()
            self.over_time.show_charts(charts, tr(NOT_OVER_TIME))

    # --- what if, and outputs from elsewhere

    @Slot(int, object, object)
    def _ask_what_if(self, drives: int, drive: "Drive | None", side: Side) -> None:
        move = self.work.move
        if move is None:
            return
        name = move.name
        task = self.work.ask(
            lambda session: api.storage.expect_layouts_of_move(session, name, api.storage.layouts(drives), drive, side)
        )
        if task is not None:
            question = self.what_if.question
            task.then(lambda found: self.what_if.show_arrays(question, array_rows(found)))
            task.failed.connect(partial(self.what_if.refuse, question))

    @Slot()
    def add_one(self) -> None:
        """Open the dialog for outputs from elsewhere."""
        dialog = OutputsDialog(api.outputs.tools_with_outputs(), self)
        dialog.given.connect(partial(self._read_outputs, dialog))
        dialog.finished.connect(partial(self._close_outputs, dialog))
        self._asking = dialog
        dialog.open()

    def _close_outputs(self, dialog: OutputsDialog, _result: int) -> None:
        """Ignore what is still being read for this dialog."""
        self._asking = None
        dialog.deleteLater()

    def _read_outputs(self, dialog: OutputsDialog, named: list[tuple[str, str]], tool: str | None) -> None:
        task = self.work.ask(lambda _session: api.outputs.read_outputs(named, tool))
        if task is not None:
            task.then(partial(self._take_outputs, dialog))
            task.failed.connect(partial(self._refuse_outputs, dialog))

    def _refuse_outputs(self, dialog: OutputsDialog, error: Exception) -> None:
        if dialog is self._asking:
            dialog.refuse(error)

    def _take_outputs(self, dialog: OutputsDialog, found: tuple[str, Comparison]) -> None:
        if dialog is not self._asking:
            return
        dialog.accept()
        self._read = self._comparison = found[1]
        self._remark = ""
        self.fill()
        self._show_comparison()


def _answer(
    move: str | None, picked: "tuple[Start | Side, Start | Side]", session: "Session"
) -> "tuple[Compared | None, tuple[Start, ...]]":
    found = None if move is None else api.comparison.compare_with_diagnoses(session, move, *picked)
    return found, api.comparison.list_starts(session)


def _known(*charts: Chart | None) -> tuple[Chart, ...]:
    return tuple(chart for chart in charts if chart is not None)
