"""Nothing that is raised in a model, a delegate, a widget or a slot ends the program: every override is guarded."""

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QRect, QSize, Qt

import gui
from gui.guard import Guarded
from gui.models.table import TableModel

ROOT = Path(__file__).parents[2]
NOT_VIRTUAL = {"setText", "setInformativeText"}
"""Qt's own functions that Python alone calls: what they raise comes to who called."""


def overrides() -> dict[str, Callable[..., Any]]:
    """Each function of Qt's that any class of the window overrides, by `module.Class.name`."""
    found: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.walk_packages(gui.__path__, "gui."):
        for each in vars(importlib.import_module(module.name)).values():
            if not (isinstance(each, type) and each.__module__ == module.name):
                continue
            qt = [base for base in each.__mro__ if issubclass(base, shiboken6.Object) and _is_qts(base)]
            for name, function in vars(each).items():
                of_qt = not name.startswith("__") and any(name in vars(base) for base in qt)
                if of_qt and isinstance(function, FunctionType):
                    found[f"{module.name}.{each.__name__}.{name}"] = function
    return found


def _is_qts(base: type) -> bool:
    return base.__module__.startswith(("PySide6", "shiboken6"))


OVERRIDES = {name: one for name, one in overrides().items() if name.rpartition(".")[2] not in NOT_VIRTUAL}


ANSWERS = {
    "data": "–",
    "headerData": "–",
    "rowCount": 0,
    "columnCount": 0,
    "event": False,
    "eventFilter": False,
    "sizeHint": QSize(),
    "minimumSizeHint": QSize(),
    "hasHeightForWidth": False,
    "heightForWidth": -1,
    "pixelMetric": 0,
    "styleHint": 0,
    "subControlRect": QRect(),
}
"""What Qt gets of those that return anything."""


def failing(*_given: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("name", OVERRIDES)
def test_every_override_of_qt_is_guarded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what `Guarded` makes of a function of that name: a failure is told, and Qt gets what it can take."""
    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, _error, _trace: told.append(kind))
    last, function = name.rpartition(".")[2], OVERRIDES[name]
    guarded = vars(type("Failing", (Guarded,), {last: failing}))[last]
    why = "it is not guarded: derive the class from gui.guard.Guarded, and see gui.guard.NEUTRAL"
    assert guarded is not failing, why
    assert function.__code__ is guarded.__code__, why
    asked = inspect.signature(function).parameters.values()
    answer = guarded(*(one.default if one.default is not one.empty else None for one in asked))
    assert told == [ZeroDivisionError]
    assert answer == ANSWERS.get(last)


def test_the_overrides_are_found() -> None:
    assert "gui.models.table.TableModel.data" in OVERRIDES
    assert "gui.widgets.phase_strip.PhaseStrip.paintEvent" in OVERRIDES


def test_a_subclass_is_guarded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: told.append(error))

    class Failing(TableModel[str]):
        def data(self, index: Any, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
            raise ZeroDivisionError(index, role)

        def of_its_own(self) -> None:
            raise ZeroDivisionError

    model = Failing(())
    assert isinstance(model, Guarded)
    assert [model.data(None, role) for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.FontRole)] == ["–", None]
    assert len(told) == 2
    with pytest.raises(ZeroDivisionError):
        model.of_its_own()


@pytest.mark.slow
def test_the_program_lives_on_whatever_fails() -> None:
    """In a process of its own, with Qt's own event loop; of what fails with every picture it tells once."""
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(Path(__file__).with_name("failing.py"))],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    lines = Counter(ended.stdout.splitlines())
    assert lines.pop("lives") == lines.pop("the job has ended") == 1
    assert set(lines.values()) == {1}
    assert {line.removeprefix("told: ") for line in lines} >= {
        "data", "headerData", "rowCount", "paint", "sizeHint", "paintEvent", "widget's sizeHint", "showEvent",
        "resizeEvent", "keyPressEvent", "closeEvent", "eventFilter", "event", "slot", "timer", "result",
    }  # fmt: skip
    assert "QPaint" not in ended.stderr
    assert "QBackingStore" not in ended.stderr
