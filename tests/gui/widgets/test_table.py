"""How wide a table's columns are: what is to be read in the rest of the width is given room."""

import csv
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QSplitter
from pytestqt.qtbot import QtBot

from core.language import spoken, tr
from gui.models.table import Column, Width
from gui.remembered import Remembered
from gui.widgets.table import LONGEST_HEAD, NARROWEST, READABLE, TIGHTEST, WIDEST, Table, level
from tests.gui.models.test_fuzzed import TABLES


@dataclass(frozen=True)
class Finding:
    name: str
    seen: str
    took: str
    meaning: str


COLUMNS: tuple[Column[Finding], ...] = (
    Column("Name", lambda row: row.name),
    Column("Seen", lambda row: row.seen),
    Column("Seen there", lambda row: row.seen),
    Column("Took", lambda row: row.took, right=True),
    Column("What it means", lambda row: row.meaning, width=Width.REST),
)
ROW = Finding("data", "block size 8192, " * 9, "79.7 MB/s ± 0.1 %, 2 h 14 min", "it may be moved " * 9)


def shown(qtbot: QtBot, width: int, columns: tuple[Column[Finding], ...] = COLUMNS) -> Table[Finding]:
    table = Table[Finding]("findings", "Findings", columns)
    qtbot.addWidget(table)
    table.set_rows([ROW])
    table.resize(width, 300)
    table.show()
    return table


@pytest.mark.parametrize(
    ("widths", "room", "cut"),
    [([50, 100], 400, WIDEST), ([50, 300, 300], 450, 200), ([300, 300], 300, 150), ([50], 0, 0), ([], 100, WIDEST)],
)
def test_the_widest_are_cut_and_the_narrow_ones_stay(widths: list[int], room: int, cut: int) -> None:
    assert level(widths, room) == cut
    assert sum(min(width, cut) for width in widths) <= room or not room


@pytest.mark.parametrize("width", [900, 1200, 2400])
def test_what_takes_the_rest_can_be_read(qtbot: QtBot, width: int) -> None:
    table = shown(qtbot, width)
    assert table.columnWidth(4) >= READABLE - 5
    assert table.columnWidth(3) >= table.sizeHintForColumn(3), "a figure is never cut"
    assert table.columnWidth(0) < NARROWEST
    assert NARROWEST < table.columnWidth(1) == table.columnWidth(2) <= WIDEST


def test_only_the_head_of_a_very_long_name_is_cut_and_its_tip_is_whole(qtbot: QtBot) -> None:
    table = shown(qtbot, 700)
    name = "db1-of-the-accounting-department-of-the-subsidiary-headquarters (old)"
    table.rename(1, name)
    table.set_rows([replace(ROW, took="1 s")])
    assert table.columnWidth(1) == LONGEST_HEAD < table.horizontalHeader().sectionSizeHint(1)
    assert table.horizontalHeader().textElideMode() is Qt.TextElideMode.ElideMiddle
    assert name in table.rows.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)


def test_columns_that_cannot_stand_beside_each_other_are_scrolled(qtbot: QtBot) -> None:
    table = shown(qtbot, 300)
    assert table.columnWidth(4) == NARROWEST, "a row is told from the next one"
    assert table.horizontalScrollBar().maximum() > 0
    table.resize(1200, table.height())
    assert table.columnWidth(4) > NARROWEST
    assert table.horizontalScrollBar().maximum() == 0


def test_texts_and_long_heads_give_way_before_a_table_is_scrolled(qtbot: QtBot) -> None:
    table = shown(qtbot, 700)
    table.rename(3, "db1-of-the-accounting-department-of-the-subsidiary-headquarters (old)")
    table.rename(4, "Means")
    table.set_rows([replace(ROW, took="1 s")])
    others = table.columnWidth(0) + table.width() - table.viewport().width()
    table.resize(others + 4 * NARROWEST, table.height())
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    assert TIGHTEST <= table.columnWidth(3) < LONGEST_HEAD
    table.resize(others + 4 * TIGHTEST, table.height())
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    assert all(TIGHTEST <= table.columnWidth(number) < NARROWEST for number in (1, 2, 3, 4))


@pytest.mark.parametrize("width", range(150, 700, 25))
def test_columns_that_share_the_rest_are_all_readable(qtbot: QtBot, width: int) -> None:
    long: Column[Finding] = Column("What it means for the move", lambda row: row.name, width=Width.REST)
    short: Column[Finding] = Column("What", lambda row: row.meaning, width=Width.REST)
    table = shown(qtbot, width, (short, long, short))
    assert table.columnWidth(1) >= table.horizontalHeader().sectionSizeHint(1)
    assert min(table.columnWidth(0), table.columnWidth(2)) >= TIGHTEST


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_title_of_a_column_is_as_long_as_a_head_that_is_cut(qtbot: QtBot, language: str) -> None:
    with spoken(language):
        for name, (columns, _) in TABLES.items():
            table = Table(name, name, columns)
            qtbot.addWidget(table)
            head = table.horizontalHeader()
            wide = {tr(column.title): head.sectionSizeHint(number) for number, column in enumerate(columns)}
            assert all(width <= LONGEST_HEAD for width in wide.values()), (name, wide)


def test_the_head_of_a_table_without_rows_is_not_cut(qtbot: QtBot) -> None:
    table = shown(qtbot, 900)
    table.rename(3, "How long it has taken")
    table.set_rows([])
    assert table.columnWidth(3) >= table.horizontalHeader().sectionSizeHint(3)


