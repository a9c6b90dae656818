"""Measure: what both storages really do. A forecast first, then the suite, its repetitions as they end."""

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Slot
from PySide6.QtWidgets import QComboBox, QPushButton, QSplitter, QTabWidget, QWidget

from core.benchmarks.model import Forecast, Run, Side
from core.migration.model.standing import Milestone
from gui import actions
from gui.appearance import Tone
from gui.dialogs.resync import ask_about_resync
from gui.models import benchmarks as rows
from gui.models.benchmarks import RepetitionRow
from gui.models.facts import Detail
from gui.models.tiles import tile_rows, whole_job
from gui.pages.page import Page
from gui.widgets.label import Label, tip
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.widgets.tiles import TilesView
from gui.widgets.tone_label import ToneLabel
from gui.work import Work

if TYPE_CHECKING:
    from core.benchmarks.suites import Listed

LIVE_MS = 1000
SIDES = {"Both sides": (Side.OLD, Side.NEW), "Old alone": (Side.OLD,), "New alone": (Side.NEW,)}


class MeasurePage(Page):
    """The history's rows are the state of a run: while one runs they are read again every second."""

    title, milestone = "Measure", Milestone.MEASURE
    help = (
        "What both storages really do. A forecast says how long a suite takes, how much space it needs and what "
        "forbids it; then it can be started. Each workload is repeated until its figures are steady; what was "
        "disturbed, cached or an outlier is marked and counted apart."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._forecast_for: tuple[str, str, str] | None = None
        self._clear = False
        self._resync = ""
        self.suite, self.sides = QComboBox(self), QComboBox(self)
        self.sides.addItems(list(SIDES))
        self.forecast = self.button("&Forecast", self.make_forecast, "How long, how much space, and what forbids it")
        self.start = self.button("&Start benchmarks", self.run_suite)
        suite, sides = Label("S&uite:", self), Label("S&ides:", self)
        suite.setBuddy(self.suite)
        sides.setBuddy(self.sides)
        for box, name in ((self.suite, "Suite"), (self.sides, "Sides")):
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.currentTextChanged.connect(self._forget_forecast)
        self.suite.currentIndexChanged.connect(self._say_suite)
        self.heading(suite, self.suite, sides, self.sides, self.forecast, self.start)
        self.hint = Label(parent=self)
        self.hint.setWordWrap(True)
        self.forecasts = Table[Forecast]("Forecast", rows.FORECAST_COLUMNS, self)
        self.forecasts.setFixedHeight(self.fontMetrics().height() * 6 + 12)
        self.forecasts.hide()
        self.table = Table[RepetitionRow]("Repetitions", rows.REPETITION_COLUMNS, self)
        self.table.chosen.connect(self._show_row)
        self.metrics = Table[Detail]("Metrics of the repetition", rows.METRIC_COLUMNS, self)
        self.raw = TextView("Command and raw output", self)
        self.described = ToneLabel("", Tone.MUTED, self)
        self.described.setWordWrap(True)
        self.tiles = TilesView(self)
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName("What was measured")
        self.tabs.addTab(self.tiles, "Coc&kpit")
        self.tabs.addTab(self._split(), "&Repetitions")
        for widget in (self.described, self.hint, self.forecasts, self.tabs):
            self.column.addWidget(widget)
        self._clock = QElapsedTimer()
        self._live = QTimer(self, interval=LIVE_MS)
        self._live.timeout.connect(self.refresh)
        work.ended.connect(self._live.stop)

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
            self.suite.addItem(suite.name, rows.suite_words(suite))
            self.suite.setItemData(self.suite.count() - 1, tip(rows.suite_words(suite)), Qt.ItemDataRole.ToolTipRole)
        if found_suites:
            self._say_suite()
        found = rows.repetition_rows(runs)
        self.tiles.show_rows(tile_rows(runs))
        self.table.set_rows(found)
        if found and self.table.current() is None:
            self.table.choose(0)
        self._say_hint(bool(found))

    @Slot()
    def update_buttons(self) -> None:
        ready = self.work.ready and self.suite.count() > 0 and self.work.move is not None
        self.forecast.setEnabled(ready)
        self.start.setEnabled(ready and self._clear and self._forecast_for == self._choice())
        self.start.setToolTip("" if self.start.isEnabled() else "Make a forecast first")

    @Slot()
    def make_forecast(self) -> None:
        """Forecast the chosen suite on the chosen sides."""
        choice = self._choice()
        action = partial(actions.forecast, choice[0], choice[1], SIDES[choice[2]])
        task = self.run(f"Forecast of {choice[1]}", action)
        if task is not None:
            task.succeeded.connect(partial(self._show_forecast, choice))

    @Slot()
    def run_suite(self) -> None:
        """Run what was forecast; where an array is being rebuilt, ask whether to wait for it first."""
        if self._resync:
            ask_about_resync(self, self._resync, self._start)
        else:
            self._start(wait_for_resync=False)

    def _start(self, wait_for_resync: bool) -> None:
        move, suite, sides = self._choice()
        action = partial(actions.run_benchmarks, move, suite, SIDES[sides], wait_for_resync)
        task = self.run(f"Benchmarks {suite}", action)
        if task is not None:
            self._clock.start()
            self._live.start()

    def _choice(self) -> tuple[str, str, str]:
        move = self.work.move
        return ("" if move is None else move.name, self.suite.currentText(), self.sides.currentText())

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

    def _show_forecast(self, choice: tuple[str, str, str], forecasts: tuple[Forecast, ...]) -> None:
        self._forecast_for = choice
        self._clear = not any(forecast.problems for forecast in forecasts)
        self._resync = "; ".join(forecast.resync for forecast in forecasts if forecast.resync)
        self.forecasts.set_rows(forecasts)
        self.forecasts.show()
        self._say_hint(bool(self.table.rows.rows))
        self.update_buttons()

    @Slot()
    def _say_suite(self) -> None:
        self.suite.setToolTip(self.suite.currentData(Qt.ItemDataRole.ToolTipRole) or "")
        self.described.setText(self.suite.currentData() or "")

    @Slot()
    def _forget_forecast(self) -> None:
        self._forecast_for = None
        self.forecasts.hide()
        self.update_buttons()

    def _say_hint(self, measured: bool) -> None:
        if self._live.isActive():
            text = f"Measuring: {whole_job(self.forecasts.rows.rows, self._clock.elapsed() / 1000)}"
        elif self._forecast_for == self._choice():
            whole = whole_job(self.forecasts.rows.rows, None)
            text = (
                f"Ready to start: {whole}"
                if self._clear
                else "The benchmarks cannot start before the problems are solved."
            )
        elif measured:
            text = (
                "Make a forecast to measure again. A hollow dot was disturbed, cached or an outlier: it counts apart."
            )
        else:
            text = "Nothing was measured yet. Choose a suite and make a forecast: how long it takes and what it needs."
        self.hint.setText(text)

    @Slot(object)
    def _show_row(self, row: RepetitionRow | None) -> None:
        self.metrics.set_rows(() if row is None else rows.metrics(row))
        repetition = None if row is None else row.repetition
        self.raw.set_text("" if repetition is None else f"$ {repetition.command}\n\n{repetition.raw}")


def _answer(move: str, with_suites: bool, session: Any) -> "tuple[tuple[Listed, ...], tuple[Run, ...]]":
    return (actions.suites() if with_suites else ()), actions.runs(move, session)
