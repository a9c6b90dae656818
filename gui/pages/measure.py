"""Measure: what both storages really do. A forecast first, then the queue of suites, their repetitions as they end."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Slot
from PySide6.QtWidgets import QComboBox, QPushButton, QSplitter, QTabWidget, QWidget

from core.benchmarks.model import Run
from core.jobs import Event, Live, Progress
from core.language import marked, tr
from core.migration.model.standing import Milestone
from gui import actions
from gui.bridge import Task
from gui.dialogs.resync import ask_about_resync
from gui.models import benchmarks as rows
from gui.models.benchmarks import RepetitionRow
from gui.models.facts import Detail
from gui.models.progress import Stage, remaining, stage_of
from gui.models.queue import FORECAST_COLUMNS, WAYS, Entry, ForecastRow, State, forecast_rows, whole_queue
from gui.models.tiles import tile_rows
from gui.models.words import in_sentence
from gui.pages.page import Page
from gui.widgets.filter_box import FilterBox
from gui.widgets.label import Label, tip
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.widgets.tiles import TilesView
from gui.work import Work

if TYPE_CHECKING:
    from core.benchmarks.suites import Listed

PROBLEMS = marked("The benchmarks cannot start before the problems are solved")
NO_FORECAST = marked("Make a forecast first")
Choice = tuple[str, str]
"""A suite, and one of WAYS."""


class MeasurePage(Page):
    """The history's rows are the state of a run: while one runs they are read again as each repetition begins."""

    title, milestone = marked("Measure"), Milestone.MEASURE
    help = marked(
        "What both storages really do. A forecast says how long a suite takes, how much space it needs and what "
        "forbids it; then it can be started. Several suites can be queued: they run in their order. Each workload is "
        "repeated until its figures are steady. Of its repetitions a full dot counts; a hollow one was disturbed or "
        "cached, a cross is an outlier: they count apart."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._added: list[Choice] = []
        self._entries: tuple[Entry, ...] = ()
        self._of: str | None = None
        """The move that the queue and its forecasts are of: the picked one, or the one that is measured."""
        self._forecasting: Task | None = None
        self._progress: Progress | None = None
        self._stage: Stage | None = None
        self._wait_for_resync = False
        self._at = ""
        self._arrived = False
        self._clock = QElapsedTimer()
        self._tick = QTimer(self, interval=500)
        self._tick.timeout.connect(self._say_hint)
        self._make_head()
        self._make_tables()
        self._make_tabs()
        for widget in (self.hint, self.forecasts, self.tabs):
            self.column.addWidget(widget)
        work.ended.connect(self._go_on)
        work.picked.connect(self._follow_pick)
        self._follow_pick()

    def _make_head(self) -> None:
        self.suite, self.sides = QComboBox(self), QComboBox(self)
        for way in WAYS:
            self.sides.addItem(tr(way), way)
        self.forecast = self.button(
            tr("&Forecast"), self.make_forecast, tr("How long, how much space, and what forbids it")
        )
        self.start = self.button(tr("&Start benchmarks"), self.run_queue)
        self.queue = self.button(
            tr("&Queue it"), self.add_to_queue, tr("Measure this suite too, behind those before it")
        )
        self.empty = self.button(tr("&Empty the queue"), self.empty_queue)
        self.empty.hide()
        suite, sides = Label(tr("S&uite:"), self), Label(tr("S&ides:"), self)
        suite.setBuddy(self.suite)
        sides.setBuddy(self.sides)
        for box, name in ((self.suite, tr("Suite")), (self.sides, tr("Sides"))):
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.currentTextChanged.connect(self._chosen_anew)
        self.suite.currentIndexChanged.connect(self._say_suite)
        self.heading(suite, self.suite, sides, self.sides, self.queue, self.empty, self.forecast, self.start)

    def _make_tables(self) -> None:
        self.hint = Label(parent=self)
        self.hint.setWordWrap(True)
        self.forecasts = Table[ForecastRow](tr("Forecast"), FORECAST_COLUMNS, self)
        self.forecasts.setFixedHeight(self.fontMetrics().height() * 6 + 12)
        self.forecasts.hide()
        self.suites: Table[Listed] = Table(tr("Suites"), rows.SUITE_COLUMNS, self)
        self.suites.chosen.connect(self._take_suite)
        self.table = Table[RepetitionRow](tr("Repetitions"), rows.REPETITION_COLUMNS, self)
        self.table.chosen.connect(self._show_row)
        self.metrics = Table[Detail](tr("Metrics of the repetition"), rows.METRIC_COLUMNS, self)
        self.raw = TextView(tr("Command and raw output"), self)

    def _make_tabs(self) -> None:
        self.tiles = TilesView(self)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("What was measured"))
        self.tabs.addTab(self.tiles, tr("Coc&kpit"))
        self.tabs.addTab(self._split(), tr("&Repetitions"))
        self.tabs.addTab(self.suites, tr("What sui&tes measure"))
        FilterBox(self.table, self).stand_in(self.tabs)

    @property
    def primary(self) -> QPushButton | None:
        return self.start if self.start.isEnabled() else self.forecast

    def question(self) -> Any:
        move = self.work.move
        return None if move is None else partial(_answer, move.name, self.suite.count() == 0)

    def show_answer(self, answer: "tuple[tuple[Listed, ...], tuple[Run, ...]] | None") -> None:
        if answer is None:
            self.explain_no_move()
            return
        self.fill()
        found_suites, runs = answer
        for suite in found_suites:
            self.suite.addItem(suite.name)
            self.suite.setItemData(self.suite.count() - 1, tip(rows.suite_words(suite)), Qt.ItemDataRole.ToolTipRole)
        if found_suites:
            self.suites.set_rows(found_suites)
            self.suites.choose(0)
            self._say_suite()
        if not runs and not self.table.rows.rows and not self._running:
            self.tabs.setCurrentWidget(self.suites)
        found = rows.repetition_rows(runs)
        self.tiles.show_rows(tile_rows(runs))
        self.table.set_rows(found)
        if found and self.table.current() is None:
            self.table.choose(0)
        self._say_hint()

    @Slot()
    def update_buttons(self) -> None:
        known = self.suite.count() > 0 and self.work.move is not None
        self.queue.setEnabled(known and self._of_picked)
        waits = any(entry.state is State.WAITS for entry in self._entries) if self._running else bool(self._added)
        self.empty.setVisible(waits and self._of_picked)
        self.forecast.setEnabled(known and self.work.ready)
        why_not = self._why_not()
        self.start.setEnabled(known and not why_not)
        self.start.setToolTip(why_not)
        self._say_hint()
        if self._arrived and self.forecast.isEnabled():
            self._arrived = False
            self.make_forecast()

    def arrive(self) -> None:
        self._arrived = not (self._running or self._is_forecast)
        self.update_buttons()

    @property
    def _wanted(self) -> list[Choice]:
        """What is queued, or else what is chosen."""
        return self._added or [(self.suite.currentText(), self.sides.currentData())]

    @property
    def _is_forecast(self) -> bool:
        """Whether the forecast is of what is wanted now."""
        made = [(entry.suite, entry.way) for entry in self._entries if entry.state is State.WAITS]
        return self._of_picked and made == self._wanted

    @property
    def _of_picked(self) -> bool:
        """Whether the queue is of the picked move: another one may be measured meanwhile."""
        return self.work.move is not None and self.work.move.name == self._of

    def _why_not(self) -> str:
        """Why the benchmarks cannot start now; empty: they can."""
        if not self.work.ready:
            return tr("Something else runs at this moment")
        if not self._is_forecast:
            return tr(NO_FORECAST)
        return tr(PROBLEMS) if any(entry.problems for entry in self._entries) else ""

    @property
    def _running(self) -> bool:
        return any(entry.state is State.RUNS for entry in self._entries)

    @Slot()
    def add_to_queue(self) -> None:
        """Measure what is chosen behind what is queued already; also while that is measured."""
        choice = (self.suite.currentText(), self.sides.currentData())
        if self._running:
            self._show_entries((*self._entries, Entry(*choice)))
            self.update_buttons()
            return
        self._added.append(choice)
        self._forget_forecast()

    @Slot()
    def empty_queue(self) -> None:
        """Queue nothing; what runs comes to its end."""
        self._added.clear()
        if self._running:
            self._show_entries(tuple(entry for entry in self._entries if entry.state is not State.WAITS))
            self.update_buttons()
        else:
            self._forget_forecast()

    @Slot()
    def make_forecast(self) -> None:
        """Forecast what is queued, or else what is chosen."""
        move, wanted = self.work.move, [*self._wanted]
        if move is not None:
            task = self._forecasting = self.run(tr("Forecast"), partial(_forecast, move.name, wanted))
            if task is not None:
                task.succeeded.connect(partial(self._show_forecast, move.name, wanted))
                task.finished.connect(self._end_forecast)
                self._say_hint()

    @Slot()
    def run_queue(self) -> None:
        """Run what was forecast; where an array is being rebuilt, ask whether to wait for it first."""
        found = (one.resync for entry in self._entries for one in entry.forecasts if one.resync)
        resync = "; ".join(dict.fromkeys(found))
        if resync:
            ask_about_resync(self, resync, self._start)
        else:
            self._start(wait_for_resync=False)

    def _start(self, wait_for_resync: bool) -> None:
        self._wait_for_resync = wait_for_resync
        self.tabs.setCurrentWidget(self.tiles)
        self._run_next()

    def _run_next(self) -> None:
        """Begin the first of the queue that waits."""
        move = self._of
        number = next((n for n, entry in enumerate(self._entries) if entry.state is State.WAITS), None)
        if number is None or move is None:
            return
        entry = self._entries[number]
        title = tr("Benchmarks {suite}").format(suite=entry.suite)
        if len(self._entries) > 1:
            title += tr(" ({number} of {entries})").format(number=number + 1, entries=len(self._entries))
        way = WAYS[entry.way]
        action = partial(
            actions.run_benchmarks, move, entry.suite, way.sides, self._wait_for_resync, at_once=way.at_once
        )
        task = self.run(title, action)
        if task is not None:
            task.reported.connect(self.take_events)
            task.succeeded.connect(self._ended_well)
            self._mark(number, State.RUNS)
            self._progress = self._stage = None
            self._clock.start()
            self._tick.start()
            self._say_hint()

    @Slot(object)
    def take_events(self, events: tuple[Event, ...]) -> None:
        """What the benchmarks report: what moves now, and that another repetition begins."""
        for event in events:
            if isinstance(event, Live) and self._of_picked:
                self.tiles.tiles.take(event)
            elif isinstance(event, Progress):
                self._progress, self._stage = event, stage_of(event, self._elapsed, self._stage)
                self._say_hint()  # with the bar below, which says the same
                if event.title != self._at:
                    # another repetition begins: the one before it is in the history
                    self._at = event.title
                    self.refresh()

    @property
    def _elapsed(self) -> float:
        """Seconds that the suite has run for."""
        return self._clock.elapsed() / 1000

    @Slot(object)
    def _ended_well(self, _runs: object) -> None:
        number = next(n for n, entry in enumerate(self._entries) if entry.state is State.RUNS)
        self._mark(number, State.DONE)

    @Slot()
    def _go_on(self) -> None:
        """A job has ended: the next of the queue begins, unless it failed or was cancelled."""
        if not self._tick.isActive():
            return
        self._tick.stop()
        self.tiles.tiles.rest()
        stopped = self._running
        if not stopped:
            self._run_next()
        if not self._tick.isActive():
            self._added.clear()
            self._show_entries(() if stopped else self._entries)
            if not self._of_picked:
                self._follow_pick()
        self.update_buttons()

    @Slot()
    def _follow_pick(self) -> None:
        """Another move is picked, or this one was edited: a forecast holds no more. A queue goes with its move.

        What runs goes on; it is not shown beside another move.
        """
        if self._running:
            self._show_entries(self._entries)
            self.tiles.tiles.rest()
            return
        if not self._of_picked:
            self._added.clear()
        self._of = None if self.work.move is None else self.work.move.name
        self._forget_forecast()

    def _mark(self, number: int, state: State) -> None:
        changed = replace(self._entries[number], state=state)
        self._show_entries((*self._entries[:number], changed, *self._entries[number + 1 :]))

    def _show_entries(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        self.forecasts.set_rows(forecast_rows(entries))
        self.forecasts.setVisible(bool(entries) and self._of_picked)
        self._say_hint()

    def _split(self) -> QWidget:
        below = QSplitter(Qt.Orientation.Horizontal, self)
        below.addWidget(self.metrics)
        below.addWidget(self.raw)
        below.setSizes([320, 560])
        whole = QSplitter(Qt.Orientation.Vertical, self)
        whole.addWidget(self.table)
        whole.addWidget(below)
        whole.setSizes([300, 220])
        whole.setChildrenCollapsible(False)
        below.setChildrenCollapsible(False)
        return whole

    def _show_forecast(self, move: str, wanted: list[Choice], entries: tuple[Entry, ...]) -> None:
        if (move, wanted) == (self._of, self._wanted):  # else something else is wanted meanwhile
            self._show_entries(entries)
            self.update_buttons()

    @Slot()
    def _end_forecast(self) -> None:
        self._forecasting = None
        self._say_hint()

    @Slot()
    def _say_suite(self) -> None:
        self.suite.setToolTip(self.suite.currentData(Qt.ItemDataRole.ToolTipRole) or "")
        shown = [each.name for each in self.suites.rows.rows]  # the table may be sorted
        if self.suite.currentText() in shown:
            self.suites.choose(shown.index(self.suite.currentText()))

    @Slot(object)
    def _take_suite(self, suite: "Listed | None") -> None:
        if suite is not None:
            self.suite.setCurrentText(suite.name)

    @Slot()
    def _chosen_anew(self) -> None:
        if not self._added and not self._running:
            self._forget_forecast()

    def _forget_forecast(self) -> None:
        self._show_entries(())
        self.update_buttons()

    @Slot()
    def _say_hint(self) -> None:
        self.hint.setText(self._hint())

    def _hint(self) -> str:
        queued = ", ".join(f"{suite} ({in_sentence(tr(way))})" for suite, way in self._added)
        if self._running:
            what = "" if self._of_picked else f" {self._of}"
            return tr("Measuring{what}: {whole_queue}").format(
                what=what, whole_queue=whole_queue(self._entries, self._elapsed, self._left)
            )
        if self._forecasting is not None:
            return tr("The forecast is being made.")
        if self._is_forecast:
            if any(entry.problems for entry in self._entries):
                return f"{tr(PROBLEMS)}."
            return tr("Ready to start: {whole_queue}").format(whole_queue=whole_queue(self._entries))
        if self._entries and self._of_picked and all(entry.state is State.DONE for entry in self._entries):
            return tr("Measured: {suite}. Compare says what came of it.").format(
                suite=", ".join(entry.suite for entry in self._entries)
            )
        if queued:
            return tr("Queued: {queued}. Make a forecast: how long all of it takes and what it needs.").format(
                queued=queued
            )
        suite = self.suites.current()
        said = "" if suite is None else rows.suite_words(suite)
        return tr("{said} Make a forecast: how long it takes and what it needs.").format(said=said).strip()

    @property
    def _left(self) -> float | None:
        """Seconds that the suite may still take, reckoned as the bar below the page does."""
        if self._progress is None or self._stage is None:
            return None
        return remaining(self._progress, self._stage, self._elapsed)

    @Slot(object)
    def _show_row(self, row: RepetitionRow | None) -> None:
        self.metrics.set_rows(() if row is None else rows.metrics(row))
        number = None if row is None or row.repetition is None else row.run.id
        task = None if number is None else self.work.read(partial(actions.run, number))
        if row is None or task is None:
            self.raw.set_text("")
        else:
            task.succeeded.connect(partial(self._show_raw, row))

    def _show_raw(self, row: RepetitionRow, run: Run) -> None:
        shown = self.table.current()
        if shown is None or shown.repetition is None or (shown.run.id, shown.repetition) != (run.id, row.repetition):
            return
        number = shown.repetition.number
        text = next((f"$ {one.command}\n\n{one.raw}" for one in run.repetitions if one.number == number), "")
        self.raw.set_text(text)


def _answer(move: str, with_suites: bool, session: Any) -> "tuple[tuple[Listed, ...], tuple[Run, ...]]":
    return (actions.suites() if with_suites else ()), actions.runs(move, session)


def _forecast(move: str, wanted: list[Choice], session: Any, job: Any) -> tuple[Entry, ...]:
    return tuple(
        Entry(suite, way, actions.forecast(move, suite, WAYS[way].sides, session, job)) for suite, way in wanted
    )
