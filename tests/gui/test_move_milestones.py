"""The rail, the next thing, the cards and the strip: where a move stands, on every page."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialogButtonBox, QWidget
from pytestqt.qtbot import QtBot

from core import api
from core.api.session import Session
from core.benchmarks.model import Forecast
from core.history.store import Store
from core.migration.execution.status import sentence, unfinished
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.standing import Condition, Mark, Milestone
from gui.asker import StepQuestion
from gui.controllers.moves import TITLES
from gui.destinations import Offer, PageId
from gui.dialogs.confirm import NameDialog
from gui.dialogs.move import MoveDialog
from gui.dialogs.server import ServerDialog
from gui.models.execution import AT_STAKE, Doing
from gui.models.rail import RailModel, RailRow, describe_row
from gui.pages.kinds import PAGES, PageKind
from gui.pages.measure import MeasurePage
from gui.pages.page import Page
from gui.pages.start import CARDS, StartPage
from gui.window import MainWindow
from gui.work import Work
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page
from tests.steps import change_step

NOW = datetime(2026, 3, 14, 6, 0, tzinfo=UTC)


class ToyPage(Page[str]):
    """A page of somebody else's."""

    id, title, milestone = "toy", "Toy", Milestone.AFTER

    def question(self) -> Callable[[Session], str]:
        return lambda _session: "read"

    def show_answer(self, answer: str) -> None:
        self.answer = answer


@pytest.fixture
def toy_window(work: Work, qtbot: QtBot, store: Store) -> Iterator[MainWindow]:
    made = MainWindow(work, (*PAGES, PageKind(ToyPage.id, ToyPage.title, ToyPage.milestone, lambda: ToyPage)))
    made.show()
    work.use(Session(store, work.asker))
    at_rest(qtbot, made)
    yield made
    made.close()
    made.deleteLater()


def test_a_page_is_declared_by_its_class_and_its_kind(toy_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, toy_window, ToyPage.id)
    assert isinstance(shown, ToyPage)
    assert shown.answer == "read"
    assert toy_window.rail.rows.row(len(PAGES)).title == "Toy"


@pytest.mark.parametrize("kind", PAGES, ids=lambda kind: kind.id)
def test_a_kind_says_what_its_class_says(kind: PageKind) -> None:
    page = kind.load()
    assert (page.id, page.title, page.milestone) == (kind.id, kind.title, kind.milestone)


def test_the_rail_shows_how_each_milestone_stands(full_window: MainWindow, qtbot: QtBot) -> None:
    rows = full_window.rail.rows
    qtbot.waitUntil(lambda: any(rows.row(number).mark is not None for number in range(rows.rowCount())))
    shown = [*map(rows.row, range(rows.rowCount()))]
    assert shown[0].mark is None  # the page of all moves
    conditions = {row.milestone: row.mark.condition for row in shown if row.mark is not None}
    assert conditions[Milestone.FACTS] is Condition.DONE
    assert conditions[Milestone.CHECK] is Condition.BLOCKED
    assert conditions[Milestone.MOVE] is Condition.OPEN


def test_the_rail_is_a_sound_model_and_is_read_out() -> None:
    model = RailModel([RailRow("Check", Milestone.CHECK), RailRow("History", None)])
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    mark = Mark(Milestone.CHECK, Condition.WARNING, "3 warnings", NOW - timedelta(hours=2))
    model.show_marks([mark])
    said = describe_row(model.row(0), NOW)
    assert said.startswith(f"Check, {Condition.WARNING}, {mark.said}, ")
    assert figures(said)[-1] == "2 h"  # ago
    assert model.row(1).mark is None
    assert tester.model() is model


def test_next_leads_to_the_page_and_there_begins_its_work(window: MainWindow, store: Store, qtbot: QtBot) -> None:
    assert leads_to(window) == Offer.FIRST_STEPS
    store.add_profile(samples.OLD)
    store.add_profile(samples.NEW)
    window.work.changed.emit()
    qtbot.waitUntil(lambda: leads_to(window) == Offer.NEW_MOVE)
    store.add_move(samples.MOVE)
    window.work.changed.emit()
    qtbot.waitUntil(lambda: leads_to(window) == PageId.FACTS)
    page(qtbot, window, PageId.SERVERS)
    assert window.next.isVisible()
    QTest.mouseClick(window.next, Qt.MouseButton.LeftButton)
    shown = window.stack.currentWidget()
    assert isinstance(shown, Page)
    assert (shown.id, shown.primary is not None) == (PageId.FACTS, True)
    at_rest(qtbot, window)


def leads_to(window: MainWindow) -> str:
    """Where Next goes: a page, or what is asked for; it says so."""
    words, where = window.milestones.next(None)
    assert window.next.text() == words
    return where


