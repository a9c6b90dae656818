"""The contents of each chart: bars, ratios, repetitions, latencies, runs over time, and methods of an estimate."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TypeGuard

from core import units
from core.api.model import MetricOverTime
from core.comparison.model import Sample
from core.language import tr
from core.migration.model.estimate import Estimate, Method, Span
from core.tones import Tone
from gui.models.chart import Above, Axis, Bar, Chart, Dot, Mark, Path, Whisker, ladder, places, scale, times
from gui.models.comparison import MEAN, Bars, ComparedRow, Latencies, better, choose_scale, part_title
from gui.models.words import method_name
from gui.models.words import span as span_words

TONES = (Tone.OLD, Tone.NEW)
BAR = 0.36
"""Width of a bar, of the place of a workload: two stand in it, and a gap between it and the next."""
LANE = 0.36
"""Height of a lane, of the place of a method: it has two."""
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
        name=name, figure=_figure(mean), unit=bars.unit, figure2=_figure(low), figure3=_figure(high)
    )
    return [
        Bar(place - BAR / 2, 0.0, place + BAR / 2, mean, TONES[side], tip),
        Whisker((place, low), (place, high)),
        Above(place, high, _figure(mean), BAR * 1.25),
    ]


def _figure(value: float) -> str:
    if not units.known(value):
        return units.ABSENT
    return units.count(round(value)) if value >= 100 else f"{value:.3g}"


def _above_zero(value: float | None) -> TypeGuard[float]:
    """Return whether the value can be shown on a logarithmic scale."""
    return units.known(value) and value > 0


def _number(sample: Sample | None, bars: Bars) -> str:
    return tr("not measured") if sample is None else f"{sample.mean / bars.divisor:.4g} {bars.unit}"


def estimate_chart(estimate: Estimate) -> Chart | None:
    """Return the duration and the downtime of each method; None without methods.

    A bar shows the likely value, a whisker the low and the high value, and a text beside it all values.
    """
    methods = estimate.methods
    if not methods:
        return None
    end = axis_end(methods)
    marks: list[Mark] = []
    beside: list[tuple[float, str]] = []
    names = [method_name(one.method) + (tr(" (not possible)") if one.ruled_out else "") for one in methods]
    for number, one in enumerate(methods):
        place = len(methods) - 1 - number
        for shift, tone, name, span in (
            (LANE / 2 + 0.01, Tone.MUTED, tr("duration"), one.duration_seconds),
            (-LANE / 2 - 0.01, Tone.BAD, tr("downtime"), one.downtime_seconds),
        ):
            said = f"{units.duration(span.likely)} ({span_words(span)})"
            marks += _lane(place + shift, span, end, tone, f"{method_name(one.method)}, {name}: {said}")
            beside.append((place + shift, said))
    return Chart(
        tr("Duration and downtime of each method"),
        tr("Duration and downtime of each method: likely, low and high"),
        "; ".join(
            tr("{method}: {span_words}, downtime {span_words2}").format(
                method=method_name(one.method),
                span_words=span_words(one.duration_seconds),
                span_words2=span_words(one.downtime_seconds),
            )
            for one in methods
        ),
        times(end),
        ladder(names),
        tuple(marks),
        tuple(beside),
        ((Tone.MUTED, tr("duration")), (Tone.BAD, tr("downtime"))),
        lines=2 * len(methods),
    )


def _lane(place: float, span: Span, end: float, tone: Tone, tip: str) -> list[Mark]:
    low, likely, high = (min(value, end) for value in (span.low, span.likely, span.high))
    return [
        Bar(0.0, place - LANE / 2, likely, place + LANE / 2, tone, tip),
        Whisker((low, place), (high, place)),
    ]


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
    steps = {sign * math.log10(step): f"{step} ×" for step in STEPS for sign in (-1, 1)}
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
            f"{name}: {', '.join(_figure(value / unit.divisor) for value in sample.values)} {unit.unit}"
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
        Dot(place + begin + number * step, value / divisor, tone, full, _figure(value / divisor))
        for number, value in enumerate(values)
    ]


def latency_chart(latencies: Latencies, names: tuple[str, str]) -> Chart | None:
    """Return the latency percentiles of both sides on a logarithmic scale; None if no value is above zero."""
    known = [value for curve in latencies.curves for value in curve if _above_zero(value)]
    if not known:
        return None
    low, high = (math.log10(value) for value in (min(known), max(known)))
    low, high = low - 0.15, high + 0.15
    ticks = [
        (math.log10(factor * 10.0**power), units.seconds(factor * 10.0**power))
        for power in range(math.floor(low), math.ceil(high) + 1)
        for factor in (1, 2, 5)
        if low <= math.log10(factor * 10.0**power) <= high
    ]
    names_below = tuple(map(part_title, latencies.parts))
    marks: list[Mark] = []
    for side, curve in enumerate(latencies.curves):
        points = [(float(number), math.log10(value)) for number, value in enumerate(curve) if _above_zero(value)]
        # the mean is none of the percentiles: it stands beside their curve
        curved = [point for point in points if latencies.parts[int(point[0])] != MEAN]
        marks.append(Path(tuple(curved), TONES[side]))
        marks += [
            Dot(x, y, TONES[side], tip=f"{names[side]}, {names_below[int(x)]}: {units.seconds(10.0**y)}")
            for x, y in points
        ]
    return Chart(
        tr("Latency: {title}").format(title=latencies.title),
        tr("Percentiles of the latency of {title}").format(title=latencies.title),
        "; ".join(
            f"{part}: {', '.join(units.seconds(curve[number]) for curve in latencies.curves)}"
            for number, part in enumerate(names_below)
        ),
        places(names_below),
        Axis(low, high, tuple(ticks)),
        tuple(marks),
        legend=tuple(zip(TONES, names, strict=True)),
    )


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
            marks.append(Dot(at, mean, tone, tip=f"{name}, {_day(when)}: {_figure(mean)} {unit.unit}"))
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
