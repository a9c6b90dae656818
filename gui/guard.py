"""The window's outer edge towards Qt: nothing that Python raises gets into what Qt does at that moment.

Qt calls what our classes override (`data`, `paintEvent`, `eventFilter`) from the midst of its own work. What is raised
there cannot be handled there: it comes up later in a place that has nothing to do with it, or ends the program, at the
worst while the old server is stopped. So each class that overrides anything of Qt derives from `Guarded`. Where an
override fails, Qt gets a value that changes nothing, a cell shows `–`, and `sys.excepthook` takes what was raised, as
it takes what a slot raises: in the window that is `app.Catcher`.
"""

import sys
import traceback
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from PySide6.QtCore import QRect, QSize, Qt

from core import units

Value = TypeVar("Value")
EVENTS = "Event"
"""The end of the names of event handlers, which return nothing."""


def _cell(_model: Any, *where: Any) -> str | None:
    """Return the neutral value of a cell or a header; `where`: the arguments that name the cell and the role."""
    shown = Qt.ItemDataRole.DisplayRole
    return units.ABSENT if all(one == shown for one in where if isinstance(one, int)) else None


def _header(_model: Any, _section: int, _orientation: Any, *role: Any) -> str | None:
    return _cell(None, *role)


def _nothing(*_given: Any) -> None:
    pass


NEUTRAL: dict[str, Callable[..., Any]] = {
    "rowCount": lambda *_given: 0,
    "columnCount": lambda *_given: 0,
    "data": _cell,
    "headerData": _header,
    "event": lambda *_given: False,
    "eventFilter": lambda *_given: False,
    "sizeHint": lambda *_given: QSize(),
    "minimumSizeHint": lambda *_given: QSize(),
    "hasHeightForWidth": lambda *_given: False,
    "heightForWidth": lambda *_given: -1,
    "paint": _nothing,
    "initStyleOption": _nothing,
    "done": _nothing,
    "drawPrimitive": _nothing,
    "drawControl": _nothing,
    "drawComplexControl": _nothing,
    "pixelMetric": lambda *_given: 0,
    "styleHint": lambda *_given: 0,
    "subControlRect": lambda *_given: QRect(),
    "sizeFromContents": lambda _style, _kind, _option, size, *_widget: size,
}
"""The value that Qt gets from an override that failed, by its name."""


class Guarded:
    """The first base class of every class that overrides methods of Qt."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        for name, function in tuple(vars(cls).items()):
            neutral = NEUTRAL.get(name) or (_nothing if name.endswith(EVENTS) else None)
            if neutral is not None and isinstance(function, FunctionType):
                setattr(cls, name, _guarded(function, neutral))


def attempt(function: Callable[..., Value], instead: Callable[..., Value], *given: Any) -> Value:
    """Return the result of the function. If it fails, report the error and return the result of `instead`."""
    try:
        return function(*given)
    except Exception as error:  # noqa: BLE001  the outer edge: behind it is Qt, which can handle none
        report_error(error)
    return instead(*given)


def report_error(error: Exception) -> None:
    """Pass the error to the handler of uncaught exceptions.

    Its frames are cleared, because a painter that outlives its event crashes the program.
    """
    sys.excepthook(type(error), error, error.__traceback__)
    traceback.clear_frames(error.__traceback__)


def _guarded(function: Callable[..., Any], neutral: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def guarded(*given: Any) -> Any:
        return attempt(function, neutral, *given)

    return guarded
