"""The execution on its page while it runs, also in another program, and what may be done with it."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt, QTime
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from core.api import execution as actions
from core.api import moves
from core.api.session import Session
from core.errors import HistoryError
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.passes import FinishedPasses, read_finished_passes
from core.migration.execution.timeline import make_progress_event
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun, StopAnswer
from core.migration.model.plan import FollowUp, FollowUpGroup, Plan, RemoteCall, Step, Timing
from core.migration.model.schedule import Schedule
from core.migration.model.standing import Condition, Milestone
from core.sides import Side
from core.text import capital
from gui.asker import StopQuestion
from gui.bridge import Task
from gui.destinations import PageId
from gui.dialogs.confirm import NameDialog
from gui.models.execution import GO_ON, PAUSE, Doing, outcome_text
from gui.models.figures import figures as made_figures
from gui.pages.after import AfterPage
from gui.pages.execution import OUTCOME, STEPS, MovePage, RehearsePage
from gui.widgets.empty import Empty
from gui.widgets.status_banner import StatusBanner
from gui.window import MainWindow
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page
from tests.steps import change_step

COPY = Step(
    id="step-1",
    title="warm pass 1",
    action=RemoteCall(side=Side.OLD, user="postgres", call="rsync"),
    reason="why",
    undo="",
    in_rehearsal=True,
    precopy_pass=1,
    timing=Timing(expected_seconds=100.0),
    number=1,
    server="db-old",
)
OPENING = Step(
    id=step_ids.CUTOVER,
    title="open new",
    action=RemoteCall(side=Side.NEW, user="postgres", call="true"),
    reason="why",
    undo="",
    timing=Timing(expected_seconds=2.0),
    number=2,
    server="db-new",
)
PLAN = Plan(samples.MOVE.name, "rsync", "why", (COPY, OPENING), samples.MORNING, cluster="15/main")


@pytest.fixture(autouse=True)
def _looked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gui.controllers.executions.LOOK_MS", 50)
    monkeypatch.setattr("gui.controllers.executions.IDLE_MS", 50)


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """Another program with the same history."""
    with Store.open(store.path.parent) as made:
        yield made


def begun(store: Store, kind: Kind = Kind.REAL, plan: Plan = PLAN) -> tuple[int, int]:
    """An execution in its first step; the numbers of both."""
    started = Execution(0, plan.move, kind, State.RUNNING, "c0ffee00", "dba@desk", datetime.now(UTC), None, plan)
    number = store.execution_started(started)
    return number, store.step_started(number, StepRun(0, 1, COPY.title, 1, datetime.now(UTC)))


def shown(qtbot: QtBot, window: MainWindow) -> MovePage:
    made = page(qtbot, window, PageId.MOVE)
    assert isinstance(made, MovePage)
    return made


def ended(store: Store, number: int, run: int, state: State) -> None:
    at = store.execution(number).steps[-1]
    store.step_ended(replace(at, id=run, ended_at=datetime.now(UTC), exit_status=0, bytes=3 << 30))
    store.execution_changed(number, state)


def named(qtbot: QtBot, window: MainWindow) -> NameDialog:
    """The dialog that waits for the cluster's name."""
    qtbot.waitUntil(lambda: window.findChild(NameDialog) is not None)
    dialog = window.findChild(NameDialog)
    assert dialog is not None
    return dialog


