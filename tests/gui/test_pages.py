"""Each page shows what the history holds, and says what to do where it holds nothing."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from core.benchmarks.suites import list_suites
from core.history.store import Store
from core.jobs import Job
from core.migration.model.checks import Status
from gui.dialogs.waive import WaiveDialog
from gui.models.steps import NO_RETURN
from gui.pages.check import CheckPage
from gui.pages.compare import ComparePage
from gui.pages.estimate import EstimatePage
from gui.pages.execution import ExecutionPage
from gui.pages.facts import FactsPage
from gui.pages.history import HistoryPage
from gui.pages.measure import MeasurePage
from gui.pages.page import Page
from gui.pages.part import PartPage
from gui.pages.plan import PlanPage
from gui.pages.probe import ProbePage
from gui.pages.servers import ServersPage
from gui.widgets.empty import Empty
from gui.window import PAGES, MainWindow
from tests.gui import samples
from tests.gui.conftest import at_rest, page


@pytest.mark.parametrize("title", [kind.title for kind in PAGES])
def test_an_empty_history_says_what_to_do_next(window: MainWindow, qtbot: QtBot, title: str) -> None:
    shown = page(qtbot, window, title)
    empty = shown.findChild(Empty)
    assert empty is not None
    assert empty.isVisible()
    assert empty.button.text()
    assert not shown.body.isVisible()


@pytest.mark.parametrize("title", [kind.title for kind in PAGES if kind.title != "After"])
def test_with_a_history_no_page_is_empty(full_window: MainWindow, qtbot: QtBot, title: str) -> None:
    shown = page(qtbot, full_window, title)
    assert shown.findChild(Empty) is None
    assert shown.body.isVisible()
    assert not full_window.banner.isVisible()


def test_servers(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Servers")
    assert isinstance(shown, ServersPage)
    assert [row.profile.name for row in shown.table.rows.rows] == ["db-new", "db-old"]
    assert shown.test.isEnabled()


def test_facts_show_the_servers_of_the_move(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Facts")
    assert isinstance(shown, FactsPage)
    assert (shown.old.currentText(), shown.new.currentText()) == ("db-old", "db-new")
    assert any(row.old == "Intel Xeon E5410" and row.new == "AMD EPYC 9354P" for row in shown.table.rows.rows)
    assert shown.tabs.tabText(2) == "&Gaps (1)"
    assert any(row.cluster.data_directory == samples.ODD_FOLDER for row in shown.clusters.rows.rows)
    assert shown.details.rows.rowCount() > 5
    assert "PRETTY_NAME" in shown.raw.text


def test_other_servers_can_be_chosen(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Facts")
    assert isinstance(shown, FactsPage)
    shown.new.setCurrentText("db-old")
    shown.new.textActivated.emit("db-old")
    qtbot.waitUntil(lambda: shown.shown)
    assert (shown.old.currentText(), shown.new.currentText()) == ("db-old", "db-old")
    assert not any(row.differs for row in shown.table.rows.rows)


def test_benchmarks_show_every_repetition_and_start_only_after_a_forecast(
    full_window: MainWindow, qtbot: QtBot
) -> None:
    shown = page(qtbot, full_window, "Measure")
    assert isinstance(shown, MeasurePage)
    assert shown.table.rows.rowCount() == 24
    assert shown.suite.count() > 0
    assert shown.forecast.isEnabled()
    assert not shown.start.isEnabled()
    assert "raw output" in shown.raw.text
    assert shown.metrics.rows.rowCount() == 2


def test_the_suite_is_chosen_by_what_it_measures(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Measure")
    assert isinstance(shown, MeasurePage)
    listed = list_suites()
    assert [shown.suite.itemText(index) for index in range(shown.suite.count())] == [suite.name for suite in listed]
    assert listed[0].title in shown.suite.toolTip()
    shown.suite.setCurrentText("raid")
    (raid,) = (suite for suite in listed if suite.name == "raid")
    assert raid.title in shown.suite.toolTip()
    assert shown.suite.width() >= shown.suite.minimumSizeHint().width()


def test_comparison(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Compare")
    assert isinstance(shown, ComparePage)
    assert shown.table.rows.rowCount() == 4
    shown.everything.click()
    assert shown.table.rows.rowCount() == 8


def test_plots_are_drawn(full_window: MainWindow, qtbot: QtBot) -> None:
    from gui.widgets.plots import ComparisonPlot, EstimatePlot

    comparison = page(qtbot, full_window, "Compare").findChild(ComparisonPlot)
    assert comparison is not None
    qtbot.waitUntil(comparison.isVisible)
    estimate = page(qtbot, full_window, "Estimate").findChild(EstimatePlot)
    assert estimate is not None
    qtbot.waitUntil(estimate.isVisible)


def test_checks_probes_and_estimate(full_window: MainWindow, qtbot: QtBot) -> None:
    checks, probes, estimate = (page(qtbot, full_window, title) for title in ("Check", "Probe", "Estimate"))
    assert isinstance(checks, CheckPage)
    assert isinstance(probes, ProbePage)
    assert isinstance(estimate, EstimatePage)
    assert checks.summary.text() == "Blockers: 1, unknown: 1, warnings: 1, passed: 1"
    assert "copying it now would give a broken copy" in checks.evidence.text
    assert checks.table.rows.rowCount() == 4
    checks.problems.click()
    assert Status.PASS not in {row.status for row in checks.table.rows.rows}
    assert checks.table.rows.rowCount() == 3
    assert probes.summary.text().startswith("The slowest link is: read, ")
    assert estimate.table.rows.rowCount() == 6


def test_the_plan_is_grouped_by_the_parts_of_the_night(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Plan")
    assert isinstance(shown, PlanPage)
    assert [row.head or (row.step and row.step.number) for row in shown.table.rows.rows] == [
        "Prepare: old runs, nothing is copied yet",
        1,
        "Downtime: old is stopped",
        2,
        NO_RETURN,
        3,
    ]
    assert shown.step.native.text == "rsync -a /srv/pg/data/ new:/srv/pg/"
    assert shown.step.call.text == "warm_pass data /srv/pg/data /srv/pg"
    assert not shown.warnings.isVisible()
    shown.fold.click()
    assert shown.warnings.isVisible()
    assert shown.warnings.text() == "old is not fenced"
    shown.copy.click()
    assert "systemctl start postgresql@15-main" in QApplication.clipboard().text()


def test_a_warning_is_waived_with_a_reason_and_taken_back(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    checks = shown = page(qtbot, full_window, "Check")
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
    qtbot.waitUntil(lambda: checks.summary.text().endswith("warnings: 0, passed: 1; waived: 1"))
    assert full_store.waivers("spring")[0].reason == "tested on a copy"
    checks.table.choose([row.waiver is not None for row in checks.table.rows.rows].index(True))
    assert "tested on a copy" in checks.evidence.text
    checks.unwaive.click()
    qtbot.waitUntil(lambda: full_store.waivers("spring") == ())
    qtbot.waitUntil(lambda: "waived" not in checks.summary.text())


def test_history_shows_entries_with_their_details(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "History")
    assert isinstance(shown, HistoryPage)
    kinds = [entry.kind for entry in shown.entries.rows.rows]
    assert set(kinds) == {"checks", "move", "estimate", "facts", "plan", "probe", "run"}
    shown.entries.choose(kinds.index("run"))
    qtbot.waitUntil(lambda: "repetition 1: done" in shown.details.text)
    shown.entries.choose(kinds.index("facts"))
    qtbot.waitUntil(lambda: "6.1.0-18-amd64" in shown.details.text)
    assert '"kernel"' not in shown.details.text
    shown.as_json.click()
    qtbot.waitUntil(lambda: '"kernel"' in shown.details.text)
    shown.as_json.click()
    for kind, said in (("plan", "3 steps by rsync"), ("checks", "What to do:"), ("estimate", "Cold copy: 4 h")):
        shown.entries.choose(kinds.index(kind))
        qtbot.waitUntil(partial(tells, shown, said))
    assert next(command.command for command in shown.commands.rows.rows) == "fio --name=x"


def test_a_superseded_entry_shows_what_was_recorded_then(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    full_store.save_checks("spring", ())
    shown = page(qtbot, full_window, "History")
    assert isinstance(shown, HistoryPage)
    newest, older = [number for number, entry in enumerate(shown.entries.rows.rows) if entry.kind == "checks"]
    shown.entries.choose(older)
    qtbot.waitUntil(lambda: samples.CHECKS[0].message in shown.details.text)
    shown.entries.choose(newest)
    qtbot.waitUntil(lambda: shown.details.text == "no checks")


def test_the_tables_are_live_while_a_job_runs(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Measure")
    assert isinstance(shown, MeasurePage)
    run = full_store.runs("spring")[0]
    full_store.run_started(replace(run, repetitions=(), outcome=None, ended_at=None))
    full_window.work.changed.emit()
    qtbot.waitUntil(lambda: shown.table.rows.rowCount() == 25)


def test_a_hidden_page_reads_only_when_it_is_shown(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    history = page(qtbot, full_window, "History")
    page(qtbot, full_window, "Servers")
    full_store.remove_move("spring")
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert not history.shown
    page(qtbot, full_window, "History")
    assert history.shown


TITLES = ("Servers", "Facts", "Measure", "Check", "Probe", "Estimate", "Plan", "Rehearse", "Move")


def tells(shown: HistoryPage, said: str) -> bool:
    return said in shown.details.text


def test_buttons_wait_while_a_job_runs(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = [page(qtbot, full_window, title) for title in TITLES]
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
    assert full_window.banner.text == "Cancelled."


def _nothing(_session: object, _job: Job) -> None:
    return None


def test_no_label_of_a_page_takes_markup_from_a_server(full_window: MainWindow, qtbot: QtBot) -> None:
    for kind in PAGES:
        shown: Page = page(qtbot, full_window, kind.title)
        for label in shown.findChildren(QLabel):
            if "<" in label.text():
                assert label.textFormat() is Qt.TextFormat.PlainText
