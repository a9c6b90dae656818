"""The dialog that measures volumes of any servers and compares them; no move takes part."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QEvent, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core import api, units
from core.benchmarks.model import Forecast, Outcome, Run
from core.comparison.model import Comparison
from core.errors import InputError
from core.jobs import Event, Job, Live, Progress
from core.language import current, marked, tr
from core.text import capital
from core.tones import Tone
from gui.design.measures import GRID, ROW, keep_narrow, scaled
from gui.design.parts import ButtonKind, set_kind
from gui.dialogs.confirm import ask_about_resync
from gui.guard import Guarded
from gui.models import comparison as rows
from gui.models.benchmarks import NO_SUITE
from gui.models.comparison import ComparedRow
from gui.models.progress import parts_done, title
from gui.models.queue import (
    FORECAST_COLUMNS,
    STATE_COLUMN,
    SUITE_COLUMN,
    Entry,
    ForecastRow,
    MeasuredSides,
    State,
    describe_queue,
    forecast_rows,
    problem_lines,
)
from gui.models.sentences import recorded
from gui.models.tiles import describe_live_figure
from gui.widgets.files import ask_path
from gui.widgets.label import Label, ToneLabel
from gui.widgets.table import Table
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session

FIRST_HINT = marked(
    "Choose the servers, and type the folders whose storage is measured. A forecast says how long that takes and how "
    "much space it needs, and writes nothing."
)
PROBLEMS = marked("The benchmarks cannot start before the problems are solved.")
MOST = 0.94
"""The part of a screen's width and height that the dialog takes by itself at most."""
PARTS = 1000
"""Of the progress bar."""


class VolumeField(QWidget):
    """A server and a folder on it.

    Signals:
        changed(): another server or folder; removed(): it is no longer wanted.
    """

    changed = Signal()
    removed = Signal()

    def __init__(self, servers: Sequence[str], server: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.server, self.folder = QComboBox(self), QLineEdit(self)
        keep_narrow(self.server, 20)
        self.server.addItems([*servers])
        self.server.setCurrentText(server)
        self.server.setAccessibleName(tr("Server"))
        self.folder.setAccessibleName(tr("Folder on the server"))
        self.folder.setPlaceholderText("/srv/pg")
        self.remove = QPushButton(tr("Remove"), self)
        self.remove.setAutoDefault(False)
        self.remove.setToolTip(tr("Do not measure this volume"))
        self.server.currentTextChanged.connect(self.changed)
        self.folder.textChanged.connect(self.changed)
        self.remove.clicked.connect(self.removed)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.server)
        line.addWidget(self.folder, 1)
        line.addWidget(self.remove)

    @property
    def place(self) -> str:
        """The volume as `db1:/srv/pg`; empty without an absolute folder."""
        folder = self.folder.text().strip()
        return f"{self.server.currentText()}:{folder}" if folder.startswith("/") else ""


