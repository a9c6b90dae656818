"""Who works in another window is told that a job has ended, or waits for them: once, by the desktop's own means."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import QElapsedTimer, QObject, Qt, SignalInstance, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QSystemTrayIcon

from core import units
from core.errors import Cancelled, PghaulError
from core.language import tr
from core.migration.model.execution import State
from core.settings import PROGRAM
from gui.bridge import Task
from gui.models.execution import ended
from gui.models.sentences import recorded
from gui.work import Work

OFF = "off"


class Desktop(Protocol):
    """Where a notification is shown: `tell` shows one, `withdraw` takes it away."""

    def tell(self, title: str, text: str) -> None: ...

    def withdraw(self) -> None: ...


class TrayOrTitle:
    """By the tray where the desktop has one; else the window's entry asks for attention, and its title says it.

    `clicked` is called when the user clicks the tray's message.
    """

    def __init__(self, window: QMainWindow, clicked: Callable[[], None]) -> None:
        self._window = window
        self._title = self._said = ""
        self._tray: QSystemTrayIcon | None = None
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._tray = QSystemTrayIcon(window.windowIcon(), window)
            for click in (self._tray.messageClicked, self._tray.activated):
                _connect(click, clicked)

    def tell(self, title: str, text: str) -> None:
        """Show it until it is withdrawn."""
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
        """The window is as it was."""
        if self._tray is not None:
            self._tray.hide()
        if self._said and self._window.windowTitle() == self._said:  # another move was not picked meanwhile
            self._window.setWindowTitle(self._title)
        self._said = ""


class Notifier(QObject):
    """Tells how each long job ended, and that it waits; nobody who looks at a window of pghaul's is told.

    Attributes:
        on: whether it tells at all.
        desktop: where.
    """

    def __init__(
        self, work: Work, window: QMainWindow, page: Callable[[], str], go: Callable[[str, str], None]
    ) -> None:
        """`page`: the title of the page on screen; `go`: bring the page of that move and title up."""
        super().__init__(window)
        self._work = work
        self._page = page
        self._go = go
        self._window = window
        self._clock = QElapsedTimer()
        self._where = ("", "")
        self._how = ""
        self.on = work.kept("notify") != OFF
        self.desktop: Desktop = TrayOrTitle(window, self.bring_up)
        work.started.connect(self._begin)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.applicationStateChanged.connect(self._look)

    def use(self, on: bool) -> None:
        """Tell, or do not, from now on."""
        self.on = on
        self._work.keep("notify", "" if on else OFF)

    def wait_for(self, what: str) -> None:
        """The job waits for a person."""
        self._tell(
            tr("{program} waits for you").format(program=PROGRAM),
            tr("{what}, after {value}").format(what=what, value=self._took()) if self._work.busy else what,
        )

    @Slot()
    def bring_up(self) -> None:
        """The window is in front, with the page where the job began."""
        self.desktop.withdraw()
        self._go(*self._where)
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.raise_()
        self._window.activateWindow()

    @Slot(object)
    def _begin(self, task: Task) -> None:
        self._clock.start()
        self._where = (self._work.move.name if self._work.move is not None else "", self._page())
        task.succeeded.connect(self._succeeded)
        task.failed.connect(self._failed)
        task.finished.connect(partial(self._end, task.title))

    @Slot(object)
    def _succeeded(self, result: object) -> None:
        self._how = ended(result if isinstance(result, State) else State.DONE)

    @Slot(object)
    def _failed(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            self._how = ended(State.CANCELLED)
        else:
            self._how = (
                tr("has failed: {message}").format(message=recorded(error.message))
                if isinstance(error, PghaulError)
                else tr("has ended in a bug")
            )

    def _end(self, title: str) -> None:
        self._tell(f"{title} {self._how}", tr("It took {value}.").format(value=self._took()))

    def _tell(self, title: str, text: str) -> None:
        if self.on and QApplication.activeWindow() is None:
            self.desktop.tell(title, text)

    def _took(self) -> str:
        return units.clock(self._clock.elapsed() / 1000)

    @Slot(Qt.ApplicationState)
    def _look(self, state: Qt.ApplicationState) -> None:
        """Whoever looks at the window has seen it."""
        if state is Qt.ApplicationState.ApplicationActive:
            self.desktop.withdraw()


def _connect(signal: SignalInstance, then: Callable[[], None]) -> None:
    signal.connect(lambda *_: then())
