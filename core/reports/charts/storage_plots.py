"""Plots of storages side by side: ratios with their interval, repetitions as dots, latencies by percentile."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from core import units
from core.comparison.model import Comparison, Row, Sample, Verdict
from core.language import tr
from core.reports.charts.axes import Scale, decades, few, horizontal, thinned
from core.reports.drawing import WIDTH, Drawing, Line, Mark, Words, beside, fitted, mark_of, width_of
from core.reports.words import metric_title, verdict

_LABEL = 60.0
_BESIDE_NAME = 8.0
"""Millimetres of a legend's entry besides its name: its mark, and the gap to the next."""
_ROW = 8.5
_PERCENTILE = re.compile(r"(?P<of>.*)latency_(?P<part>mean|p50|p90|p95|p99|p999|p9999|max)_seconds")
_HALF = (WIDTH - 8) / 2
_PARTS = {
    "p50": "p50",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
    "p9999": "p99.99",
    "max": "max",
}


def samples(row: Row) -> tuple[Sample | None, ...]:
    """Of each set, the first one first."""
    return (row.old, row.new, *(one.sample for one in row.further))


def ratios(rows: Sequence[Row], sets: Sequence[str]) -> Drawing | None:
    """Each workload's ratio with its interval on one logarithmic axis; None where nothing can be held against anything.

    Above 1 the other set is faster than the first, whatever the metric.
    """
    found = [(row, _intervals(row)) for row in rows]
    values = [value for _, each in found for one in each if one is not None for value in one[:3]]
    if not values:
        return None
    marks = decades(min(0.8, *values), max(1.25, *values))
    scale = Scale(marks[0], marks[-1], _LABEL + 2, WIDTH - 46, log=True)
    made: list[Mark] = []
    y = 6.0
    top = y - 3
    several = len(sets) > 2
    for row, intervals in found:
        height = _ROW if not several else 4.2 * len(intervals) + 3.5
        made += _named(row, y, several=several)
        for number, one in enumerate(intervals):
            line = y + (4.2 * number if several else 0.0)
            made += _interval(row, one, scale, line, number + 1, several=several)
        y += height
    bottom = y - 2
    axis = horizontal(scale, bottom, thinned(marks, 8), units.ratio, grid_to=top)
    even = scale.at(1.0)
    made = [*axis, Line(even, top - 1, even, bottom, "ink", 1.0), *made]
    made += [
        Words(even - 1.5, 1.2, f"← {tr('slower')}", 7, "muted", "end"),
        Words(even + 1.5, 1.2, f"{tr('faster')} →", 7, "muted"),
    ]
    alt = tr("Ratio of each workload to {first}, with its interval; above 1 is faster.").format(first=sets[0])
    said = " ".join(f"{tr(row.workload.title)}: {units.ratio(row.ratio)}." for row in rows if row.ratio is not None)
    return Drawing("ratios", f"{alt} {said}", bottom + 5, tuple(made))


_Interval = tuple[float, float, float, Verdict]


def _intervals(row: Row) -> list[_Interval | None]:
    all_of = (
        (row.ratio, row.ratio_low, row.ratio_high, row.verdict),
        *((one.ratio, one.ratio_low, one.ratio_high, one.verdict) for one in row.further),
    )
    return [
        None if ratio is None else (ratio, ratio if low is None else low, ratio if high is None else high, said)
        for ratio, low, high, said in all_of
    ]


def _named(row: Row, y: float, *, several: bool) -> list[Mark]:
    title = fitted(tr(row.workload.title), _LABEL, 8)
    if several:
        return [Words(0, y, title, 8)]
    return [Words(0, y - 1.3, title, 8), Words(0, y + 1.9, fitted(metric_title(row.metric), _LABEL, 7), 7, "muted")]


def _interval(row: Row, one: _Interval | None, scale: Scale, y: float, number: int, *, several: bool) -> list[Mark]:
    right = scale.end + 3
    if one is None:
        return [Words(right, y, fitted(verdict(row.verdict), 42, 7.5), 7.5, "muted")]
    ratio, low, high, said = one
    made: list[Mark] = [Line(scale.at(low), y, scale.at(high), y, "ink", 1.0)]
    made += [Line(scale.at(end), y - 1, scale.at(end), y + 1, "ink", 0.8) for end in (low, high)]
    made += mark_of(number, scale.at(ratio), y)
    if several:
        return [*made, Words(right, y, f"{units.ratio(ratio)} {fitted(verdict(said), 28, 7)}", 7)]
    made.append(Words(right, y - 1.3, units.ratio(ratio), 9, bold=True))
    made.append(Words(right, y + 1.9, fitted(verdict(said), 43, 7), 7, "muted"))
    return made


def legend(sets: Sequence[str], y: float = 2.0, first: int = 0) -> list[Mark]:
    """The mark of each set with its name, in one line as far as there is room."""
    room = WIDTH / max(1, len(sets))
    made: list[Mark] = []
    x = 0.0
    for number, name in enumerate(sets):
        shown = fitted(name, room - _BESIDE_NAME, 7.5)
        made += [*mark_of(number + first, x + 1.5, y), Words(x + 4.5, y, shown, 7.5)]
        # one behind the other: at even distances they would look like the heads of columns
        x += width_of(shown, 7.5) + _BESIDE_NAME
    return made


