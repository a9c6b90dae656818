"""The contents of each chart: bars, ratios, repetitions, latencies, runs over time, and methods of an estimate."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeGuard

from core import units
from core.api.model import MetricOverTime
from core.comparison.model import Sample, Verdict
from core.language import tr
from core.migration.model.estimate import CARRIED_OUT, Estimate, Method, Stage, stage_heading
from core.tones import Tone
from gui.models.chart import Above, Axis, Bar, Chart, Dot, Mark, Path, Whisker, ladder, places, scale, times
from gui.models.comparison import (
    PERCENTILES,
    Bars,
    ComparedRow,
    Depths,
    Latencies,
    better,
    choose_scale,
    part_title,
)
from gui.models.migration import ordered_methods
from gui.models.words import bound_name, method_name, metric_value, stated

TONES = (Tone.OLD, Tone.NEW)
BAR = 0.36
"""Width of a bar, of the place of a workload: two stand in it, and a gap between it and the next."""
LANE = 0.46
"""Height of a lane, of the place of a method."""
ROOM_ABOVE = 1.16
"""For the figure over the highest bar."""
STEPS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000)


def bar_chart(bars: Bars, names: tuple[str, str]) -> Chart:
    """Return the bars of two sets, called `names`, with whiskers from the lowest to the highest repetition."""
    marks: list[Mark] = []
    for side, shift, samples in ((0, -BAR / 2 - 0.01, bars.old), (1, BAR / 2 + 0.01, bars.new)):
        for number, sample in enumerate(samples):
            if sample is not None:
                marks += _bar(bars, side, names[side], number + shift, sample)
    highest = max((sample.high for sample in (*bars.old, *bars.new) if sample is not None), default=0.0)
    return Chart(
        f"{bars.title}, {bars.unit}",
        tr("{title} of the {names} and the {names2}, in {unit}").format(
            title=bars.title, names=names[0], names2=names[1], unit=bars.unit
        ),
        "; ".join(
            f"{name}: {names[0]} {_number(old, bars)}, {names[1]} {_number(new, bars)}"
            for name, old, new in zip(bars.names, bars.old, bars.new, strict=True)
        ),
        places(bars.names),
        scale(highest / bars.divisor, ROOM_ABOVE),
        tuple(marks),
        legend=tuple(zip(TONES, names, strict=True)),
        lines=8,
    )


def _bar(bars: Bars, side: int, name: str, place: float, sample: Sample) -> list[Mark]:
    mean, low, high = (value / bars.divisor for value in (sample.mean, sample.low, sample.high))
    tip = tr("{name}: {figure} {unit}, repetitions from {figure2} to {figure3} {unit}").format(
        name=name, figure=units.count(mean), unit=bars.unit, figure2=units.count(low), figure3=units.count(high)
    )
    return [
        Bar(place - BAR / 2, 0.0, place + BAR / 2, mean, TONES[side], tip),
        Whisker((place, low), (place, high)),
        Above(place, high, units.count(mean), BAR * 1.25),
    ]


def storage_chart(rows: Sequence[ComparedRow], names: tuple[str, str]) -> Chart | None:
    """Return the main metric of each workload on both sides, lying, each workload on a scale of its own.

    The longer bar is the higher value: at the right stand the values, and which side is how many times better.
    None without rows.
    """
    if not rows:
        return None
    marks: list[Mark] = []
    beside: list[tuple[float, str]] = []
    for number, row in enumerate(rows):
        place = float(len(rows) - 1 - number)
        samples = (row.row.old, row.row.new)
        highest = max((sample.mean for sample in samples if sample is not None), default=0.0)
        for shift, tone, name, sample in zip((BAR / 2, -BAR / 2), TONES, names, samples, strict=True):
            value = units.ABSENT if sample is None else metric_value(row.row.metric, sample.mean)
            part = None if sample is None or not highest else units.quotient(sample.mean, highest)
            if part is not None:
                low, high = place + shift - BAR * 0.46, place + shift + BAR * 0.46
                marks.append(Bar(0.0, low, min(1.0, max(0.0, part)), high, tone, f"{row.title}, {name}: {value}"))
            better_here = shift < 0 and (row.differs or row.row.verdict is not Verdict.ONE_SIDED)
            beside.append((place + shift, f"{value}, {better(row)}" if better_here else value))
    return Chart(
        tr("Storage: means, and which server is how many times faster"),
        tr("Storage of the {names} and the {names2}").format(names=names[0], names2=names[1]),
        "; ".join(f"{row.title}: {better(row)}" for row in rows),
        Axis(0.0, 1.0, ()),
        ladder([row.title for row in rows]),
        tuple(marks),
        tuple(beside),
        tuple(zip(TONES, names, strict=True)),
        lines=2 * len(rows) + 1,
    )


def _above_zero(value: float | None) -> TypeGuard[float]:
    """Return whether the value can be shown on a logarithmic scale."""
    return units.known(value) and value > 0


def _number(sample: Sample | None, bars: Bars) -> str:
    return tr("not measured") if sample is None else f"{units.count(sample.mean / bars.divisor)} {bars.unit}"


def method_label(estimate: Estimate, method: Method) -> str:
    """Return the name of a method, and what must be known of it to choose it."""
    name = method_name(method.method)
    if method.ruled_out:
        return tr("{method} (not possible)").format(method=name)
    if method.method == estimate.planned:
        return tr("{method} (planned)").format(method=name)
    return name if method.method in CARRIED_OUT else tr("{method} (not by pghaul)").format(method=name)


def _lanes(estimate: Estimate, methods: Sequence[Method]) -> Axis:
    axis = ladder([method_label(estimate, one) for one in methods])
    chosen = next((number for number, one in enumerate(methods) if one.method == estimate.planned), None)
    return axis if chosen is None else replace(axis, chosen=len(methods) - 1 - chosen)


def timeline_chart(estimate: Estimate) -> Chart | None:
    """Return the stages of each method one after the other, those of the downtime in red; None without methods.

    A line below a lane reaches from the low to the high duration.
    """
    methods = ordered_methods(estimate)
    if not methods:
        return None
    end = axis_end(methods)
    marks: list[Mark] = []
    beside: list[tuple[float, str]] = []
    for number, one in enumerate(methods):
        place = float(len(methods) - 1 - number)
        marks += _stages(one, place, end)
        low, high = (min(value, end) for value in (one.duration_seconds.low, one.duration_seconds.high))
        marks.append(Whisker((low, place - LANE * 0.8), (high, place - LANE * 0.8), Tone.MUTED))
        beside.append((place + LANE / 2, stated(one.duration_seconds)))
        beside.append((place - LANE / 2, tr("downtime {span}").format(span=stated(one.downtime_seconds))))
    return Chart(
        tr("Stages of each method"),
        tr("Stages, duration and downtime of each method: likely, low and high"),
        "; ".join(
            tr("{method}: {span_words}, downtime {span_words2}").format(
                method=method_label(estimate, one),
                span_words=stated(one.duration_seconds),
                span_words2=stated(one.downtime_seconds),
            )
            for one in methods
        ),
        times(end),
        _lanes(estimate, methods),
        tuple(marks),
        tuple(beside),
        ((Tone.MUTED, tr("clients work")), (Tone.BAD, tr("downtime"))),
        lines=2 * len(methods) + 2,
    )


def _stages(method: Method, place: float, end: float) -> list[Mark]:
    """The bars of a method, end to end; one bar where its stages are not known."""
    known = bool(method.stages)
    stages = method.stages or (Stage("whole", method.duration_seconds, ""),)
    marks: list[Mark] = []
    at = 0.0
    for stage in stages:
        name, until = tr(stage_heading(stage.name)), at + stage.seconds.likely
        said = f"{method_name(method.method)}, {name}: {stated(stage.seconds)}"
        if stage.bound_by:
            said = tr("{said}, limited by: {bound}").format(said=said, bound=bound_name(stage.bound_by))
        tone = Tone.BAD if known and stage.in_downtime else Tone.MUTED
        marks.append(Bar(min(at, end), place - LANE / 2, min(until, end), place + LANE / 2, tone, said, name))
        at = until
    return marks


def downtime_chart(estimate: Estimate) -> Chart | None:
    """Return the downtime of each method as a dot at the likely value, in its range; None without methods.

    A dot is hollow where pghaul does not carry out the method, or where it is not possible.
    """
    methods = ordered_methods(estimate)
    if not methods:
        return None
    highest = max(method.downtime_seconds.high for method in methods)
    likely = max(method.downtime_seconds.likely for method in methods)
    end = min(highest, 2 * likely) if likely > 0 else highest
    marks: list[Mark] = []
    for number, one in enumerate(methods):
        place, span = float(len(methods) - 1 - number), one.downtime_seconds
        tone = Tone.BAD if one.method == estimate.planned else Tone.MUTED
        full = one.method in CARRIED_OUT and not one.ruled_out
        tip = f"{method_label(estimate, one)}: {stated(span)}"
        marks += [
            Whisker((min(span.low, end), place), (min(span.high, end), place), tone),
            Dot(min(span.likely, end), place, tone, full, tip),
        ]
    return Chart(
        tr("Downtime of each method, likely and in its range"),
        tr("Downtime of each method: likely, low and high"),
        "; ".join(mark.tip for mark in marks if isinstance(mark, Dot)),
        times(end),
        _lanes(estimate, methods),
        tuple(marks),
        tuple((float(len(methods) - 1 - number), stated(one.downtime_seconds)) for number, one in enumerate(methods)),
        lines=2 * len(methods) + 3,
    )


def axis_end(methods: Sequence[Method]) -> float:
    """Where the axis ends, in seconds: at the longest of what can be, but no more than twice the longest likely.

    One method that may take very long would leave nothing of the others' bars; what goes on says how far.
    """
    longest = max(method.duration_seconds.high for method in methods)
    likely = max(method.duration_seconds.likely for method in methods)
    return min(longest, 2 * likely) if likely > 0 else longest


def ratio_chart(rows: Sequence[ComparedRow]) -> Chart | None:
    """How many times better either set is, a line a workload, with its interval; the first set's side at the left.

    None where no two figures can be held against each other.
    """
    marks: list[Mark] = []
    shown: list[ComparedRow] = []
    reach = math.log10(1.5)
    for row in rows:
        ratio, low, high = row.row.ratio, row.row.ratio_low, row.row.ratio_high
        if all(map(_above_zero, (ratio, low, high))):
            shown.append(row)
            reach = max(reach, *(abs(math.log10(value or 1.0)) for value in (ratio, low, high)))
    for number, row in enumerate(shown):
        place = float(len(shown) - 1 - number)
        at, low, high = (math.log10(value or 1.0) for value in (row.row.ratio, row.row.ratio_low, row.row.ratio_high))
        marks += [Whisker((low, place), (high, place), row.tone), Dot(at, place, row.tone, tip=better(row))]
    if not shown:
        return None
    left, right = shown[0].names
    reach *= 1.08
    steps = {sign * math.log10(step): f"{units.plain(step)} ×" for step in STEPS for sign in (-1, 1)}
    few = {at: name for at, name in steps.items() if abs(at) <= reach}
    ladder_of = ladder([row.title for row in shown])
    even = Path(((0.0, ladder_of.low), (0.0, ladder_of.high)), Tone.MUTED)
    return Chart(
        tr("Ratio with its 95 % interval: ← {left} is better   {right} is better →").format(left=left, right=right),
        tr("Ratio of each workload: how many times better one side is"),
        "; ".join(f"{row.title}: {better(row)}" for row in shown),
        Axis(-reach, reach, tuple(sorted(few.items(), key=lambda tick: abs(tick[0])))),
        ladder_of,
        (even, *marks),
        tuple((float(len(shown) - 1 - number), better(row)) for number, row in enumerate(shown)),
        lines=len(shown),
    )


def repetitions_chart(row: ComparedRow) -> Chart:
    """Return each repetition as a dot in its order, hollow if it was excluded, and a line at the mean."""
    unit = choose_scale(row)
    marks: list[Mark] = []
    highest = 0.0
    for side, sample in enumerate((row.row.old, row.row.new)):
        if sample is None:
            continue
        tone = TONES[side]
        mean = sample.mean / unit.divisor
        marks.append(Path(((side - 0.3, mean), (side + 0.3, mean)), tone))
        left_out = [one.value for one in sample.left_out]
        marks += _dots(side, sample.values, unit.divisor, tone, full=True)
        marks += _dots(side, left_out, unit.divisor, tone, full=False)
        highest = max((highest, *(value / unit.divisor for value in (*sample.values, *left_out))))
    return Chart(
        tr("Repetitions ({unit})").format(unit=unit.unit),
        tr("The repetitions of {title}").format(title=row.title),
        "; ".join(
            f"{name}: {', '.join(units.count(value / unit.divisor) for value in sample.values)} {unit.unit}"
            for name, sample in zip(row.names, (row.row.old, row.row.new), strict=True)
            if sample is not None
        ),
        places(row.names),
        scale(highest, ROOM_ABOVE),
        tuple(marks),
    )


def _dots(place: int, values: Sequence[float], divisor: float, tone: Tone, *, full: bool) -> list[Mark]:
    # beside each other: two of one value would hide each other
    step = 0.44 / max(1, len(values) - 1)
    begin = -0.22 if len(values) > 1 else 0.0
    return [
        Dot(place + begin + number * step, value / divisor, tone, full, units.count(value / divisor))
        for number, value in enumerate(values)
    ]


def _place_of(part: str) -> float:
    """Return the place of a percentile: the share of the requests that take longer, as a power of ten below one."""
    return -math.log10(1 - PERCENTILES[part] / 100)


def latency_chart(latencies: Latencies, names: tuple[str, str]) -> Chart | None:
    """Return the latency percentiles of both sides; None if no value is above zero.

    Both scales are logarithmic: each step to the right leaves a tenth of the requests.
    """
    known = [value for curve in latencies.curves for value in curve if _above_zero(value)]
    if not known:
        return None
    low, high = (math.log10(value) for value in (min(known), max(known)))
    low, high = low - 0.15, high + 0.15
    ticks = [
        (math.log10(factor * 10.0**power), units.round_seconds(factor * 10.0**power))
        for power in range(math.floor(low), math.ceil(high) + 1)
        for factor in (1, 2, 5)
        if low <= math.log10(factor * 10.0**power) <= high
    ]
    names_below = tuple(map(part_title, latencies.parts))
    ends = tuple(
        (_place_of(part), name) for part, name in zip(latencies.parts, names_below, strict=True) if part in PERCENTILES
    )
    marks: list[Mark] = []
    for side, curve in enumerate(latencies.curves):
        points = [
            (_place_of(part), math.log10(value), part)
            for part, value in zip(latencies.parts, curve, strict=False)
            if part in PERCENTILES and _above_zero(value)
        ]
        marks.append(Path(tuple((x, y) for x, y, _ in points), TONES[side]))
        marks += [
            Dot(x, y, TONES[side], tip=f"{names[side]}, {part_title(part)}: {units.seconds(10.0**y)}")
            for x, y, part in points
        ]
    if not ends:
        return None
    return Chart(
        tr("Latency: {title}").format(title=latencies.title),
        tr("Percentiles of the latency of {title}").format(title=latencies.title),
        "; ".join(
            f"{part}: {', '.join(units.seconds(curve[number]) for curve in latencies.curves)}"
            for number, part in enumerate(names_below)
        ),
        Axis(ends[0][0] - 0.15, ends[-1][0] + 0.15, ends),
        Axis(low, high, tuple(ticks)),
        tuple(marks),
        legend=tuple(zip(TONES, names, strict=True)),
    )


def depth_charts(depths: Depths, names: tuple[str, str]) -> tuple[Chart, ...]:
    """Return the main metric and the latency of a workload over its queue depth; the scale of depths is logarithmic."""
    named = ((tr("Throughput"), depths.rows), (tr("p99 latency"), depths.latencies))
    return tuple(_depth_chart(title, depths.title, rows, names) for title, rows in named if len(rows) > 1)


def _depth_chart(what: str, workload: str, rows: Sequence[tuple[int, ComparedRow]], names: tuple[str, str]) -> Chart:
    unit = choose_scale(max((row for _, row in rows), key=_highest))
    marks: list[Mark] = []
    highest = 0.0
    for side, tone in enumerate(TONES):
        samples = [(depth, (row.row.old, row.row.new)[side]) for depth, row in rows if depth > 0]
        line = [(math.log2(depth), sample) for depth, sample in samples if sample is not None]
        marks.append(Path(tuple((at, sample.mean / unit.divisor) for at, sample in line), tone))
        for at, sample in line:
            low, mean, high = (value / unit.divisor for value in (sample.low, sample.mean, sample.high))
            tip = tr("{name}, queue depth {depth}: {figure} {unit}").format(
                name=names[side], depth=round(2**at), figure=units.count(mean), unit=unit.unit
            )
            marks += [Whisker((at, low), (at, high), tone), Dot(at, mean, tone, tip=tip)]
            highest = max(highest, high)
    ticks = tuple((math.log2(depth), tr("depth {depth}").format(depth=depth)) for depth, _ in rows if depth > 0)
    low, high = (ticks[0][0], ticks[-1][0]) if ticks else (0.0, 1.0)
    return Chart(
        tr("{what} ({unit}): {workload}").format(what=what, unit=unit.unit, workload=workload),
        tr("{what} of {workload} over queue depth").format(what=what, workload=workload),
        "; ".join(mark.tip for mark in marks if isinstance(mark, Dot)),
        Axis(low - 0.3, high + 0.3, ticks),
        scale(highest, ROOM_ABOVE),
        tuple(marks),
        legend=tuple(zip(TONES, names, strict=True)),
    )


def _highest(row: ComparedRow) -> float:
    return max((sample.high for sample in (row.row.old, row.row.new) if sample is not None), default=0.0)


def time_chart(row: ComparedRow, seen: MetricOverTime, names: tuple[str, str]) -> Chart:
    """Return the mean of a workload in each of its runs by date, with whiskers; `names`: of the two servers."""
    unit = choose_scale(row)
    marks: list[Mark] = []
    highest = 0.0
    every = sorted({when for points in (seen.old, seen.new) for when, _ in points})
    for name, tone, points in zip(names, TONES, (seen.old, seen.new), strict=True):
        line = tuple((when.timestamp(), sample.mean / unit.divisor) for when, sample in points)
        marks.append(Path(line, tone))
        for when, sample in points:
            at = when.timestamp()
            low, mean, high = (value / unit.divisor for value in (sample.low, sample.mean, sample.high))
            marks.append(Whisker((at, low), (at, high), tone))
            marks.append(Dot(at, mean, tone, tip=f"{name}, {_day(when)}: {units.count(mean)} {unit.unit}"))
            highest = max(highest, high)
    first, last = (every[0].timestamp(), every[-1].timestamp()) if every else (0.0, 0.0)
    room = (last - first) * 0.06 or 1.0
    return Chart(
        tr("Over time: {title} ({unit})").format(title=row.title, unit=unit.unit),
        tr("{title} over time").format(title=row.title),
        "; ".join(mark.tip for mark in marks if isinstance(mark, Dot)),
        Axis(first - room, last + room, tuple((when.timestamp(), _day(when)) for when in every)),
        scale(highest, ROOM_ABOVE),
        tuple(marks),
        legend=tuple(zip(TONES, names, strict=True)),
    )


def _day(when: datetime) -> str:
    return when.astimezone().strftime("%Y-%m-%d %H:%M")
