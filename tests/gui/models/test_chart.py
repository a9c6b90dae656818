"""Axes: few round ticks that can be read, whatever the figures."""

import math

import pytest

from gui.models.chart import MOST_TICKS, ladder, places, scale, times


@pytest.mark.parametrize("highest", [1e-9, 0.0021, 0.97, 1.0, 9.99, 80.6, 7998, 1e6, 3.2e12])
def test_a_scale_has_few_round_ticks(highest: float) -> None:
    axis = scale(highest)
    steps = [at for at, _ in axis.ticks]
    assert 3 <= len(steps) <= MOST_TICKS + 1
    assert steps[0] == 0.0
    assert steps[-1] <= axis.high == highest
    digit = steps[1] / 10.0 ** math.floor(math.log10(steps[1]) + 1e-9)
    assert round(digit, 6) in {1, 2, 5}


@pytest.mark.parametrize("highest", [0.0, -1.0, math.nan, math.inf])
def test_nothing_to_show_still_has_an_axis(highest: float) -> None:
    for axis in (scale(highest), times(highest)):
        assert (axis.low, axis.high, axis.ticks) == (0.0, 1.0, ((0.0, "0"),))


def test_times_are_named_in_their_own_unit() -> None:
    assert [name for _, name in times(28_800).ticks] == ["0", "2 h", "4 h", "6 h", "8 h"]
    assert [name for _, name in times(100).ticks] == ["0", "30 s", "60 s", "90 s"]
    assert times(90).ticks[-1] == (90, "90 s")
    assert len(times(1e12).ticks) <= 10 * MOST_TICKS + 1


def test_the_first_of_a_ladder_stands_at_the_top() -> None:
    assert ladder(["first", "second"]).ticks == ((1, "first"), (0, "second"))
    assert places(["only"]).low < 0 < places(["only"]).high
    assert ladder([]).high > ladder([]).low