def repetitions(rows: Sequence[Row], sets: Sequence[str]) -> Drawing | None:
    """Every repetition as a mark, the mean of each set as a stroke; each workload on a scale of its own from zero."""
    shown = [row for row in rows if any(samples(row))]
    if not shown:
        return None
    made = legend(sets)
    y = 7.5
    lane = 3.2
    for row in shown:
        found = samples(row)
        most = max(sample.high for sample in found if sample is not None)
        scale = Scale(0.0, most, _LABEL + 2, WIDTH - 26)
        middle = y + lane * (len(found) - 1) / 2
        made.append(Words(0, middle - 1.3, fitted(tr(row.workload.title), _LABEL, 8), 8))
        made.append(Words(0, middle + 1.9, fitted(metric_title(row.metric), _LABEL, 7), 7, "muted"))
        for number, sample in enumerate(found):
            line = y + lane * number
            made.append(Line(scale.start, line, scale.end, line, "rule", 0.4))
            made += _dots(row.metric, sample, scale, line, number)
        y += lane * len(found) + 3.4
    alt = tr("Every repetition of each workload, by set.") + " "
    alt += " ".join(
        f"{tr(row.workload.title)}: " + "; ".join(_values(row.metric, sets, samples(row))) + "." for row in shown
    )
    return Drawing("repetitions", alt, y - 2.5, tuple(made))


def _values(metric: str, sets: Sequence[str], found: Iterable[Sample | None]) -> list[str]:
    return [
        f"{name} {units.metric(metric, sample.mean)}"
        for name, sample in zip(sets, found, strict=True)
        if sample is not None
    ]


def _dots(metric: str, sample: Sample | None, scale: Scale, y: float, number: int) -> list[Mark]:
    right = scale.end + 3
    if sample is None:
        return [Words(right, y, tr("not measured"), 7, "muted")]
    made: list[Mark] = []
    for value in thinned(tuple(sorted(sample.values)), 60):
        made += mark_of(number, scale.at(value), y, 0.9)
    mean = scale.at(sample.mean)
    return [
        *made,
        Line(mean, y - 1.6, mean, y + 1.6, "ink", 1.2),
        Words(right, y, units.metric(metric, sample.mean), 7.5),
    ]


def percentiles(comparison: Comparison, sets: Sequence[str]) -> tuple[Drawing, ...]:
    """Of each workload whose tool told them, latencies by percentile, a line a set, on a logarithmic scale."""
    found: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row in comparison.rows:
        match = _PERCENTILE.fullmatch(row.metric)
        if match and match["part"] in _PARTS:
            found.setdefault((tr(row.workload.title), match["of"]), []).append((match["part"], row))
    drawn = [
        _percentiles(title, of.replace("_", " ").strip(), rows, sets)
        for (title, of), rows in found.items()
        if len(rows) > 1
    ]
    pairs = [drawn[number : number + 2] for number in range(0, len(drawn), 2)]
    return tuple(beside(pair, legend(sets)) for pair in pairs)


def _percentiles(title: str, of: str, rows: list[tuple[str, Row]], sets: Sequence[str]) -> Drawing:
    parts = [part for part in _PARTS if part in dict(rows)]
    by_part = dict(rows)
    values = [sample.mean for _, row in rows for sample in samples(row) if sample is not None and sample.mean > 0]
    marks = decades(min(values), max(values)) if values else (0.001, 0.01)
    up = Scale(marks[0], marks[-1], 34.0, 7.0, log=True)
    across = Scale(0, max(1, len(parts) - 1), 18.0, _HALF - 4)
    said = f"{title}, {tr(of)}" if of and tr(of).casefold() not in title.casefold() else title
    made: list[Mark] = [Words(0, 2, fitted(said, _HALF, 8), 8, bold=True)]
    for mark in few(marks, 6):
        made.append(Line(15, up.at(mark), _HALF, up.at(mark), "rule", 0.4))
        made.append(Words(13, up.at(mark), units.seconds(mark), 7, "muted", "end"))
    for number, part in enumerate(parts):
        made.append(Words(across.at(number), 37.5, _PARTS[part].replace(",", tr(".")), 7, "muted", "middle"))
    for which in range(len(sets)):
        points = [
            (across.at(number), up.at(sample.mean))
            for number, part in enumerate(parts)
            if (sample := samples(by_part[part])[which]) is not None
        ]
        colour = f"set-{which % 6 + 1}"
        made += [Line(*one, *other, colour, 1.2, dashed=bool(which % 2)) for one, other in pairwise(points)]
        made += [mark for x, y in points for mark in mark_of(which, x, y)]
    alt = tr("Latency by percentile, {title}.").format(title=said) + " "
    alt += " ".join(
        f"{part}: {'; '.join(_values(by_part[part].metric, sets, samples(by_part[part])))}." for part in parts
    )
    return Drawing("latency", alt.rstrip(), 40, tuple(made), _HALF)
