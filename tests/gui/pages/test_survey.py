"""The page Survey: the ranked moves of many servers, and surveys of real servers over ssh."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QAbstractItemModel, QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from core import api
from core.api.session import Session
from core.history.store import Store
from core.jobs import ServerState
from core.migration.model.checks import CheckResult, Status
from core.migration.model.fleet import MoveState
from core.servers.lists.model import ServerList
from core.servers.profiles import Profile, Rights
from core.tones import Tone
from gui.destinations import PageId
from gui.dialogs.move import MoveDialog
from gui.dialogs.palette import CommandPalette
from gui.dialogs.report import ReportDialog
from gui.dialogs.server import ServerDialog
from gui.dialogs.survey import FILE, KNOWN, SurveyDialog
from gui.models.report import ReportRequest
from gui.models.survey import NO_MOVE, Reading
from gui.pages.survey import SurveyPage
from gui.widgets.table import FilterBox, Table
from gui.window import MainWindow
from gui.work import Work
from tests.gui import fleets
from tests.gui.watchdog import Watchdog
from tests.histories import Histories
from tests.sshd import SSHD, this_machine

with_sshd = pytest.mark.skipif(not SSHD.exists(), reason="sshd is not installed")


@pytest.fixture
def hundred() -> None:
    """The servers are a hundred."""


@pytest.fixture
def fleet_store(request: pytest.FixtureRequest, histories: Histories, tmp_path: Path) -> Iterator[Store]:
    """What a survey of many servers leaves."""
    fill = fleets.fill if "hundred" in request.fixturenames else fleets.fill_some
    with histories.open(tmp_path / "fleet", fill) as made:
        yield made


@pytest.fixture
def fleet_window(fleet_store: Store, work: Work, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(work)
    made.show()
    work.use(Session(fleet_store, work.asker))
    at_rest(qtbot, made)
    yield made
    made.close()
    made.deleteLater()


def at_rest(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until nothing is read or done any more; many servers take longer than two."""
    qtbot.waitUntil(lambda: window.work.runner.idle, timeout=60_000)


def survey_page(qtbot: QtBot, window: MainWindow) -> SurveyPage:
    shown = window.show_page(PageId.SURVEY)
    assert isinstance(shown, SurveyPage)
    qtbot.waitUntil(lambda: shown.shown, timeout=60_000)
    at_rest(qtbot, window)
    return shown


def groups(shown: SurveyPage) -> list[str]:
    return [row.group for row in shown.moves.rows.rows]


def choose(shown: SurveyPage, group: str) -> None:
    shown.moves.choose(groups(shown).index(group))


def double_click(table: Table[Any]) -> None:
    """On the selected row."""
    place = table.visualRect(table.currentIndex()).center()
    for pressed in (QTest.mouseClick, QTest.mouseDClick):
        pressed(table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(place))


def activate(qtbot: QtBot, window: MainWindow) -> None:
    """Give the window the keys, as a window manager does when it is shown or a dialog has closed."""
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)


def opened(qtbot: QtBot, window: MainWindow, kind: type[QDialog]) -> QDialog:
    qtbot.waitUntil(lambda: any(each.isVisible() for each in window.findChildren(kind)), timeout=60_000)
    return next(each for each in window.findChildren(kind) if each.isVisible())


# --- what the history has


def test_the_page_says_what_can_be_moved_and_in_which_windows(fleet_window: MainWindow, qtbot: QtBot) -> None:
    shown = survey_page(qtbot, fleet_window)
    ready = groups(shown).count(MoveState.READY)
    assert shown.verdict.said.text().startswith(f"{ready} ")
    assert sum(int(figure.value) for figure in shown.windows.shown) == ready
    assert groups(shown)[0] == MoveState.READY
    assert shown.moves.selected() == (shown.moves.rows.rows[0],)
    explained = shown.move_card.view.explained
    assert explained is not None
    assert explained.tone is Tone.GOOD
    shown.chips.chips[MoveState.READY].click()
    assert MoveState.READY not in groups(shown)
    assert "2" in shown.tabs.tabText(shown.server_tab)


