"""Every model of the window holds to Qt's rules for models: each class by itself, and each one that a page shows."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QAbstractItemModel
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractItemView
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

import gui
from core.migration.model.standing import Condition, Mark, Milestone
from gui.models.rail import RailModel, RailRow
from gui.models.table import Column, TableModel
from gui.pages.kinds import PAGES
from gui.widgets.table import Table
from gui.window import MainWindow
from tests.gui.conftest import page


def of_the_table() -> Iterator[QAbstractItemModel]:
    """Through whatever its rows can become."""
    columns: tuple[Column[str], ...] = (Column("Text", str), Column("Length", lambda row: str(len(row)), right=True))
    model = TableModel(columns)
    yield model
    for rows in (["a"], ["a", "b", "c"], ["a", "d", "c"], ["e"], []):
        model.set_rows(rows)
        yield model
    model.rename(1, "Letters")
    yield model


def of_the_rail() -> Iterator[QAbstractItemModel]:
    """Through the marks of a move."""
    model = RailModel([RailRow("Check", Milestone.CHECK), RailRow("History", None)])
    yield model
    for marks in ([Mark(Milestone.CHECK, Condition.WARNING, "3 warnings", datetime.now(UTC))], []):
        model.show_marks(marks)
        yield model


MODELS: dict[type[QAbstractItemModel], Callable[[], Iterator[QAbstractItemModel]]] = {
    TableModel: of_the_table,
    RailModel: of_the_rail,
}


def declared() -> set[type[QAbstractItemModel]]:
    """Every class of a model in any module of the window."""
    found: set[type[QAbstractItemModel]] = set()
    for module in pkgutil.walk_packages(gui.__path__, "gui."):
        for each in vars(importlib.import_module(module.name)).values():
            if isinstance(each, type) and issubclass(each, QAbstractItemModel) and each.__module__.startswith("gui."):
                found.add(each)
    return found


def test_no_model_is_forgotten() -> None:
    assert declared() == set(MODELS)


@pytest.fixture
def check(qtmodeltester: ModelTester) -> Callable[[QAbstractItemModel], None]:
    """pytest-qt's, which has no types."""
    found: Callable[[QAbstractItemModel], None] = qtmodeltester.check
    return found


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_a_model_is_sound_whatever_it_shows(
    kind: type[QAbstractItemModel], check: Callable[[QAbstractItemModel], None]
) -> None:
    states = MODELS[kind]()
    model = next(states)
    assert type(model) is kind
    watching = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for each in states:
        check(each)
    assert watching.model() is model


@pytest.mark.slow
def test_what_the_pages_show_is_sound(
    full_window: MainWindow, qtbot: QtBot, check: Callable[[QAbstractItemModel], None]
) -> None:
    for kind in PAGES:
        page(qtbot, full_window, kind.id)
    tables = full_window.findChildren(Table)
    assert len(tables) > len(PAGES)
    assert sum(table.rows.rowCount() > 0 for table in tables) > len(PAGES) / 2
    for view in full_window.findChildren(QAbstractItemView):
        check(view.model())