class StorageDialog(Guarded, QDialog):
    """Measures and compares volumes. It can be closed while it measures: the job bar of the window shows the job, too.

    Signal: saved(Path): a report was written.
    """

    saved = Signal(object)

    def __init__(
        self, work: Work, servers: Sequence[str], suites: Sequence[str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.work = work
        self.setWindowTitle(tr("Benchmark storage"))
        self._servers = servers
        self._entry: Entry | None = None
        self._measures = False
        self._words: tuple[str, ...] = ()
        """What is compared: the volumes, or the runs of the last measurement on each of them."""
        self._comparison: Comparison | None = None
        self._clock = QElapsedTimer()
        self.fields: list[VolumeField] = []
        self._make_fields(suites)
        self._make_results()
        self._make_buttons()
        for server in (*servers[:2], *servers[:1])[:2]:
            self.add_volume(server)
        work.started.connect(self.update_buttons)
        work.ended.connect(self._end)
        letter, screen = self.fontMetrics().averageCharWidth(), self.screen().availableGeometry().width()
        self.setMinimumWidth(96 * letter)
        self.resize(min(160 * letter, round(screen * MOST)), self.sizeHint().height())
        if self.fields:
            self.fields[0].folder.setFocus()

    def _make_fields(self, suites: Sequence[str]) -> None:
        self.column = QVBoxLayout(self)
        self.hint = Label(tr(FIRST_HINT), self)
        self.hint.setWordWrap(True)
        self._volumes = QVBoxLayout()
        self.add = QPushButton(tr("&Add volume"), self)
        self.add.setAutoDefault(False)
        self.add.clicked.connect(lambda: self.add_volume(self._servers[0]))
        self.suite = QComboBox(self)
        self.suite.addItems([*suites])
        self._choose_set_suite()
        self.suite.setAccessibleName(tr("Suite"))
        self.at_once = QCheckBox(tr("&Measure the servers at the same time"), self)
        named = Label(tr("S&uite:"), self)
        named.setBuddy(self.suite)
        line = QHBoxLayout()
        for widget in (self.add, named, self.suite, self.at_once):
            line.addWidget(widget)
        line.addStretch()
        self.suite.currentTextChanged.connect(self._forget_forecast)
        self.at_once.toggled.connect(self._forget_forecast)
        self.column.addWidget(self.hint)
        self.column.addLayout(self._volumes)
        self.column.addLayout(line)
        self.column.addWidget(self.no_suite)

    def _choose_set_suite(self) -> None:
        """Select the suite of the settings; one that is not listed is said until a suite is chosen."""
        wanted = self.work.settings.benchmark.suite
        number = self.suite.findText(wanted)
        self.suite.setCurrentIndex(max(0, number))
        self.no_suite = ToneLabel(tr(NO_SUITE).format(suite=wanted) if number < 0 else "", Tone.WARNING, self)
        self.no_suite.setWordWrap(True)
        self.no_suite.setVisible(number < 0)
        self.suite.activated.connect(self.no_suite.hide)

    def _make_results(self) -> None:
        self.forecasts = Table[ForecastRow]("storage-forecast", tr("Forecast"), FORECAST_COLUMNS, self)
        self.forecasts.setFixedHeight(scaled(4 * ROW) + GRID)
        for column in (SUITE_COLUMN, STATE_COLUMN):  # there is one suite, and nothing waits for it
            self.forecasts.setColumnHidden(column, True)
        self.problems = ToneLabel("", None, self)  # in the table there is no room for all words
        self.problems.setWordWrap(True)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the benchmarks"))
        self.now = Label(parent=self)
        self.now.setWordWrap(True)
        self.against = QComboBox(self)
        keep_narrow(self.against, 20)
        self.against.setAccessibleName(tr("Volume that is compared with the first one"))
        self.against.currentIndexChanged.connect(self._show_rows)
        self.said = ToneLabel("", None, self)
        self.said.setWordWrap(True)
        self.table = Table[ComparedRow]("storage-comparison", tr("Comparison"), rows.COLUMNS, self)
        self.table.setColumnHidden(rows.METRIC, True)
        for widget in (self.forecasts, self.problems, self.bar, self.now, self.said, self.against, self.table):
            widget.hide()
            self.column.addWidget(widget, int(widget is self.table))
        self.column.addStretch()

    def _make_buttons(self) -> None:
        self.forecast = self._button(tr("&Forecast"), self.make_forecast)
        self.start = self._button(tr("&Start benchmarks"), self.begin)
        self.cancel = self._button(tr("Cance&l the benchmarks"), self.work.cancel)
        self.compare = self._button(tr("Com&pare"), self.compare_volumes)
        self.compare.setToolTip(tr("Compare what was measured on these volumes until now"))
        self.report = self._button(tr("Save &report…"), self.save_report)
        close = self._button(tr("Cl&ose"), self.close)
        line = QHBoxLayout()
        self._behind = (self.forecast, self.start, self.cancel, self.compare, self.report, close)
        for button in self._behind[:-1]:
            line.addWidget(button)
        line.addStretch()
        line.addWidget(close)
        self.column.addLayout(line)

    def _button(self, text: str, pressed: object) -> QPushButton:
        made = QPushButton(text, self)
        made.setAutoDefault(False)
        made.clicked.connect(pressed)
        return made

    @property
    def measures(self) -> bool:
        """Whether its benchmarks are running."""
        return self._measures

    @property
    def places(self) -> tuple[str, ...]:
        """The volumes, each once."""
        return tuple(dict.fromkeys(field.place for field in self.fields if field.place))

    def add_volume(self, server: str) -> VolumeField:
        """Add a line for a volume of that server."""
        field = VolumeField(self._servers, server, self)
        field.changed.connect(self._forget_forecast)
        field.removed.connect(partial(self._remove, field))
        self.fields.append(field)
        self._volumes.addWidget(field)
        self._order_tabs()
        self.update_buttons()
        return field

    def _order_tabs(self) -> None:
        """Let Tab go through the dialog as it is read: the volumes stand above what was made before them."""
        volumes = [widget for field in self.fields for widget in (field.server, field.folder, field.remove)]
        between = (self.add, self.suite, self.at_once, self.forecasts, self.against, self.table)
        for one, following in pairwise((*volumes, *between, *self._behind)):
            self.setTabOrder(one, following)

    def _remove(self, field: VolumeField) -> None:
        self.fields.remove(field)
        self._volumes.removeWidget(field)
        field.deleteLater()
        self._forget_forecast()

    @Slot()
    def update_buttons(self) -> None:
        """Enable what is possible now."""
        ready = self.work.ready and bool(self.places)
        possible = ready and self._entry is not None and not self._entry.problems
        for button, enabled in ((self.forecast, ready), (self.start, possible), (self.compare, ready)):
            button.setEnabled(enabled)
        self.start.setVisible(not self._measures)
        self.cancel.setVisible(self._measures)
        self.report.setEnabled(self.work.ready and self._comparison is not None)
        for field in self.fields:
            field.setEnabled(not self._measures)
            field.remove.setVisible(len(self.fields) > 1)
        for widget in (self.add, self.suite, self.at_once):
            widget.setEnabled(not self._measures)
        set_kind(self.forecast, ButtonKind.SECONDARY if possible else ButtonKind.PRIMARY)
        set_kind(self.start, ButtonKind.PRIMARY)
        self.forecast.setDefault(ready and not possible)  # Return makes a forecast, and never writes to a server

    @Slot()
    def _forget_forecast(self) -> None:
        self._show_entry(None)
        self.hint.setText(tr(FIRST_HINT))
        self.update_buttons()

    def _show_entry(self, entry: Entry | None) -> None:
        self._entry = entry
        self.forecasts.set_rows(() if entry is None else forecast_rows((entry,)))
        self.forecasts.setVisible(entry is not None)
        told = () if entry is None else problem_lines(entry)
        self.problems.setText("\n".join(told))
        self.problems.show_tone(Tone.BAD if entry is not None and entry.problems else Tone.WARNING)
        self.problems.setVisible(bool(told))

    def event(self, event: QEvent) -> bool:
        taken = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:  # something else is shown, or longer
            self._grow()
        return taken

    def _grow(self) -> None:
        """Be high enough for all texts at this width, as far as the screen allows, and never lower than now."""
        layout = self.layout()
        if layout is not None and self.isVisible():
            layout.activate()
            most = round(self.screen().availableGeometry().height() * MOST)
            wanted = min(most, layout.totalHeightForWidth(self.width()))
            if wanted > self.height():
                self.resize(self.width(), wanted)

    # --- the forecast

    @Slot()
    def make_forecast(self) -> None:
        """Forecast the duration, the space needed, and problems."""
        places, suite = self.places, self.suite.currentText()
        task = self.work.run(tr("Forecast"), partial(_forecast, places, suite))
        if task is not None:
            self.hint.setText(tr("The forecast is being made."))
            task.then(partial(self.show_forecast, places, suite))

    def show_forecast(self, places: tuple[str, ...], suite: str, found: tuple[Forecast, ...]) -> None:
        """Show the forecasts of these volumes, unless something else is wanted meanwhile."""
        if (places, suite) != (self.places, self.suite.currentText()):
            return
        measured = MeasuredSides.AT_ONCE if self.at_once.isChecked() else MeasuredSides.ONE_BY_ONE
        entry = Entry(suite, measured, found)
        self._show_entry(entry)
        ready = tr("Ready to start: {whole_queue}").format(whole_queue=describe_queue((entry,)))
        self.hint.setText(tr(PROBLEMS) if entry.problems else ready)
        self.update_buttons()

    # --- measuring

    @Slot()
    def begin(self) -> None:
        """Measure the volumes of the forecast. If an array is rebuilding, ask whether to wait."""
        entry = self._entry
        if entry is None:
            return
        resync = "; ".join(dict.fromkeys(recorded(one.resync) for one in entry.forecasts if one.resync))
        if resync:
            ask_about_resync(self, resync, self._begin)
        else:
            self._begin(wait_for_resync=False)

    def _begin(self, wait_for_resync: bool) -> None:
        entry, places = self._entry, self.places
        if entry is None:
            return
        action = partial(_measure, places, entry.suite, entry.measured.at_once, wait_for_resync)
        task = self.work.run(tr("Benchmarks {suite}").format(suite=entry.suite), action)
        if task is None:
            return
        self._measures = True
        self._show_entry(replace(entry, state=State.RUNS))
        self._clock.start()
        self.bar.setRange(0, 0)
        self.bar.show()
        self._say_running()
        task.reported.connect(self.take_events)
        task.then(self._take_runs)
        self.update_buttons()

    def _say_running(self) -> None:
        if self._entry is not None:
            left = describe_queue((self._entry,), self._clock.elapsed() / 1000)
            self.hint.setText(tr("The benchmarks{what} are running: {whole_queue}").format(what="", whole_queue=left))

    @Slot(object)
    def take_events(self, events: tuple[Event, ...]) -> None:
        """Show the progress, and the current rate of each volume."""
        for event in events:
            if isinstance(event, Progress):
                done = parts_done(event.done, event.total, PARTS)
                self.bar.setRange(0, 0 if done is None else PARTS)
                self.bar.setValue(done or 0)
                self._say_running()
                self._say_now(title(tr("Benchmarks"), event))
            elif isinstance(event, Live):
                self._say_now(f"{event.source}: {describe_live_figure('', event.figures, event.by)}", rate=True)

    def _say_now(self, text: str, *, rate: bool = False) -> None:
        step, _, shown = self.now.text().partition("\n")
        self.now.setText(f"{step}\n{text}" if rate else f"{text}\n{shown}")
        self.now.show()

    def _take_runs(self, runs: tuple[Run, ...]) -> None:
        """Compare these very runs: the volumes may have been measured by other suites, too."""
        numbers: dict[str, list[str]] = {}
        for run in runs:
            if run.id is not None and run.id > 0 and run.outcome is Outcome.DONE:
                numbers.setdefault(run.volume.words, []).append(str(run.id))
        self._compare(tuple(map(",".join, numbers.values())) if len(numbers) > 1 else self.places)

    @Slot()
    def _end(self) -> None:
        if self._measures:
            self._measures = False
            self.bar.hide()
            self.now.hide()
            self.now.clear()
            self._forget_forecast()
        elif self._entry is None:  # the forecast failed, and the window says why
            self.hint.setText(tr(FIRST_HINT))
        self.update_buttons()

    # --- comparing

    @Slot()
    def compare_volumes(self) -> None:
        """Compare what was measured on the volumes until now; a single volume over time."""
        self._compare(self.places)

    def _compare(self, words: tuple[str, ...]) -> None:
        task = self.work.read(partial(_compared, words))
        if task is not None:
            task.then(partial(self._show_comparison, words))

    def _show_comparison(self, words: tuple[str, ...], found: Comparison | InputError) -> None:
        self._words = words
        self._comparison = None if isinstance(found, InputError) else found
        for widget in (self.said, self.table):
            widget.setVisible(True)
        self.table.setVisible(self._comparison is not None)
        self.against.hide()
        if isinstance(found, InputError):
            self.said.setText(f"{capital(recorded(found.message))}.")
            self.said.show_tone(None)
        else:
            self.against.blockSignals(True)  # the rows are shown once
            self.against.clear()
            self.against.addItems([found.new, *found.further])
            self.against.blockSignals(False)
            self.against.setVisible(bool(found.further))
            self._show_rows()
        self.update_buttons()

    @Slot()
    def _show_rows(self) -> None:
        if self._comparison is None:
            return
        shown = rows.pair(self._comparison, max(0, self.against.currentIndex()))
        names = (shown.old, shown.new)
        for column, name in ((rows.FIRST, shown.old), (rows.SECOND, shown.new)):
            self.table.rename(column, tr("{name}, mean").format(name=name))
        headline = rows.headline(shown, names, wanted=False)
        self.said.setText(headline.text)
        self.said.show_tone(headline.tone)
        self.table.set_rows(rows.compared_rows(shown, names, every=False))

    @Slot()
    def save_report(self) -> None:
        """Ask for a file, and write the comparison to it as a PDF."""
        ask_path(self, tr("Save the report"), "storage.pdf", "pdf", self.write_report)

    def write_report(self, path: Path) -> None:
        """Write the comparison to a PDF."""
        action = partial(_write, self._words, path, current(), units.current().binary)
        task = self.work.run(tr("Report on the storage"), action)
        if task is not None:
            task.then(self.saved.emit)


def _forecast(places: Sequence[str], suite: str, session: "Session", job: Job) -> tuple[Forecast, ...]:
    return api.benchmarks.forecast_benchmarks(session, None, suite, job, places=places)


def _measure(
    places: Sequence[str], suite: str, at_once: bool, wait_for_resync: bool, session: "Session", job: Job
) -> tuple[Run, ...]:
    return api.benchmarks.run_benchmarks(
        session, None, suite, job, places=places, wait_for_resync=wait_for_resync, at_once=at_once
    )


def _compared(words: Sequence[str], session: "Session") -> Comparison | InputError:
    try:
        return api.comparison.compare_volumes(session, words)
    except InputError as error:
        return error


def _write(words: Sequence[str], path: Path, language: str, binary: bool, session: "Session", job: Job) -> Path:
    job.check()
    options = api.reports.Options(language=language, binary=binary)
    return api.reports.write_report(
        session, api.reports.Kind.STORAGE, words, path, api.reports.Format.PDF, options, replacing=True
    )
