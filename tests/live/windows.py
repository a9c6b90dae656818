"""The window as a person has it: opened on a history, clicked where it can be seen, typed into where the cursor is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gui import appearance
from gui.window import MainWindow
from gui.work import Work

PATIENCE_MS = 90_000
Dialog = TypeVar("Dialog", bound=QWidget)


@contextmanager
def opened(qapp: QApplication, folder: Path) -> Iterator[MainWindow]:
    """The window on that history, as the program opens it; closed in the end, with no widget left."""
    appearance.prepare(qapp)
    work = Work()
    window = MainWindow(work)
    window.show()
    work.open(folder)
    try:
        yield window
    finally:
        window.cancel()
        left = work.close(60)
        window.close()
        window.deleteLater()
        work.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert left == ()
    assert [type(widget).__name__ for widget in QApplication.topLevelWidgets()] == []


class Hand:
    """Counts its clicks; a key counts nothing. What cannot be seen or reached is no target."""

    def __init__(self, qtbot: QtBot, window: MainWindow) -> None:
        self.clicks = 0
        self._qtbot = qtbot
        self._window = window

    def click(self, target: QWidget) -> None:
        """Once it can be clicked."""
        self._qtbot.waitUntil(lambda: _can_be_clicked(target), timeout=PATIENCE_MS)
        self.clicks += 1
        QTest.mouseClick(target, Qt.MouseButton.LeftButton)

    def write(self, *texts: str) -> None:
        """Each into the field with the cursor; a key goes on from one to the next."""
        for number, text in enumerate(texts):
            if number:
                QTest.keyClick(_focused(), Qt.Key.Key_Tab)
            QTest.keyClicks(_focused(), text)

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """A key, where the cursor is: of the screen's windows this one is in front when its last dialog has closed."""
        if QApplication.activeModalWidget() is None:
            self._window.activateWindow()  # as a window manager does
            self._qtbot.waitUntil(self._window.isActiveWindow)
        QTest.keyClick(_focused(), key, modifier)

    def wait_for(self, kind: type[Dialog]) -> Dialog:
        """The dialog of that kind, once it asks."""
        found: list[Dialog] = []

        def asks() -> bool:
            dialog = QApplication.activeModalWidget()
            found[:] = [dialog] if isinstance(dialog, kind) and dialog.isActiveWindow() else []
            return bool(found)

        self._qtbot.waitUntil(asks, timeout=PATIENCE_MS)
        return found[0]

    def rest(self) -> None:
        """Wait until the window has nothing to do any more."""
        self._qtbot.waitUntil(lambda: self._window.work.runner.idle, timeout=PATIENCE_MS)


def _focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None, "the cursor is nowhere"
    return found


def _can_be_clicked(target: QWidget) -> bool:
    """Whether it is seen, enabled, in front, and on its window."""
    if not target.isVisible() or not target.isEnabled():
        return False
    window = target.window()
    modal = QApplication.activeModalWidget()
    middle = target.mapTo(window, QPoint(target.width() // 2, target.height() // 2))
    return (modal is None or modal is window) and window.childAt(middle) is target
