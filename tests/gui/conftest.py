"""For every test of the window: Qt's own warnings fail it; no widget, no timer and no thread is left behind."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from core import units
from core.api.session import Session
from core.history.store import Store
from gui import appearance
from gui.window import MainWindow
from gui.work import Work
from tests.gui import samples
from tests.gui.leaks import left_running
from tests.histories import Histories, nothing

if TYPE_CHECKING:
    from gui.pages.page import AnyPage

HARMLESS = "This plugin does not support propagateSizeHints"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A message of Qt's is a fault of ours, but for what the offscreen platform says of itself."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.qt_log_level_fail("DEBUG"))
            item.add_marker(pytest.mark.qt_log_ignore(HARMLESS))


@pytest.fixture(autouse=True)
def _no_automatic_collection() -> Iterator[None]:
    """As in the window (gui/collector.py): Python would collect a window in a cycle also while Qt paints it."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def _nothing_left(qapp: QApplication) -> Iterator[None]:
    appearance.prepare(qapp)
    yield
    units.choose(binary=True)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    left = [f"{type(widget).__name__} {widget.objectName()}" for widget in QApplication.topLevelWidgets()]
    assert not left, f"the test left widgets: {left}"
    running = left_running()
    assert not running, f"the test left running: {running}"


@pytest.fixture
def store(request: pytest.FixtureRequest, histories: Histories, tmp_path: Path) -> Iterator[Store]:
    fill = samples.fill if "full_store" in request.fixturenames else nothing
    with histories.open(tmp_path / "history", fill) as made:
        yield made


@pytest.fixture
def full_store(store: Store) -> Store:
    """A history that two real servers would leave."""
    return store


@pytest.fixture
def work(qapp: QApplication) -> Iterator[Work]:  # noqa: ARG001
    made = Work()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def window(work: Work, qtbot: QtBot, store: Store) -> Iterator[MainWindow]:
    """The window over the test's own history."""
    made = MainWindow(work)
    made.show()
    work.use(Session(store, work.asker))
    at_rest(qtbot, made)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def full_window(full_store: Store, window: MainWindow) -> MainWindow:  # noqa: ARG001
    """The window over a history that two real servers would leave."""
    return window


def at_rest(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until nothing is read or done any more."""
    qtbot.waitUntil(lambda: window.work.runner.idle, timeout=10_000)


def press(box: object, role: QMessageBox.ButtonRole) -> None:
    """Press the one button of that role in a message box."""
    assert isinstance(box, QMessageBox)
    (button,) = (one for one in box.buttons() if box.buttonRole(one) is role)
    button.click()


def page(qtbot: QtBot, window: MainWindow, page_id: str) -> "AnyPage":
    """The page with that id, on screen and filled."""
    shown = window.show_page(page_id)
    qtbot.waitUntil(lambda: shown.shown, timeout=10_000)
    at_rest(qtbot, window)
    return shown