def test_a_card_says_where_its_move_stands_and_leads_on(full_window: MainWindow, qtbot: QtBot) -> None:
    start = page(qtbot, full_window, PageId.MOVES)
    assert isinstance(start, StartPage)
    (card,) = start.cards
    assert card.card.cluster.startswith("15/main, ")
    assert figures(card.card.cluster) == ["15.5", "1.1 TiB", "5432"]
    assert figures(card.card.wrong) == ["2", "1"]  # blockers, and warnings
    assert card.card.page == PageId.CHECK
    assert not full_window.next.isVisible()  # the card has a button for the same
    page(qtbot, full_window, PageId.OVERVIEW)
    assert full_window.next.isVisible()
    page(qtbot, full_window, PageId.MOVES)
    card.next.click()
    shown = full_window.stack.currentWidget()
    assert isinstance(shown, Page)
    assert shown.id == PageId.CHECK
    at_rest(qtbot, full_window)


def interrupted(store: Store) -> int:
    """An execution whose program was killed after it had stopped old; its number."""
    stop, copy, start = samples.PLAN.steps
    steps = (
        change_step(copy, id=step_ids.STOP_OLD_CLUSTER, number=1),
        change_step(copy, id=step_ids.CHECK_STOPPED, number=2),
        change_step(stop, number=3, downtime=True),
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


def test_a_fixed_move_is_edited_without_its_servers_and_paths_and_none_while_a_job_runs(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    start = page(qtbot, full_window, PageId.MOVES)
    assert isinstance(start, StartPage)
    edit = full_window.menus.edit_move
    qtbot.waitUntil(edit.isEnabled)
    assert start.cards[0].edit.isEnabled()
    goes_on = threading.Event()
    full_window.work.run("Moving spring", lambda _session, _job: goes_on.wait(10))
    start.cards[0].edit.click()
    assert full_window.banner.isVisible()
    goes_on.set()
    at_rest(qtbot, full_window)
    assert QApplication.activeModalWidget() is None
    number = interrupted(full_store)
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    edit.trigger()
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), MoveDialog))
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, MoveDialog)
    for field in (dialog.old, dialog.new, dialog.cluster, dialog.target, dialog.swap):
        assert not field.isEnabled()
        assert f"Execution {number} " in field.toolTip()
    assert dialog.new_volume.isEnabled()
    dialog.plain_text.setChecked(not dialog.plain_text.isChecked())
    allowed = dialog.plain_text.isChecked()
    dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
    assert full_store.move("spring").plain_text == allowed
    at_rest(qtbot, full_window)


