"""What holds on every page: filter and CSV, theme, what is remembered, help, the command palette."""

import csv
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core import units
from core.api.benchmarks import run_side_by_side
from core.api.session import Session
from core.benchmarks.model import Run, Volume, Workload
from core.comparison.model import Verdict
from core.history.store import Store
from core.jobs import Job
from core.migration.model.estimate import method_title
from core.migration.model.standing import Milestone
from core.sides import Side
from core.tones import Tone
from core.user_settings import file
from gui import appearance
from gui.appearance import Sizes, Theme
from gui.design.palette import is_dark
from gui.destinations import PageId
from gui.dialogs.palette import Command, CommandPalette, Origin, find_commands, name_apart
from gui.models.facts import NEW_COLUMN, OLD_COLUMN, SUBJECT_COLUMN, is_head
from gui.models.migration import CHECK_COLUMNS
from gui.models.table import Column
from gui.models.transfer import RATE_COLUMN
from gui.pages.check import CheckPage
from gui.pages.compare import ComparePage
from gui.pages.estimate import EstimatePage
from gui.pages.execution import RehearsePage
from gui.pages.facts import FactsPage
from gui.pages.kinds import PAGES
from gui.pages.measure import MeasurePage
from gui.pages.overview import OverviewPage
from gui.pages.page import PartPage
from gui.pages.plan import PlanPage
from gui.pages.probe import ProbePage
from gui.pages.start import StartPage
from gui.remembered import Remembered
from gui.widgets.banner import Mood
from gui.widgets.table import FilterBox, Table
from gui.window import MainWindow
from gui.work import Work
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page
from tests.gui.test_move_milestones import interrupted


def test_the_filter_leaves_what_holds_its_text(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.CHECK)
    assert isinstance(shown, CheckPage)
    box = shown.findChild(FilterBox)
    assert box is not None
    QTest.keyClicks(box, "NEARLY too")
    assert [row.id for row in shown.table.rows.rows] == ["free-space"]
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.table.rows.rowCount() == 1
    QTest.keyClick(box, Qt.Key.Key_Escape)
    assert shown.table.rows.rowCount() == 3  # what passed is folded


@pytest.mark.slow
@pytest.mark.parametrize(
    "page_id", [PageId(milestone.value) for milestone in Milestone if milestone is not Milestone.AFTER]
)
def test_each_page_of_a_move_has_a_filter(full_window: MainWindow, page_id: PageId) -> None:
    shown = full_window.show_page(page_id)
    assert len(shown.findChildren(FilterBox)) == 1


def test_a_filter_in_the_corner_is_there_with_its_tables(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.ESTIMATE)
    assert isinstance(shown, EstimatePage)
    box = shown.findChild(FilterBox)
    assert box is not None
    beside = []
    for number in range(shown.tabs.count()):
        shown.tabs.setCurrentIndex(number)
        beside.append(box.isVisible())
    assert beside == [True, True, False, True, False]  # stages, helps and record; neither night nor assumptions
    shown.tabs.setCurrentIndex(0)
    assert shown.table.rows.rowCount() > 1
    box.setText(method_title("cold-copy").upper())
    assert [(row.method.method, row.stage) for row in shown.table.rows.rows] == [("cold-copy", None)]


def test_compared_rows_that_differ_alone(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.COMPARE)
    assert isinstance(shown, ComparePage)
    shown.everything.click()
    everything = shown.table.rows.rows
    shown.differing.click()
    rows = shown.table.rows.rows
    assert 0 < len(rows) < len(everything)
    assert rows == tuple(row for row in everything if row.row.verdict in {Verdict.OLD, Verdict.NEW})


def test_a_table_is_sorted_by_what_its_figures_stand_for(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.PROBE)
    assert isinstance(shown, ProbePage)
    rates = [row.bytes_per_second for row in shown.table.rows.rows]
    for expected in (sorted(rates), sorted(rates, reverse=True), rates):
        shown.table.horizontalHeader().sectionClicked.emit(RATE_COLUMN)
        assert [row.bytes_per_second for row in shown.table.rows.rows] == expected


