"""Each page shows what the history holds, and says what to do where it holds nothing."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from core.benchmarks.suites import list_suites
from core.errors import HistoryError
from core.history.store import KINDS, Filter, Store
from core.jobs import Job
from core.migration.execution.script_check import ScriptCheck
from core.migration.model.checks import Status
from core.migration.model.probe import Quantity
from core.redaction import MASK
from core.sides import Side
from core.tones import Tone
from gui.destinations import PageId
from gui.dialogs.waive import WaiveDialog
from gui.models.checks import Group
from gui.models.details import NO_CHECKS
from gui.models.script_check import verdict
from gui.models.steps import NO_RETURN, PART_HEADS, Part
from gui.models.words import quantity_name
from gui.pages.check import CheckPage
from gui.pages.compare import ComparePage
from gui.pages.estimate import EstimatePage
from gui.pages.execution import ExecutionPage
from gui.pages.facts import FactsPage
from gui.pages.history import HistoryPage
from gui.pages.kinds import PAGES
from gui.pages.measure import MeasurePage
from gui.pages.page import AnyPage, PartPage
from gui.pages.plan import PlanPage
from gui.pages.probe import MEASURING, ProbePage
from gui.pages.servers import ServersPage
from gui.widgets.empty import Empty
from gui.window import MainWindow
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page


@pytest.mark.slow
@pytest.mark.parametrize("page_id", [kind.id for kind in PAGES])
def test_an_empty_history_says_what_to_do_next(window: MainWindow, qtbot: QtBot, page_id: str) -> None:
    shown = page(qtbot, window, page_id)
    empty = shown.findChild(Empty)
    assert empty is not None
    assert empty.isVisible()
    assert empty.button.text()
    assert not window.next.isVisible()  # one action is enough
    assert not shown.body.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("page_id", [kind.id for kind in PAGES if kind.id != PageId.AFTER])
def test_with_a_history_no_page_is_empty(full_window: MainWindow, qtbot: QtBot, page_id: str) -> None:
    shown = page(qtbot, full_window, page_id)
    assert not any(empty.isVisible() for empty in shown.findChildren(Empty))
    assert shown.body.isVisible()
    assert not full_window.banner.isVisible()


def test_servers(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    rows = shown.table.rows.rows
    assert [(row.profile.name, row.side) for row in rows] == [("db-old", Side.OLD), ("db-new", Side.NEW)]
    assert shown.test.isEnabled()
    explained = shown.details.view.explained
    assert explained is not None
    assert (explained.title, explained.tone) == ("db-old", Tone.OLD)
    shown.table.selectAll()
    assert shown.details.view.explained is None


def test_the_side_of_a_server_is_that_of_the_picked_move(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = page(qtbot, full_window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    full_store.add_move(replace(samples.MOVE, name="back", old="db-new", new="db-old"))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    full_window.work.pick("back")
    qtbot.waitUntil(lambda: shown.table.rows.rows[0].profile.name == "db-new")
    assert [row.side for row in shown.table.rows.rows] == [Side.OLD, Side.NEW]


def test_facts_show_the_servers_of_the_move(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    assert (shown.old.currentText(), shown.new.currentText()) == ("db-old", "db-new")
    assert any(row.old == "Intel Xeon E5410" and row.new == "AMD EPYC 9354P" for row in shown.table.rows.rows)
    assert shown.tabs.tabText(2) == "&Gaps (1)"
    assert any(row.cluster.data_directory == samples.ODD_FOLDER for row in shown.clusters.rows.rows)
    assert shown.details.rows.rowCount() > 5
    assert "PRETTY_NAME" in shown.raw.text


def test_other_servers_can_be_chosen(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    shown.new.setCurrentText("db-old")
    shown.new.textActivated.emit("db-old")
    qtbot.waitUntil(lambda: shown.shown)
    assert (shown.old.currentText(), shown.new.currentText()) == ("db-old", "db-old")
    assert not any(row.differs for row in shown.table.rows.rows)


def test_benchmarks_show_every_repetition_and_start_only_after_a_forecast(
    full_window: MainWindow, qtbot: QtBot
) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    assert shown.table.rows.rowCount() == 24
    assert shown.suite.count() > 0
    assert shown.forecast.isEnabled()
    assert not shown.start.isEnabled()
    assert "raw output" in shown.raw.text
    assert shown.metrics.rows.rowCount() == 2


def test_the_suite_is_chosen_by_what_it_measures(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    listed = list_suites()
    assert [shown.suite.itemText(index) for index in range(shown.suite.count())] == [suite.name for suite in listed]
    (selected,) = (suite for suite in listed if suite.name == shown.suite.currentText())
    assert selected.title.lower() in shown.suite.toolTip().lower()
    shown.suite.setCurrentText("raid")
    (raid,) = (suite for suite in listed if suite.name == "raid")
    assert raid.title.lower() in shown.suite.toolTip().lower()
    assert shown.suite.width() >= shown.suite.minimumSizeHint().width()


def test_comparison(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.COMPARE)
    assert isinstance(shown, ComparePage)
    assert shown.table.rows.rowCount() == 4
    shown.everything.click()
    assert shown.table.rows.rowCount() == 8


@pytest.mark.slow
def test_charts_are_drawn(full_window: MainWindow, qtbot: QtBot) -> None:
    comparison = page(qtbot, full_window, PageId.COMPARE)
    assert isinstance(comparison, ComparePage)
    titles = [view.chart.title for view in comparison.bars.views if view.chart]
    assert [title.rpartition(", ")[2] for title in titles] == ["MB/s", "IOPS"]
    estimate = page(qtbot, full_window, PageId.ESTIMATE)
    assert isinstance(estimate, EstimatePage)
    assert estimate.chart.isVisible()
    assert estimate.chart.chart is not None


def numbers(checks: CheckPage) -> dict[str, int]:
    """The number on each chip."""
    return {name: chip.counter.number for name, chip in checks.chips.chips.items()}


def test_checks_probes_and_estimate(full_window: MainWindow, qtbot: QtBot) -> None:
    checks, probes, estimate = (
        page(qtbot, full_window, page_id) for page_id in (PageId.CHECK, PageId.PROBE, PageId.ESTIMATE)
    )
    assert isinstance(checks, CheckPage)
    assert isinstance(probes, ProbePage)
    assert isinstance(estimate, EstimatePage)
    assert numbers(checks) == {Group.BLOCKER: 1, Group.UNKNOWN: 1, Group.WARNING: 1, Group.PASS: 1}
    assert figures(checks.verdict.said.text()) == ["1", "1"]  # what stops the move
    assert checks.details.view.explained is not None
    assert checks.details.view.explained.lead == samples.CHECKS[0].message
    assert [row.status for row in checks.table.rows.rows] == [Status.BLOCKER, Status.UNKNOWN, Status.WARNING]
    checks.chips.chips[Group.PASS].click()
    assert checks.table.rows.rowCount() == 4
    checks.chips.chips[Group.UNKNOWN].click()
    assert Status.UNKNOWN not in {row.status for row in checks.table.rows.rows}
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert checks.table.rows.rowCount() == 3  # what was pressed stays
    assert figures(probes.summary.text()) == ["81.5 MB/s"]  # of the slowest link
    assert quantity_name(Quantity.READ) in probes.summary.text()
    assert len(figures(probes.coming.text())) == 6  # seconds, bytes written, bytes sent, and of a thorough test
    assert estimate.table.rows.rowCount() == 6


@pytest.mark.slow
def test_links_are_said_to_be_measured_of_the_move_that_is_probed_alone(
    full_window: MainWindow, full_store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_store.add_move(replace(samples.MOVE, name="autumn"))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    go_on = threading.Event()
    monkeypatch.setattr("core.api.migration.run_probes", lambda *_args, **_options: go_on.wait(20))
    shown = page(qtbot, full_window, PageId.PROBE)
    assert isinstance(shown, ProbePage)
    full_window.work.pick("spring")
    shown.start.click()
    qtbot.waitUntil(lambda: shown.summary.text() == MEASURING)
    full_window.work.pick("autumn")
    qtbot.waitUntil(shown.before.isVisible)
    assert shown.before.sentence.text() == shown.describe_nothing()
    full_window.work.pick("spring")
    qtbot.waitUntil(lambda: shown.summary.text() == MEASURING)
    go_on.set()
    at_rest(qtbot, full_window)
    assert figures(shown.summary.text()) == ["81.5 MB/s"]


@pytest.mark.parametrize("thorough", [False, True])
def test_a_transfer_test_is_as_thorough_as_was_chosen_before_it_began(
    full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr("core.api.migration.run_probes", lambda _s, _m, _j, thorough: begun.append(thorough))
    shown = page(qtbot, full_window, PageId.PROBE)
    assert isinstance(shown, ProbePage)
    assert not shown.thorough.isChecked()
    shown.thorough.setChecked(thorough)
    shown.start.click()
    at_rest(qtbot, full_window)
    assert begun == [thorough]


def test_the_plan_is_grouped_by_the_parts_of_the_night(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.PLAN)
    assert isinstance(shown, PlanPage)

    def shown_rows() -> list[object]:
        return [row.head or (row.step and row.step.number) for row in shown.table.rows.rows]

    downtime = [PART_HEADS[Part.DOWN], 2, NO_RETURN, 3]
    assert shown_rows() == [PART_HEADS[Part.PREPARE], *downtime]  # all but the downtime is folded
    assert shown.table.rows.text(shown.table.rows.columns[-1], shown.table.rows.rows[0]) == "4 h 00 min"
    shown.table.clicked.emit(shown.table.rows.index(0, 1))
    assert shown_rows() == [PART_HEADS[Part.PREPARE], 1, *downtime]
    shown.table.clicked.emit(shown.table.rows.index(0, 1))
    shown.table.filter("copy while")
    assert shown_rows() == [1]  # a folded step is found
    shown.table.filter("")
    assert shown_rows() == [PART_HEADS[Part.PREPARE], *downtime]
    shown.table.choose(0)
    QTest.keyClick(shown.table, Qt.Key.Key_Return)
    assert shown_rows() == [PART_HEADS[Part.PREPARE], 1, *downtime]
    shown.table.choose(1)
    assert shown.step.commands.text.splitlines() == [
        "rsync -a /srv/pg/data/ new:/srv/pg/",
        "",
        "# This call runs them safely:",
        "# precopy_pass data /srv/pg/data /srv/pg",
    ]
    assert not shown.warnings.isVisible()
    shown.fold.click()
    assert shown.warnings.isVisible()
    assert shown.warnings.text() == str(samples.PLAN.warnings[0])
    shown.copy.click()
    assert "systemctl start postgresql@15-main" in QApplication.clipboard().text()


def test_a_warning_is_waived_with_a_reason_and_taken_back(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    checks = shown = page(qtbot, full_window, PageId.CHECK)
    assert isinstance(checks, CheckPage)
    statuses = [row.status for row in checks.table.rows.rows]
    checks.table.choose(statuses.index(Status.BLOCKER))
    assert not checks.waive.isEnabled()
    checks.table.choose(statuses.index(Status.WARNING))
    assert (checks.waive.isEnabled(), checks.unwaive.isEnabled()) == (True, False)
    checks.waive.click()
    dialog = shown.findChild(WaiveDialog)
    assert dialog is not None
    dialog.submit()
    assert full_store.waivers("spring") == ()
    dialog.reason.setText("tested on a copy")
    dialog.submit()
    qtbot.waitUntil(lambda: Group.WAIVED in numbers(checks))
    assert (numbers(checks)[Group.WARNING], numbers(checks)[Group.WAIVED]) == (0, 1)
    assert full_store.waivers("spring")[0].reason == "tested on a copy"
    checks.table.choose([row.waiver is not None for row in checks.table.rows.rows].index(True))
    assert checks.details.view.explained is not None
    assert "tested on a copy" in checks.details.view.explained.paragraphs[-1].text
    checks.unwaive.click()
    qtbot.waitUntil(lambda: full_store.waivers("spring") == ())
    qtbot.waitUntil(lambda: Group.WAIVED not in numbers(checks))
    assert numbers(checks)[Group.WARNING] == 1


@pytest.mark.slow
def test_history_shows_entries_with_their_details(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    kinds = [entry.kind for entry in shown.entries.rows.rows]
    assert set(kinds) == {"checks", "move", "estimate", "facts", "plan", "probe", "run"}
    shown.entries.choose(kinds.index("run"))
    qtbot.waitUntil(lambda: "raw output" in shown.details.text)
    shown.entries.choose(kinds.index("facts"))
    qtbot.waitUntil(lambda: "6.1.0-18-amd64" in shown.details.text)
    assert '"kernel"' not in shown.details.text
    shown.as_json.click()
    qtbot.waitUntil(lambda: '"kernel"' in shown.details.text)
    shown.as_json.click()
    for kind, said in (
        ("plan", samples.PLAN.steps[2].call),
        ("checks", samples.CHECKS[0].hint),
        ("estimate", "4 h 00 min (2 h 30 min – 5 h 50 min)"),
    ):
        shown.entries.choose(kinds.index(kind))
        qtbot.waitUntil(partial(tells, shown, said))
    assert next(command.command for command in shown.commands.rows.rows) == "fio --name=x"


def test_a_superseded_entry_shows_what_was_recorded_then(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    full_store.save_checks("spring", ())
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    newest, older = [number for number, entry in enumerate(shown.entries.rows.rows) if entry.kind == "checks"]
    shown.entries.choose(older)
    qtbot.waitUntil(lambda: samples.CHECKS[0].message in shown.details.text)
    shown.entries.choose(newest)
    qtbot.waitUntil(lambda: samples.CHECKS[0].message not in shown.details.text)
    assert shown.details.text == NO_CHECKS


@pytest.mark.slow
def test_what_is_removed_from_the_history_can_be_put_back(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    before = full_store.entries(limit=1000)
    assert shown.undo.isHidden()
    shown.filter.setText("fio random read direct")
    shown.entries.selectAll()
    chosen = shown.entries.selected()
    assert len(chosen) == 2
    shown.entries.setFocus()
    QTest.keyClick(shown.entries, Qt.Key.Key_Delete)
    at_rest(qtbot, full_window)
    shown.filter.clear()
    assert set(shown.entries.rows.rows) == set(before) - set(chosen)
    assert shown.message.isVisible()
    assert figures(shown.message.text()) == ["2"]
    QTest.keyClick(full_window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(shown.undo.isHidden)  # a button that is pressed by its key is seen to go down first
    at_rest(qtbot, full_window)
    assert full_store.entries(limit=1000) == before
    assert shown.entries.rows.rows == before
    assert shown.message.isHidden()


@pytest.mark.slow
def test_the_history_is_shown_page_by_page(
    full_window: MainWindow, full_store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.pages.history.LISTED", 4)
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    whole = full_store.entries(limit=1000)
    assert len(whole) > 8
    assert shown.newer.isHidden()
    for first in range(0, len(whole), 4):
        assert shown.entries.rows.rows == whole[first : first + 4]
        assert shown.older.isHidden() is (first + 4 >= len(whole))
        shown.tabs.setCurrentIndex(1)
        assert shown.older.isHidden()
        assert shown.newer.isHidden()
        shown.tabs.setCurrentIndex(0)
        shown.older.click()
        at_rest(qtbot, full_window)
    shown.newer.click()
    at_rest(qtbot, full_window)
    assert shown.entries.rows.rows != whole[:4]
    shown.kind.setCurrentIndex(shown.kind.findData("run"))  # from the newest entry again
    at_rest(qtbot, full_window)
    assert shown.newer.isHidden()
    assert shown.entries.rows.rows == full_store.entries(4, Filter(kind="run"))


@pytest.mark.slow
def test_the_history_shows_a_kind_a_server_and_a_period(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    assert {shown.kind.itemData(number) for number in range(1, shown.kind.count())} == {*KINDS}
    names = [profile.name for profile in full_store.profiles()]
    assert [shown.server.itemData(number) for number in range(1, shown.server.count())] == names
    commands = shown.commands.rows.rows
    for name in names:
        shown.server.setCurrentIndex(shown.server.findData(name))
        at_rest(qtbot, full_window)
        assert shown.entries.rows.rows == full_store.entries(1000, Filter(server=name))
        assert shown.commands.rows.rows == tuple(each for each in commands if each.server == name)
    shown.server.setCurrentIndex(0)
    for kind in KINDS:
        shown.kind.setCurrentIndex(shown.kind.findData(kind))
        at_rest(qtbot, full_window)
        assert shown.entries.rows.rows == full_store.entries(1000, Filter(kind=kind))
    shown.kind.setCurrentIndex(0)
    shown.period.setCurrentIndex(shown.period.findData(7))
    at_rest(qtbot, full_window)
    week = datetime.now(UTC) - timedelta(days=7)
    assert shown.entries.rows.rows == full_store.entries(1000, Filter(since=week))


@pytest.mark.slow
def test_a_note_is_written_found_by_its_tag_and_undone(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    kinds = [entry.kind for entry in shown.entries.rows.rows]
    shown.entries.choose(kinds.index("run"))
    QTest.keyClicks(shown.note, "cable swapped #night")
    shown.entries.choose(kinds.index("plan"))  # turning to another entry keeps what was typed to the one before
    at_rest(qtbot, full_window)
    (noted,) = full_store.entries(which=Filter(tag="night"))
    assert (noted.kind, noted.note) == ("run", "cable swapped #night")
    assert shown.note.text() == ""
    shown.filter.setText("#nig")
    at_rest(qtbot, full_window)
    assert shown.entries.rows.rows == (noted,)
    shown.entries.choose(0)
    assert shown.note.text() == "cable swapped #night"
    shown.note.setText("")
    QTest.keyClicks(shown.note, "all well")
    QTest.keyClick(shown.note, Qt.Key.Key_Return)
    at_rest(qtbot, full_window)
    assert full_store.note("run", noted.reference) == "all well"
    assert shown.undo.text() == "Undo the note"
    shown.entries.setFocus()
    QTest.keyClick(full_window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: full_store.note("run", noted.reference) == "cable swapped #night")
    at_rest(qtbot, full_window)
    shown.undo.click()
    at_rest(qtbot, full_window)
    assert full_store.entries(which=Filter(tag="")) == ()
    assert shown.undo.isHidden()
    shown.filter.clear()
    at_rest(qtbot, full_window)
    assert len(shown.entries.rows.rows) == len(kinds)


@pytest.mark.slow
def test_a_note_is_never_undone_at_another_entry(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    """The number of what was removed is given to the next, and it is put back under another."""
    full_store.record_report("spring", Path("/srv/a.pdf"))
    full_window.work.changed.emit()
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    shown.entries.choose([entry.title for entry in shown.entries.rows.rows].index("/srv/a.pdf"))
    QTest.keyClicks(shown.note, "PGPASSWORD=geheim123")
    QTest.keyClick(shown.note, Qt.Key.Key_Return)
    at_rest(qtbot, full_window)
    assert shown.note.text() == f"PGPASSWORD={MASK}"
    shown.remove.click()
    at_rest(qtbot, full_window)
    full_store.record_report("spring", Path("/srv/b.pdf"))
    (newer,) = [entry for entry in full_store.entries(limit=1000) if entry.title == "/srv/b.pdf"]
    full_store.set_note(newer.kind, newer.reference, "of b")
    shown.undo.click()
    at_rest(qtbot, full_window)
    shown.undo.click()
    at_rest(qtbot, full_window)
    assert ", /srv/a.pdf: " in full_window.banner.text
    assert {entry.title: entry.note for entry in full_store.entries(limit=1000) if entry.kind == "report"} == {
        "/srv/a.pdf": f"PGPASSWORD={MASK}",
        "/srv/b.pdf": "of b",
    }


@pytest.mark.slow
def test_what_is_being_noted_stays_with_its_entry(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    """While it is typed, other entries come."""
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    newest = shown.entries.rows.rows[0]
    shown.entries.choose(0)
    QTest.keyClicks(shown.note, "half a se")
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.note.text() == "half a se"
    QTest.keyClicks(shown.note, "ntence")
    full_store.save_checks("spring", ())  # newer, so that it takes the place
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.note.text() == "half a sentence"
    shown.entries.choose(0)
    at_rest(qtbot, full_window)
    assert [(each.kind, each.reference) for each in full_store.entries(which=Filter(tag=""))] == [
        (newest.kind, newest.reference)
    ]
    assert full_store.note(newest.kind, newest.reference) == "half a sentence"


@pytest.mark.slow
def test_who_types_on_after_others_came_has_one_note(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    """In the field, whose entry has gone down by one."""
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    first = shown.entries.rows.rows[0]
    shown.entries.choose(0)
    full_window.activateWindow()
    shown.note.setFocus()
    qtbot.waitUntil(shown.note.hasFocus)
    QTest.keyClicks(shown.note, "half a se")
    full_store.save_checks("spring", ())
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.entries.current() == shown.entries.rows.rows[1] == first
    QTest.keyClicks(shown.note, "ntence")
    QTest.keyClick(shown.note, Qt.Key.Key_Return)
    at_rest(qtbot, full_window)
    assert [(each.reference, each.note) for each in full_store.entries(which=Filter(tag=""))] == [
        (first.reference, "half a sentence")
    ]


@pytest.mark.slow
def test_a_note_that_a_locked_history_refused_is_there_to_be_kept_again(
    full_window: MainWindow, full_store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    chosen = shown.entries.rows.rows[0]
    shown.entries.choose(0)

    def refuse(*_: object) -> str:
        raise HistoryError("the history is locked")

    with monkeypatch.context() as locked:
        locked.setattr(Store, "set_note", refuse)
        QTest.keyClicks(shown.note, "a sentence")
        QTest.keyClick(shown.note, Qt.Key.Key_Return)
        at_rest(qtbot, full_window)
    assert full_window.banner.isVisible()
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.note.text() == "a sentence"
    QTest.keyClick(shown.note, Qt.Key.Key_Return)
    at_rest(qtbot, full_window)
    assert full_store.note(chosen.kind, chosen.reference) == "a sentence"


def removed(qtbot: QtBot, window: MainWindow, kind: str) -> HistoryPage:
    """The page once the newest entry of that kind was removed there."""
    shown = page(qtbot, window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    shown.entries.choose([entry.kind for entry in shown.entries.rows.rows].index(kind))
    shown.remove.click()
    at_rest(qtbot, window)
    return shown


@pytest.mark.slow
def test_an_undo_that_is_pressed_twice_puts_back_once(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    before = full_store.entries(limit=1000)
    shown = removed(qtbot, full_window, "plan")
    shown.undo.click()
    shown.undo.click()
    at_rest(qtbot, full_window)
    assert full_store.entries(limit=1000) == before
    assert full_window.banner.text == ""


def test_an_entry_that_goes_while_it_is_read_is_no_trouble(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    page = full_window.show_page(PageId.HISTORY)
    assert isinstance(page, HistoryPage)
    at_rest(qtbot, full_window)
    gone = next(entry for entry in full_store.entries(limit=1000) if entry.kind == "plan")
    full_store.remove_entries([gone])
    page.entries.choose([*page.entries.rows.rows].index(gone))
    at_rest(qtbot, full_window)
    assert page.details.text.endswith(f" plan {gone.reference}")
    assert full_window.banner.text == ""


@pytest.mark.slow
def test_what_cannot_be_put_back_leaves_the_way_to_what_was_removed_before(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    facts = next(entry for entry in full_store.entries(limit=1000) if entry.kind == "facts")
    plan = next(entry for entry in full_store.entries(limit=1000) if entry.kind == "plan")
    removed(qtbot, full_window, "facts")
    shown = removed(qtbot, full_window, "plan")
    full_store.remove_move("spring")
    shown.undo.click()
    at_rest(qtbot, full_window)
    assert f", {plan.title}: " in full_window.banner.text
    assert shown.message.isVisible()
    assert figures(shown.message.text()) == []  # one alone has no number
    shown.undo.click()
    at_rest(qtbot, full_window)
    assert facts in full_store.entries(limit=1000)
    assert shown.message.isHidden()


@pytest.mark.slow
def test_an_undo_that_a_trouble_of_the_history_stopped_can_be_tried_again(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    before = full_store.entries(limit=1000)
    shown = removed(qtbot, full_window, "plan")
    with contextlib.closing(sqlite3.connect(full_store.path)) as other:
        other.execute("ALTER TABLE plans RENAME TO elsewhere")
        shown.undo.click()
        at_rest(qtbot, full_window)
        other.execute("ALTER TABLE elsewhere RENAME TO plans")
    assert full_window.banner.text != ""
    shown.undo.click()
    at_rest(qtbot, full_window)
    assert full_store.entries(limit=1000) == before


def test_what_stays_in_the_history_says_why(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.HISTORY)
    assert isinstance(shown, HistoryPage)
    before = full_store.entries(limit=1000)
    shown.entries.selectAll()
    shown.remove.click()
    at_rest(qtbot, full_window)
    assert "'move'" in full_window.banner.text
    assert full_store.entries(limit=1000) == before
    shown.tabs.setCurrentIndex(1)
    assert not shown.remove.isEnabled()


def test_the_tables_are_live_while_a_job_runs(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    run = full_store.runs("spring")[0]
    full_store.run_started(replace(run, repetitions=(), outcome=None, ended_at=None))
    full_window.work.changed.emit()
    qtbot.waitUntil(lambda: shown.table.rows.rowCount() == 25)


@pytest.mark.slow
def test_a_hidden_page_reads_only_when_it_is_shown(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    history = page(qtbot, full_window, PageId.HISTORY)
    page(qtbot, full_window, PageId.SERVERS)
    full_store.remove_move("spring")
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert not history.shown
    page(qtbot, full_window, PageId.HISTORY)
    assert history.shown


WORKING = (
    *(PageId.SERVERS, PageId.FACTS, PageId.MEASURE, PageId.CHECK, PageId.PROBE),
    *(PageId.ESTIMATE, PageId.PLAN, PageId.REHEARSE, PageId.MOVE),
)


def tells(shown: HistoryPage, said: str) -> bool:
    return said in shown.details.text


@pytest.mark.slow
def test_buttons_wait_while_a_job_runs(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = [page(qtbot, full_window, page_id) for page_id in WORKING]
    buttons: list[Callable[[], QPushButton]] = []
    for one in shown:
        if isinstance(one, ServersPage):
            buttons += [partial(getattr, one, "test"), partial(getattr, one, "facts")]
        elif isinstance(one, FactsPage):
            buttons.append(partial(getattr, one, "read"))
        elif isinstance(one, MeasurePage):
            buttons.append(partial(getattr, one, "forecast"))
        elif isinstance(one, PartPage | ExecutionPage):
            buttons.append(partial(getattr, one, "start"))
    assert all(button().isEnabled() for button in buttons)
    full_window.work.run("wait", lambda _session, job: job.wait(20))
    assert not any(button().isEnabled() for button in buttons)
    assert full_window.work.run("second", _nothing) is None
    full_window.cancel()
    at_rest(qtbot, full_window)
    assert all(button().isEnabled() for button in buttons)
    assert full_window.banner.text == "The job was cancelled."


def _nothing(_session: object, _job: Job) -> None:
    return None


@pytest.mark.slow
def test_no_label_of_a_page_takes_markup_from_a_server(full_window: MainWindow, qtbot: QtBot) -> None:
    for kind in PAGES:
        shown: AnyPage = page(qtbot, full_window, kind.id)
        for label in shown.findChildren(QLabel):
            if "<" in label.text():
                assert label.textFormat() is Qt.TextFormat.PlainText


@pytest.mark.slow
def test_the_script_of_the_plan_is_checked_in_the_page(
    full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ScriptCheck("  1  old  postgres  Stop", 2, 1)
    shown = page(qtbot, full_window, PageId.PLAN)
    assert isinstance(shown, PlanPage)
    assert shown.details.indexOf(shown.dry_run) < 0
    for expected in (found, replace(found, missing=(2,)), replace(found, exit_status=3, error="no")):
        monkeypatch.setattr("core.api.migration.check_script", partial(_given, expected))
        shown.check.click()
        qtbot.waitUntil(partial(_says, shown, verdict(expected)[0]))
        qtbot.waitUntil(shown.check.isEnabled)
    assert shown.details.currentWidget() is shown.dry_run
    assert shown.output.edit.toPlainText() == found.output
    assert shown.details.count() == 2


def _given(found: ScriptCheck, *_: object) -> ScriptCheck:
    return found


def _says(shown: PlanPage, said: str) -> bool:
    return shown.verdict.text() == said


def test_the_filter_of_the_facts_stands_where_it_filters(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    for number in (*range(shown.tabs.count()), 0):
        shown.tabs.setCurrentIndex(number)
        assert (shown.filter.isVisible(), shown.differing.isVisible()) == (number == 0, number == 0)
