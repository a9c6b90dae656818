"""Plots of durations: methods and stages with their whiskers, a Gantt chart, and the copy path as a pipe."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.language import marked, tr
from core.migration.model.estimate import CARRIED_OUT, Method, Span
from core.migration.model.probe import Probe, Quantity
from core.migration.transports.choice import choose_transport, tried_routes
from core.reports.charts.axes import Scale, horizontal, time_marks
from core.reports.drawing import WIDTH, Box, Drawing, Line, Mark, Shape, Words, fitted, moved, width_of
from core.reports.words import about, bottleneck, method, reach, span, stage_name

_LABEL = 54.0
"""Room for the name of a method or stage, in millimetres: the longest in any language."""
_STEP = 58.0
"""Room for the title of a step."""
_KEY_MARK, _KEY_GAP = 4.5, 7.0
"""Millimetres from a mark of the key to its words, and from them to the next mark."""
_MOST_BARS = 60
_MOST_HEIGHT = 200.0
"""Of all bars: what a Letter page has below a heading."""


def methods(found: Sequence[Method], planned: Method | None = None) -> Drawing | None:
    """All methods on one time axis: the time without the cluster and in all, from low to high, the likely marked.

    Args:
        found: the methods.
        planned: the one that the plan follows; it is marked, so that nobody takes a shorter one for the plan.
    """
    if not found:
        return None
    most = max(one.duration_seconds.high for one in found)
    scale = Scale(0, most, _LABEL, WIDTH - 52)
    note = tr("each bar: from the low to the high estimate; black mark: likely value")
    made = _key(
        ((Box(0, 0.6, 3, 2.6, "bad"), tr("downtime")), (Box(0, 1.2, 3, 1.4, "planned", "muted"), tr("total time"))),
        note,
    )
    y = 8.0
    for one in found:
        faint = "muted" if one.ruled_out else "ink"
        made.append(Words(0, y + 1.8, fitted(method(one.method), _LABEL - 2, 8), 8, faint))
        if planned is not None and one.method == planned.method:
            made.append(Words(0, y + 5.0, tr("the method of this plan"), 6.5, "muted"))
        elif one.method not in CARRIED_OUT:
            made.append(Words(0, y + 5.0, tr("for comparison only: not offered by pghaul"), 6.5, "muted"))
        made += _whisker(one.downtime_seconds, scale, y, "bad", 2.6)
        made += _whisker(one.duration_seconds, scale, y + 3.8, "planned", 1.6)
        made.append(Words(scale.end + 3, y, span(one.downtime_seconds), 7, faint))
        made.append(Words(scale.end + 3, y + 3.8, span(one.duration_seconds), 7, "muted"))
        y += 9.4
    made = [*_time_axis(scale, y - 2.5, most, 5.0), *made]
    alt = tr("Downtime and total time of each method.") + " "
    alt += " ".join(
        tr("{method}: downtime {down}, total time {whole}.").format(
            method=method(one.method), down=span(one.downtime_seconds), whole=span(one.duration_seconds)
        )
        for one in found
    )
    return Drawing("methods", alt, y + 2.5, tuple(made))


def _whisker(seconds: Span, scale: Scale, y: float, fill: str, thickness: float) -> list[Mark]:
    low, high, likely = (scale.at(each) for each in (seconds.low, seconds.high, seconds.likely))
    outline = "muted" if fill == "planned" else ""
    return [
        Box(low, y - thickness / 2, max(0.4, high - low), thickness, fill, outline),
        Box(likely - 0.4, y - 1.9, 0.8, 3.8, "ink", "white"),
    ]


def _key(entries: Sequence[tuple[Box | Shape, str]], note: str = "") -> list[Mark]:
    """What the marks of a plot mean, in a row above it; the marks stand at 0."""
    made: list[Mark] = []
    x = 0.0
    for mark, words in entries:
        made += [moved(mark, x, 0), Words(x + _KEY_MARK, 2, words, 7.5)]
        x += _KEY_MARK + width_of(words, 7.5) + _KEY_GAP
    return [*made, Words(x, 2, fitted(note, WIDTH - x, 7.5), 7.5, "muted")] if note else made


def _time_axis(scale: Scale, y: float, most: float, top: float) -> list[Mark]:
    """The axis with its grid, to be drawn before what stands on it."""
    marks = time_marks(most)
    names = dict(marks)
    return horizontal(scale, y, tuple(names), lambda mark: names[mark], grid_to=top)


def stages(one: Method) -> Drawing | None:
    """The stages of a method: a bar to the likely seconds, a whisker from low to high, and what bounds each."""
    if not one.stages:
        return None
    most = max(stage.seconds.high for stage in one.stages)
    scale = Scale(0, most, _LABEL, WIDTH - 80)
    made: list[Mark] = []
    y = 3.0
    for stage in one.stages:
        low, high, likely = (scale.at(each) for each in (stage.seconds.low, stage.seconds.high, stage.seconds.likely))
        made.append(Words(0, y, fitted(stage_name(stage.name), _LABEL - 2, 8), 8))
        made.append(Box(scale.start, y - 1.4, max(0.3, likely - scale.start), 2.8, "set-5"))
        made.append(Line(low, y, high, y, "ink", 0.9))
        made += [Line(end, y - 1, end, y + 1, "ink", 0.9) for end in (low, high)]
        made.append(Words(scale.end + 3, y, f"{about(stage.seconds.likely)} ({reach(stage.seconds)})", 7))
        made.append(Words(WIDTH, y, fitted(bottleneck(stage.bound_by), 33, 7), 7, "muted", "end"))
        y += 4.6
    made = [*_time_axis(scale, y - 1.5, most, 1.0), *made]
    alt = tr("Stages of {method}.").format(method=method(one.method)) + " "
    alt += " ".join(
        tr("{stage}: {span}, bottleneck: {bound}.").format(
            stage=stage_name(stage.name), span=span(stage.seconds), bound=bottleneck(stage.bound_by)
        )
        for stage in one.stages
    )
    return Drawing("stages", alt, y + 3.5, tuple(made))


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A method in a window.

    `before`: seconds that it takes before its stop; `start_by`: so long before the end of the window it stops at the
    latest, that there is time for a rollback.
    """

    method: str
    before: float
    downtime: Span
    start_by: float