def test_moves_are_sorted_and_filtered(fleet_window: MainWindow, qtbot: QtBot) -> None:
    shown = survey_page(qtbot, fleet_window)
    ranked = shown.moves.rows.rows
    titles = [column.title for column in shown.moves.rows.columns]
    sizes = [row.size_bytes or -1 for row in ranked]
    for expected in (sorted(sizes), sorted(sizes, reverse=True), sizes):
        shown.moves.horizontalHeader().sectionClicked.emit(titles.index("Size"))
        assert [row.size_bytes or -1 for row in shown.moves.rows.rows] == expected
    box = shown.findChild(FilterBox)
    assert box is not None
    box.setText("DB42")
    assert [row.server for row in shown.moves.rows.rows] == ["db42"]
    assert [line.name for line in shown.servers.rows.rows] == ["db42"]
    box.setText("old server is stopped")
    assert set(groups(shown)) == {MoveState.BLOCKED}
    box.clear()
    assert shown.moves.rows.rows == ranked


@pytest.mark.parametrize(
    ("group", "page_id"),
    [(MoveState.READY, PageId.OVERVIEW), (MoveState.BLOCKED, PageId.CHECK), (MoveState.UNKNOWN, PageId.OVERVIEW)],
)
def test_a_double_click_opens_the_move(fleet_window: MainWindow, qtbot: QtBot, group: str, page_id: PageId) -> None:
    shown = survey_page(qtbot, fleet_window)
    choose(shown, group)
    row = shown.moves.current()
    assert row is not None
    assert row.move is not None
    assert shown.open.isVisible()
    assert not shown.add.isVisible()
    double_click(shown.moves)
    at_rest(qtbot, fleet_window)
    assert fleet_window.work.move == row.move.move
    assert getattr(fleet_window.stack.currentWidget(), "id", "") == page_id


def test_a_move_to_be_checked_first_opens_its_checks(
    fleet_window: MainWindow, fleet_store: Store, qtbot: QtBot
) -> None:
    name = f"db01{fleets.CLUSTER}"
    unknown = CheckResult(
        "control-data", "Binary layout of the data files", Status.UNKNOWN, "–", "–", "Not known.", pending=True
    )
    fleet_store.save_checks(name, (unknown,))
    shown = survey_page(qtbot, fleet_window)
    names = ["" if row.move is None else row.move.move.name for row in shown.moves.rows.rows]
    shown.moves.choose(names.index(name))
    row = shown.moves.current()
    assert row is not None
    assert row.group == MoveState.READY
    double_click(shown.moves)
    at_rest(qtbot, fleet_window)
    assert getattr(fleet_window.stack.currentWidget(), "id", "") == PageId.CHECK


def test_a_double_click_adds_a_move_for_a_cluster_without_one(
    fleet_window: MainWindow, fleet_store: Store, qtbot: QtBot
) -> None:
    shown = survey_page(qtbot, fleet_window)
    choose(shown, NO_MOVE)
    row = shown.moves.current()
    assert row is not None
    assert shown.add.isVisible()
    double_click(shown.moves)
    dialog = opened(qtbot, fleet_window, MoveDialog)
    assert isinstance(dialog, MoveDialog)
    assert (dialog.old.currentText(), dialog.cluster.currentText()) == (row.server, row.cluster)
    assert dialog.new.currentText() != row.server
    dialog.name.setText("another")
    dialog.new.setCurrentText("new1")
    dialog.target.setEditText("/srv/pg/another")
    dialog.submit()
    qtbot.waitUntil(lambda: "another" in {move.name for move in fleet_store.moves()}, timeout=60_000)
    at_rest(qtbot, fleet_window)
    assert groups(shown).count(NO_MOVE) == fleets.WITHOUT_MOVE - 1