def test_a_head_is_never_cut(qtbot: QtBot) -> None:
    table = shown(qtbot, 700)
    table.rename(1, "Seen on the first of both")
    table.set_rows([replace(ROW, took="1 s")])
    least = table.horizontalHeader().sectionSizeHint(1)
    assert table.columnWidth(1) == least > NARROWEST
    assert table.columnWidth(1) < table.sizeHintForColumn(1)


def test_columns_follow_the_width_until_one_is_dragged(qtbot: QtBot) -> None:
    table = shown(qtbot, 900)
    before = table.columnWidth(1)
    table.resize(1300, 300)
    assert table.columnWidth(1) > before
    table.dragged = True
    table.setColumnWidth(1, 123)
    table.resize(900, 300)
    assert table.columnWidth(1) == 123


def test_widths_are_remembered_by_the_id_of_the_table_whatever_its_title(qtbot: QtBot, tmp_path: Path) -> None:
    widths: dict[tuple[str, str], int] = {}
    for table_id, title in (("findings", "Findings"), ("findings", "Befunde"), ("others", "Findings")):
        window = QMainWindow()
        qtbot.addWidget(window)
        table = Table[Finding](table_id, title, COLUMNS, window)
        window.setCentralWidget(table)
        table.set_rows([ROW])
        remembered = Remembered(tmp_path)
        remembered.restore_columns(window)
        if not widths:
            table.dragged = True
            table.setColumnWidth(1, 123)
            remembered.save_window(window)
        widths[table_id, title] = table.columnWidth(1)
    assert widths["findings", "Befunde"] == 123
    assert widths["others", "Findings"] != 123


def test_what_nobody_sees_is_measured_when_it_is_shown(qtbot: QtBot) -> None:
    table = shown(qtbot, 900)
    table.hide()
    before = table.columnWidth(0)
    table.set_rows([replace(ROW, name="the whole of the data directory")])
    assert table.columnWidth(0) == before
    table.show()
    assert table.columnWidth(0) > before


def test_a_row_that_was_chosen_before_the_table_is_seen_is_in_sight(qtbot: QtBot) -> None:
    table = Table[Finding]("findings", "Findings", COLUMNS)
    qtbot.addWidget(table)
    table.set_rows([replace(ROW, name=f"number {number}") for number in range(200)])
    table.choose(150)
    table.resize(900, 300)
    table.show()
    qtbot.waitUntil(lambda: table.viewport().rect().contains(table.visualRect(table.currentIndex()).center()))


def test_no_cell_of_a_csv_is_a_formula(qtbot: QtBot, tmp_path: Path) -> None:
    table = shown(qtbot, 900)
    table.set_rows([replace(ROW, name='=HYPERLINK("http://elsewhere/")', seen="-", took="+1", meaning="@x")])
    table.save_csv(tmp_path / "findings.csv")
    with (tmp_path / "findings.csv").open(newline="") as file:
        cells = list(csv.reader(file))[1]
    assert cells == ['\'=HYPERLINK("http://elsewhere/")', "-", "-", "'+1", "'@x"]


def numbered(qtbot: QtBot) -> Table[Finding]:
    """A table of more rows than can be seen, that follows them by name."""
    table = Table[Finding]("findings", "Findings", COLUMNS, follow=lambda row: row.name)
    qtbot.addWidget(table)
    table.resize(900, 300)
    table.set_rows([replace(ROW, name=f"number {number}") for number in range(200)])
    return table


def test_who_scrolled_away_is_still_there_when_the_table_is_shown_again(qtbot: QtBot) -> None:
    table = numbered(qtbot)
    table.show()
    table.choose(150)
    qtbot.wait(20)  # what brings it into sight does so afterwards
    table.verticalScrollBar().setValue(20)
    table.choose(150)
    table.hide()
    table.show()
    qtbot.wait(50)  # what would scroll does so afterwards
    assert table.verticalScrollBar().value() == 20
    table.hide()
    table.choose(100)
    table.show()
    qtbot.waitUntil(lambda: table.viewport().rect().contains(table.visualRect(table.currentIndex()).center()))


def test_the_chosen_rows_are_followed(qtbot: QtBot) -> None:
    table = numbered(qtbot)
    table.show()
    table.choose(150)
    qtbot.wait(20)  # what brings it into sight does so afterwards
    table.verticalScrollBar().setValue(20)
    told: list[Finding | None] = []
    table.chosen.connect(told.append)
    rows = table.rows.rows
    table.set_rows([replace(ROW, name="new"), *rows])
    assert (table.current(), table.currentIndex().row()) == (rows[150], 151)
    assert table.verticalScrollBar().value() == 20
    table.set_rows(rows[100:])
    assert (table.current(), told) == (rows[150], [])
    table.set_rows(rows[:100])
    assert (table.current(), told) == (rows[50], [rows[50]]), "what is gone leaves its place chosen"
    table.selectAll()
    table.set_rows([rows[0], replace(ROW, name="new"), *rows[2:100]])
    assert table.selected() == (rows[0], *rows[2:100])


def test_a_row_that_is_chosen_before_the_table_has_its_size_is_in_sight(qtbot: QtBot) -> None:
    whole = QSplitter()
    qtbot.addWidget(whole)
    table = Table[Finding]("findings", "Findings", COLUMNS, whole)
    whole.resize(900, 300)
    table.hide()
    whole.show()
    table.setVisible(True)
    table.set_rows([replace(ROW, name=f"number {number}") for number in range(200)])
    table.choose(150)
    qtbot.waitUntil(lambda: table.viewport().rect().contains(table.visualRect(table.currentIndex()).center()))
