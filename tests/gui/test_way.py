"""The rail, the next thing, the cards and the strip: where a move stands, on every page."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from core.actions import Session
from core.history.store import Store
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.standing import Condition, Mark, Milestone
from core.migration.plan.steps.copy import STOP, STOPPED
from gui.dialogs.confirm import NameDialog
from gui.models.rail import RailModel, RailRow, spoken
from gui.pages.page import Page
from gui.pages.start import StartPage
from gui.window import PAGES, MainWindow
from gui.work import Work
from tests.gui import samples
from tests.gui.conftest import at_rest, page

NOW = datetime(2026, 3, 14, 6, 0, tzinfo=UTC)


class ToyPage(Page):
    """A page of somebody else's."""

    title, milestone = "Toy", Milestone.AFTER

    def question(self) -> Any:
        return lambda _session: "read"

    def show_answer(self, answer: Any) -> None:
        self.answer = answer


@pytest.fixture
def toy_window(work: Work, qtbot: QtBot, store: Store) -> Iterator[MainWindow]:
    made = MainWindow(work, (*PAGES, ToyPage))
    made.show()
    work.use(Session(store, work.asker))
    at_rest(qtbot, made)
    yield made
    made.close()
    made.deleteLater()


def test_a_page_is_declared_by_its_class_alone(toy_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, toy_window, "Toy")
    assert isinstance(shown, ToyPage)
    assert shown.answer == "read"
    assert toy_window.rail.rows.row(len(PAGES)).title == "Toy"


def test_the_rail_shows_how_each_milestone_stands(full_window: MainWindow, qtbot: QtBot) -> None:
    rows = full_window.rail.rows
    qtbot.waitUntil(lambda: any(rows.row(number).mark is not None for number in range(rows.rowCount())))
    marks = {row.title: row.mark for row in map(rows.row, range(rows.rowCount()))}
    assert marks["Moves"] is None
    conditions = {title: mark.condition for title, mark in marks.items() if mark is not None}
    assert conditions["Facts"] is Condition.DONE
    assert conditions["Check"] is Condition.BLOCKED
    assert conditions["Move"] is Condition.OPEN


def test_the_rail_is_a_sound_model_and_is_read_out() -> None:
    model = RailModel([RailRow("Check", Milestone.CHECK), RailRow("History", None)])
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    mark = Mark(Milestone.CHECK, Condition.WARNING, "3 warnings", NOW - timedelta(hours=2))
    model.show_marks([mark])
    assert spoken(model.row(0), NOW) == "Check, with warnings, 3 warnings, 2 h ago"
    assert model.row(1).mark is None
    assert tester.model() is model


def test_next_leads_to_the_page_and_there_begins_its_work(window: MainWindow, store: Store, qtbot: QtBot) -> None:
    assert window.next.text() == "Add a server…"
    store.add_profile(samples.OLD)
    store.add_profile(samples.NEW)
    window.work.changed.emit()
    qtbot.waitUntil(lambda: window.next.text() == "New move…")
    store.add_move(samples.MOVE)
    window.work.changed.emit()
    qtbot.waitUntil(lambda: window.next.text() == "Read the facts")
    QTest.mouseClick(window.next, Qt.MouseButton.LeftButton)
    shown = window.stack.currentWidget()
    assert isinstance(shown, Page)
    assert (shown.title, shown.primary is not None) == ("Facts", True)
    at_rest(qtbot, window)


def test_a_card_says_where_its_move_stands_and_leads_on(full_window: MainWindow, qtbot: QtBot) -> None:
    start = page(qtbot, full_window, "Moves")
    assert isinstance(start, StartPage)
    (card,) = start.cards
    assert card.card.cluster == "15/main, PostgreSQL 15.5, 1.1 TiB, runs on port 5432"
    assert card.card.wrong == "2 blockers, 1 warning"
    assert card.next.text() == "Solve 2 blockers"
    card.next.click()
    shown = full_window.stack.currentWidget()
    assert isinstance(shown, Page)
    assert shown.title == "Check"
    at_rest(qtbot, full_window)


def interrupted(store: Store) -> int:
    """An execution whose program was killed after it had stopped old; its number."""
    stop, copy, start = samples.PLAN.steps
    steps = (
        replace(copy, name=STOP, number=1),
        replace(copy, name=STOPPED, number=2),
        replace(stop, number=3, stopped=True),
        replace(start, number=4),
    )
    plan = replace(samples.PLAN, steps=steps, cluster="15/main", data_directory="/srv/pg/data", target="/srv/pg/new")
    began = datetime.now(UTC) - timedelta(seconds=233)
    made = Execution(0, plan.move, Kind.REAL, State.RUNNING, "c0ffee00", "dba@desk", began, None, plan)
    number = store.execution_started(made)
    for step in (1, 2):
        run = StepRun(0, step, "stop", 1, began)
        run = replace(run, id=store.step_started(number, run))
        store.step_ended(replace(run, ended_at=began, exit_status=0))
    store.execution_changed(number, State.INTERRUPTED, "the program ended")
    return number


def test_after_a_kill_the_strip_is_there_in_the_first_second(full_store: Store, work: Work, qtbot: QtBot) -> None:
    interrupted(full_store)
    window = MainWindow(work)
    window.show()
    work.use(Session(full_store, work.asker))
    qtbot.waitUntil(window.strip.isVisible, timeout=1000)
    assert window.strip.text.text().startswith("spring: old is stopped since ")
    assert "(3 min 5" in window.strip.text.text()
    assert window.strip.text.text().endswith("the move was interrupted")
    for title in ("Facts", "History"):
        page(qtbot, window, title)
        assert window.strip.isVisible()
    for button, said in ((window.strip.go_on, "The move goes on with step 3"), (window.strip.back, "old is let go")):
        qtbot.waitUntil(partial(can_be_clicked, button))
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: window.findChild(NameDialog) is not None)
        dialog = window.findChild(NameDialog)
        assert dialog is not None
        assert said in dialog.text.text()
        dialog.reject()
        qtbot.waitUntil(lambda: window.findChild(NameDialog) is None)
    at_rest(qtbot, window)
    window.close()
    window.deleteLater()


def test_without_anything_unfinished_there_is_no_strip(full_window: MainWindow, qtbot: QtBot) -> None:
    at_rest(qtbot, full_window)
    assert full_window.strip.isHidden()


def can_be_clicked(button: QAbstractButton) -> bool:
    return button.isVisible() and button.isEnabled()