def test_a_double_click_opens_the_server(fleet_window: MainWindow, qtbot: QtBot) -> None:
    shown = survey_page(qtbot, fleet_window)
    shown.tabs.setCurrentIndex(shown.server_tab)
    line = shown.servers.current()
    assert line is not None
    assert line.reading is Reading.FAILED
    explained = shown.server_card.view.explained
    assert explained is not None
    assert explained.lead
    assert explained.paragraphs[0].text
    double_click(shown.servers)
    dialog = opened(qtbot, fleet_window, ServerDialog)
    assert isinstance(dialog, ServerDialog)
    assert dialog.name.text() == line.name
    at_rest(qtbot, fleet_window)
    dialog.reject()


def test_the_report_on_all_moves_is_written(
    fleet_window: MainWindow, fleet_store: Store, qtbot: QtBot, tmp_path: Path
) -> None:
    shown = survey_page(qtbot, fleet_window)
    shown.save.click()
    dialog = opened(qtbot, fleet_window, ReportDialog)
    assert isinstance(dialog, ReportDialog)
    assert [dialog.kind.itemData(number) for number in range(dialog.kind.count())] == ["fleet"]
    asked: list[tuple[ReportRequest, Path]] = []
    dialog.submitted.connect(lambda request, path: asked.append((request, path)))
    dialog.path.setText(str(tmp_path / "fleet.json"))
    dialog.submit()
    at_rest(qtbot, fleet_window)
    assert [(request.move, request.kind, path) for request, path in asked] == [(None, "fleet", tmp_path / "fleet.json")]
    written = json.loads((tmp_path / "fleet.json").read_text())
    ready = next(table for table in _tables(written) if table.get("name") == "ready")
    assert len(ready["rows"]) == groups(shown).count(MoveState.READY)
    assert fleet_store.moves()


