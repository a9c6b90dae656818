"""What holds on every page: filter and CSV, theme, what is remembered, help, the command palette."""

import csv
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.actions import Session
from core.errors import PghaulError
from core.history.store import Store
from gui import appearance
from gui.appearance import Theme
from gui.dialogs.palette import CommandPalette
from gui.pages.check import CheckPage
from gui.pages.facts import FactsPage
from gui.pages.overview import OverviewPage
from gui.pages.probe import ProbePage
from gui.remembered import Remembered
from gui.widgets.filter_box import FilterBox
from gui.window import PAGES, MainWindow
from gui.work import Work
from tests.gui.conftest import at_rest, page


def test_the_filter_leaves_what_holds_its_text(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Check")
    assert isinstance(shown, CheckPage)
    box = shown.findChild(FilterBox)
    assert box is not None
    QTest.keyClicks(box, "NEARLY too")
    assert [row.id for row in shown.table.rows.rows] == ["free-space"]
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.table.rows.rowCount() == 1
    QTest.keyClick(box, Qt.Key.Key_Escape)
    assert shown.table.rows.rowCount() == 4


def test_a_table_is_sorted_by_what_its_figures_stand_for(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Probe")
    assert isinstance(shown, ProbePage)
    rates = [row.bytes_per_second for row in shown.table.rows.rows]
    for expected in (sorted(rates), sorted(rates, reverse=True), rates):
        shown.table.horizontalHeader().sectionClicked.emit(1)
        assert [row.bytes_per_second for row in shown.table.rows.rows] == expected


def test_facts_that_differ_alone(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Facts")
    assert isinstance(shown, FactsPage)
    everything = shown.table.rows.rowCount()
    shown.differing.click()
    rows = shown.table.rows.rows
    assert 0 < len(rows) < everything
    assert all(row.old != row.new for row in rows)


def test_a_table_is_saved_as_csv(full_window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    shown = page(qtbot, full_window, "Check")
    assert isinstance(shown, CheckPage)
    shown.table.save_csv(tmp_path / "checks.csv")
    with (tmp_path / "checks.csv").open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads == ["Status", "Check", "Old", "New", "What it means", "What to do"]
    assert rows[2][:2] == ["warning", "Free space"]
    assert rows[2][4:] == ["the target is nearly too small", "free 100 GiB"]
    shown.table.troubled.emit(PghaulError("checks.csv could not be written: no space left", "choose another folder"))
    assert "no space left" in full_window.banner.text


def test_the_overview_gives_the_three_answers(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Overview")
    assert isinstance(shown, OverviewPage)
    answers = [card.answer for card in shown.cards]
    assert [one.question for one in answers] == [
        "Is the new storage faster?",
        "Can the cluster be moved?",
        "How long without the cluster?",
    ]
    assert answers[1].text == "Not yet: 1 blocker and 1 unknown"
    assert "Rehearse: not yet" in shown.missing.text()


def test_every_page_says_what_it_is_for(full_window: MainWindow, qtbot: QtBot) -> None:
    for kind in PAGES:
        page(qtbot, full_window, kind.title)
        full_window.show_help()
        assert len(full_window.banner.text) > 100


def test_any_command_is_found_by_a_part_of_its_name(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.menus.show_palette()
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), CommandPalette))
    palette = QApplication.activeModalWidget()
    assert isinstance(palette, CommandPalette)
    QTest.keyClicks(palette.field, "hist")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: full_window.stack.currentWidget() is page(qtbot, full_window, "History"))
    at_rest(qtbot, full_window)


def test_page_move_and_theme_are_remembered(
    qapp: QApplication, full_store: Store, qtbot: QtBot, tmp_path: Path
) -> None:
    titles = []
    for title in ("Plan", ""):
        work = Work(remembered=Remembered(tmp_path))
        window = MainWindow(work)
        window.show()
        work.use(Session(full_store, work.asker))
        at_rest(qtbot, window)
        if title:
            window.show_page(title)
            window.use_theme(Theme.DARK)
            window.resize(1100, 720)
            at_rest(qtbot, window)
        shown = window.stack.currentWidget()
        titles.append((getattr(shown, "title", ""), work.move and work.move.name, appearance.is_dark()))
        window.close()
        window.deleteLater()
        work.close()
        work.deleteLater()
    appearance.force(qapp, Qt.ColorScheme.Light)
    assert titles == [("Plan", "spring", True)] * 2