def press(button: QPushButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_an_execution_of_another_program_is_seen_as_it_goes(
    full_window: MainWindow, qtbot: QtBot, other: Store
) -> None:
    section = shown(qtbot, full_window)
    assert section.start.isEnabled()
    number, run = begun(other)
    qtbot.waitUntil(lambda: section.state.alive, timeout=20_000)
    assert figures(section.summary.text())[:2] == ["1", "2"]  # the step, of all
    assert all(step.title in section.summary.text() for step in section.state.running)
    assert section.end.isEnabled()
    assert not section.start.isEnabled()
    other.step_progressed(run, 3 << 30, 12 << 30)
    qtbot.waitUntil(lambda: {"3.0 GiB", "12.0 GiB"} <= {*figures(section.summary.text())}, timeout=20_000)
    assert (section.tabs.currentIndex(), section.tabs.isTabVisible(OUTCOME)) == (STEPS, False)
    current = section.table.current()
    assert current is not None
    assert current.run == other.execution(number).steps[-1]
    ended(other, number, run, State.DONE)
    qtbot.waitUntil(lambda: section.tabs.isTabVisible(OUTCOME), timeout=20_000)
    assert section.tabs.currentIndex() == OUTCOME
    assert section.tiles.shown == made_figures(section.state) != ()
    section.tabs.setCurrentIndex(STEPS)
    at = section.state.read_at
    qtbot.waitUntil(lambda: section.state.read_at != at, timeout=20_000)
    assert section.tabs.currentIndex() == STEPS  # it is opened once, not with every look
    assert section.ending.text == outcome_text(section.state.ending)
    assert [each.title for each in section.state.ending][-1] == "Details"


@pytest.mark.slow
def test_the_banner_and_the_page_tell_the_execution_as_of_one_time(
    full_window: MainWindow, qtbot: QtBot, other: Store
) -> None:
    """Else the time left and the downtime would differ by a second."""
    looks = list[datetime]()
    full_window.active_executions.poller.looked.connect(lambda _found, at: looks.append(at))
    section = shown(qtbot, full_window)
    begun(other, plan=replace(PLAN, steps=(change_step(COPY, timing=Timing(expected_seconds=40.0)), OPENING)))
    qtbot.waitUntil(lambda: section.state.alive and section.state.read_at in looks, timeout=20_000)
    seen = list[tuple[str, ...]]()

    def compare() -> bool:
        texts = (section.card.line.text(), full_window.status_banner.text.text())
        seen.append(tuple(re.findall("about .* left", text)[0] for text in texts))
        return section.state.read_at == looks[-1] and len({words[0] for words in seen}) > 2

    qtbot.waitUntil(compare, timeout=20_000)
    assert [words for words in seen if len(set(words)) > 1] == []


def fail_to_read(_released: Event) -> None:
    raise HistoryError("the history cannot be read: database is locked")


UNREADABLE: dict[str, Callable[[Event], object]] = {
    "each read fails": fail_to_read,
    "a read hangs": lambda released: released.wait(60),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("read", ["banner", "page"])
def test_the_clock_goes_on_while_the_history_cannot_be_read(
    full_window: MainWindow, qtbot: QtBot, other: Store, monkeypatch: pytest.MonkeyPatch, kind: str, read: str
) -> None:
    """The banner and the page still tell one time, and after a while when the history was read."""
    owner, name = (moves, "read_unfinished") if read == "banner" else (actions, "read_state")
    works, released, unreadable = getattr(owner, name), Event(), UNREADABLE[kind]

    def read_unless_broken(*arguments: object, **named: object) -> object:
        if not released.is_set():
            unreadable(released)
        return works(*arguments, **named)

    poller = full_window.active_executions.poller
    section, banner = shown(qtbot, full_window), full_window.status_banner
    begun(other, plan=replace(PLAN, steps=(change_step(COPY, timing=Timing(expected_seconds=50.0)), OPENING)))
    qtbot.waitUntil(lambda: section.state.alive and "left" in banner.text.text(), timeout=20_000)
    seen = list[tuple[str, str]]()

    def compare() -> bool:
        page, strip = (re.findall("about .* left", text)[0] for text in (section.card.line.text(), banner.text.text()))
        seen.append((page, strip))
        return len(set(seen)) > 2

    monkeypatch.setattr(owner, name, read_unless_broken)
    try:
        qtbot.waitUntil(lambda: said_read_at(poller.read_at, banner), timeout=20_000)
        since, first = poller.read_at, banner.text.text()
        qtbot.waitUntil(compare, timeout=20_000)
        assert [pair for pair in seen if len(set(pair)) > 1] == []
        assert poller.read_at == since
        assert banner.text.text() != first
    finally:
        released.set()
    qtbot.waitUntil(lambda: poller.read_at > since, timeout=20_000)
    qtbot.waitUntil(lambda: not said_read_at(since, banner), timeout=20_000)


def said_read_at(read_at: datetime, banner: StatusBanner) -> bool:
    return f"{read_at.astimezone():%H:%M:%S}. " in banner.text.text()


@pytest.mark.slow
def test_what_is_at_stake_waits_for_the_clusters_name(full_window: MainWindow, qtbot: QtBot, other: Store) -> None:
    number, _ = begun(other)
    section = shown(qtbot, full_window)
    qtbot.waitUntil(section.end.isEnabled, timeout=20_000)
    press(section.end)
    dialog = named(qtbot, full_window)
    do_it = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    for typed, may in (("", False), ("15/Main", False), ("15/main", True)):
        dialog.field.setText(typed)
        assert do_it.isEnabled() is may
    press(do_it)
    qtbot.waitUntil(lambda: other.cancel_asked(number), timeout=20_000)
    other.execution_changed(number, State.CANCELLED, "cancelled")
    qtbot.waitUntil(lambda: not full_window.work.busy, timeout=20_000)


def test_chosen_times_are_shown_confirmed_and_handed_on(
    full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed = list[Schedule]()

    def execute(*_: object, schedule: Schedule, **__: object) -> SimpleNamespace:
        handed.append(schedule)
        return SimpleNamespace(state=State.DONE)

    monkeypatch.setattr("core.api.execution.execute", execute)
    section = shown(qtbot, full_window)
    bar = section.schedule
    qtbot.waitUntil(bar.isVisible)
    assert (bar.times, bar.meaning.isVisible()) == ((None, None), False)
    now = datetime.now().astimezone()
    start, ask = ((now + timedelta(hours=hours)).replace(second=0, microsecond=0) for hours in (3, 5))
    for box, field, at in ((bar.starts_later, bar.start_time, start), (bar.asks_later, bar.ask_time, ask)):
        box.setChecked(True)
        field.setTime(QTime(at.hour, at.minute))
    assert all(f"{at:%H:%M}" in bar.meaning.text() for at in (start, ask))
    press(section.start)
    qtbot.waitUntil(lambda: full_window.findChild(QMessageBox) is not None)
    question = full_window.findChild(QMessageBox)
    assert question is not None
    assert f"{start:%H:%M}" in question.text() + question.informativeText()
    begin = next(one for one in question.buttons() if question.buttonRole(one) is QMessageBox.ButtonRole.AcceptRole)
    begin.click()
    qtbot.waitUntil(lambda: bool(handed), timeout=20_000)
    assert handed == [Schedule(start, ask)]


def test_a_rehearsal_asks_for_no_stop(full_window: MainWindow, qtbot: QtBot) -> None:
    section = page(qtbot, full_window, PageId.REHEARSE)
    assert isinstance(section, RehearsePage)
    qtbot.waitUntil(section.schedule.starts_later.isVisible)
    assert not section.schedule.asks_later.isVisible()
    section.schedule.asks_later.setChecked(True)
    assert section.schedule.times == (None, None)


def test_what_was_left_is_said_before_another_begins(full_window: MainWindow, qtbot: QtBot, other: Store) -> None:
    number, run = begun(other)
    ended(other, number, run, State.CANCELLED)
    section = shown(qtbot, full_window)
    qtbot.waitUntil(lambda: section.state.left != "", timeout=20_000)
    assert figures(section.state.left) == [str(number), "2", "2", "3.0 GiB"]
    assert all(name in section.state.left for name in (PLAN.move, OPENING.title))
    assert capital(section.state.left) in section.summary.text()
    press(section.start)
    dialog = named(qtbot, full_window)
    dialog.reject()
    assert not full_window.work.busy


def test_what_is_left_is_ticked_off_and_recorded(full_window: MainWindow, qtbot: QtBot, other: Store) -> None:
    after = page(qtbot, full_window, PageId.AFTER)
    assert isinstance(after, AfterPage)
    assert after.findChild(Empty) is not None
    later = change_step(COPY, title="drop the old fence", native=("rm -r x",))
    backup = FollowUp("backup", FollowUpGroup.BACK_UP, "Take a backup of new.")
    told = FollowUp("statistics", FollowUpGroup.INFORMATION, "ANALYZE is not needed")
    plan = replace(PLAN, advice=(backup, told), remains=("db-old: /srv holds the stopped cluster.",), later=(later,))
    started = Execution(0, PLAN.move, Kind.REAL, State.RUNNING, "c0ffee00", "dba@desk", datetime.now(UTC), None, plan)
    number = other.execution_started(started)
    other.execution_changed(number, State.DONE)
    full_window.work.changed.emit()
    qtbot.waitUntil(lambda: after.list.count() == 8)  # four heads, three tasks and information
    items = [after.list.item(row) for row in range(8)]
    tasks = [item.data(Qt.ItemDataRole.UserRole) for item in items]
    assert [None if task is None else (task.group, task.id) for task in tasks] == [
        *(None, (FollowUpGroup.VERIFY, later.id)),
        *(None, (FollowUpGroup.BACK_UP, "backup")),
        *(None, (FollowUpGroup.CLEAN_UP, "remains-0")),
        *(None, (FollowUpGroup.INFORMATION, "statistics")),
    ]
    boxes = [item.data(Qt.ItemDataRole.CheckStateRole) is not None for item in items]
    assert boxes == [False, True, False, True, False, True, False, False]
    assert figures(after.summary.text()) == ["3", "3"]
    assert items[3].text() == "Take a backup of new."
    assert items[5].text() == "db-old: /srv holds the stopped cluster."  # the name of a server keeps its first letter
    assert after.commands.text == "rm -r x\nrsync"
    assert after.commands.isVisible()
    after.list.setCurrentRow(3)
    assert not after.commands.isVisible()  # it has no commands
    for left, row in enumerate((5, 3, 1)):
        after.list.item(row).setCheckState(Qt.CheckState.Checked)
        at_rest(qtbot, full_window)
        done = len(other.execution(number).follow_up_done)
        assert (done, after.list.item(row).checkState()) == (left + 1, Qt.CheckState.Checked)
        mark = next(one for one in full_window.milestones.marks if one.milestone is Milestone.AFTER)
        assert mark.condition is (Condition.DONE if done == 3 else Condition.OPEN)
        if done < 3:
            assert figures(after.summary.text()) == figures(mark.said) == [str(3 - done), "3"]
    assert full_window.milestones.next(None)[1] == PageId.MOVE
    assert full_window.next.isVisible()
    after.list.item(1).setCheckState(Qt.CheckState.Unchecked)
    at_rest(qtbot, full_window)
    assert other.execution(number).follow_up_done == {"backup", "remains-0"}
    assert full_window.milestones.next(None)[1] == PageId.AFTER
    assert not full_window.next.isVisible()  # it would do nothing on this page


def stop_asked(window: MainWindow, _session: Session, _job: Job) -> StopAnswer:
    """As the engine asks."""
    return window.work.asker.confirm_stop("15/main", ["3 of app on shop from 10.0.0.7, web"], warm=True)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [StopAnswer.WARM_FIRST, StopAnswer.LOOK_AGAIN])
def test_a_pass_or_a_new_list_may_be_had_before_the_stop(
    full_window: MainWindow, qtbot: QtBot, answer: StopAnswer
) -> None:
    answers: list[StopAnswer] = []
    task = full_window.work.run("execute", partial(stop_asked, full_window))
    assert task is not None
    task.succeeded.connect(answers.append)
    asking = full_window.show_page(PageId.MOVE)
    assert isinstance(asking, MovePage)
    panel = asking.prompt
    qtbot.waitUntil(lambda: panel.isVisible() and panel.warm.isEnabled())
    assert panel.table.text == "3 of app on shop from 10.0.0.7, web"
    assert figures(panel.text.text()) == ["3"]  # so many clients lose their connections
    press(panel.warm if answer is StopAnswer.WARM_FIRST else panel.look)
    at_rest(qtbot, full_window)
    assert answers == [answer]


@pytest.mark.slow
@pytest.mark.parametrize("presses", [1, 2, 3])
def test_it_pauses_after_the_step_that_runs_until_that_is_taken_back(
    full_window: MainWindow, qtbot: QtBot, other: Store, presses: int
) -> None:
    begun(other)
    section = shown(qtbot, full_window)
    go_on = threading.Event()
    ends: list[bool] = []

    def carried_out(_session: Session, _job: Job) -> None:
        go_on.wait(20)
        ends.append(full_window.work.asker.wants_to_end())
        ends.append(full_window.work.asker.wants_to_end())

    assert section.pause.isHidden()
    asker = full_window.work.asker
    asker.carries, asker.move = full_window.work.run("execute", carried_out), PLAN.move
    qtbot.waitUntil(section.pause.isVisible, timeout=20_000)
    for _ in range(presses):
        press(section.pause)
    pauses = presses % 2 == 1
    assert section.pause.text() == (GO_ON if pauses else PAUSE)
    go_on.set()
    at_rest(qtbot, full_window)
    assert ends == [pauses, False]


@pytest.mark.slow
@pytest.mark.parametrize("otherwise", ["another task", "a way back", "another move"])
def test_only_what_this_window_goes_through_step_by_step_can_stop_after_a_step(
    full_window: MainWindow, qtbot: QtBot, other: Store, otherwise: str
) -> None:
    begun(other)
    section, asker = shown(qtbot, full_window), full_window.work.asker
    go_on = threading.Event()
    task = full_window.work.run("what runs", lambda _session, _job: go_on.wait(20))
    asker.move = "autumn" if otherwise == "another move" else PLAN.move
    if otherwise == "another task":
        asker.carries = full_window.work.runner.start("the one before", lambda _job: None)
    elif otherwise == "another move":
        asker.carries = task
    qtbot.waitUntil(lambda: section.state.alive, timeout=20_000)
    section.update_buttons()
    assert section.pause.isHidden()
    asker.carries, asker.move = task, PLAN.move
    section.update_buttons()
    assert section.pause.isVisible()
    go_on.set()
    at_rest(qtbot, full_window)


@pytest.mark.slow
def test_a_way_back_is_not_gone_step_by_step(
    full_window: MainWindow, qtbot: QtBot, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for action in ("resume_execution", "roll_back_execution"):
        monkeypatch.setattr(f"core.api.execution.{action}", lambda *_: SimpleNamespace(state=State.DONE))
    number, run = begun(other)
    ended(other, number, run, State.INTERRUPTED)
    work, section = full_window.work, shown(qtbot, full_window)
    begun_tasks: list[Task[object]] = []
    work.started.connect(begun_tasks.append)
    for doing, stepwise in ((Doing.RESUME, True), (Doing.BACK, False)):
        with qtbot.waitSignal(work.ended, timeout=20_000):
            section.controller.ask(doing, PLAN.move)
            named(qtbot, full_window).accept()
        qtbot.waitUntil(lambda: full_window.findChild(NameDialog) is None)
        assert (work.asker.carries is begun_tasks[-1]) is stepwise
    assert len(begun_tasks) == 2


@pytest.mark.slow
def test_the_stop_is_asked_with_host_and_expected_downtime(full_window: MainWindow, qtbot: QtBot, other: Store) -> None:
    stop = change_step(COPY, title="stop old", downtime=True, expected_seconds=35.0, number=1)
    plan = replace(PLAN, steps=(stop, OPENING), warnings=("old is not fenced",))
    other.execution_started(
        Execution(0, PLAN.move, Kind.REAL, State.RUNNING, "c0ffee00", "dba@desk", datetime.now(UTC), None, plan)
    )
    full_window.work.run("execute", partial(stop_asked, full_window))
    full_window.work.asker.move = PLAN.move
    asking = full_window.show_page(PageId.MOVE)
    assert isinstance(asking, MovePage)
    panel = asking.prompt
    qtbot.waitUntil(lambda: "db-old" in panel.text.text())
    downtime, warnings, clients = figures(panel.text.text())
    assert (downtime, warnings, clients) == ("35 s", "1", "3")
    client, _, warning = panel.table.text.splitlines()  # read after the question was asked
    assert (client, warning) == ("3 of app on shop from 10.0.0.7, web", "old is not fenced")
    full_window.moves_made.remove("spring")
    assert full_window.banner.isVisible()
    assert other.move("spring").name == PLAN.move
    assert QApplication.activeModalWidget() is None  # it is not even asked
    qtbot.waitUntil(panel.decline.isEnabled)
    panel.decline.click()
    at_rest(qtbot, full_window)


@pytest.mark.slow
def test_the_stop_of_one_move_is_asked_with_its_own_host_while_another_is_picked(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    full_store.add_profile(replace(samples.OLD, name="db-payroll", address="192.0.2.99"))
    full_store.add_move(replace(samples.MOVE, name="autumn", old="db-payroll"))
    begun(full_store)
    other = replace(PLAN, move="autumn", steps=(replace(COPY, server="db-payroll", downtime=True, number=1),))
    full_store.execution_started(
        Execution(0, "autumn", Kind.REAL, State.RUNNING, "c0ffee01", "dba@desk", datetime.now(UTC), None, other)
    )
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    full_window.work.pick("autumn")
    at_rest(qtbot, full_window)
    asking = page(qtbot, full_window, PageId.MOVE)
    assert isinstance(asking, MovePage)
    qtbot.waitUntil(lambda: asking.state.execution is not None and asking.state.execution.move == "autumn")
    full_window.work.asker.move = PLAN.move
    full_window.work.run("execute", partial(stop_asked, full_window))
    qtbot.waitUntil(lambda: asking.prompt.isVisible() and bool(asking.prompt.text.text()))
    assert "db-payroll" not in asking.prompt.text.text()
    qtbot.waitUntil(asking.prompt.decline.isEnabled)
    asking.prompt.decline.click()
    at_rest(qtbot, full_window)


def test_the_window_fits_a_small_screen_while_it_asks(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    """With the strip over it, the clock of the stop, more clients than there is room for, and the frame of a window."""
    section = shown(qtbot, full_window)
    begun(full_store)
    qtbot.waitUntil(full_window.status_banner.isVisible, timeout=20_000)
    question = StopQuestion("db-old", "15/main", tuple(f"app_{number}" for number in range(40)), warm=True)
    section.ask(question)
    section.clock.setVisible(True)
    section.budget.setVisible(True)
    section.details.setCurrentWidget(section.step)
    needed = full_window.minimumSizeHint()
    assert section.prompt.isVisible()
    assert (needed.width() <= 1024, needed.height() <= 665) == (True, True), needed.toTuple()
    question.answer(None)


def test_passes_are_read_on_a_thread_and_only_after_a_step_has_ended(
    full_window: MainWindow, full_store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the question before the stop is open, each look tells the same passes as of now."""
    threads: list[threading.Thread] = []

    def reading(of: Execution) -> FinishedPasses:
        threads.append(threading.current_thread())
        return read_finished_passes(of)

    monkeypatch.setattr("core.api.execution.read_finished_passes", reading)
    stop = change_step(OPENING, id="stop", side=Side.OLD, server="db-old", downtime=True, number=2)
    steps = (change_step(COPY, precopy_pass=1, root="data"), stop, replace(OPENING, number=3))
    section = shown(qtbot, full_window)
    number, run = begun(full_store, plan=replace(PLAN, steps=steps))
    of_pass = replace(full_store.execution(number).steps[-1], id=run, exit_status=0, bytes=60 << 30)
    full_store.step_ended(replace(of_pass, ended_at=of_pass.started_at + timedelta(seconds=50)))
    full_window.work.asker.move = PLAN.move
    qtbot.waitUntil(lambda: section.state.execution is not None and section.state.execution.id == number)
    before = section.state.read_at
    section.ask(StopQuestion("db-old", "15/main", (), warm=True))
    qtbot.waitUntil(lambda: " 15/main on db-old will be stopped" in section.prompt.text.text())
    qtbot.waitUntil(lambda: section.state.read_at is not None and before is not None and section.state.read_at > before)
    later = section.state.read_at
    qtbot.waitUntil(lambda: section.state.read_at != later)
    assert len(threads) == 1
    assert threading.main_thread() not in threads
    looked = full_store.step_started(number, StepRun(0, 2, "stop", 1, datetime.now(UTC)))
    full_store.step_ended(StepRun(looked, 2, "stop", 1, datetime.now(UTC), datetime.now(UTC), 0))
    qtbot.waitUntil(lambda: len(threads) > 1)
    assert threading.main_thread() not in threads
    qtbot.waitUntil(section.prompt.decline.isEnabled)
    section.prompt.decline.click()
    at_rest(qtbot, full_window)


def wait_for_a_look(qtbot: QtBot, section: MovePage) -> None:
    seen = section.state.read_at
    qtbot.waitUntil(lambda: section.state.read_at != seen)


LEFT = re.compile(r"about ([\d.]+ \w+(?: \d+ s)?) left")


def test_banner_page_and_job_bar_tell_the_same_figures(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    """What the job reports is of another time than what is read each second."""
    window, section = full_window, shown(qtbot, full_window)
    window.resize(1024, 700)
    copy = change_step(COPY, title=f"Pre-copy pass 1 of 2: copy /srv/{'a' * 200}", expected_seconds=4000.0)
    number, run = begun(full_store, plan=replace(PLAN, steps=(copy, OPENING)))
    full_store.step_progressed(run, 3 << 30, 12 << 30)
    told, heard = Event(), Event()

    def carry_out(_session: Session, job: Job) -> None:
        execution = full_store.execution(number)
        job.report(make_progress_event(execution, execution.started_at + timedelta(seconds=1000)))
        told.set()
        assert heard.wait(20)

    task = window.work.run("Move", carry_out)
    assert task is not None
    qtbot.waitUntil(lambda: told.is_set() and copy.title in window.job_bar.title.text(), timeout=20_000)
    qtbot.waitUntil(lambda: section.state.alive and window.status_banner.isVisible(), timeout=20_000)
    qtbot.waitUntil(lambda: LEFT.search(window.job_bar.title.text()) is not None)
    for _ in range(3):
        wait_for_a_look(qtbot, section)
        places = (window.status_banner.text, section.card.line, window.job_bar.title)
        left = [LEFT.findall(place.text()) for place in places]
        assert len(left[0]) == 1
        assert left[0] == LEFT.findall(window.job_bar.title.shown)  # it is not cut off on a small screen
        assert left == [left[0]] * 3
        amount = window.job_bar.words.text()
        assert figures(amount)[:2] == ["3.0 GiB", "12.0 GiB"]
        assert amount in section.summary.text()
    heard.set()
    at_rest(qtbot, window)
