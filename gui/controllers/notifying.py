"""Notifications for an operator who works in another window: a job has ended, or waits."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, SignalInstance, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QSystemTrayIcon

from core import units
from core.errors import Cancelled, PausedError, PghaulError
from core.language import tr
from core.migration.model.execution import State
from core.settings import PROGRAM
from gui.asker import Question, StepQuestion, StopQuestion, TakeOnQuestion
from gui.bridge import Task
from gui.models.execution import state_name
from gui.models.sentences import recorded
from gui.models.words import listed
from gui.work import Work

AGAIN_MS = 60_000
"""The interval in ms in which the sound is repeated while a move waits."""


OF_EXECUTION = (StepQuestion, StopQuestion, TakeOnQuestion)
"""The questions that only an execution asks."""


class Desktop(Protocol):
    """Shows notifications: `notify` shows one, `withdraw` removes it."""

    def notify(self, title: str, text: str) -> None: ...

    def withdraw(self) -> None: ...


class TrayOrTitle:
    """Notifies by the tray or, if there is none, by the title of the window.

    `clicked` is called when the message of the tray is clicked.
    """

    def __init__(self, window: QMainWindow, clicked: Callable[[], None]) -> None:
        self._window = window
        self._title = self._said = ""
        self._tray: QSystemTrayIcon | None = None
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._tray = QSystemTrayIcon(window.windowIcon(), window)
            for click in (self._tray.messageClicked, self._tray.activated):
                _connect(click, clicked)

    def notify(self, title: str, text: str) -> None:
        """Show a notification until it is withdrawn."""
        if self._tray is not None:
            self._tray.show()  # there while it has something to say
            self._tray.showMessage(title, text, self._window.windowIcon())
            return
        self.withdraw()
        self._title = self._window.windowTitle()
        self._said = f"{title} – {PROGRAM}"
        self._window.setWindowTitle(self._said)
        QApplication.alert(self._window)

    def withdraw(self) -> None:
        """Remove the notification."""
        if self._tray is not None:
            self._tray.hide()
        if self._said and self._window.windowTitle() == self._said:  # another move was not picked meanwhile
            self._window.setWindowTitle(self._title)
        self._said = ""


class Bell(QObject):
    """Sounds while a running move waits for the operator, also if the window is active: nobody may be looking at it."""

    def __init__(self, work: Work, parent: QObject) -> None:
        super().__init__(parent)
        self._work = work
        self._open: list[Question] = []
        self._again = QTimer(self)
        self._again.timeout.connect(self.ring)

    def wait_for(self, question: Question) -> None:
        """Sound now, and again until the question is answered, if it is one of a running move or rehearsal."""
        carries = self._work.asker.carries
        if isinstance(question, OF_EXECUTION) or (carries is not None and self._work.task is carries):
            self._open.append(question)
            self._again.start(AGAIN_MS)
            self.ring()

    @Slot()
    def ring(self) -> None:
        """Sound if a question is still open."""
        self._open = [each for each in self._open if not each.answered]
        if not self._open:
            self._again.stop()
        elif self._work.settings.window.sound:
            QApplication.beep()


class Notifier(QObject):
    """Notifies when a long job has ended or waits, unless a window of pghaul is active.

    Attributes:
        desktop: where they are shown.
    """

    def __init__(
        self, work: Work, window: QMainWindow, page: Callable[[], str], go: Callable[[str, str], None]
    ) -> None:
        """`page`: the id of the page on screen; `go`: bring that page of that move up."""
        super().__init__(window)
        self._work = work
        self._page = page
        self._go = go
        self._window = window
        self._clock = QElapsedTimer()
        self._where = ("", "")
        self._how = ""
        self.desktop: Desktop = TrayOrTitle(window, self.bring_up)
        work.started.connect(self._begin)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.applicationStateChanged.connect(self._look)

    def wait_for(self, what: str) -> None:
        """Notify that the job waits for the operator."""
        self._tell(
            tr("{program} is waiting for you").format(program=PROGRAM),
            tr("{what}. The job has been running for {value}.").format(what=what, value=self._took())
            if self._work.busy
            else what,
        )

    @Slot()
    def bring_up(self) -> None:
        """Bring the window to the front, with the page from which the job was started."""
        self.desktop.withdraw()
        self._go(*self._where)
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.raise_()
        self._window.activateWindow()

    @Slot(object)
    def _begin(self, task: Task[object]) -> None:
        self._clock.start()
        self._where = (self._work.move.name if self._work.move is not None else "", self._page())
        task.succeeded.connect(self._succeeded)
        task.failed.connect(self._failed)
        task.finished.connect(partial(self._end, task.title))

    @Slot(object)
    def _succeeded(self, result: object) -> None:
        """Tell how it ended. A job on several servers returns what it found by the server, or why it failed there."""
        found = result.items() if isinstance(result, dict) else ()
        failed = [str(name) for name, each in found if isinstance(each, PghaulError)]
        if failed:
            self._how = tr("failed on {servers}").format(servers=listed(failed))
        else:
            self._how = state_name(result if isinstance(result, State) else State.DONE)

    @Slot(object)
    def _failed(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            self._how = state_name(State.CANCELLED)
        elif isinstance(error, PausedError):
            self._how = tr("stopped by you. {message}").format(message=recorded(error.message))
        else:
            self._how = (
                tr("failed: {message}").format(message=recorded(error.message))
                if isinstance(error, PghaulError)
                else tr("ended by a bug in pghaul")
            )

    def _end(self, title: str) -> None:
        self._tell(f"{title}: {self._how}", tr("Duration: {value}").format(value=self._took()))

    def _tell(self, title: str, text: str) -> None:
        if self._work.settings.window.notify and QApplication.activeWindow() is None:
            self.desktop.notify(title, text)

    def _took(self) -> str:
        return units.clock(self._clock.elapsed() / 1000)

    @Slot(Qt.ApplicationState)
    def _look(self, state: Qt.ApplicationState) -> None:
        """Withdraw the notification when the window becomes active."""
        if state is Qt.ApplicationState.ApplicationActive:
            self.desktop.withdraw()


def _connect(signal: SignalInstance, then: Callable[[], None]) -> None:
    signal.connect(lambda *_: then())
