"""A double click, or a key pressed twice, is one wish: its second half begins nothing on a server."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from core.api.session import Session
from core.history.store import Store
from core.migration.execution.status import MoveStatus
from core.migration.model.execution import Kind, State
from gui.asker import StepQuestion
from gui.destinations import PageId
from gui.pages.execution import MovePage
from gui.widgets.message_box import MessageBox
from gui.window import MainWindow
from tests.gui.conftest import at_rest, page
from tests.gui.test_every_state import Case, record

Pressing = Callable[[MainWindow], None]


def double_click(button: QAbstractButton) -> None:
    """As a mouse does it: Qt's own function for it leaves out the first click and the last release."""
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(button, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)


def click_twice(window: MainWindow) -> None:
    double_click(window.next)


def press_twice(window: MainWindow) -> None:
    window.activateWindow()
    for _ in range(2):
        QTest.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Kind]:
    """What was begun on the servers."""
    kinds: list[Kind] = []

    def execute(_session: Session, _move: str, kind: Kind, *_rest: Any, **_options: Any) -> SimpleNamespace:
        kinds.append(kind)
        return SimpleNamespace(state=State.DONE)

    monkeypatch.setattr("core.api.execution.execute", execute)
    return kinds


@pytest.fixture
def before_move(full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """The window where Next leads to the move, and the page Move was read already."""
    page(qtbot, full_window, PageId.MOVE)
    page(qtbot, full_window, PageId.OVERVIEW)
    monkeypatch.setattr(full_window.milestones, "next", lambda _page: ("Move", PageId.MOVE))
    qtbot.waitUntil(full_window.isActiveWindow)
    return full_window


def question(window: MainWindow, qtbot: QtBot) -> MessageBox:
    """What asks whether it shall begin."""
    qtbot.waitUntil(lambda: any(one.isVisible() for one in window.findChildren(MessageBox)))
    return next(one for one in window.findChildren(MessageBox) if one.isVisible())


@pytest.mark.slow
@pytest.mark.parametrize("press", [click_twice, press_twice])
def test_next_pressed_twice_at_once_shows_the_page_and_begins_nothing(
    press: Pressing, before_move: MainWindow, begun: list[Kind], qtbot: QtBot
) -> None:
    press(before_move)
    at_rest(qtbot, before_move)
    shown = before_move.stack.currentWidget()
    assert isinstance(shown, MovePage)
    assert shown.start.isEnabled()
    assert begun == []
    assert not before_move.findChildren(MessageBox)


@pytest.mark.slow
@pytest.mark.parametrize("page_id", [PageId.MOVE, PageId.REHEARSE])
def test_a_beginning_is_asked_for_and_its_default_is_to_begin_nothing(
    page_id: PageId, full_window: MainWindow, begun: list[Kind], qtbot: QtBot
) -> None:
    shown = page(qtbot, full_window, page_id)
    start = shown.primary
    assert start is not None
    double_click(start)
    box = question(full_window, qtbot)
    default = box.defaultButton()
    assert isinstance(default, QPushButton)
    assert box.buttonRole(default) is QMessageBox.ButtonRole.RejectRole
    QTest.keyClick(box, Qt.Key.Key_Return)
    QTest.keyClick(box, Qt.Key.Key_Return)
    at_rest(qtbot, full_window)
    assert begun == []
    qtbot.waitUntil(lambda: not full_window.findChildren(MessageBox))
    QTest.mouseClick(start, Qt.MouseButton.LeftButton)
    box = question(full_window, qtbot)
    go_on = next(one for one in box.buttons() if box.buttonRole(one) is QMessageBox.ButtonRole.AcceptRole)
    QTest.mouseClick(go_on, Qt.MouseButton.LeftButton)
    at_rest(qtbot, full_window)
    assert begun == [Kind.REHEARSAL if page_id is PageId.REHEARSE else Kind.REAL]


@pytest.mark.slow
@pytest.mark.parametrize(("doing", "action"), [("resume", "resume_execution"), ("end", "cancel_execution")])
def test_a_rehearsal_is_gone_on_with_or_ended_once_that_was_asked(
    doing: str, action: str, full_window: MainWindow, full_store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[str]()

    def carried_out(*_: Any) -> SimpleNamespace:
        begun.append(doing)
        return SimpleNamespace(state=State.CANCELLED)

    monkeypatch.setattr(f"core.api.execution.{action}", carried_out)
    record(full_store, Case(State.INTERRUPTED, 0, MoveStatus.UNTOUCHED, set(), kind=Kind.REHEARSAL))
    shown = page(qtbot, full_window, PageId.REHEARSE)
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    button = getattr(shown, doing)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    box = question(full_window, qtbot)
    QTest.keyClick(box, Qt.Key.Key_Return)
    at_rest(qtbot, full_window)
    assert begun == []
    qtbot.waitUntil(lambda: not full_window.findChildren(MessageBox))
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    box = question(full_window, qtbot)
    go_on = next(one for one in box.buttons() if box.buttonRole(one) is QMessageBox.ButtonRole.AcceptRole)
    QTest.mouseClick(go_on, Qt.MouseButton.LeftButton)
    at_rest(qtbot, full_window)
    assert begun == [doing]


@pytest.mark.slow
def test_next_begins_once_the_page_has_been_seen(before_move: MainWindow, begun: list[Kind], qtbot: QtBot) -> None:
    QTest.mouseClick(before_move.next, Qt.MouseButton.LeftButton)
    qtbot.wait(QApplication.doubleClickInterval() + 50)
    QTest.mouseClick(before_move.next, Qt.MouseButton.LeftButton)
    question(before_move, qtbot).reject()
    at_rest(qtbot, before_move)
    assert begun == []


@pytest.mark.slow
def test_a_question_cannot_be_answered_before_it_was_seen(full_window: MainWindow, qtbot: QtBot) -> None:
    """The second half of a double click that answered the question before it."""
    shown = page(qtbot, full_window, PageId.MOVE)
    assert isinstance(shown, MovePage)
    panel = shown.prompt
    asked = StepQuestion("db-old", "decide", "open", "why", "")
    shown.ask(asked)
    for button in (panel.accept, panel.back, panel.decline):
        double_click(button)
    assert not asked.answered
    qtbot.waitUntil(panel.accept.isEnabled)
    QTest.mouseClick(panel.accept, Qt.MouseButton.LeftButton)
    assert asked.answered
