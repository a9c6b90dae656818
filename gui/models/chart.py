"""A chart as data, as it is painted: two axes, marks between them, and what is said beside them. Knows no widget."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.tones import Tone

_TIMES = (
    *((number, f"{number} s") for number in (1, 2, 5, 10, 15, 30)),
    *((number * 60, f"{number} min") for number in (1, 2, 5, 10, 15, 30)),
    *((number * 3600, f"{number} h") for number in (1, 2, 3, 6, 12)),
    *((number * 86400, f"{number} d") for number in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high` with a name at each tick.

    Attributes:
        places: the ticks are things that stand beside each other, not values on a scale: no line goes through them,
            and a long name is broken within its place.
        chosen: of such things the one that the chart is about; its name is bold.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    places: bool = False
    chosen: float | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A filled rectangle between two corners.

    Attributes:
        tip: what it stands for, with its figures.
        name: written within, where it has room there. Bars with names stand end to end, a pixel apart.
        full: filled; else only its edge is drawn.
    """

    left: float
    bottom: float
    right: float
    top: float
    tone: Tone
    tip: str = ""
    name: str = ""
    full: bool = True


@dataclass(frozen=True, slots=True)
class Whisker:
    """From the lowest to the highest of what can be, with a beam at either end; None: in the colour of text."""

    start: tuple[float, float]
    end: tuple[float, float]
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """One value; hollow where it does not count."""

    x: float
    y: float
    tone: Tone
    full: bool = True
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Path:
    """A line through these points; `filled`: with a light ground down to the axis."""

    points: tuple[tuple[float, float], ...]
    tone: Tone
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Above:
    """A few words over a point, left out where they are wider than `room` of the axis across."""

    x: float
    y: float
    text: str
    room: float


@dataclass(frozen=True, slots=True)
class Labels:
    """Words on one line at the height `y`: of two the first begins at its place, and the last ends at its own.

    Where they would run into each other they stand there as one.
    """

    y: float
    texts: tuple[tuple[float, str], ...]


Mark = Bar | Whisker | Dot | Path | Above | Labels


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture.

    Attributes:
        name: what it shows, for a screen reader; `description`: its figures in words.
        up: from below to above; `across`: from the left to the right.
        beside: words at the right of a height, in a column of their own.
        legend: what each colour stands for.
        lines: how many lines of text must fit between top and bottom.
    """

    title: str
    name: str
    description: str
    across: Axis
    up: Axis
    marks: tuple[Mark, ...]
    beside: tuple[tuple[float, str], ...] = ()
    legend: tuple[tuple[Tone, str], ...] = ()
    lines: int = 6


def scale(highest: float, room: float = 1.0) -> Axis:
    """From zero to `room` times the highest of what is shown, with few round ticks that can be read."""
    end = highest * room
    if not (math.isfinite(end) and end > 0):
        return Axis(0.0, 1.0, ((0.0, "0"),))
    rough = end / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    return Axis(0.0, end, tuple((number * step, _round(number * step)) for number in range(int(end / step) + 1)))


def times(highest: float) -> Axis:
    """From zero to so many seconds, with few round times."""
    if not (math.isfinite(highest) and highest > 0):
        return Axis(0.0, 1.0, ((0.0, "0"),))
    longest = _TIMES[-1][0]
    step = next((seconds for seconds, _ in _TIMES if highest / seconds <= MOST_TICKS), longest)
    names = dict(_TIMES)
    size, unit = names[step].split()
    count = min(int(highest / step), 10 * MOST_TICKS)
    return Axis(0.0, highest, tuple((n * step, f"{n * int(size)} {unit}" if n else "0") for n in range(count + 1)))


def places(names: Sequence[str], beside: float = 0.5) -> Axis:
    """Things beside each other, at 0, 1, 2…; `beside`: how much room the first and the last have to the edge."""
    return Axis(-beside, max(0, len(names) - 1) + beside, tuple(enumerate(names)), places=True)


def ladder(names: Sequence[str]) -> Axis:
    """Things below each other, the first at the top: the last stands at 0."""
    last = len(names) - 1
    return Axis(
        -0.5, max(0, last) + 0.5, tuple((last - number, name) for number, name in enumerate(names)), places=True
    )


def _round(value: float) -> str:
    return units.count(value) if abs(value) >= 1000 else units.plain(value)
