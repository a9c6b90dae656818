"""The tiles of the benchmarks: one scale for both servers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from core.benchmarks.model import Workload
from core.comparison.model import Row, Verdict
from core.jobs import Live
from core.sides import Side
from gui.models.comparison import ComparedRow
from gui.models.tiles import Dot, Tile, TileRow
from gui.widgets.tiles import Sparkline, Tiles, TilesView, place_dots
from tests.gui.models.test_fuzzed import FLOATS

ROOM = QRectF(0, 0, 100, 100)


def tile(*values: float) -> Tile:
    return Tile("", "", "", "", None, tuple(Dot(value) for value in values))


def test_both_servers_have_one_scale() -> None:
    row = TileRow("read", "read_iops", "read", tile(900.0, 300.0), tile(3000.0))
    assert row.old is not None
    assert row.new is not None
    old, new = (place_dots(ROOM, each.dots, row.highest) for each in (row.old, row.new))
    heights = [ROOM.bottom() - spot.y() for spot in (*old, *new)]
    assert heights == pytest.approx([27.0, 9.0, 90.0])


def test_a_row_without_values_has_no_height() -> None:
    assert TileRow("read", "read_iops", "read", None, tile()).highest == 0.0
    assert [spot.y() for spot in place_dots(ROOM, (Dot(0.0),), 0.0)] == [ROOM.bottom()]


@pytest.mark.parametrize("value", FLOATS)
def test_any_value_is_painted(value: float, qtbot: QtBot) -> None:
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.resize(900, 300)
    running = replace(tile(value, 1.0, value), running=True)
    rows = (TileRow("read", "read_iops", "read", running, tile(1.0)), TileRow("none", "x", "", None, tile(value)))
    contrast = Row(
        Workload("read", "read", "fio", "read_iops"), "read_iops", None, None, value, value, value, Verdict.NEW
    )
    compared = replace(rows[0], contrast=ComparedRow(contrast, ("db1", "db2")))
    tiles.show_rows((compared, *rows[1:]), ("db1 (old)", "db2 (new)"))
    for each in (value, 1.0, value):
        tiles.take(Live("read", Side.OLD.value, {"read_iops": each}))
    assert not tiles.grab().isNull()
    tiles.rest()


def test_the_heads_stay_at_the_top_and_the_measured_row_stands_below_them(qtbot: QtBot) -> None:
    view = TilesView()
    qtbot.addWidget(view)
    view.resize(900, 300)
    view.show()
    rows = [TileRow(f"read-{number}", "read_iops", "read", tile(1.0), tile(2.0)) for number in range(6)]
    view.show_rows(tuple(rows), ("db1 (old)", "db2 (new)"))
    head = view.viewport().grab().toImage().copy(0, 0, 100, 20)
    rows[4] = replace(rows[4], old=replace(tile(1.0), running=True))
    view.show_rows(tuple(rows), ("db1 (old)", "db2 (new)"))
    scrolled = view.verticalScrollBar().value()
    assert scrolled > 0
    assert view.tiles.room(4, 0).top() - scrolled >= view.tiles.above
    assert view.tiles.room(4, 0).bottom() - scrolled <= view.viewport().height()
    assert view.viewport().grab().toImage().copy(0, 0, 100, 20) == head


def test_the_lines_of_both_servers_have_one_scale_for_each_unit(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("gui.widgets.tiles.time", SimpleNamespace(monotonic=lambda: now[0]))

    def old_tile(*of_new: Live) -> QImage:
        """Its picture, of 100 and 50 transactions per second."""
        tiles = Tiles()
        qtbot.addWidget(tiles)
        tiles.resize(900, 300)
        running = replace(tile(1.0), running=True)
        row = TileRow("tpcb", "transactions_per_second", "tpcb", running, running)
        tiles.show_rows((row,), ("db1 (old)", "db2 (new)"))
        for rate in (100.0, 50.0):
            now[0] += 1.0
            tiles.take(Live(Side.OLD.value, "tpcb", {"transactions_per_second": rate}, "pgbench"))
        for event in of_new:
            tiles.take(event)
        made = tiles.grab(tiles.room(0, 0)).toImage()
        tiles.rest()
        return made

    alone = old_tile()
    assert old_tile(Live(Side.NEW.value, "tpcb", {"read_bytes_per_second": 5e8})) == alone
    assert old_tile(Live(Side.NEW.value, "tpcb", {"transactions_per_second": 20.0}, "pgbench")) == alone
    assert old_tile(Live(Side.NEW.value, "tpcb", {"transactions_per_second": 5000.0}, "pgbench")) != alone


def test_a_line_shows_what_a_tool_reports_apart_from_what_the_disk_moves() -> None:
    line, headline, metric = Sparkline(), "transactions_per_second", "transactions_per_second"
    for number, by in enumerate(("", "pgbench", "", "pgbench")):
        line.add(Live("old", "tpcb", {metric: 100.0 + number} if by else {"read_bytes_per_second": 5e8}, by))
        assert line.by == by
    assert [value for _, value in line.values(headline, metric)] == [101.0, 103.0]
    assert line.highest(headline, metric) == 103.0
    assert line.highest(headline, "bytes_per_second") == 0.0
