"""Plots of storages over time: the runs of a volume by their dates, and what was logged in the course of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from core import units
from core.benchmarks.model import Series
from core.comparison.model import Sample
from core.language import tr
from core.reports.charts.axes import Scale, round_marks, thinned, time_marks
from core.reports.charts.storage_plots import legend
from core.reports.drawing import WIDTH, Drawing, Line, Mark, Words, beside, fitted, mark_of
from core.reports.words import day, metric_title, moment

MOST_LINES = 6
"""So many forms of marks there are."""
_HALF = (WIDTH - 8) / 2
_LEFT, _TOP, _BOTTOM = 20.0, 9.0, 40.0
_MOST_POINTS = 120
"""So many points a line of the width of a page shows; of more, several are put together."""
_SAID = 12
"""So many runs of a volume the words beside a plot name."""


@dataclass(frozen=True, slots=True)
class Dated:
    """One metric of one workload over time: of each volume its runs by their dates, the oldest first."""

    title: str
    metric: str
    volumes: tuple[tuple[tuple[datetime, Sample], ...], ...]


def runs_over_time(plots: Sequence[Dated], names: Sequence[str]) -> tuple[Drawing, ...]:
    """Of each workload the mean of every run with its range, a line a volume; two plots beside each other.

    Args:
        plots: what is shown, all on the same axis of time.
        names: of the volumes.
    """
    times = [at for plot in plots for points in plot.volumes for at, _ in points]
    if not times:
        return ()
    drawn = [_dated(plot, names, min(times), max(times)) for plot in plots]
    pairs = (drawn[number : number + 2] for number in range(0, len(drawn), 2))
    return tuple(beside(pair, legend(names)) for pair in pairs)


def _dated(plot: Dated, names: Sequence[str], first: datetime, last: datetime) -> Drawing:
    most = 1.08 * max(sample.high for points in plot.volumes for _, sample in points)
    across = Scale(first.timestamp(), last.timestamp(), _LEFT + 3, _HALF - 4)
    up = Scale(0.0, most or 1.0, _BOTTOM, _TOP)
    made = [*_frame(f"{plot.title}, {metric_title(plot.metric)}", plot.metric, most, up, _HALF)]
    word = moment if first.date() == last.date() else day
    made.append(Words(_LEFT, _BOTTOM + 2.8, word(first), 7, "muted"))
    if last > first:
        made.append(Words(_HALF, _BOTTOM + 2.8, word(last), 7, "muted", "end"))
    said: list[str] = []
    for number, points in enumerate(plot.volumes):
        places = [(across.at(at.timestamp()), up.at(sample.mean)) for at, sample in points]
        made += _line(places, number)
        for (x, y), (_, sample) in zip(places, points, strict=True):
            made.append(Line(x, up.at(sample.low), x, up.at(sample.high), f"set-{number + 1}", 0.8))
            made += mark_of(number, x, y, 0.9)
        of = "; ".join(
            f"{moment(at)} {units.metric(plot.metric, sample.mean)}" for at, sample in thinned(tuple(points), _SAID)
        )
        said += [f"{names[number]}: {of}."] if points else []
    alt = tr("{workload} over time, {metric}.").format(workload=plot.title, metric=metric_title(plot.metric))
    return Drawing("over-time", " ".join([alt, *said]), _BOTTOM + 5, tuple(made), _HALF)


def course(title: str, series: Sequence[Series], names: Sequence[str]) -> Drawing:
    """What was logged in the course of runs: a line a run, its beginning at the left.

    Args:
        title: what ran.
        series: of each run, all of one metric.
        names: of the runs.
    """
    metric = series[0].metric
    lines = [tuple(_joined(one.points)) for one in series]
    most = 1.08 * max(high for line in lines for _, _, _, high in line)
    longest = max(line[-1][0] for line in lines)
    across, up = Scale(0.0, longest, _LEFT, WIDTH - 4), Scale(0.0, most or 1.0, _BOTTOM, _TOP)
    made = [*_frame(f"{title}, {metric_title(metric)}", metric, most, up, WIDTH)]
    for seconds, name in time_marks(longest):
        x = across.at(seconds)
        made += [Line(x, _BOTTOM, x, _BOTTOM + 1, "muted"), Words(x, _BOTTOM + 2.8, name, 7, "muted", "middle")]
    said: list[str] = []
    for number, line in enumerate(lines):
        places = [(across.at(seconds), up.at(mean)) for seconds, mean, _, _ in line]
        for (x, _), (_, _, low, high) in zip(places, line, strict=True):
            made += [Line(x, up.at(low), x, up.at(high), f"set-{number + 1}", 0.6)] if high > low else []
        made += _line(places, number)
        # a mark here and there tells lines apart that have no colour
        made += [mark for x, y in thinned(tuple(places), 7 + number) for mark in mark_of(number, x, y, 0.9)]
        values = [value for _, value in series[number].points]
        told = {"low": min(values), "mean": sum(values) / len(values), "high": max(values)}
        shown = {part: units.metric(metric, value) for part, value in told.items()}
        said.append(tr("{name}: lowest {low}, mean {mean}, highest {high}.").format(name=names[number], **shown))
    alt = tr("{workload} in the course of the run, {metric}.").format(workload=title, metric=metric_title(metric))
    drawing = Drawing("course", " ".join([alt, *said]), _BOTTOM + 5, tuple(made))
    return beside((drawing,), legend(names))


def _joined(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float, float, float]]:
    """Yield when a point ends, with mean, lowest and highest value of as many as one shows."""
    size = -(-len(points) // _MOST_POINTS)
    for begin in range(0, len(points), size):
        part = points[begin : begin + size]
        values = [value for _, value in part]
        yield part[-1][0], sum(values) / len(values), min(values), max(values)


def _frame(title: str, metric: str, most: float, up: Scale, width: float) -> Iterator[Mark]:
    yield Words(0, 2, fitted(title, width, 8), 8, bold=True)
    yield Line(_LEFT, _BOTTOM, width, _BOTTOM, "muted")
    yield Words(_LEFT - 2, _BOTTOM, "0", 7, "muted", "end")
    for mark in round_marks(most):
        yield Line(_LEFT, up.at(mark), width, up.at(mark), "rule", 0.4)
        yield Words(_LEFT - 2, up.at(mark), units.metric(metric, mark), 7, "muted", "end")


def _line(places: Sequence[tuple[float, float]], number: int) -> list[Mark]:
    return [Line(*one, *other, f"set-{number + 1}", 1.2, dashed=bool(number % 2)) for one, other in pairwise(places)]
