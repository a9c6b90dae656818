"""What still ticks or runs of Qt in this process: the window's timers and threads must end with it."""

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, QThread, QTimer


def left_running() -> list[str]:
    """Timers that tick and threads that run, but for what belongs to the application itself."""
    living = [each for each in shiboken6.getAllValidWrappers() if isinstance(each, QTimer | QThread)]
    timers = [each for each in living if isinstance(each, QTimer) and each.isActive()]
    threads = [each for each in living if isinstance(each, QThread) and each.isRunning()]
    return [
        *(f"a timer of {each.interval()} ms of {_root(each)}" for each in timers if _root(each) is not _application()),
        *(f"a thread: {each}" for each in threads if each is not QThread.currentThread()),
    ]


def _application() -> QCoreApplication | None:
    return QCoreApplication.instance()


def _root(owned: QObject) -> QObject:
    parent = owned.parent()
    while parent is not None:
        owned, parent = parent, parent.parent()
    return owned