class Paints(QObject):
    """How often a widget was painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times += event.type() is QEvent.Type.Paint
        return super().eventFilter(watched, event)


def test_ages_go_on_while_a_job_runs(full_window: MainWindow, qtbot: QtBot) -> None:
    start = page(qtbot, full_window, PageId.MOVES)
    assert isinstance(start, StartPage)
    at_rest(qtbot, full_window)
    goes_on = threading.Event()
    full_window.work.run("Moving spring", lambda _session, _job: goes_on.wait(10))
    (card,) = start.cards
    said = card.last.text()
    card.last.setText("")
    start.ages.timeout.emit()
    assert figures(card.last.text()) == figures(said)
    full_window.rail.viewport().repaint()  # what the beginning of the job changes
    paints = Paints(full_window.rail.viewport())
    full_window.rail.ages.timeout.emit()
    qtbot.waitUntil(lambda: paints.times > 0)
    assert full_window.rail.ages.isActive()
    assert start.ages.isActive()
    goes_on.set()
    at_rest(qtbot, full_window)


@pytest.mark.slow
def test_after_a_kill_the_strip_is_there_in_the_first_second(full_store: Store, work: Work, qtbot: QtBot) -> None:
    execution = full_store.execution(interrupted(full_store))
    window = MainWindow(work)
    window.show()
    work.use(Session(full_store, work.asker))
    qtbot.waitUntil(window.status_banner.isVisible, timeout=1000)
    said = window.status_banner.text.text()
    since, ago = figures(said)
    assert said.startswith("spring: ")
    assert since == f"{execution.started_at.astimezone():%H:%M:%S}"
    assert ago.startswith("3 min 5")
    assert said.endswith(only_interrupted(execution))
    for page_id in (PageId.FACTS, PageId.HISTORY):
        page(qtbot, window, page_id)
        assert window.status_banner.isVisible()
    for button, told in ((window.status_banner.go_on, " 3: "), (window.status_banner.back, AT_STAKE[Doing.BACK])):
        qtbot.waitUntil(partial(can_be_clicked, button))
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: window.findChild(NameDialog) is not None)
        dialog = window.findChild(NameDialog)
        assert dialog is not None
        assert told in dialog.text.text()
        dialog.reject()
        qtbot.waitUntil(lambda: window.findChild(NameDialog) is None)
    at_rest(qtbot, window)
    window.close()
    window.deleteLater()


def only_interrupted(execution: Execution) -> str:
    """What is said of it beyond what is said of one that somebody carries out."""
    now = datetime.now(UTC)
    found = [unfinished(execution, now, alive=alive) for alive in (True, False)]
    alive, dead = (sentence(one, now) for one in found if one is not None)
    assert len(dead) > len(alive)
    return dead.removeprefix(alive)


def test_the_strip_says_which_move_waits(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    interrupted(full_store)
    full_window.work.changed.emit()
    qtbot.waitUntil(full_window.status_banner.isVisible)
    at_rest(qtbot, full_window)
    for move in ("autumn", "spring"):
        full_window.work.asker.move = move
        question = StepQuestion("workstation", "move the address", "")
        full_window.active_executions.wait_for(question)
        said = full_window.status_banner.text.text()
        assert said.endswith(f": {question.title}")
        assert (". autumn " in said, ". spring " in said) == (move == "autumn", False)  # its own needs no name
        full_window.active_executions.go_on(question)
        assert question.title not in full_window.status_banner.text.text()


def test_a_card_that_says_what_it_said_stays(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    full_store.add_move(replace(samples.MOVE, name="autumn"))
    full_window.work.changed.emit()
    start = page(qtbot, full_window, PageId.MOVES)
    assert isinstance(start, StartPage)
    before = {card.card.move: card for card in start.cards}
    before["spring"].last.setText("said before")
    full_store.remove_move("autumn")
    full_store.add_move(replace(samples.MOVE, name="winter"))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    after = {card.card.move: card for card in start.cards}
    assert set(after) == {"spring", "winter"}
    assert after["spring"] is before["spring"]
    assert len(figures(after["spring"].last.text())) == 1  # how long ago, said anew
    qtbot.waitUntil(lambda: all(card.isVisible() for card in start.cards))
    assert start.cards[0].y() < start.cards[1].y()


@pytest.mark.slow
def test_of_many_moves_the_latest_are_shown_and_more_when_wanted(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    for number in range(CARDS + 1):
        full_store.add_move(replace(samples.MOVE, name=f"many {number:02}"))
    full_window.work.changed.emit()
    start = page(qtbot, full_window, PageId.MOVES)
    assert isinstance(start, StartPage)
    qtbot.waitUntil(lambda: len(start.cards) == CARDS)
    assert start.cards[0].card.move == f"many {CARDS:02}"
    assert figures(start.more.text()) == ["2", str(CARDS + 2)]
    start.more.click()
    at_rest(qtbot, full_window)
    assert len({shown.card.move for shown in start.cards}) == CARDS + 2
    assert start.more.isHidden()


def test_without_anything_unfinished_there_is_no_strip(full_window: MainWindow, qtbot: QtBot) -> None:
    at_rest(qtbot, full_window)
    assert full_window.status_banner.isHidden()


def can_be_clicked(button: QAbstractButton) -> bool:
    return button.isVisible() and button.isEnabled()


def test_the_beginning_leads_from_nothing_to_the_move(
    window: MainWindow, store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each dialog follows by itself, also behind a server that is only saved; nobody connects here."""
    connected: list[str] = []
    monkeypatch.setattr(api.servers, "test_server", lambda _session, server, _job: connected.append(server))
    monkeypatch.setattr(api.facts, "read_facts", lambda _session, _server, _job: None)
    QTest.mouseClick(window.next, Qt.MouseButton.LeftButton)
    for title, profile in zip(TITLES, (samples.OLD, samples.NEW), strict=True):
        qtbot.waitUntil(partial(asks_for, title))
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ServerDialog)
        dialog.name.setText(profile.name)
        dialog.address.setText(profile.address)
        (dialog.submit if profile is samples.OLD else dialog.save.click)()
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), MoveDialog))
    assert {one.name for one in store.profiles()} == {samples.OLD.name, samples.NEW.name}
    assert connected == [samples.OLD.name]
    made = QApplication.activeModalWidget()
    assert isinstance(made, MoveDialog)
    made.reject()
    at_rest(qtbot, window)


def asks_for(title: str) -> bool:
    dialog = QApplication.activeModalWidget()
    return dialog is not None and dialog.windowTitle() == title


@pytest.mark.slow
def test_next_makes_the_forecast_by_itself(full_window: MainWindow, qtbot: QtBot) -> None:
    asked: list[str] = []
    full_window.work.started.connect(lambda task: asked.append(task.title))
    shown = full_window.show_page(PageId.MEASURE)
    shown.arrive()
    qtbot.waitUntil(lambda: asked == ["Forecast"])
    full_window.cancel()
    at_rest(qtbot, full_window)
    assert asked == ["Forecast"]


@pytest.mark.slow
def test_the_forecast_made_by_itself_is_of_the_suite_of_the_settings(
    full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there in the end, and no other was made: an answer for a suite that is not chosen would be dropped."""
    asked: list[str] = []

    def forecast(_session: Session, _move: str, suite: str, *_: object) -> tuple[Forecast, ...]:
        asked.append(suite)
        return ()

    monkeypatch.setattr(api.benchmarks, "forecast_benchmarks", forecast)
    shown = full_window.show_page(PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    shown.arrive()
    qtbot.waitUntil(shown.start.isVisible)
    at_rest(qtbot, full_window)
    wanted = full_window.work.settings.benchmark.suite
    assert (asked, shown.suite.currentText()) == ([wanted], wanted)
    assert shown.suite.currentIndex() > 0
