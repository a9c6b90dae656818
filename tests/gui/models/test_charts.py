"""What the charts show, apart from how it looks."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from core.api.model import MetricOverTime
from core.comparison.compare import compare
from core.comparison.model import Comparison, LeftOut, Row, Sample, Verdict
from core.history.store import Store
from core.migration.model.estimate import Estimate, Method, Span, Stage
from core.sides import Side
from core.tones import Tone
from gui.models import charts
from gui.models.chart import Bar, Dot, Path, Whisker
from gui.models.comparison import ComparedRow, Latencies, bars, better, depths
from gui.models.words import metric_value
from tests.figures import figures
from tests.gui import samples

NAMES = ("db1 (old)", "db2 (new)")


def method(likely: float, high: float) -> Method:
    span = Span(likely / 2, likely, high)
    return Method("cold-copy", span, span, ())


@pytest.fixture
def rows(full_store: Store) -> list[ComparedRow]:
    made = compare(*(full_store.runs("spring", side=side, latest_only=True) for side in Side))
    return [ComparedRow(row, ("old", "new")) for row in made.rows if row.headline]


def test_one_method_that_may_take_very_long_leaves_the_others_room() -> None:
    assert charts.axis_end([method(10, 30), method(40, 312)]) == 80
    assert charts.axis_end([method(10, 30), method(40, 60)]) == 60
    assert charts.axis_end([method(0, 5)]) == 5


def test_lanes_of_an_estimate_do_not_overlap_and_end_within_the_axis() -> None:
    chart = charts.timeline_chart(samples.ESTIMATE)
    assert chart is not None
    bars = [mark for mark in chart.marks if isinstance(mark, Bar)]
    lanes = sorted({(bar.bottom, bar.top) for bar in bars})
    assert len(lanes) == len(samples.ESTIMATE.methods)
    assert all(below[1] < above[0] for below, above in pairwise(lanes))
    stages = [bar for bar in bars if bar.top == max(bar.top for bar in bars)]
    assert [stage.name for stage in stages] == ["Copy", "Verification"]
    assert all(before.right == after.left for before, after in pairwise(stages))
    ends = [mark.end[0] for mark in chart.marks if isinstance(mark, Whisker)]
    assert max(ends) <= chart.across.high
    assert (chart.beside[0][1], len(chart.beside)) == ("4 h 00 min (2 h 30 min – 5 h 50 min)", 4)


def test_the_planned_method_comes_first_and_is_marked_and_the_downtime_is_red() -> None:
    span = Span(1.0, 2.0, 3.0)
    copy = Stage("warm passes", span, "wire"), Stage("final pass", span, "wire")
    dump, warm = Method("dump-restore", span, span, ()), Method("warm-copy", span, span, copy)
    chart = charts.timeline_chart(Estimate((dump, warm), planned="warm-copy"))
    assert chart is not None
    assert chart.up.chosen == 1.0
    names = dict(chart.up.ticks)
    assert [("planned" in names[at], "pghaul" in names[at]) for at in (1, 0)] == [(True, False), (False, True)]
    first = [mark.tone for mark in chart.marks if isinstance(mark, Bar) and mark.top > 1]
    assert first == [Tone.MUTED, Tone.BAD]
    downtimes = charts.downtime_chart(Estimate((dump, warm), planned="warm-copy"))
    assert downtimes is not None
    dots = [mark for mark in downtimes.marks if isinstance(mark, Dot)]
    assert [(dot.x, dot.y, dot.full, dot.tone) for dot in dots] == [
        (2.0, 1.0, True, Tone.BAD), (2.0, 0.0, False, Tone.MUTED),
    ]  # fmt: skip
    out = charts.downtime_chart(Estimate((replace(warm, ruled_out="no room"),), planned="warm-copy"))
    assert out is not None
    assert [mark.full for mark in out.marks if isinstance(mark, Dot)] == [False]


def test_an_estimate_of_no_time_at_all_is_a_chart() -> None:
    nothing = Span(0.0, 0.0, 0.0)
    for made in (charts.timeline_chart, charts.downtime_chart):
        chart = made(Estimate((Method("cold-copy", nothing, nothing, ()),)))
        assert chart is not None
        assert chart.across.high > chart.across.low
        assert made(Estimate(())) is None


def test_bars_stand_beside_each_other_with_their_figures(full_store: Store) -> None:
    made = compare(*(full_store.runs("spring", side=side, latest_only=True) for side in Side))
    rates, counts = (charts.bar_chart(one, NAMES) for one in bars(made))
    found = [mark for mark in counts.marks if isinstance(mark, Bar)]
    assert [round(bar.top) for bar in found] == [902, 752, 8004, 3991]
    assert max(bar.top for bar in found) < counts.up.high
    spans = sorted((bar.left, bar.right) for bar in found)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert found[0].tip.startswith("db1 (old): ")
    assert figures(found[0].tip) == ["902 IOPS", "899", "905 IOPS"]
    assert "MB/s" in rates.title


def test_bars_of_any_two_sets_are_called_after_them(full_store: Store) -> None:
    made = compare(*(full_store.runs("spring", side=side, latest_only=True) for side in Side))
    chart = charts.bar_chart(bars(made)[1], ("left", "right"))
    assert [name for _, name in chart.legend] == ["left", "right"]
    tips = [mark.tip.split(":")[0] for mark in chart.marks if isinstance(mark, Bar)]
    assert tips == ["left", "left", "right", "right"]
    said = f"{chart.name} {chart.description}"
    assert "left 902" in said
    assert not {"old", "new"} & set(said.split())


def test_lying_bars_have_their_values_and_the_ratio_beside_them(rows: list[ComparedRow]) -> None:
    chart = charts.storage_chart(rows, NAMES)
    assert chart is not None
    bars_of = [mark for mark in chart.marks if isinstance(mark, Bar)]
    assert len(bars_of) == 2 * len(rows)
    assert max(bar.right for bar in bars_of) == 1.0
    lanes = sorted((bar.bottom, bar.top) for bar in bars_of)
    assert all(below[1] < above[0] for below, above in pairwise(lanes))
    assert [old for _, old in chart.beside[::2]] == [
        metric_value(row.row.metric, row.row.old.mean) for row in rows if row.row.old
    ]
    assert [new.partition(", ")[2] for _, new in chart.beside[1::2]] == [better(row) for row in rows]
    alone = charts.storage_chart(
        [replace(rows[0], row=replace(rows[0].row, new=None, verdict=Verdict.ONE_SIDED))], NAMES
    )
    assert alone is not None
    assert [text for _, text in alone.beside] == [chart.beside[0][1], "–"]
    assert charts.storage_chart([], NAMES) is None


def test_a_ratio_stands_at_the_side_of_the_better(rows: list[ComparedRow]) -> None:
    chart = charts.ratio_chart(rows)
    assert chart is not None
    dots = [mark for mark in chart.marks if isinstance(mark, Dot)]
    assert all(0 < dot.x < chart.across.high for dot in dots)  # new is better in each
    assert [text for _, text in chart.beside] == [dot.tip for dot in dots]
    worse = [replace(row, row=replace(row.row, ratio=1 / row.row.ratio)) for row in rows if row.row.ratio]
    turned = charts.ratio_chart(worse)
    assert turned is not None
    assert all(mark.x < 0 for mark in turned.marks if isinstance(mark, Dot))
    assert charts.ratio_chart([replace(rows[0], row=replace(rows[0].row, ratio=None))]) is None


def test_what_was_left_out_is_hollow(rows: list[ComparedRow]) -> None:
    row = rows[0]
    assert row.row.old is not None
    old = replace(row.row.old, left_out=(LeftOut(9e9, "outlier"),))
    chart = charts.repetitions_chart(replace(row, row=replace(row.row, old=old, new=None)))
    dots = [mark for mark in chart.marks if isinstance(mark, Dot)]
    assert [dot.full for dot in dots] == [True, True, True, False]
    assert max(dot.y for dot in dots) < chart.up.high


def test_latencies_lie_on_a_scale_of_tens() -> None:
    parts = ("p50", "p99", "p999", "max", "mean")
    known = Latencies("random reads", parts, ((0.001, 0.01, None, 9.0, 0.002), (0.0, 0.1, 1.0, 9.0, 0.2)))
    chart = charts.latency_chart(known, ("old", "new"))
    assert chart is not None
    paths = [mark.points for mark in chart.marks if isinstance(mark, Path)]
    # each step of one leaves a tenth of the requests; no latency is nothing at all
    assert [x for x, _ in paths[0]] == [pytest.approx(math.log10(2)), pytest.approx(2.0)]
    assert [y for _, y in paths[0]] == [-3.0, -2.0]
    assert [x for x, _ in paths[1]] == [pytest.approx(2.0), pytest.approx(3.0)]
    assert len([mark for mark in chart.marks if isinstance(mark, Dot)]) == 4  # neither maximum nor mean
    assert [name for _, name in chart.across.ticks] == ["p50", "p99", "p99.9"]
    assert "10 ms" in [name for _, name in chart.up.ticks]
    assert charts.latency_chart(Latencies("", ("p50",), ((None,), (0.0,))), ("old", "new")) is None
    assert charts.latency_chart(Latencies("", ("max",), ((1.0,), (2.0,))), ("old", "new")) is None


def at_depth(row: Row, depth: int) -> Row:
    title, parameters = f"random read, 4 kB, depth {depth}", {**row.workload.parameters, "depth": depth}
    return replace(row, workload=replace(row.workload, name=f"depth-{depth}", title=title, parameters=parameters))


def test_depths_of_one_workload_lie_on_a_scale_of_doublings(rows: list[ComparedRow]) -> None:
    of = rows[0].row
    latency = replace(of, metric=f"{of.metric.split('_')[0]}_latency_p99_seconds", headline=False)
    made = [at_depth(row, depth) for depth in (64, 1, 8) for row in (of, latency)]
    other = replace(rows[1].row, workload=replace(rows[1].row.workload, parameters={"depth": 1}))
    comparison = Comparison("old", "new", (other, *made))
    found = depths(comparison, NAMES, other)  # which has none of its own
    assert found is not None
    assert [depth for depth, _ in found.rows] == [1, 8, 64]
    assert found.title == "random read, 4 kB"
    throughput, slowest = charts.depth_charts(found, NAMES)
    assert [at for at, _ in throughput.across.ticks] == [0.0, 3.0, 6.0]
    assert [name for _, name in slowest.across.ticks] == ["depth 1", "depth 8", "depth 64"]
    assert [len(mark.points) for mark in throughput.marks if isinstance(mark, Path)] == [3, 3]
    assert depths(Comparison("old", "new", (other, made[0])), NAMES, None) is None


def test_runs_over_time_stand_at_their_dates(rows: list[ComparedRow]) -> None:
    sample = rows[0].row.old
    assert isinstance(sample, Sample)
    begun = datetime(2026, 3, 1, tzinfo=UTC)
    seen = MetricOverTime(old=tuple((begun + timedelta(days=day), sample) for day in range(3)))
    chart = charts.time_chart(rows[0], seen, NAMES)
    places = [mark.x for mark in chart.marks if isinstance(mark, Dot)]
    assert [at for at, _ in chart.across.ticks] == places
    assert chart.across.low < places[0]
    assert places[-1] < chart.across.high
    alone = charts.time_chart(rows[0], MetricOverTime(new=((begun, sample),)), NAMES)
    assert alone.across.high > alone.across.low
    assert not [mark for mark in charts.time_chart(rows[0], MetricOverTime(), NAMES).marks if isinstance(mark, Dot)]
    assert math.isfinite(alone.up.high)
