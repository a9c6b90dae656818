"""The window with the latest schedule of each method, as a chart."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from core.api.migration import Planned
from core.migration.estimate import Spec, estimate
from core.migration.estimate.planning import answered, answers
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec
from core.migration.model.asked import Asked, window_of
from core.tones import Tone
from gui.models.chart import Bar, Chart, Labels, Path
from gui.models.night import TOO_SHORT, fit_rows, window_chart

NOON = datetime(2026, 11, 30, 12, tzinfo=ZoneInfo("Europe/Vienna"))
SPEC = Spec(
    ClusterSpec(2e10, files=2_000, change_bytes_per_hour=1e7),
    link=LinkSpec(command_seconds=0.04),
    copy=CopySpec(200e6, pass_seconds=0.4),
)


def planned(window: str | None, spec: Spec = SPEC) -> Planned:
    made = replace(estimate(spec), planned="warm-copy")
    asked = Asked(downtime_seconds=600.0) if window is None else Asked(window_of(window))
    return answers(spec, answered(spec, made, asked), asked, NOON)


def charted(window: str, spec: Spec = SPEC) -> Chart:
    chart = window_chart(planned(window, spec))
    assert chart is not None
    return chart


def words(chart: Chart) -> list[tuple[str, ...]]:
    """Of each method, from the top."""
    found = [mark for mark in chart.marks if isinstance(mark, Labels)]
    return [tuple(text for _, text in mark.texts) for mark in sorted(found, key=lambda mark: -mark.y)]


def test_each_method_has_a_row_with_its_latest_moments() -> None:
    chart, rows = charted("22:00-02:00"), fit_rows(planned("22:00-02:00"))
    assert len(chart.up.ticks) == len(rows) == len(words(chart))
    for row, said in zip(rows, words(chart), strict=True):
        assert row.fit.stop_by is not None
        assert said[-1].endswith(f"{row.fit.stop_by:%H:%M}")
        assert len(said) == (2 if row.fit.begin_before >= 1 else 1)
    chosen = [row.fit.method for row in rows].index("warm-copy")
    assert chart.up.chosen == len(rows) - 1 - chosen
    assert chart.across.ticks[:2] == ((0.0, "22:00"), (4 * 3600.0, "02:00"))
    assert {name for _, name in chart.across.ticks} >= {"23:00", "00:00", "01:00"}


def test_the_downtime_lies_between_what_precedes_it_and_the_rollback() -> None:
    chart = charted("22:00-02:00")
    (window,) = (mark for mark in chart.marks if isinstance(mark, Path))
    assert [x for x, _ in window.points] == [0.0, 4 * 3600.0]
    for at, _ in chart.up.ticks:
        bars = [mark for mark in chart.marks if isinstance(mark, Bar) and at - 0.5 < mark.top <= at + 0.5]
        by_tone = {bar.tone: bar for bar in bars}
        down, back = by_tone[Tone.BAD], by_tone[Tone.WARNING]
        assert down.left < down.right <= back.left < back.right == 4 * 3600.0
        assert not back.full
        if Tone.MUTED in by_tone:
            assert by_tone[Tone.MUTED].right >= down.left


def test_a_window_that_is_too_short_is_exceeded() -> None:
    chart = charted("22:00-22:10", replace(SPEC, copy=CopySpec(10e6)))
    assert (TOO_SHORT,) in words(chart)
    assert max(mark.right for mark in chart.marks if isinstance(mark, Bar)) > 600


def test_a_long_precopy_is_cut_three_windows_ahead() -> None:
    chart = charted("12:10-13:10", replace(SPEC, cluster=ClusterSpec(1e13, change_bytes_per_hour=1e7)))
    assert chart.across.low == pytest.approx(-3 * 3600, rel=0.1)
    assert all(mark.left >= chart.across.low for mark in chart.marks if isinstance(mark, Bar))
    late = [said for said in words(chart) if "2026-11-" in said[0]]
    assert late
    assert all(len(said) == 1 for said in late)  # by when to stop is of no use any more


def test_without_a_window_there_is_no_chart() -> None:
    assert window_chart(planned(None)) is None