_BEFORE, _BEHIND = 3.0, 1.0
"""Lengths of a window that are drawn before and behind it at the most."""


def window(seconds: float, found: Sequence[Scheduled], way_back: Span) -> Drawing | None:
    """A window with the latest schedule of each method in it; what does not fit stops when the window begins.

    Args:
        seconds: how long the window is.
        found: the methods.
        way_back: what a rollback takes.
    """
    if not found or seconds <= 0:
        return None
    stops = [seconds - one.start_by if one.start_by <= seconds else 0.0 for one in found]
    ends = [stop + one.downtime.likely for stop, one in zip(stops, found, strict=True)]
    low = max(min(0.0, *(stop - one.before for stop, one in zip(stops, found, strict=True))), -_BEFORE * seconds)
    high = min(max(seconds, *ends), (1 + _BEHIND) * seconds)
    scale = Scale(low, high, _LABEL, WIDTH - 52)
    bottom = 11.0 + 9.4 * len(found)
    opened, closed = scale.at(0.0), scale.at(seconds)
    made: list[Mark] = [
        *_schedule_key(),
        Box(opened, 6, max(0.4, closed - opened), bottom - 8.5, "ground"),
    ]
    y, said = 9.0, []
    for stop, one in zip(stops, found, strict=True):
        words = _schedule_words(one, seconds)
        name = method(one.method)
        made += [
            Words(0, y + 1.8, fitted(name, _LABEL - 2, 8), 8),
            *(Line(x, y + 1.8, x, y + 5.8, "ink", 0.7, dashed=True) for x in (opened, closed)),
            Words(scale.start, y, fitted(words, WIDTH - scale.start, 7), 7),
            *_schedule_bars(one, stop, seconds, way_back, scale, y + 3.8),
            Words(scale.end + 3, y + 3.8, span(one.downtime), 7),
        ]
        said.append(f"{name}: {words}; {tr('downtime')} {span(one.downtime)}.")
        y += 9.4
    marks = dict(time_marks(high - low))
    step = next((mark for mark in marks if mark), high - low)
    places = tuple(step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1))
    named = {each: ("−" if each < 0 else "") + marks.get(abs(each), "") for each in places}
    made += horizontal(scale, bottom - 2.5, places, lambda mark: named[mark])
    return Drawing("window", tr("Latest schedule in the window.") + " " + " ".join(said), bottom + 2.5, tuple(made))


def _schedule_key() -> list[Mark]:
    return _key(
        tuple(
            (Box(0, 0.7, 3, 2.6, fill, outline), words)
            for fill, outline, words in (
                ("ground", "ink", tr("window")),
                ("planned", "muted", tr("before the downtime")),
                ("bad", "", tr("downtime")),
                ("white", "ink", tr("rollback")),
            )
        )
    )


