import importlib
import pkgutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

import gui.models
from core import units
from core.tones import Tone
from gui.models.table import Column, TableModel
from gui.widgets.table import Table


@dataclass(frozen=True)
class Thing:
    name: str
    number: int


COLUMNS: tuple[Column[Thing], ...] = (
    Column("Name", lambda row: row.name),
    Column("Number", lambda row: str(row.number), right=True, tone=lambda row: Tone.BAD if row.number else None),
)


def _model() -> tuple[TableModel[Thing], QAbstractItemModelTester]:
    model = TableModel(COLUMNS)
    return model, QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)


def _texts(model: TableModel[Thing]) -> list[tuple[object, ...]]:
    return [
        tuple(model.index(row, column).data() for column in range(model.columnCount()))
        for row in range(model.rowCount())
    ]


@pytest.mark.usefixtures("qapp")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.lists(st.builds(Thing, st.text(max_size=3), st.integers(0, 3)), max_size=8), max_size=6))
def test_whatever_rows_follow_whatever_rows_the_model_shows_the_last(steps: list[list[Thing]]) -> None:
    model, tester = _model()
    for rows in steps:
        model.set_rows(rows)
        assert list(model.rows) == rows
    assert tester.model() is model


def test_only_what_differs_is_announced(qtbot: QtBot) -> None:
    model, _tester = _model()
    rows = [Thing(str(number), number) for number in range(100)]
    model.set_rows(rows)
    changed: list[tuple[int, int]] = []
    resets: list[None] = []
    model.dataChanged.connect(lambda first, last, _roles: changed.append((first.row(), last.row())))
    model.modelReset.connect(lambda: resets.append(None))
    model.set_rows([*rows[:7], replace(rows[7], number=70), *rows[8:]])
    model.set_rows([*model.rows, Thing("new", 1)])
    assert changed == [(7, 7)]
    assert resets == []
    assert model.index(7, 1).data() == "70"
    assert model.rowCount() == 101
    qtbot.wait(0)


@pytest.mark.usefixtures("qapp")
def test_a_long_text_shows_its_beginning_and_is_kept_whole() -> None:
    model, _tester = _model()
    model.set_rows([Thing("x" * 100_000, 3)])
    name = model.index(0, 0)
    assert name.data() == "x" * 300 + "…"
    assert name.data(Qt.ItemDataRole.UserRole).name == "x" * 100_000


@pytest.mark.usefixtures("qapp")
def test_roles() -> None:
    model, _tester = _model()
    row = Thing("<b>a\nb</b>", 3)
    model.set_rows([row])
    name, number = model.index(0, 0), model.index(0, 1)
    assert name.data() == "<b>a ↵ b</b>"
    assert "&lt;b&gt;a\nb" in name.data(Qt.ItemDataRole.ToolTipRole)
    assert name.data(Qt.ItemDataRole.UserRole) is row
    assert name.data(Qt.ItemDataRole.ForegroundRole) is None
    assert number.data(Qt.ItemDataRole.ForegroundRole) is not None
    assert Qt.AlignmentFlag.AlignRight in Qt.AlignmentFlag(number.data(Qt.ItemDataRole.TextAlignmentRole))
    assert [model.headerData(i, Qt.Orientation.Horizontal).strip() for i in range(2)] == ["Name", "Number"]
    assert model.index(9, 0).data() is None


@pytest.mark.parametrize("failing", ["text", "tone"])
def test_a_column_that_fails_shows_that_it_is_absent(qtbot: QtBot, tmp_path: Path, failing: str) -> None:
    """Unguarded, the program would die within Qt."""

    def fails(row: Thing) -> str:
        return str(1 // row.number)

    broken: Column[Thing] = (
        Column("Broken", fails)
        if failing == "text"
        else Column("Broken", lambda row: row.name, tone=lambda row: Tone.BAD if fails(row) else None)
    )
    with qtbot.capture_exceptions() as caught:
        table = Table("things", "Things", (*COLUMNS, broken))
        qtbot.addWidget(table)
        table.show()
        for _ in range(3):
            table.set_rows([Thing("a", 1), Thing("b", 0), Thing("c", 0)])
            table.grab()
            table.set_rows([])
        table.set_rows([Thing("a", 1), Thing("b", 0)])
        table.sort(2)
        table.filter("b")
        table.choose(0)
        table.copy()
        table.save_csv(tmp_path / "things.csv")
        table.grab()
        cell = table.rows.index(0, 2)
        shown = "–" if failing == "text" else "b"
        assert cell.data() == shown
        assert shown in cell.data(Qt.ItemDataRole.ToolTipRole)
        assert shown in (tmp_path / "things.csv").read_text()
        assert cell.data(Qt.ItemDataRole.ForegroundRole) is None
        table.close()
    assert {kind for kind, _error, _trace in caught} == {ZeroDivisionError}


WITH_HEADS = "steps"
"""The module whose tables have heads, so that they cannot be sorted."""


def columns_of_numbers() -> list[Column[Any]]:
    found: list[Column[Any]] = []
    for module in pkgutil.iter_modules(gui.models.__path__):
        if module.name != WITH_HEADS:
            for value in vars(importlib.import_module(f"gui.models.{module.name}")).values():
                if isinstance(value, tuple):
                    found += [each for each in value if isinstance(each, Column) and each.right]
    return found


def test_every_column_of_numbers_has_values_to_sort_by() -> None:
    found = columns_of_numbers()
    assert len(found) > 30
    assert [column.title for column in found if column.value is None] == []


@dataclass(frozen=True)
class Measured:
    seconds: float | None


SECONDS: Column[Measured] = Column(
    "Duration", lambda row: units.duration(row.seconds), right=True, value=lambda row: row.seconds
)


def test_a_table_is_sorted_by_values_whatever_its_texts(qtbot: QtBot) -> None:
    """As texts, `20 min` comes before `3 min` and `5 h`; a row without a value comes first."""
    table = Table("durations", "Durations", (SECONDS,))
    qtbot.addWidget(table)
    seconds = (180.0, None, 18_000.0, 1200.0, float("nan"), 0.5)
    table.set_rows([Measured(each) for each in seconds])
    table.sort(0)
    assert [row.seconds for row in table.rows.rows][2:] == [0.5, 180.0, 1200.0, 18_000.0]
    table.sort(0)
    assert [row.seconds for row in table.rows.rows][:4] == [18_000.0, 1200.0, 180.0, 0.5]
    table.sort(0)
    assert table.rows.row(0).seconds == 180.0


def test_a_value_that_fails_is_none(qtbot: QtBot) -> None:
    broken: Column[Thing] = Column("Share", lambda row: row.name, value=lambda row: 1 / row.number)
    with qtbot.capture_exceptions() as caught:
        table = Table("things", "Things", (broken,))
        qtbot.addWidget(table)
        table.set_rows([Thing("a", 1), Thing("b", 0)])
        table.sort(0)
        assert [row.name for row in table.rows.rows] == ["b", "a"]
    assert {kind for kind, _error, _trace in caught} == {ZeroDivisionError}
