"""Axes: where a value lies along one, and round marks that can be read."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from core import units
from core.language import marked, tr
from core.reports.drawing import Line, Mark, Words

T = TypeVar("T")

_TICKS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 345600, 604800)
_MOST_TICKS = 6
_BINARY = ("Bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("Bytes", "kB", "MB", "GB", "TB", "PB")
_SIZE_STEPS = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)
_MOST_SIZES = 5
_UNITS = ((86400, marked("d")), (3600, marked("h")), (60, marked("min")), (1, marked("s")))


def fraction(value: float, most: float) -> float:
    """How far along an axis that ends at `most`."""
    return min(1.0, max(0.0, value / most)) if most > 0 else 0.0


def time_marks(most: float) -> tuple[tuple[float, str], ...]:
    """Round times from 0 to `most` seconds with their names, few enough to be read."""
    step = next((tick for tick in _TICKS if most / tick <= _MOST_TICKS), most / _MOST_TICKS)
    size, unit = next(((size, unit) for size, unit in _UNITS if step >= size), _UNITS[-1])
    marks = [step * number for number in range(int(most / step) + 1)] if most > 0 else [0.0]
    return tuple((mark, f"{units.plain(mark / size)} {tr(unit)}" if mark else "0") for mark in marks)


def size_marks(most: float) -> tuple[tuple[float, str], ...]:
    """Round sizes above 0 up to `most` bytes with their names, two to five of them and all in one unit."""
    base, names = (1024.0, _BINARY) if units.current().binary else (1000.0, _DECIMAL)
    power = max((power for power in range(len(names)) if base**power <= most), default=0)
    unit = base**power
    step = next((each for each in _SIZE_STEPS if most / unit / each <= _MOST_SIZES), most / unit / _MOST_SIZES)
    marks = [step * number for number in range(1, int(most / unit / step) + 1)]
    return tuple((mark * unit, f"{units.plain(mark)} {names[power]}") for mark in marks)


def round_marks(most: float, count: int = 5) -> tuple[float, ...]:
    """Round numbers above 0 up to `most`, two to `count` of them."""
    if most <= 0:
        return ()
    power = 10.0 ** math.floor(math.log10(most / count))
    step = next(power * each for each in (1, 2, 5, 10) if most / (power * each) <= count * 1.0001)
    return tuple(step * number for number in range(1, math.floor(most / step * 1.0001) + 1))


@dataclass(frozen=True, slots=True)
class Scale:
    """Values along a line from `start` to `end` (millimetres); logarithmic where `log`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value lies; outside of the axis at its end."""
        low, high, value = (self._bent(each) for each in (self.low, self.high, value))
        part = (value - low) / (high - low) if high > low else 0.5
        return self.start + min(1.0, max(0.0, part)) * (self.end - self.start)

    def _bent(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.log else value


def decades(low: float, high: float) -> tuple[float, ...]:
    """1, 2, 5, 10… from below `low` to above `high`."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
    below = [step for step in steps if step <= low * 1.0001][-1:]
    above = [step for step in steps if step >= high * 0.9999][:1]
    return tuple(step for step in steps if (below or steps)[0] <= step <= (above or steps)[-1])


def thinned(values: tuple[T, ...], most: int) -> tuple[T, ...]:
    """No more than so many of them, the first and the last among them."""
    if len(values) <= most:
        return values
    step = (len(values) - 1) / (most - 1)
    return tuple(values[round(step * number)] for number in range(most))


def few(marks: tuple[float, ...], most: int) -> tuple[float, ...]:
    """Of marks that are too many for a logarithmic axis the powers of ten, where there are two at least."""
    tens = tuple(mark for mark in marks if abs(math.log10(mark) - round(math.log10(mark))) < 1e-9)
    return thinned(marks if len(marks) <= most or len(tens) < 2 else tens, most)


def horizontal(
    scale: Scale, y: float, marks: tuple[float, ...], named: Callable[[float], str], *, grid_to: float | None = None
) -> list[Mark]:
    """An axis below a plot; `grid_to`: up to there a line at each mark."""
    made: list[Mark] = [Line(scale.start, y, scale.end, y, "muted")]
    for mark in marks:
        x = scale.at(mark)
        if grid_to is not None:
            made.append(Line(x, grid_to, x, y, "rule", 0.4))
        made += [Line(x, y, x, y + 1, "muted"), Words(x, y + 2.8, named(mark), 7, "muted", "middle")]
    return made
