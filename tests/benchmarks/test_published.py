"""The verdict of the benchmark of published moves."""

from dataclasses import replace

import pytest

from benchmarks.published import MEDIAN, WORST, Row, median_and_worst, right, rows, table
from tests.published import Published, published


def clocked(low: float, high: float) -> Published:
    return replace(published()[0], low=low, high=high, untellable="")


@pytest.mark.parametrize(
    ("seconds", "off"), [(100.0, 1.0), (150.0, 1.0), (200.0, 1.0), (50.0, 2.0), (300.0, 1.5), (800.0, 4.0)]
)
def test_the_nearer_end_of_a_published_range_is_the_measure(seconds: float, off: float) -> None:
    assert Row(clocked(100.0, 200.0), seconds).factor == off


@pytest.mark.parametrize(
    ("estimated", "verdict"),
    [((100.0, 150.0, 400.0), True), ((100.0, 160.0, 400.0), False), ((100.0, 100.0, 401.0), False)],
)
def test_the_median_and_the_worst_decide(estimated: tuple[float, ...], verdict: bool) -> None:
    judged = [Row(clocked(100.0, 100.0), seconds) for seconds in estimated]
    assert right(judged) is verdict
    assert ("MISSED" in table(judged)) is not verdict


def test_what_cannot_be_told_stands_last_with_its_reason_and_does_not_count() -> None:
    silent = Row(replace(clocked(100.0, 100.0), untellable="the size is not told"), None)
    stageless = Row(clocked(100.0, 100.0), None)
    lines = table([silent, stageless, Row(clocked(100.0, 100.0), 120.0)]).splitlines()
    assert lines[1].endswith("1.20  " + clocked(1.0, 1.0).confidence)
    assert "not estimated: no " in lines[2]
    assert lines[3].endswith("not told: the size is not told")
    assert lines[4].startswith("1 of 3 estimated: median 1.20")


@pytest.mark.slow
def test_the_estimate_is_right_by_the_clocks_of_others() -> None:
    """Half of them within half as much again, none four times off; whoever gave no figures is named, not counted."""
    judged = rows()
    median, worst = median_and_worst(judged)
    assert (median <= MEDIAN, worst <= WORST) == (True, True), table(judged)
    assert sum(row.factor is not None for row in judged) >= 20
    assert all(row.move.untellable or row.move.untold or row.factor is not None for row in judged)