def _tables(document: object) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON document that has rows."""
    if isinstance(document, dict):
        if isinstance(document.get("rows"), list):
            yield document
        for each in document.values():
            yield from _tables(each)
    elif isinstance(document, list):
        for each in document:
            yield from _tables(each)


@pytest.mark.slow
@pytest.mark.usefixtures("hundred")
def test_a_hundred_servers_do_not_block_the_window(fleet_window: MainWindow, qtbot: QtBot) -> None:
    shown = survey_page(qtbot, fleet_window)
    names = [line.name for line in shown.servers.rows.rows]
    assert len(names) == fleets.OLD_SERVERS + fleets.NEW_SERVERS
    with Watchdog(fleet_window) as watchdog:
        for _ in range(3):
            fleet_window.work.changed.emit()
            at_rest(qtbot, fleet_window)
        shown.tabs.setCurrentIndex(shown.server_tab)
        for name in names:
            shown.take_events((ServerState(name, "waiting"), ServerState(name, "running")))
            QApplication.processEvents()
    assert watchdog.blocks == []


def test_the_tables_are_sound_while_servers_change(
    fleet_window: MainWindow, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    check: Callable[[QAbstractItemModel], None] = qtmodeltester.check
    shown = survey_page(qtbot, fleet_window)
    name = shown.servers.rows.rows[0].name
    for event in (ServerState(name, "waiting"), ServerState("db-not-known-before", "running")):
        shown.take_events((event,))
        check(shown.servers.rows)
    for chip in shown.chips.chips.values():
        chip.click()
        check(shown.moves.rows)


def test_the_page_is_used_by_keys_alone(fleet_window: MainWindow, qtbot: QtBot) -> None:
    activate(qtbot, fleet_window)
    QTest.keyClick(fleet_window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = opened(qtbot, fleet_window, CommandPalette)
    assert isinstance(palette, CommandPalette)
    QTest.keyClicks(palette.field, "surv")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert isinstance(fleet_window.stack.currentWidget(), SurveyPage)
    shown = survey_page(qtbot, fleet_window)
    activate(qtbot, fleet_window)
    QTest.keyClick(fleet_window, Qt.Key.Key_F1)
    assert len(fleet_window.banner.text) > 100
    fleet_window.banner.hide()
    seen: list[QWidget | None] = []
    shown.save.setFocus()
    while (focused := QApplication.focusWidget()) not in seen:
        seen.append(focused)
        QTest.keyClick(focused or fleet_window, Qt.Key.Key_Tab)
    assert {shown.save, shown.start, shown.moves, shown.open, shown.chips.chips[MoveState.READY]} <= set(seen)
    QTest.keyClick(shown, Qt.Key.Key_N, Qt.KeyboardModifier.AltModifier)
    dialog = opened(qtbot, fleet_window, SurveyDialog)
    assert isinstance(dialog, SurveyDialog)
    assert dialog.source.currentData() == KNOWN
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialog.isVisible())
    activate(qtbot, fleet_window)
    shown.moves.setFocus()
    QTest.keyClick(shown.moves, Qt.Key.Key_Down)
    row = shown.moves.current()
    assert row is shown.moves.rows.rows[1]
    QTest.keyClick(shown.moves, Qt.Key.Key_Return)
    at_rest(qtbot, fleet_window)
    assert row.move is not None
    assert fleet_window.work.move == row.move.move


def test_servers_without_a_move_and_a_cluster_lead_to_a_survey(window: MainWindow, store: Store, qtbot: QtBot) -> None:
    store.add_profile(Profile("db1", "192.0.2.1"))
    shown = survey_page(qtbot, window)
    assert shown.no_moves.isVisible()
    assert not shown.ranked.isVisible()
    assert [line.reading for line in shown.servers.rows.rows] == [Reading.NEVER]
    assert shown.start.isEnabled()


# --- surveys


@pytest.mark.parametrize("text", ["name,address\ndb2,192.0.2.2\n", ""])
def test_a_list_that_is_read_after_its_dialog_was_closed_is_shown_to_nobody(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, load = threading.Event(), api.survey.load_list

    def load_late(path: Path | None) -> ServerList:
        assert closed.wait(20)
        return load(path)

    monkeypatch.setattr(api.survey, "load_list", load_late)
    shown = survey_page(qtbot, window)
    path = tmp_path / "fleet.csv"
    path.write_text(text)
    shown.add_one()
    dialog = opened(qtbot, window, SurveyDialog)
    assert isinstance(dialog, SurveyDialog)
    dialog.path.setText(str(path))
    dialog.path.editingFinished.emit()
    dialog.reject()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    closed.set()
    at_rest(qtbot, window)
    assert not window.findChildren(SurveyDialog)


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that accepts a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def begin_with(qtbot: QtBot, window: MainWindow) -> SurveyPage:
    """Start a survey of the known servers, and wait until the first are being read."""
    shown = survey_page(qtbot, window)
    shown.add_one()
    dialog = opened(qtbot, window, SurveyDialog)
    assert isinstance(dialog, SurveyDialog)
    dialog.submit()
    qtbot.waitUntil(lambda: Reading.RUNNING in {line.reading for line in shown.servers.rows.rows}, timeout=60_000)
    return shown


def test_servers_that_say_nothing_do_not_hold_up_a_cancel(
    window: MainWindow, store: Store, silent: int, qtbot: QtBot
) -> None:
    for number in range(20):
        store.add_profile(Profile(f"db{number}", "127.0.0.1", port=silent))
    shown = begin_with(qtbot, window)
    window.cancel()
    qtbot.waitUntil(lambda: not window.work.busy, timeout=10_000)
    at_rest(qtbot, window)
    assert {line.reading for line in shown.servers.rows.rows} == {Reading.WAITING}
    assert store.unread() == {}


def test_servers_that_say_nothing_do_not_hold_up_the_end_of_the_window(
    window: MainWindow, store: Store, silent: int, qtbot: QtBot
) -> None:
    for number in range(20):
        store.add_profile(Profile(f"db{number}", "127.0.0.1", port=silent))
    begin_with(qtbot, window)
    assert window.work.close() == ()


@pytest.fixture
def reachable(tmp_path: Path) -> Iterator[tuple[Profile, ...]]:
    """This machine as three servers."""
    with this_machine(tmp_path, "db1", "db2", "db3") as profiles:
        yield profiles


def list_file(folder: Path, profiles: tuple[Profile, ...], *rows: str) -> Path:
    head = "name,address,user,port,identity_file,rights,new,cluster,target"
    known = [
        f"{each.name},{each.address},{each.user},{each.port},{each.identity_file},{Rights.NONE},,," for each in profiles
    ]
    path = folder / "fleet.csv"
    path.write_text("\n".join([head, *known, *rows]) + "\n")
    return path


def begin(qtbot: QtBot, window: MainWindow, path: Path, *, at_once: int = 8) -> SurveyPage:
    """Start a survey of that list by the empty state of the page, as a person does."""
    shown = survey_page(qtbot, window)
    shown.add_one()
    dialog = opened(qtbot, window, SurveyDialog)
    assert isinstance(dialog, SurveyDialog)
    dialog.source.setCurrentIndex(dialog.source.findData(FILE))
    QTest.keyClicks(dialog.path, str(path))
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    dialog.at_once.setValue(at_once)
    start = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    qtbot.waitUntil(start.isEnabled, timeout=60_000)
    start.click()
    return shown


@pytest.mark.slow
@with_sshd
def test_a_list_is_surveyed_and_each_failure_is_a_row_of_its_own(
    window: MainWindow, store: Store, reachable: tuple[Profile, ...], qtbot: QtBot, tmp_path: Path
) -> None:
    closed = "closed,127.0.0.1,,1,,,db1,/srv/nowhere,/srv/elsewhere"
    path = list_file(tmp_path, reachable[:2], closed, "bad,$(x),,,,,,,", "half,127.0.0.1,,1,,,db2,,")
    shown = begin(qtbot, window, path)
    seen: set[Reading] = set()

    def over() -> bool:
        seen.update(line.reading for line in shown.servers.rows.rows)
        return not window.work.busy

    qtbot.waitUntil(over, timeout=120_000)
    at_rest(qtbot, window)
    assert seen & {Reading.WAITING, Reading.RUNNING}
    lines = {line.name: line for line in shown.servers.rows.rows}
    assert {name: line.reading for name, line in lines.items()} == {
        "closed": Reading.FAILED,
        **dict.fromkeys(("db1", "db2"), Reading.READ),
    }
    assert lines["closed"].failure
    assert lines["closed"].hint
    assert shown.tabs.isTabVisible(shown.refused_tab)
    assert [row.name for row in shown.refused.rows.rows] == ["bad", "half"]
    assert groups(shown)[:1] == [MoveState.UNKNOWN]
    assert {profile.name for profile in store.profiles()} == {"db1", "db2", "closed"}
    assert not window.findChildren(QDialog) or not any(each.isVisible() for each in window.findChildren(QDialog))


@pytest.mark.slow
@with_sshd
def test_a_survey_is_cancelled_and_continued(
    window: MainWindow, store: Store, reachable: tuple[Profile, ...], qtbot: QtBot, tmp_path: Path
) -> None:
    shown = begin(qtbot, window, list_file(tmp_path, reachable), at_once=1)

    def read() -> list[str]:
        return [line.name for line in shown.servers.rows.rows if line.reading is Reading.READ]

    qtbot.waitUntil(lambda: bool(read()), timeout=60_000)
    window.cancel()
    qtbot.waitUntil(lambda: not window.work.busy, timeout=60_000)
    at_rest(qtbot, window)
    kept = read()
    assert 1 <= len(kept) < len(reachable)
    assert {line.reading for line in shown.servers.rows.rows} == {Reading.READ, Reading.WAITING}
    assert shown.again.isVisible()
    taken = {name: facts.taken_at for name in kept if (facts := store.facts(name)) is not None}
    shown.start.click()
    qtbot.waitUntil(lambda: not window.work.busy, timeout=120_000)
    at_rest(qtbot, window)
    assert not shown.again.isVisible()
    assert {line.reading for line in shown.servers.rows.rows} == {Reading.READ}
    for name, at in taken.items():
        facts = store.facts(name)
        assert facts is not None
        assert facts.taken_at == at  # it was not read again
    assert {profile.name for profile in store.profiles() if store.facts(profile.name)} == {"db1", "db2", "db3"}
