"""The running job: its title, progress and duration, and the button that cancels it."""

from collections.abc import Mapping

from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from core.jobs import Event, Progress
from core.language import tr
from gui.bridge import Task
from gui.design.measures import GRID
from gui.models.progress import Stage, Told, find_stage, parts_done, title, words
from gui.widgets.label import ElidedLabel, Label

PARTS = 1000


class JobBar(QWidget):
    """Shows one task from its start to its end. Signal: cancel_wanted()."""

    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clock = QElapsedTimer()
        self._progress: Progress | None = None
        self._stage: Stage | None = None
        self._job_title = self._awaited = ""
        self._told: Mapping[int, Told] = {}
        self._tick = QTimer(self, interval=500)
        self._tick.timeout.connect(self._refresh)
        self.title = ElidedLabel(self, Qt.TextElideMode.ElideRight)  # the figures stand at its beginning
        self.title.setText(tr("Ready"))
        self.title.setAccessibleName(tr("Running job"))
        self.bar = QProgressBar(self, textVisible=False)
        self.bar.setAccessibleName(tr("Progress of the running job"))
        self.bar.setFixedWidth(self.fontMetrics().averageCharWidth() * 30)
        self.words = Label(parent=self)
        self.words.setAccessibleName(tr("Duration of the running job"))
        self.cancel = QPushButton(tr("Cance&l"), self)
        self.cancel.setAccessibleName(tr("Cancel the running job"))
        self.cancel.clicked.connect(self.cancel_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(3 * GRID, GRID, 3 * GRID, GRID)
        row.setSpacing(3 * GRID)
        row.addWidget(self.title, 1)
        for widget in (self.bar, self.words, self.cancel):
            row.addWidget(widget)
        self._show_running(False)

    @Slot(object)
    def begin(self, task: Task[object]) -> None:
        """Show a job that has started."""
        self._progress = self._stage = None
        self._job_title, self._awaited = task.title, ""
        self.bar.setRange(0, 0)
        self.cancel.setEnabled(True)
        self._clock.start()
        self._tick.start()
        self._show_running(True)
        self._refresh()
        task.reported.connect(self._take)
        task.finished.connect(self._finish)

    @Slot()
    def cancelling(self) -> None:
        """Show that the job is being cancelled. It may have to clean up on the servers first."""
        if self.cancel.isEnabled():
            self._job_title = tr("Cancelling: {job}").format(job=self._job_title)
            self.cancel.setEnabled(False)
            self._refresh()

    def wait_for(self, what: str) -> None:
        """Show what the job waits for; empty: it does not wait any more."""
        self._awaited = what
        self._refresh()

    @Slot(object)
    def tell(self, told: Mapping[int, Told]) -> None:
        """Show of an execution what the other places of the window show now; `told`: by the number of each."""
        self._told = told
        self._refresh()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        progress = next((event for event in reversed(events) if isinstance(event, Progress)), None)
        if progress is None:
            return
        self._stage = find_stage(progress, self._elapsed(), self._stage)
        self._progress, self._awaited = progress, ""
        done = parts_done(progress.done, progress.total, PARTS)
        self.bar.setRange(0, 0 if done is None else PARTS)
        self.bar.setValue(done or 0)
        self._refresh()

    @Slot()
    def _finish(self) -> None:
        self._tick.stop()
        self.title.setText(tr("Ready"))
        self._show_running(False)

    @Slot()
    def _refresh(self) -> None:
        if not self._tick.isActive():
            return
        number = None if self._progress is None else self._progress.execution
        told = None if number is None else self._told.get(number)
        self.title.setText(self._title(told))
        self.words.setText(words(self._progress, self._stage, self._elapsed(), told))
        self.bar.update()

    def _title(self, told: Told | None) -> str:
        """Return what the job is doing, or waits for."""
        if not self.cancel.isEnabled():
            return tr("{job}. The servers are being cleaned up.").format(job=self._job_title)
        if self._awaited:
            return tr("Waiting for you: {what}").format(what=self._awaited)
        return self._job_title if self._progress is None else title(self._job_title, self._progress, told)

    def _elapsed(self) -> float:
        return self._clock.elapsed() / 1000

    def _show_running(self, running: bool) -> None:
        for widget in (self.bar, self.words, self.cancel):
            widget.setVisible(running)