def test_facts_that_differ_alone(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    rows = shown.table.rows.rows
    facts = [row for row in rows if not is_head(row)]
    assert all(row.old != row.new for row in facts)
    assert [row.subject for row in rows if is_head(row)] == list(dict.fromkeys(row.subject for row in facts))
    shown.differing.click()
    assert len(shown.table.rows.rows) > len(rows) > 0
    titles = [column.title for column in shown.table.rows.columns]
    assert titles[OLD_COLUMN : NEW_COLUMN + 1] == ["db-old (old)", "db-new (new)"]


def test_facts_that_are_equal_are_said_to_be_so(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    assert shown.fact_tab.currentWidget() is shown.table
    shown.new.setCurrentText("db-old")
    shown.new.textActivated.emit("db-old")
    qtbot.waitUntil(lambda: shown.fact_tab.currentWidget() is shown.equal)
    shown.equal.button.click()
    assert not shown.differing.isChecked()
    assert shown.fact_tab.currentWidget() is shown.table
    assert shown.table.rows.rowCount() > 0


def test_a_filter_of_facts_names_their_subject_in_each_row(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    assert shown.table.isColumnHidden(SUBJECT_COLUMN)
    shown.filter.setText("operating")
    assert [(row.subject, row.name) for row in shown.table.rows.rows] == [("System", "Operating system")]
    assert not shown.table.isColumnHidden(SUBJECT_COLUMN)
    shown.filter.clear()
    assert any(is_head(row) for row in shown.table.rows.rows)


def test_gaps_are_listed_or_said_to_be_none(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    assert shown.gap_tab.currentWidget() is shown.gaps
    facts = full_store.facts("db-new")
    assert facts is not None
    full_store.save_facts(replace(facts, gaps=()))
    full_window.work.changed.emit()
    qtbot.waitUntil(lambda: shown.gap_tab.currentWidget() is shown.no_gaps)
    assert shown.gaps.rows.rowCount() == 0


def test_a_table_is_saved_as_csv(full_window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    shown = page(qtbot, full_window, PageId.CHECK)
    assert isinstance(shown, CheckPage)
    shown.table.save_csv(tmp_path / "checks.csv")
    with (tmp_path / "checks.csv").open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads == [
        {"Old server": "db-old (old)", "New server": "db-new (new)"}.get(column.title, column.title)
        for column in CHECK_COLUMNS
    ]
    check = samples.CHECKS[2]
    assert rows[2] == [check.status.capitalize(), check.title, check.old, check.new, check.message, check.hint]


@pytest.mark.parametrize("umask", [0o022, 0o027])
def test_the_umask_says_who_may_read_a_table_that_is_saved(qtbot: QtBot, tmp_path: Path, umask: int) -> None:
    table = Table[str]("things", "Things", (Column("Thing", str),))
    qtbot.addWidget(table)
    before = os.umask(umask)
    try:
        table.save_csv(tmp_path / "things.csv")
    finally:
        os.umask(before)
    assert (tmp_path / "things.csv").stat().st_mode & 0o777 == 0o644 & ~umask


@pytest.mark.slow
@pytest.mark.parametrize("where", ["/", "missing/checks.csv"])
def test_a_table_that_cannot_be_saved_says_why(
    full_window: MainWindow, qtbot: QtBot, tmp_path: Path, where: str
) -> None:
    shown = page(qtbot, full_window, PageId.CHECK)
    assert isinstance(shown, CheckPage)
    shown.table._save(tmp_path / where)  # noqa: SLF001  as if it had been chosen in the dialog
    said, hint = full_window.banner.text.splitlines()
    assert str(tmp_path / where) in said
    assert hint.startswith("Hint: ")


def test_the_overview_gives_the_three_answers(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.OVERVIEW)
    assert isinstance(shown, OverviewPage)
    faster, movable, time = [card.answer for card in shown.cards]
    assert (faster.tone, figures(faster.text)) == (Tone.GOOD, ["4"])  # in so many workloads
    assert (movable.tone, figures(movable.text)) == (Tone.BAD, ["1", "1"])  # a blocker and an unknown
    assert figures(time.text)
    assert len({faster.question, movable.question, time.question}) == 3
    assert [faster.figure[-1], time.figure] == ["×", time.text]
    assert not any(card.details.isVisible() for card in shown.cards)
    shown.more.click()
    assert all(card.details.isVisible() for card in shown.cards)
    assert f"{RehearsePage.title}: " in shown.missing.text()


@pytest.mark.slow
def test_every_page_says_what_it_is_for(full_window: MainWindow, qtbot: QtBot) -> None:
    for kind in PAGES:
        page(qtbot, full_window, kind.id)
        assert not full_window.banner.isVisible()  # the help of the page before is gone
        full_window.show_help()
        assert full_window.banner.isVisible()
        assert len(full_window.banner.text) > 100
    full_window.banner.show_message("it is saved", Mood.TOLD)
    page(qtbot, full_window, PAGES[0].id)
    assert full_window.banner.isVisible()


def test_any_command_is_found_by_a_part_of_its_name(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.menus.show_palette()
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), CommandPalette))
    palette = QApplication.activeModalWidget()
    assert isinstance(palette, CommandPalette)
    QTest.keyClicks(palette.field, "hist")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: full_window.stack.currentWidget() is page(qtbot, full_window, PageId.HISTORY))
    at_rest(qtbot, full_window)


def _palette(window: MainWindow) -> CommandPalette:
    window.menus.show_palette()
    (made,) = window.findChildren(CommandPalette)
    return made


def _listed(palette: CommandPalette, typed: str) -> list[str]:
    palette.field.setText(typed)
    return [palette.list.item(row).text().split("    ")[0] for row in range(palette.list.count())]


def test_the_palette_has_the_buttons_of_the_page_and_of_the_banner(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    interrupted(full_store)
    full_window.work.changed.emit()
    qtbot.waitUntil(full_window.status_banner.isVisible)
    shown = page(qtbot, full_window, PageId.CHECK)
    assert isinstance(shown, CheckPage)
    pressed: list[bool] = []
    shown.start.clicked.disconnect()
    shown.start.clicked.connect(lambda: pressed.append(True))
    palette = _palette(full_window)
    assert {"Continue", "Roll back to db-old", "Run the checks"} <= set(_listed(palette, ""))
    assert "&" not in full_window.status_banner.back.text()  # Alt+B presses the button of the page
    assert _listed(palette, "run the")[0] == "Run the checks"
    palette.field.returnPressed.emit()
    assert pressed == [True]
    shown.start.setEnabled(False)
    qtbot.waitUntil(lambda: full_window.findChild(CommandPalette) is None)
    palette = _palette(full_window)
    assert "Run the checks" not in _listed(palette, "")
    palette.reject()
    at_rest(qtbot, full_window)


def test_commands_of_one_name_are_told_apart(full_window: MainWindow, qtbot: QtBot) -> None:
    page(qtbot, full_window, PageId.PLAN)
    palette = _palette(full_window)
    assert _listed(palette, "system") == ["Language: System", "Theme: System"]
    assert "Steps of the plan: Copy" in _listed(palette, "copy")
    names = _listed(palette, "")
    assert len(names) == len(set(names))
    palette.reject()
    at_rest(qtbot, full_window)


def test_the_palette_lists_first_what_begins_so_then_this_page_then_pages() -> None:
    def nothing() -> None: ...

    commands = [
        Command("Save report…", nothing),
        Command("&Report", nothing, Origin.PAGES),
        Command("Import", nothing, Origin.PAGE),
        Command("E&xport", nothing, Origin.PAGE, "This page"),
        Command("Export", nothing, Origin.MENU),
        Command("Port", nothing, Origin.MENU),
    ]
    named = name_apart(commands)
    assert [name for name, _ in find_commands(named, "port")] == [
        *("Port", "Import", "This page: Export", "Report", "Export", "Save report")
    ]
    assert [name for name, _ in find_commands(named, "")][:3] == ["Import", "This page: Export", "Report"]


@pytest.mark.slow
def test_sizes_are_shown_as_they_are_sold_and_kept_as_ever(full_store: Store, qtbot: QtBot, tmp_path: Path) -> None:
    shown: list[str] = []
    for chosen in (True, False):
        work = Work(remembered=Remembered(tmp_path), settings=file.load().settings)
        window = MainWindow(work)
        window.show()
        work.use(Session(full_store, work.asker))
        at_rest(qtbot, window)
        start = page(qtbot, window, PageId.MOVES)
        assert isinstance(start, StartPage)
        facts = page(qtbot, window, PageId.FACTS)
        if chosen:
            assert any(cell.endswith("iB") for table in facts.findChildren(Table) for cell in texts(table))
            decimal = next(one for one in window.menus.sizes.actions() if one.data() == Sizes.DECIMAL.value)
            decimal.trigger()
            at_rest(qtbot, window)
            page(qtbot, window, PageId.MOVES)
        shown.append(start.cards[0].card.cluster)
        said = [cell for table in facts.findChildren(Table) for cell in texts(table) if cell.endswith("iB")]
        assert said == ["8.0 KiB / 8.0 KiB / 16.0 MiB"]  # blocks are powers of two
        kept: list[list[str]] = []
        task, read = work.run("a job", recorded_sizes), work.read(lambda _session: [units.size(3 * 10**9)])
        assert task is not None
        assert read is not None
        task.succeeded.connect(kept.append)
        read.succeeded.connect(kept.append)
        at_rest(qtbot, window)
        assert sorted(kept) == [["3.0 GiB"] * 3, ["3.00 GB"]]
        window.close()
        window.deleteLater()
        work.close()
        work.deleteLater()
    assert [figures(cluster) for cluster in shown] == [["15.5", "1.22 TB", "5432"]] * 2


def recorded_sizes(_session: Session, job: Job) -> list[str]:
    """The same size as a job words it on its own thread and on those of the parts that it does side by side."""
    sides = [(side, lambda _job: units.size(3 * 2**30)) for side in ("old", "new")]
    return [units.size(3 * 2**30), *run_side_by_side(sides, job)]


def texts(table: Table[Any]) -> list[str]:
    """Every cell, as it is shown."""
    return [table.rows.text(column, row) for row in table.rows.rows for column in table.rows.columns]


def test_page_move_and_theme_are_remembered(
    qapp: QApplication, full_store: Store, qtbot: QtBot, tmp_path: Path
) -> None:
    found = []
    for page_id in (PageId.PLAN, None):
        work = Work(remembered=Remembered(tmp_path), settings=file.load().settings)
        window = MainWindow(work)
        window.show()
        work.use(Session(full_store, work.asker))
        at_rest(qtbot, window)
        if page_id is not None:
            window.show_page(page_id)
            window.use_theme(Theme.DARK)
            window.resize(1100, 720)
            at_rest(qtbot, window)
        shown = window.stack.currentWidget()
        found.append((getattr(shown, "id", ""), work.move and work.move.name, is_dark()))
        window.close()
        window.deleteLater()
        work.close()
        work.deleteLater()
    appearance.force(qapp, Qt.ColorScheme.Light)
    assert found == [(PageId.PLAN, "spring", True)] * 2


@pytest.fixture
def window_with_new_move(window: MainWindow, store: Store, qtbot: QtBot) -> MainWindow:
    """A move is selected, and nothing was done for it yet."""
    for profile in (samples.OLD, samples.NEW):
        store.add_profile(profile)
    store.add_move(samples.MOVE)
    window.work.changed.emit()
    window.work.pick(samples.MOVE.name)
    at_rest(qtbot, window)
    return window


@pytest.mark.parametrize("page_id", [PageId.FACTS, PageId.CHECK, PageId.PROBE, PageId.ESTIMATE, PageId.PLAN])
def test_a_page_says_on_which_servers_its_job_works_before_it_begins(
    window_with_new_move: MainWindow, qtbot: QtBot, page_id: PageId
) -> None:
    shown = page(qtbot, window_with_new_move, page_id)
    summary = shown.summary if isinstance(shown, PartPage) else None
    if isinstance(shown, FactsPage | CheckPage | ProbePage | PlanPage):
        summary = shown.before.sentence
    assert summary is not None
    assert samples.OLD.name in summary.text()
    assert summary.isVisible()
    assert "{" not in summary.text()


def test_results_of_benchmarks_are_offered_once_there_are_some(
    window_with_new_move: MainWindow, store: Store, qtbot: QtBot
) -> None:
    shown = page(qtbot, window_with_new_move, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)

    def offered() -> list[bool]:
        return [shown.tabs.isTabVisible(number) for number in range(shown.tabs.count())]

    assert (offered(), shown.tabs.currentWidget()) == ([False, False, True], shown.suites)
    workload = Workload("dd-write", "sequential write", "dd", "bytes_per_second", {})
    volume = Volume(Side.OLD, samples.OLD.name, "/srv/pg", "/srv/pg/pghaul-bench")
    store.run_started(Run(samples.MOVE.name, volume, workload, samples.MORNING))
    window_with_new_move.work.changed.emit()
    at_rest(qtbot, window_with_new_move)
    assert offered() == [True, True, True]


def test_a_long_name_leaves_room_for_the_filter(window: MainWindow, store: Store, qtbot: QtBot) -> None:
    name = "db-" + "x" * 95
    store.add_profile(replace(samples.OLD, name=name))
    store.add_profile(samples.NEW)
    window.resize(1024, 700)
    window.work.changed.emit()
    shown = page(qtbot, window, PageId.FACTS)
    assert isinstance(shown, FactsPage)
    assert {shown.old.currentText(), shown.new.currentText()} == {name, samples.NEW.name}
    for box in (shown.old, shown.new):
        assert box.width() < window.width() / 3
        assert box.toolTip() == box.currentText()
    for found in shown.findChildren(FilterBox):
        assert found.width() >= found.fontMetrics().averageCharWidth() * 16
