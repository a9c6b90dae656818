"""The curve of the copy: what it is made of, and that it takes no more room the longer the copy takes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.api.model import ExecutionState
from core.migration.model.execution import StepRun
from gui.models.chart import Path
from gui.models.throughput import MOST, Throughput, throughput_chart
from tests.core.migration.execution.builders import execution
from tests.gui.models.test_fuzzed import FLOATS

AT = datetime(2026, 3, 14, 3, 12, 9, tzinfo=UTC)


def look(seconds: float, *copied: int) -> ExecutionState:
    """Return the state after so many seconds, with the bytes of each running step."""
    runs = tuple(StepRun(number, number, "", 1, AT, bytes=done) for number, done in enumerate(copied, 1))
    return ExecutionState(replace(execution(), steps=runs), alive=True, read_at=AT + timedelta(seconds=seconds))


def taken(*states: ExecutionState) -> list[tuple[float, float]]:
    made = Throughput()
    for state in states:
        made.take(state)
    return made.points


def test_the_rate_is_what_all_running_steps_have_copied_since_the_last_look() -> None:
    assert taken(look(0, 0, 0), look(1, 60, 40), look(3, 160, 40)) == [(1.0, 100.0), (3.0, 50.0)]


def test_a_look_without_news_is_no_rate_of_zero() -> None:
    assert taken(look(0, 0), look(1, 0), look(2, 200)) == [(2.0, 100.0)]


def test_a_copy_that_hangs_falls_to_zero() -> None:
    assert taken(look(0, 0), look(1, 100), look(3, 100), look(6, 100)) == [(1.0, 100.0), (6.0, 0.0)]


def test_what_is_told_again_is_no_rate_of_zero() -> None:
    again = replace(look(30, 100), told_again=True)
    assert taken(look(0, 0), look(1, 100), again, look(31, 3100)) == [(1.0, 100.0), (31.0, 100.0)]


def test_what_another_step_had_copied_before_does_not_count() -> None:
    other = replace(look(2).execution or execution(), steps=(StepRun(7, 7, "", 1, AT, bytes=10**9),))
    assert taken(look(0, 0), look(1, 100), replace(look(2), execution=other)) == [(1.0, 100.0), (2.0, 0.0)]


def test_it_stays_small() -> None:
    points = taken(*(look(second, second * 100) for second in range(10 * MOST)))
    assert len(points) <= MOST
    assert points[-1][0] > 9 * MOST
    assert {rate for _, rate in points} == {100.0}


def test_a_pause_breaks_the_line() -> None:
    chart = throughput_chart([(1.0, 1e6), (2.0, 2e6), (100.0, 3e6), (101.0, 4e6)])
    assert chart is not None
    lines = [mark.points for mark in chart.marks if isinstance(mark, Path)]
    assert lines == [((1.0, 1.0), (2.0, 2.0)), ((100.0, 3.0), (101.0, 4.0))]


@pytest.mark.parametrize("value", FLOATS)
def test_any_figure_makes_a_chart_or_none(value: float) -> None:
    throughput_chart([(0.0, value), (value, 1.0), (1.0, 2.0)])
    assert throughput_chart([(0.0, value)]) is None
