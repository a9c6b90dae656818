"""Reads regularly which executions have not ended, whichever program runs them."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core import api
from gui.work import Work

LOOK_MS = 1000
IDLE_MS = 4000
"""The intervals in ms while an execution is unfinished, and while none is."""


class ExecutionPoller(QObject):
    """Polls the history. Signal: looked(tuple of Unfinished), after each read; a failed read is repeated."""

    looked = Signal(object)

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._looking = False
        self._timer = QTimer(self, interval=IDLE_MS)
        self._timer.timeout.connect(self.look)
        work.opened.connect(self.look)
        work.started.connect(self.look)
        work.changed.connect(self.look)

    @Slot()
    def look(self) -> None:
        """Read now, unless a read is running."""
        if self._looking:
            return
        task = self._work.ask(lambda session: api.moves.unfinished_executions(session))  # noqa: PLW0108  loaded on the worker's thread
        if task is not None:
            self._looking = True
            task.then(self._tell)
            task.finished.connect(self._look_later)

    @Slot(object)
    def _tell(self, found: object) -> None:
        self._timer.setInterval(LOOK_MS if found or self._work.busy else IDLE_MS)
        self.looked.emit(found)

    @Slot()
    def _look_later(self) -> None:
        self._looking = False
        self._timer.start()
