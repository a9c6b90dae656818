"""The program with a window: the application, its window, and the handler of uncaught exceptions."""

import os
import sys
import threading
import traceback
from functools import partial
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QEvent,
    QLocale,
    QMessageLogContext,
    QObject,
    Qt,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication, QWidget

from core.errors import InputError, PghaulError
from core.language import spoken
from core.settings import data_folder
from core.user_settings import file
from core.user_settings.declaration import Settings
from gui import appearance
from gui.frozen import give_back
from gui.guard import Guarded
from gui.language import chosen, speak
from gui.last_time import LastTime, format_crash_report
from gui.remembered import Remembered
from gui.window import MainWindow
from gui.work import Work

NO_WINDOW = 2


class Catcher(QObject):
    """Passes uncaught exceptions of all threads to the window. Signal: caught(exception).

    A bug is reported once for each line that raises it, because an error in a paint event repeats with every repaint.
    Connect to the signal by a queued connection: the exception may come from within Qt.
    """

    caught = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._told: set[tuple[object, ...]] = set()

    def install(self) -> None:
        """Replace Python's exception hooks."""
        sys.excepthook = self._catch
        threading.excepthook = self._catch_thread

    @staticmethod
    def uninstall() -> None:
        """Restore Python's exception hooks."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__

    def _catch(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        place = (kind, *_raised_at(trace))
        if place in self._told and not isinstance(error, PghaulError):
            return
        self._told.add(place)
        sys.__excepthook__(kind, error, trace)
        if isinstance(error, Exception):
            self.caught.emit(error)

    def _catch_thread(self, found: threading.ExceptHookArgs) -> None:
        if found.exc_value is not None:
            self._catch(found.exc_type, found.exc_value, found.exc_traceback)


def _raised_at(trace: TracebackType | None) -> tuple[object, ...]:
    """Return the code and the line that raised the exception."""
    frames = tuple(traceback.walk_tb(trace))
    return (frames[-1][0].f_code, frames[-1][1]) if frames else ()


class FirstPaint(Guarded, QObject):
    """Waits for the first paint of a window, so that slow work starts after it. Signal: seen()."""

    seen = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.seen.emit)
        return False


def main(folder: Path | None = None) -> int:
    """Open the window, run until it is closed, and return the exit code.

    Args:
        folder: of the history, if it is not the default one.
    """
    qInstallMessageHandler(_tell)
    application = QApplication(sys.argv[:1])
    give_back()
    appearance.prepare(application)
    settings, trouble = _load_settings()
    work = Work(remembered=Remembered(folder or data_folder()), settings=settings)
    with spoken(chosen(settings.window.language, QLocale.system())):
        speak(application)
        return _open(application, work, folder, trouble)


def _load_settings() -> tuple[Settings, InputError | None]:
    """Return the settings; the defaults and the reason where their file cannot be used."""
    try:
        return file.load().settings, None
    except InputError as error:
        return Settings(), error


def _open(application: QApplication, work: Work, folder: Path | None, trouble: InputError | None) -> int:
    window = MainWindow(work)
    catcher = Catcher()
    catcher.caught.connect(window.show_trouble, Qt.ConnectionType.QueuedConnection)
    last_time = LastTime(folder or data_folder())
    catcher.caught.connect(
        lambda error: last_time.write(format_crash_report(error)), Qt.ConnectionType.DirectConnection
    )
    catcher.install()
    FirstPaint(window).seen.connect(partial(_begin, window, last_time, folder, trouble))
    window.show()
    code = application.exec()
    running = work.close()
    last_time.end()
    catcher.uninstall()
    if running:  # a thread that does not end would keep the program
        print(f"pghaul: still running when the window closed: {', '.join(running)}", file=sys.stderr, flush=True)  # noqa: T201  there is no window any more, or none yet
        os._exit(code)
    return code


def _begin(window: MainWindow, last_time: LastTime, folder: Path | None, trouble: InputError | None) -> None:
    """Open the history, and show the log of a window that crashed before, and why the settings are the defaults."""
    if trouble is not None:
        window.show_trouble(trouble)
    left = last_time.begin()
    window.work.open(folder)
    if left:
        window.show_last_time(left)


def _tell(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    """Print a message of Qt. After a fatal one no window can open, and Qt would abort with a core dump."""
    print(f"pghaul: {message.strip()}", file=sys.stderr)  # noqa: T201  there is no window to say it in
    if kind is QtMsgType.QtFatalMsg:
        print("hint: use the command line instead: pghaul --help", file=sys.stderr, flush=True)  # noqa: T201  there is no window any more, or none yet
        os._exit(NO_WINDOW)
