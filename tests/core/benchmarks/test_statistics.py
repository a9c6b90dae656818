"""Statistics against values worked out by hand, and their bounds under any input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.statistics import ASSUMED_NOISE, deviation, mean, median, ratio_of_means, variation

POSITIVE = st.lists(st.floats(min_value=1e-3, max_value=1e12), min_size=1, max_size=12)


def test_centre_and_spread_by_hand() -> None:
    values = (2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0)
    assert mean(values) == 5.0
    assert median(values) == 4.5
    assert deviation(values) == pytest.approx(math.sqrt(32 / 7))
    assert variation(values) == pytest.approx(math.sqrt(32 / 7) / 5)


def test_one_value_has_no_spread() -> None:
    assert deviation((3.0,)) is None
    assert variation((3.0,)) is None


def test_no_variation_around_zero() -> None:
    assert variation((-1.0, 1.0)) is None


def test_ratio_of_steady_sides_has_no_width() -> None:
    interval = ratio_of_means((300.0, 300.0, 300.0), (80.0, 80.0, 80.0))
    assert interval is not None
    assert (interval.ratio, interval.low, interval.high) == (3.75, 3.75, 3.75)


def test_bootstrap_by_exact_enumeration() -> None:
    """Over a constant the interval is that of the mean: of three values it is the least, or the greatest, with 1/27
    each, both above 2.5 %."""
    interval = ratio_of_means((10.0, 11.0, 13.5), (10.0, 10.0, 10.0))
    assert interval is not None
    assert (interval.ratio, interval.low, interval.high) == pytest.approx((1.15, 1.0, 1.35))


@pytest.mark.slow
def test_noise_alone_is_seldom_called_a_difference() -> None:
    """Of pairs of five values of one normal distribution; about one in twenty is what the interval promises."""
    draw = np.random.default_rng(7).normal(100.0, 3.0, size=(300, 2, 5)).tolist()
    intervals = [ratio_of_means(over, under) for over, under in draw]
    wrong = sum(interval is None or not interval.low <= 1 <= interval.high for interval in intervals)
    assert 0.005 < wrong / len(intervals) < 0.06


def test_few_values_are_widened() -> None:
    interval = ratio_of_means((110.0,), (100.0, 105.0))
    assert interval is not None
    assert interval.ratio == pytest.approx(110 / 102.5)
    assert interval.low == pytest.approx(110 / 105 / (1 + ASSUMED_NOISE))
    assert interval.high == pytest.approx(1.1 * (1 + ASSUMED_NOISE))


def test_no_ratio_over_nothing() -> None:
    assert ratio_of_means((1.0,), (0.0,)) is None
    assert ratio_of_means((), (1.0,)) is None


@pytest.mark.slow
@given(POSITIVE, POSITIVE)
def test_ratio_lies_in_its_interval_and_is_repeatable(over: list[float], under: list[float]) -> None:
    interval = ratio_of_means(over, under)
    assert interval is not None
    assert interval.low <= interval.ratio * (1 + 1e-9)
    assert interval.ratio <= interval.high * (1 + 1e-9)
    assert ratio_of_means(over, under) == interval
