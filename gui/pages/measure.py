"""The page Benchmarks: forecasts, the queue of suites, and their repetitions."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QElapsedTimer, QSignalBlocker, Qt, QTimer, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSplitter, QTabWidget, QWidget

from core import api
from core.benchmarks.model import Run
from core.comparison.model import Row
from core.jobs import Event, Job, Live, Progress
from core.language import marked, tr
from core.migration.model.standing import Milestone
from core.user_settings.declaration import Settings
from gui.appearance import tip
from gui.bridge import Task
from gui.design.measures import GRID, ROW, scaled
from gui.design.parts import ButtonKind, set_kind
from gui.destinations import TITLES, PageId
from gui.dialogs.confirm import ask_about_resync
from gui.models import benchmarks as rows
from gui.models.benchmarks import NO_SUITE, RepetitionRow
from gui.models.progress import Stage, find_stage, remaining
from gui.models.queue import (
    FORECAST_COLUMNS,
    SIDES_TITLES,
    Entry,
    ForecastRow,
    MeasuredSides,
    State,
    describe_queue,
    forecast_rows,
)
from gui.models.sentences import recorded
from gui.models.tiles import contrasts, tile_rows
from gui.models.words import in_sentence, plain_names, side_names
from gui.pages.page import Page
from gui.widgets.label import Label
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.widgets.tiles import TilesView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.benchmarks import Listed
    from core.api.session import Session

    Found: TypeAlias = tuple[tuple[Listed, ...], tuple[Run, ...], Mapping[str, Row]]

NEWEST = 500
"""The number of runs that are shown: more than a person reads."""
PROBLEMS = marked("The benchmarks cannot start before the problems are solved.")
BUSY = marked("Another job is running. A forecast can be made when it has ended.")
NO_FORECAST = marked("Make a forecast first.")
Choice = tuple[str, MeasuredSides]
"""A suite, and where it is measured."""


class MeasurePage(Page["Found"]):
    """The benchmarks of the selected move. Each repetition of a running suite lets the page read the history again."""

    id, title, milestone = PageId.MEASURE, TITLES[PageId.MEASURE], Milestone.MEASURE
    help = marked(
        "The benchmarks measure the storage of both servers. First make a forecast: it says how long a suite "
        "takes, how much space it needs, and what prevents it. Then start the benchmarks. You can queue "
        "several suites. They run one after the other. Each workload is repeated until its values are steady. "
        "A full dot is a repetition that counts. A hollow dot is a disturbed or cached repetition, and a cross "
        "is an outlier. These do not count towards the mean."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._added: list[Choice] = []
        self._entries: tuple[Entry, ...] = ()
        self._of: str | None = None
        """The move of the queue and its forecasts: the selected one, or the one that is being measured."""
        self._forecasting: Task[object] | None = None
        self._progress: Progress | None = None
        self._stage: Stage | None = None
        self._wait_for_resync = False
        self._repetition_shown = ""
        self._arrived = False
        self._missing = ""
        """The suite of the settings, if there is none of that name; until a suite is chosen."""
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
        work.settings_changed.connect(self._follow_settings)
        self._follow_pick()

    def _make_head(self) -> None:
        self.suite, self.sides = QComboBox(self), QComboBox(self)
        for measured, title in SIDES_TITLES.items():
            self.sides.addItem(tr(title), measured.value)
        self.forecast = self.button(
            tr("&Forecast"), self.make_forecast, tr("Forecast the duration, the space needed, and problems")
        )
        self.start = self.button(tr("&Start benchmarks"), self.run_queue, kind=ButtonKind.PRIMARY)
        self.queue = self.button(tr("&Queue"), self.add_to_queue, tr("Run this suite after those in the queue"))
        self.empty = self.button(tr("Emp&ty the queue"), self.empty_queue)
        self.empty.hide()
        suite, sides = Label(tr("S&uite:"), self), Label(tr("Serv&ers:"), self)
        suite.setBuddy(self.suite)
        sides.setBuddy(self.sides)
        for box, name in ((self.suite, tr("Suite")), (self.sides, tr("Servers to measure"))):
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.currentTextChanged.connect(self._follow_choice)
        self.suite.currentIndexChanged.connect(self._say_suite)
        self.suite.currentIndexChanged.connect(self._forget_missing)
        self.heading(self.queue, self.empty, self.forecast, self.start)
        line = QHBoxLayout()
        for each in (suite, self.suite, sides, self.sides):
            line.addWidget(each)
        line.addStretch()
        self.column.addLayout(line)

    def _make_tables(self) -> None:
        self.hint = Label(parent=self)
        self.hint.setWordWrap(True)
        self.forecasts = Table[ForecastRow]("forecast", tr("Forecast"), FORECAST_COLUMNS, self)
        self.forecasts.setFixedHeight(scaled(4 * ROW) + GRID)
        self.forecasts.hide()
        self.suites: Table[Listed] = Table("suites", tr("Suites"), rows.SUITE_COLUMNS, self)
        self.suites.chosen.connect(self._take_suite)
        self.table = Table[RepetitionRow]("repetitions", tr("Repetitions"), rows.REPETITION_COLUMNS, self)
        self.table.setColumnHidden(rows.METRIC_COLUMN, True)  # the value has its unit
        self.table.chosen.connect(self._show_row)
        self.metrics = Table[rows.MetricRow]("metrics", tr("Metrics of the repetition"), rows.METRIC_COLUMNS, self)
        self.raw = TextView(tr("Command and raw output"), self)

    def _make_tabs(self) -> None:
        self.tiles = TilesView(self)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("Results"))
        self.tabs.addTab(self.tiles, tr("Overvie&w"))
        self.tabs.addTab(self._split(), tr("&Repetitions"))
        self.tabs.addTab(self.suites, tr("Su&ites"))
        FilterBox(self.table, self).stand_in(self.tabs)

    def _show_results(self, are_there: bool) -> None:
        """Show the tabs of the results, or the suites alone while nothing was measured."""
        for number in range(self.tabs.count()):
            self.tabs.setTabVisible(number, are_there or self.tabs.widget(number) is self.suites)

    @property
    def primary(self) -> QPushButton | None:
        return self.start if self.start.isEnabled() else self.forecast

    def question(self) -> "Callable[[Session], Found] | None":
        move = self.work.move
        return None if move is None else partial(_answer, move.name, self.suite.count() == 0)

    def show_answer(self, answer: "Found") -> None:
        self.fill()
        found_suites, runs, compared = answer
        if found_suites:
            self._fill_suites(found_suites)
        self._show_results(bool(runs) or self._running)
        found = rows.repetition_rows(runs)
        shown = tile_rows(runs, compared, plain_names(self.work.move))
        self.tiles.show_rows(shown, side_names(self.work.move))
        several = len({run.volume.mount_point for run in runs}) > 1
        self.table.setColumnHidden(rows.VOLUME_COLUMN, not several)
        self.table.set_rows(found)
        if found and self.table.current() is None:
            self.table.choose(0)
        self._say_hint()

    def _fill_suites(self, found: "tuple[Listed, ...]") -> None:
        """Offer the suites. The choice changes once, so that the first forecast is of the suite of the settings."""
        with QSignalBlocker(self.suite):
            for suite in found:
                self.suite.addItem(suite.name)
                told = tip(rows.describe_suite(suite))
                self.suite.setItemData(self.suite.count() - 1, told, Qt.ItemDataRole.ToolTipRole)
            self.suites.set_rows(found)
            self.suites.choose(0)
            self._choose_set_suite()
        self._say_suite()
        self._follow_choice()

    @Slot()
    def update_buttons(self) -> None:
        known = self.suite.count() > 0 and self.work.move is not None
        self.queue.setEnabled(known and self._belongs_to_picked)
        waits = any(entry.state is State.WAITS for entry in self._entries) if self._running else bool(self._added)
        self.empty.setVisible(waits and self._belongs_to_picked)
        self.forecast.setEnabled(known and self.work.ready)
        why_not = self._why_not()
        self.start.setEnabled(known and not why_not)
        self.start.setVisible(self._is_forecast)  # before that there is nothing to start, and the hint says so
        set_kind(self.forecast, ButtonKind.SECONDARY if self.start.isEnabled() else ButtonKind.PRIMARY)
        self.start.setToolTip(why_not)
        self._say_hint()
        if self._arrived and self.forecast.isEnabled():
            self._arrived = False
            self.make_forecast()

    def arrive(self) -> None:
        self._arrived = not (self._running or self._is_forecast)
        self.update_buttons()

    @property
    def _choice(self) -> Choice:
        """The suite and the sides that the two boxes show."""
        return self.suite.currentText(), MeasuredSides(self.sides.currentData())

    @property
    def _wanted(self) -> list[Choice]:
        """The suites in the queue, or else the selected one."""
        return self._added or [self._choice]

    @property
    def _is_forecast(self) -> bool:
        """Whether the forecast fits the current choice."""
        made = [(entry.suite, entry.measured) for entry in self._entries if entry.state is State.WAITS]
        return self._belongs_to_picked and made == self._wanted

    @property
    def _belongs_to_picked(self) -> bool:
        """Whether the queue belongs to the selected move: another one may be measured now."""
        return self.work.move is not None and self.work.move.name == self._of

    def _why_not(self) -> str:
        """Return why the benchmarks cannot start now; empty if they can."""
        if not self.work.ready:
            return tr(BUSY)
        if not self._is_forecast:
            return tr(NO_FORECAST)
        return tr(PROBLEMS) if any(entry.problems for entry in self._entries) else ""

    @property
    def _running(self) -> bool:
        return any(entry.state is State.RUNS for entry in self._entries)

    @Slot()
    def add_to_queue(self) -> None:
        """Add the selected suite to the queue, also while the queue is running."""
        choice = self._choice
        if self._running:
            self._show_entries((*self._entries, Entry(*choice)))
            self.update_buttons()
            return
        self._added.append(choice)
        self._forget_forecast()

    @Slot()
    def empty_queue(self) -> None:
        """Empty the queue; a running suite continues."""
        self._added.clear()
        if self._running:
            self._show_entries(tuple(entry for entry in self._entries if entry.state is not State.WAITS))
            self.update_buttons()
        else:
            self._forget_forecast()

    @Slot()
    def make_forecast(self) -> None:
        """Make a forecast of the queue, or else of the selected suite."""
        move, wanted = self.work.move, [*self._wanted]
        if move is not None:
            task = self._forecasting = self.run(tr("Forecast"), partial(_forecast, move.name, wanted))
            if task is not None:
                task.then(partial(self._show_forecast, move.name, wanted))
                task.finished.connect(self._end_forecast)
                self._say_hint()

    @Slot()
    def run_queue(self) -> None:
        """Run the suites of the forecast. If an array is rebuilding, ask whether to wait."""
        found = (recorded(one.resync) for entry in self._entries for one in entry.forecasts if one.resync)
        resync = "; ".join(dict.fromkeys(found))
        if resync:
            ask_about_resync(self, resync, self._start)
        else:
            self._start(wait_for_resync=False)

    def _start(self, wait_for_resync: bool) -> None:
        self._wait_for_resync = wait_for_resync
        self._show_results(True)
        self.tabs.setCurrentWidget(self.tiles)
        self._run_next()

    def _run_next(self) -> None:
        """Start the first waiting suite of the queue."""
        move = self._of
        number = next((n for n, entry in enumerate(self._entries) if entry.state is State.WAITS), None)
        if number is None or move is None:
            return
        entry = self._entries[number]
        title = tr("Benchmarks {suite}").format(suite=entry.suite)
        if len(self._entries) > 1:
            title += tr(" ({number} of {entries})").format(number=number + 1, entries=len(self._entries))
        task = self.run(title, partial(_run, move, entry, self._wait_for_resync))
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
        """Show the current rates, and read the history when another repetition begins."""
        for event in events:
            if isinstance(event, Live) and self._belongs_to_picked:
                self.tiles.tiles.take(event)
            elif isinstance(event, Progress):
                self._progress, self._stage = event, find_stage(event, self._elapsed, self._stage)
                self._say_hint()  # with the bar below, which says the same
                if event.id != self._repetition_shown:
                    # another repetition begins: the one before it is in the history
                    self._repetition_shown = event.id
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
        """Start the next suite when a job has ended, unless it failed or was cancelled."""
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
            if not self._belongs_to_picked:
                self._follow_pick()
        self.update_buttons()

    @Slot()
    def _follow_pick(self) -> None:
        """Forget the forecast when another move is selected or this one was edited.

        A running suite continues, and is not shown with another move.
        """
        if self._running:
            self._show_entries(self._entries)
            self.tiles.tiles.rest()
            return
        if not self._belongs_to_picked:
            self._added.clear()
        self._of = None if self.work.move is None else self.work.move.name
        self._forget_forecast()

    def _mark(self, number: int, state: State) -> None:
        changed = replace(self._entries[number], state=state)
        self._show_entries((*self._entries[:number], changed, *self._entries[number + 1 :]))

    def _show_entries(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        self.forecasts.set_rows(forecast_rows(entries))
        self.forecasts.setVisible(bool(entries) and self._belongs_to_picked)
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

    def _choose_set_suite(self) -> None:
        """Select the suite of the settings; one that does not exist is said in the hint."""
        wanted = self.work.settings.benchmark.suite
        number = self.suite.findText(wanted, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchCaseSensitive)
        if number >= 0:
            self.suite.setCurrentIndex(number)
        self._missing = "" if number >= 0 else wanted
        self._say_hint()

    @Slot()
    def _forget_missing(self) -> None:
        self._missing = ""
        self._say_hint()

    @Slot(object)
    def _follow_settings(self, before: Settings) -> None:
        if self.suite.count() and self.work.settings.benchmark != before.benchmark:
            self._choose_set_suite()

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
    def _follow_choice(self) -> None:
        if not self._added and not self._running:
            self._forget_forecast()

    def _forget_forecast(self) -> None:
        self._show_entries(())
        self.update_buttons()

    @Slot()
    def _say_hint(self) -> None:
        missing = tr(NO_SUITE).format(suite=self._missing) if self._missing and not self._running else ""
        self.hint.setText(f"{missing} {self._hint()}".strip())

    def _hint(self) -> str:
        queued = ", ".join(f"{suite} ({in_sentence(tr(SIDES_TITLES[measured]))})" for suite, measured in self._added)
        if self._running:
            what = "" if self._belongs_to_picked else tr(" of {move}").format(move=self._of)
            return tr("The benchmarks{what} are running: {whole_queue}").format(
                what=what, whole_queue=describe_queue(self._entries, self._elapsed, self._left)
            )
        if self._forecasting is not None:
            return tr("The forecast is being made.")
        if self._is_forecast:
            if any(entry.problems for entry in self._entries):
                return tr(PROBLEMS)
            return tr("Ready to start: {whole_queue}").format(whole_queue=describe_queue(self._entries))
        if self._entries and self._belongs_to_picked and all(entry.state is State.DONE for entry in self._entries):
            return tr("Measured: {suite}. See the page Comparison for the results.").format(
                suite=", ".join(entry.suite for entry in self._entries)
            )
        if queued:
            return tr("In the queue: {queued}. Make a forecast of the duration and the space needed.").format(
                queued=queued
            )
        if self.work.move is not None and not self.work.ready:
            return tr(BUSY)
        suite = self.suites.current()
        said = "" if suite is None else rows.describe_suite(suite)
        return tr("{said} Make a forecast of the duration and the space needed.").format(said=said).strip()

    @property
    def _left(self) -> float | None:
        """The remaining time of the suite in seconds, calculated as in the job bar."""
        if self._progress is None or self._stage is None:
            return None
        return remaining(self._progress, self._stage, self._elapsed)

    @Slot(object)
    def _show_row(self, row: RepetitionRow | None) -> None:
        self.metrics.set_rows(() if row is None else rows.metrics(row))
        number = None if row is None or row.repetition is None else row.run.id
        task = None if number is None else self.work.read(partial(_run_with_output, number))
        if row is None or task is None:
            self.raw.set_text("")
        else:
            task.then(partial(self._show_raw, row))

    def _show_raw(self, row: RepetitionRow, run: Run) -> None:
        shown = self.table.current()
        if shown is None or shown.repetition is None or (shown.run.id, shown.repetition) != (run.id, row.repetition):
            return
        number = shown.repetition.number
        text = next((f"$ {one.command}\n\n{one.raw}" for one in run.repetitions if one.number == number), "")
        self.raw.set_text(text)


def _answer(move: str, with_suites: bool, session: "Session") -> "Found":
    """Return the suites, the newest runs of the move, newest first, without the outputs of the tools, and contrasts."""
    runs = session.store.runs(move, newest=NEWEST, raw=False)[::-1]
    return (api.benchmarks.list_suites() if with_suites else ()), runs, contrasts(runs)


def _run_with_output(number: int, session: "Session") -> Run:
    return session.store.run(number)


def _run(move: str, entry: Entry, wait_for_resync: bool, session: "Session", job: Job) -> tuple[Run, ...]:
    return api.benchmarks.run_benchmarks(
        session,
        move,
        entry.suite,
        job,
        entry.measured.sides,
        wait_for_resync=wait_for_resync,
        at_once=entry.measured.at_once,
    )


def _forecast(move: str, wanted: list[Choice], session: "Session", job: Job) -> tuple[Entry, ...]:
    return tuple(
        Entry(suite, measured, api.benchmarks.forecast_benchmarks(session, move, suite, job, measured.sides))
        for suite, measured in wanted
    )
