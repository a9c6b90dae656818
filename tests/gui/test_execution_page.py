"""The execution on its page while it runs, also in another program, and what may be done with it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QPushButton
from pytestqt.qtbot import QtBot

from core.history.store import Store
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import Plan, Step
from gui.dialogs.confirm import NameDialog
from gui.pages.after import AfterPage
from gui.pages.execution import MovePage
from gui.remembered import Remembered
from gui.widgets.empty import Empty
from gui.window import MainWindow
from tests.gui import samples
from tests.gui.conftest import at_rest, page

COPY = Step(
    "warm pass 1",
    "old",
    "postgres",
    "rsync",
    "why",
    "",
    number=1,
    server="db-old",
    expected_seconds=100.0,
    warm_pass=1,
    rehearsed=True,
)
OPENING = Step(
    "open new",
    "new",
    "postgres",
    "true",
    "why",
    "",
    number=2,
    server="db-new",
    expected_seconds=2.0,
    point_of_no_return=True,
)
PLAN = Plan(samples.MOVE.name, "rsync", "why", (COPY, OPENING), samples.MORNING, cluster="15/main")


@pytest.fixture(autouse=True)
def _looked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gui.pages.execution.LOOK_MS", 50)
    monkeypatch.setattr("gui.watch.LOOK_MS", 50)
    monkeypatch.setattr("gui.watch.IDLE_MS", 50)


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """Another program with the same history."""
    with Store.open(store.path.parent) as made:
        yield made


def begun(store: Store, kind: Kind = Kind.REAL) -> tuple[int, int]:
    """An execution in its first step; the numbers of both."""
    started = Execution(0, PLAN.move, kind, State.RUNNING, "c0ffee00", "dba@desk", datetime.now(UTC), None, PLAN)
    number = store.execution_started(started)
    return number, store.step_started(number, StepRun(0, 1, COPY.title, 1, datetime.now(UTC)))


def shown(qtbot: QtBot, window: MainWindow) -> MovePage:
    made = page(qtbot, window, "Move")
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


def test_an_execution_of_another_program_is_seen_as_it_goes(
    full_window: MainWindow, qtbot: QtBot, other: Store
) -> None:
    section = shown(qtbot, full_window)
    assert section.start.isEnabled()
    number, run = begun(other)
    qtbot.waitUntil(lambda: "step 1 of 2" in section.summary.text(), timeout=20_000)
    assert section.end.isEnabled()
    assert not section.start.isEnabled()
    other.step_progressed(run, 3 << 30, 12 << 30)
    qtbot.waitUntil(lambda: "3.0 GiB of 12.0 GiB" in section.summary.text(), timeout=20_000)
    assert not section.tabs.isTabVisible(2)
    current = section.table.current()
    assert current is not None
    assert current.run == other.execution(number).steps[-1]
    ended(other, number, run, State.DONE)
    qtbot.waitUntil(lambda: section.tabs.isTabVisible(2), timeout=20_000)
    assert "Kept\n  each step" in section.ending.text


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


def test_what_was_left_is_said_before_another_begins(full_window: MainWindow, qtbot: QtBot, other: Store) -> None:
    number, run = begun(other)
    ended(other, number, run, State.CANCELLED)
    section = shown(qtbot, full_window)
    left = f"Execution {number} of spring was cancelled at step 2 of 2, open new: old runs as before, 3.0 GiB of it lie"
    qtbot.waitUntil(lambda: left in section.summary.text(), timeout=20_000)
    press(section.start)
    dialog = named(qtbot, full_window)
    dialog.reject()
    assert not full_window.work.busy


def test_what_is_left_is_ticked_off_and_kept(
    full_window: MainWindow, qtbot: QtBot, other: Store, tmp_path: Path
) -> None:
    full_window.work.remembered = Remembered(tmp_path)
    after = page(qtbot, full_window, "After")
    assert isinstance(after, AfterPage)
    assert after.findChild(Empty) is not None
    later = replace(COPY, title="drop the old fence", native=("rm -r x",))
    plan = replace(PLAN, advice=("take a backup of new",), remains=("old's files on db-old",), later=(later,))
    started = Execution(0, PLAN.move, Kind.REAL, State.RUNNING, "c0ffee00", "dba@desk", datetime.now(UTC), None, plan)
    other.execution_changed(other.execution_started(started), State.DONE)
    full_window.work.changed.emit()
    qtbot.waitUntil(lambda: after.list.count() == 3)
    assert after.summary.text() == "3 of 3 left."
    assert after.list.item(0).text() == "Take a backup of new."
    after.list.setCurrentRow(1)
    assert after.commands.text == "rm -r x\nrsync"
    after.list.item(0).setCheckState(Qt.CheckState.Checked)
    assert after.summary.text() == "2 of 3 left."
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert after.list.item(0).checkState() is Qt.CheckState.Checked


def test_the_stop_is_asked_with_host_and_expected_downtime(full_window: MainWindow, qtbot: QtBot, other: Store) -> None:
    stop = replace(COPY, title="stop old", stopped=True, expected_seconds=35.0, number=1)
    plan = replace(PLAN, steps=(stop, OPENING), warnings=("old is not fenced",))
    other.execution_started(
        Execution(0, PLAN.move, Kind.REAL, State.RUNNING, "c0ffee00", "dba@desk", datetime.now(UTC), None, plan)
    )
    full_window.work.run("execute", lambda _session, _job: full_window.work.asker.confirm_stop("15/main"))
    asking = full_window.show_page("Move")
    assert isinstance(asking, MovePage)
    panel = asking.prompt
    qtbot.waitUntil(lambda: "on db-old" in panel.text.text())
    assert "About 35 s of downtime are expected" in panel.text.text()
    assert "1 warning of the plan stand" in panel.text.text()
    full_window.moves_made.remove("spring")
    assert "when it has ended" in full_window.banner.text
    panel.decline.click()
    at_rest(qtbot, full_window)