def _schedule_words(one: Scheduled, seconds: float) -> str:
    if one.start_by > seconds:
        return tr("the window is too short")
    stop = tr("stop {time} before the end").format(time=units.duration(one.start_by))
    if one.before < 1:
        return stop
    return tr("begin {time} before the stop").format(time=units.duration(one.before)) + f"; {stop}"


def _schedule_bars(one: Scheduled, stop: float, seconds: float, way_back: Span, scale: Scale, y: float) -> list[Mark]:
    begin, left, right = (scale.at(each) for each in (stop - one.before, stop, stop + one.downtime.likely))
    made: list[Mark] = []
    if one.before >= 1:
        made.append(Box(begin, y - 1.3, max(0.4, left - begin), 2.6, "planned", "muted"))
    if one.start_by <= seconds:
        back = max(0.6, scale.at(seconds) - scale.at(seconds - way_back.likely))
        made.append(Box(scale.at(seconds) - back, y - 1.3, back, 2.6, "white", "ink"))
        right = min(right, scale.at(seconds) - back)
    made.append(Box(min(left, right - 0.6), y - 1.3, max(0.6, right - left), 2.6, "bad"))
    low, high = (scale.at(stop + each) for each in (one.downtime.low, one.downtime.high))
    if high - low > 1:
        made.append(Line(low, y, high, y, "ink", 0.9))
        made += [Line(end, y - 1, end, y + 1, "ink", 0.9) for end in (low, high)]
    return made


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a Gantt chart, in seconds from its beginning; None: not planned in time, or not carried out.

    `down`: the cluster is stopped meanwhile; `point`: the second from which there is no way back.
    """

    name: str
    planned: tuple[float, float] | None
    real: tuple[float, float] | None = None
    down: bool = False
    point: float | None = None


def gantt(bars: Sequence[Bar], name: str = "gantt") -> Drawing | None:
    """What was planned, and over it what was; bars during which the cluster is stopped are underlined."""
    shown = tuple(bars[:_MOST_BARS])
    ends = [end for bar in shown for each in (bar.planned, bar.real) if each is not None for end in each]
    if not ends or max(ends) <= 0:
        return None
    most = max(ends)
    scale = Scale(0, most, _STEP, WIDTH - 22)
    carried = any(bar.real is not None for bar in shown)
    made = _gantt_key(carried=carried)
    y = 7.5
    # no page holds a plot that is higher than itself
    row = min(4.6 if carried else 4.0, _MOST_HEIGHT / len(shown))
    for bar in shown:
        made += _bar(bar, scale, y)
        y += row
    made = [*_time_axis(scale, y - 1, most, 5.0), *made]
    alt = tr("The steps on one time axis.") + " "
    alt += " ".join(f"{bar.name}: {_times(bar)}." for bar in shown if bar.planned is not None or bar.real is not None)
    left = len(bars) - len(shown)
    if left > 0:
        said = tr("{number} more in the table of steps").format(number=left)
        made.append(Words(0, y + 2.8, fitted(said, 54, 7), 7, "muted"))
    return Drawing(name, alt, y + 4, tuple(made))


def _gantt_key(*, carried: bool) -> list[Mark]:
    entries: list[tuple[Box | Shape, str]] = [(Box(0, 0.7, 3, 2.4, "planned", "muted"), tr("planned"))]
    if carried:
        entries.append((Box(0, 1.1, 3, 1.6, "accent"), tr("real")))
    entries.append((Box(0, 1.5, 3, _UNDERLINE, "bad"), tr("downtime")))
    return _key((*entries, (_diamond(1.5, 2), tr("point of no return"))))


_UNDERLINE = 0.9
"""Millimetres, below a bar."""


def _diamond(x: float, y: float) -> Shape:
    return Shape(((x, y - 1.5), (x + 1.5, y), (x, y + 1.5), (x - 1.5, y)), "bad")


def _bar(bar: Bar, scale: Scale, y: float) -> list[Mark]:
    made: list[Mark] = [Words(0, y, fitted(bar.name, _STEP - 1, 7), 7)]
    if bar.planned is not None:
        start, end = (scale.at(each) for each in bar.planned)
        made.append(Box(start, y - 1.5, max(0.3, end - start), 3.0, "planned", "muted"))
    if bar.real is not None:
        start, end = (scale.at(each) for each in bar.real)
        made.append(Box(start, y - 0.9, max(0.3, end - start), 1.8, "accent"))
    took = bar.real or bar.planned
    if took is not None and bar.down:
        start, end = (scale.at(each) for each in took)
        made.append(Box(start, y + 1.5, max(0.3, end - start), _UNDERLINE, "bad"))
    if bar.point is not None:
        made.append(_diamond(scale.at(bar.point), y))
    if took is not None:
        made.append(Words(WIDTH, y, units.duration(took[1] - took[0]), 7, "muted", "end"))
    return made


def _times(bar: Bar) -> str:
    parts = [(tr("planned"), bar.planned), (tr("real"), bar.real)]
    return ", ".join(f"{word} {units.duration(each[1] - each[0])}" for word, each in parts if each is not None)


# Draw the copy path as a pipe: each link is as wide as its throughput, and the slowest one is marked.

_LINKS = {
    Quantity.READ: marked("Old disk, reading"),
    Quantity.WIRE: marked("Network"),
    Quantity.SSH: marked("SSH"),
    Quantity.WRITE: marked("New disk, writing"),
}
_COMPRESSED = frozenset({Quantity.WIRE, Quantity.SSH})
_OTHERS = {
    Quantity.SUMS: marked("Checksums"),
    Quantity.SUSTAINED: marked("New disk, sustained writing"),
    Quantity.END_TO_END: marked("End to end"),
    Quantity.CHANGES: marked("Changes of the old cluster"),
    Quantity.DUMP: marked("Dump"),
    Quantity.LOAD: marked("Load"),
    Quantity.INDEX: marked("Index build"),
}
_MIDDLE, _MOST = 6.0, 5.0


def link_name(quantity: Quantity) -> str:
    """Return the name of what a probe measures."""
    return tr((_LINKS | _OTHERS)[quantity])


def chain(probes: tuple[Probe, ...]) -> Drawing | None:
    """What bounds a copy; None where fewer than two links were measured."""
    rates = {
        quantity: max(probe.bytes_per_second for probe in probes if probe.quantity is quantity)
        for quantity in _LINKS
        if any(probe.quantity is quantity for probe in probes)
    }
    if len(rates) < 2:
        return None
    whole = choose_transport(probes, tried_routes(probes)).sample
    # what network and SSH carry is compressed, so each of their bytes stands for several of the cluster
    packed = 1.0 if whole is None or whole.ratio is None else max(1.0, whole.ratio)
    carried = {q: rate * (packed if q in _COMPRESSED else 1.0) for q, rate in rates.items()}
    unpacked = {
        quantity: tr("= {rate} before compression").format(rate=units.rate(rate))
        for quantity, rate in carried.items()
        if rate > rates[quantity]
    }
    most, least = max(carried.values()), min(carried.values())
    room = WIDTH / len(rates)
    made: list[Mark] = [Line(0, _MIDDLE, WIDTH, _MIDDLE, "rule", 0.4, dashed=True)]
    for number, (quantity, rate) in enumerate(carried.items()):
        # halves of the widest: a link of a tenth must still be seen
        half = _MOST * max(0.08, math.sqrt(rate / most))
        x, narrow = number * room, rate == least
        made.append(
            Box(x + 3, _MIDDLE - half, room - 6, 2 * half, "set-6" if narrow else "set-5", "ink" if narrow else "")
        )
        made.append(
            Shape(((x + room - 3, _MIDDLE - 1.2), (x + room - 0.6, _MIDDLE), (x + room - 3, _MIDDLE + 1.2)), "muted")
        )
        made.append(Words(x + room / 2, _MIDDLE + _MOST + 3, tr(_LINKS[quantity]), 8, anchor="middle"))
        said = units.rate(rates[quantity]) + (f" · {tr('slowest link')}" if narrow else "")
        made.append(Words(x + room / 2, _MIDDLE + _MOST + 6.8, said, 8, anchor="middle", bold=narrow))
        if quantity in unpacked:
            said = fitted(unpacked[quantity], room - 1, 6.5)
            made.append(Words(x + room / 2, _MIDDLE + _MOST + 10.2, said, 6.5, "muted", "middle"))
    height = _MIDDLE + _MOST + (12 if unpacked else 9)
    if whole is not None:
        said = tr("Measured end to end: {rate}").format(rate=units.rate(whole.bytes_per_second))
        made.append(Words(WIDTH / 2, height + 2, said, 8, anchor="middle", bold=True))
        height += 4.5
    alt = tr("Throughput of each link of the copy path. The slowest link limits the copy.") + " "
    told = {
        quantity: ", ".join(filter(None, (units.rate(rate), unpacked.get(quantity))))
        for quantity, rate in rates.items()
    }
    alt += " ".join(f"{tr(_LINKS[quantity])}: {said}." for quantity, said in told.items())
    return Drawing("chain", alt, height, tuple(made))
