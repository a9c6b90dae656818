"""Every column of every table, given rows whose fields hold whatever their types allow: it answers with a text."""

import ast
import importlib
import inspect
import pkgutil
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF

import gui
import gui.models
from core.migration.model.asked import Asked
from core.tones import Tone
from gui.models.chart import Chart
from gui.models.table import Column
from gui.widgets.chart import ChartView

NUMBERS = (0, 1, -1, 2**31, 2**63, -(2**63), 2**80)
FLOATS = (0.0, -0.0, 1e-9, 0.5, -1.0, 1e18, 1e100, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", " ", "a", "x" * 5000, "one\ntwo", "\u202egnirts", "{", "%s", "<b>", "\0")
DAY = datetime(2026, 3, 14, 3, 12, 9, tzinfo=UTC)
SIMPLE: dict[type, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.sampled_from(NUMBERS) | st.integers(),
    float: st.sampled_from(FLOATS) | st.floats(-1e100, 1e100),
    str: st.sampled_from(TEXTS) | st.text(),
    object: st.none() | st.sampled_from(TEXTS),
    datetime: st.timedeltas(timedelta(-20000), timedelta(20000)).map(lambda passed: DAY + passed),
    # it refuses what no clock shows, also from the history
    Asked: st.builds(
        Asked, st.none() | st.tuples(st.floats(0, 86399), st.floats(0, 86399)), st.none() | st.floats(1, 1e9)
    ),
}
CHOSEN = {"elapsed": st.floats(0, 1e9)}
"""Fields that hold one of a few texts, and what a clock shows."""
MOST = 3
"""Of what there may be any number of."""


@cache
def named(module: types.ModuleType) -> dict[str, Any]:
    """What its annotations may name: also what is imported for them alone."""
    found = dict(vars(module))
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(("core", "gui")):
            source = importlib.import_module(node.module)
            found |= {one.asname or one.name: vars(source).get(one.name) for one in node.names}
    return found


@cache
def anything(kind: Any) -> st.SearchStrategy[Any]:
    """Whatever is of that type."""
    origin, of = get_origin(kind), get_args(kind)
    if kind is Any:
        return SIMPLE[object]
    if kind is None or kind is type(None):
        return st.none()
    if kind in SIMPLE:
        return SIMPLE[kind]
    if origin is Literal:
        return st.sampled_from(of)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(anything, of))
    if origin is tuple and of[-1] is not Ellipsis:
        return st.tuples(*map(anything, of))
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return st.dictionaries(anything(of[0]), anything(of[1]), max_size=MOST)
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return st.lists(anything(of[0]), max_size=MOST).map(frozenset if origin is frozenset else tuple)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind, named(sys.modules[kind.__module__]))
        wanted = [each.name for each in fields(kind) if each.init]
        return st.builds(kind, **{name: of_field(name, hints[name]) for name in wanted})
    raise TypeError(kind)


def of_field(name: str, kind: Any) -> st.SearchStrategy[Any]:
    return CHOSEN[name] if name in CHOSEN else anything(kind)


def tables() -> dict[str, tuple[tuple[Column[Any], ...], Any]]:
    """The columns of each table that a module declares, with the type of their rows, by where they stand."""
    found: dict[str, tuple[tuple[Column[Any], ...], Any]] = {}
    for each in pkgutil.walk_packages(gui.__path__, "gui."):
        module = importlib.import_module(each.name)
        for name, kind in inspect.get_annotations(module).items():
            columns = vars(module).get(name)
            if isinstance(columns, tuple) and columns and all(isinstance(one, Column) for one in columns):
                whole = eval(kind, named(module)) if isinstance(kind, str) else kind  # noqa: S307  our own source
                found[f"{each.name}.{name}"] = (columns, get_args(get_args(whole)[0])[0])
    return found


TABLES = tables()


def told(columns: Iterable[Column[Any]]) -> list[Callable[[Any], object]]:
    return [each for column in columns for each in (column.text, column.tone, column.tip) if each is not None]


def test_the_tables_are_found() -> None:
    assert {"gui.models.steps.RUN_COLUMNS", "gui.models.record.STAGES_COLUMNS"} <= set(TABLES)


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_cell_is_told_whatever_its_row_holds(table: str, data: st.DataObject) -> None:
    columns, kind = TABLES[table]
    row = data.draw(anything(kind))
    for column in columns:
        assert isinstance(column.text(row), str), column.title
        assert column.tip is None or isinstance(column.tip(row), str), column.title
        assert column.tone is None or isinstance(column.tone(row), Tone | None), column.title


NOT_OF_PLAIN_DATA = {"charts.axis_end", "commands.add", "details.detail_text", "prompts.prompt_for"}
NOT_OF_PLAIN_DATA |= {"charts.bar_chart", "charts.latency_chart", "comparison.pair", "storage.array_rows"}
NOT_OF_PLAIN_DATA |= {"explained.told", "overview.read_overview"}
NOT_OF_PLAIN_DATA |= {"prompts.waits_for", "sentences.error_text", "words.counted", "words.listed"}
"""What needs a question, an error, a file, a history or a text with places to fill in, or is given at least one of its
things, or things that belong to each other."""


def functions() -> dict[str, Callable[..., Any]]:
    """Each function of the models that makes of plain data what is shown; of facts, `test_garbage` has their own."""
    found: dict[str, Callable[..., Any]] = {}
    for each in pkgutil.iter_modules(gui.models.__path__, "gui.models."):
        module = importlib.import_module(each.name)
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == each.name and not name.startswith("_"):
                found[f"{each.name.rpartition('.')[2]}.{name}"] = function
    return {name: one for name, one in found.items() if name not in NOT_OF_PLAIN_DATA and not name.startswith("facts.")}


FUNCTIONS = functions()


@pytest.mark.long
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_shown_is_made_whatever_there_is(name: str, data: st.DataObject) -> None:
    function = FUNCTIONS[name]
    hints = get_type_hints(function, named(sys.modules[function.__module__]))
    hints.pop("return", None)
    shown = function(**{each: data.draw(of_field(each, kind), each) for each, kind in hints.items()})
    if isinstance(shown, Chart):
        view = ChartView()
        view.resize(600, 300)
        view.show_chart(shown)
        view.grab()
        view.tip_at(QPointF(50, 50))
