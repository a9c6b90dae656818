"""Who works elsewhere is told that a job has ended, or waits: once, with its name, its end and its time."""

import threading
from collections.abc import Callable

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.errors import Cancelled, InputError, PausedError
from core.jobs import Job
from core.migration.model.execution import State
from core.settings import PROGRAM
from core.user_settings import file
from gui.asker import SecretQuestion, StepQuestion
from gui.controllers import notifying
from gui.controllers.notifying import TrayOrTitle
from gui.destinations import PageId
from gui.models.execution import state_name
from gui.window import MainWindow
from tests.figures import figures
from tests.gui.conftest import HARMLESS, at_rest, page

RAISES = pytest.mark.qt_log_ignore(HARMLESS, "This plugin does not support raise", extend=False)


class Desk:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.withdrawn = 0

    def notify(self, title: str, text: str) -> None:
        self.told.append((title, text))

    def withdraw(self) -> None:
        self.withdrawn += 1


@pytest.fixture
def desk(full_window: MainWindow, qtbot: QtBot) -> Desk:
    """The window is out of sight, and its notifications come here."""
    made = Desk()
    full_window.notifier.desktop = made
    page(qtbot, full_window, PageId.PROBE)
    full_window.hide()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is None)
    return made


def _does(result: object) -> Callable[[object, Job], object]:
    def act(_session: object, _job: Job) -> object:
        if isinstance(result, Exception):
            raise result
        return result

    return act


@pytest.mark.slow
@pytest.mark.parametrize(
    ("result", "how"),
    [
        (None, state_name(State.DONE)),
        (State.DONE, state_name(State.DONE)),
        (State.STOPPED, state_name(State.STOPPED)),
        ({"db1": (), "db2": ()}, state_name(State.DONE)),
        ({"db1": (), "db2": InputError("b is full"), "db3": InputError("c is full")}, "failed on db2 and db3"),
        (Cancelled(), state_name(State.CANCELLED)),
        (InputError("b is full", "make room"), "failed: b is full"),
        (PausedError("It ended before step 3.", "go on"), "stopped by you. It ended before step 3."),
    ],
)
def test_the_end_of_a_job_is_told_once(
    full_window: MainWindow, desk: Desk, qtbot: QtBot, result: object, how: str
) -> None:
    full_window.work.run("Probing spring", _does(result))
    at_rest(qtbot, full_window)
    ((title, text),) = desk.told
    assert title.startswith("Probing spring: ")
    assert title.endswith(how)
    assert figures(text) == ["0 s"]


@RAISES
def test_a_click_brings_the_page_up_on_which_it_began(full_window: MainWindow, desk: Desk, qtbot: QtBot) -> None:
    began = full_window.work.move
    full_window.work.run("Probing spring", _does(None))
    at_rest(qtbot, full_window)
    full_window.show_page(PageId.SERVERS)
    full_window.work.pick(None)
    full_window.notifier.bring_up()
    shown = full_window.stack.currentWidget()
    assert shown is full_window.show_page(PageId.PROBE)
    assert full_window.work.move == began
    assert desk.withdrawn


def test_a_job_that_waits_for_a_person_says_for_what(full_window: MainWindow, desk: Desk, qtbot: QtBot) -> None:
    goes_on = threading.Event()
    full_window.work.run("Moving spring", lambda _session, _job: goes_on.wait(10))
    question = StepQuestion("old", "stop the applications", "nobody may write")
    full_window.work.asker.asked.emit(question)
    ((waits, text),) = desk.told
    assert PROGRAM in waits
    assert text.startswith(f"{question.title}. ")
    assert figures(text) == ["0 s"]
    goes_on.set()
    at_rest(qtbot, full_window)
    assert [title for title, _ in desk.told] == [waits, f"Moving spring: {state_name(State.DONE)}"]


@pytest.fixture
def beeps(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Each sound; the interval is short."""
    heard: list[bool] = []
    monkeypatch.setattr(QApplication, "beep", lambda: heard.append(True))
    monkeypatch.setattr(notifying, "AGAIN_MS", 20)
    return heard


def test_a_move_that_waits_sounds_until_it_is_answered(
    beeps: list[bool], full_window: MainWindow, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: QApplication.activeWindow() is full_window)
    question = StepQuestion("old", "stop the applications", "nobody may write")
    full_window.work.asker.asked.emit(question)
    assert beeps == [True]
    qtbot.waitUntil(lambda: len(beeps) > 2)
    question.answer("")
    count = len(beeps)
    full_window.bell.ring()
    assert len(beeps) == count
    at_rest(qtbot, full_window)


@pytest.mark.parametrize("moves", [True, False])
def test_a_password_sounds_only_for_a_running_move(
    beeps: list[bool], full_window: MainWindow, qtbot: QtBot, moves: bool
) -> None:
    goes_on = threading.Event()
    task = full_window.work.run("Moving spring", lambda _session, _job: goes_on.wait(10))
    full_window.work.asker.carries = task if moves else None
    question = SecretQuestion("old", "sudo password", "sudo")
    full_window.work.asker.asked.emit(question)
    assert bool(beeps) is moves
    full_window.work.asker.withdrawn.emit(question)
    question.answer(None)
    goes_on.set()
    at_rest(qtbot, full_window)


def test_the_sound_can_be_turned_off_and_stays_so(beeps: list[bool], full_window: MainWindow, qtbot: QtBot) -> None:
    work = full_window.work
    switch = full_window.findChild(QAction, "sound")
    assert switch is not None
    assert switch.isChecked()
    switch.trigger()
    question = StepQuestion("old", "stop the applications", "nobody may write")
    work.asker.asked.emit(question)
    assert beeps == []
    question.answer("")
    assert not file.load().settings.window.sound
    at_rest(qtbot, full_window)


def test_who_looks_at_the_window_is_not_told(full_window: MainWindow, qtbot: QtBot) -> None:
    desk = Desk()
    full_window.notifier.desktop = desk
    qtbot.waitUntil(lambda: QApplication.activeWindow() is full_window)
    full_window.work.run("Probing spring", _does(None))
    at_rest(qtbot, full_window)
    assert desk.told == []


def test_who_wants_none_gets_none_also_tomorrow(full_window: MainWindow, desk: Desk, qtbot: QtBot) -> None:
    action = full_window.findChild(QAction, "notify")
    assert action is not None
    assert action.isChecked()
    action.trigger()
    full_window.work.run("Probing spring", _does(None))
    at_rest(qtbot, full_window)
    assert desk.told == []
    assert not file.load().settings.window.notify


@RAISES
def test_without_a_tray_the_title_says_it_until_the_window_is_looked_at(
    full_window: MainWindow, desk: Desk, qtbot: QtBot
) -> None:
    title = full_window.windowTitle()
    full_window.notifier.desktop = TrayOrTitle(full_window, full_window.notifier.bring_up)
    full_window.work.run("Probing spring", _does(None))
    at_rest(qtbot, full_window)
    assert full_window.windowTitle() == f"Probing spring: {state_name(State.DONE)} – {PROGRAM}"
    full_window.notifier.bring_up()
    assert full_window.windowTitle() == title
    assert desk.told == []
