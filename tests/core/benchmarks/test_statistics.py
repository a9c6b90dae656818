"""Statistics against values worked out by hand, and their bounds under any input."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.statistics import (
    ALPHA,
    ASSUMED_NOISE,
    critical_value,
    deviation,
    latencies,
    latencies_counted,
    mean,
    median,
    outliers,
    ratio_of_means,
    variation,
)

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


NO_VALUES = ((), (math.inf,), (-math.inf, math.inf), (math.nan, math.nan))


@pytest.mark.parametrize("values", NO_VALUES)
def test_no_values_have_no_statistics(values: tuple[float, ...]) -> None:
    assert math.isnan(mean(values))
    assert math.isnan(median(values))
    assert (deviation(values), variation(values), outliers(values)) == (None, None, ())
    assert ratio_of_means(values, (1.0, 2.0, 3.0)) is ratio_of_means((1.0, 2.0, 3.0), values) is None
    assert latencies((), 1e-6) == latencies_counted({}, 1e-6) == {}


def test_one_value_is_its_own_centre() -> None:
    assert (mean((3.0,)), median((3.0,)), outliers((3.0,))) == (3.0, 3.0, ())
    assert latencies((3,), 1.0) == {
        **dict.fromkeys((f"latency_{name}_seconds" for name in ("mean", "p50", "p95", "p99", "p999", "max")), 3.0),
        "latency_stddev_seconds": 0.0,
    }


FINITE = st.lists(st.floats(min_value=-1e12, max_value=1e12), max_size=12)
NOT_FINITE = st.lists(st.sampled_from((math.inf, -math.inf, math.nan)), min_size=1, max_size=3)


@given(FINITE, NOT_FINITE, st.randoms())
def test_what_is_not_finite_is_left_out_of_every_statistic(
    finite: list[float], others: list[float], random: Random
) -> None:
    mixed = [*finite, *others]
    random.shuffle(mixed)
    known = [value for value in mixed if math.isfinite(value)]
    for statistic in (mean, median, deviation, variation):
        assert statistic(mixed) == pytest.approx(statistic(known), nan_ok=True)
    assert [mixed[position] for position in outliers(mixed)] == [known[position] for position in outliers(known)]
    assert ratio_of_means(mixed, (2.0, 3.0)) == ratio_of_means(known, (2.0, 3.0))
    assert ratio_of_means((2.0, 3.0), mixed) == ratio_of_means((2.0, 3.0), known)


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


# The outlier test against published critical values and samples, and its rate of false alarms on normal ones.

HARDWARE_FSYNCS = (3170.57, 7606.69, 8379.83, 7627.63, 7523.14)
"""Fsyncs a second of a hardware RAID-10, five runs; the first ran beside another operation (2011)."""

ROSNER = (
    *(-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70),
    *(1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40),
    *(2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01),
)
"""The example of Rosner's paper and of NIST's handbook: the three greatest are outliers, though none alone is."""


GRUBBS = {
    3: 1.155,
    4: 1.481,
    5: 1.715,
    6: 1.887,
    7: 2.020,
    8: 2.126,
    9: 2.215,
    10: 2.290,
    15: 2.549,
    20: 2.709,
    30: 2.908,
}


@pytest.mark.parametrize(("count", "critical"), GRUBBS.items())
def test_critical_values_are_those_of_grubbs_tables(count: int, critical: float) -> None:
    assert critical_value(count) == pytest.approx(critical, abs=1e-3)


def test_critical_values_of_the_handbooks_example() -> None:
    found = [critical_value(54 - taken) for taken in range(10)]
    published = (3.158, 3.151, 3.143, 3.136, 3.128, 3.120, 3.111, 3.103, 3.094, 3.085)
    assert found == pytest.approx(published, abs=1e-3)


def test_the_one_bad_value_of_five_goes_and_no_good_one() -> None:
    assert outliers(HARDWARE_FSYNCS) == (0,)
    assert round(mean([value for value in HARDWARE_FSYNCS if value != 3170.57]), 2) == 7784.32


def test_outliers_that_hide_each_other() -> None:
    assert [ROSNER[position] for position in outliers(ROSNER)] == [5.34, 5.42, 6.01]
    assert outliers((100, 101, 50, 99, 100.5, 98, 51, 102, 100, 97)) == (2, 6)


def test_four_values_and_fewer_are_never_judged() -> None:
    assert outliers((7606.69, 8379.83, 7627.63, 7523.14)) == ()
    assert outliers((100.0, 100.0, 1.0)) == ()
    assert outliers(()) == ()


def test_a_difference_finer_than_any_tool_is_no_outlier() -> None:
    assert outliers((100.0, 100.0, 100.0, 100.0, 100.5)) == ()
    assert outliers((100.0, 100.0, 100.0, 100.0, 102.0)) == (4,)
    assert outliers((100.0,) * 5) == ()


@pytest.mark.slow
@pytest.mark.parametrize("count", range(3, 31))
def test_normal_samples_lose_a_value_as_rarely_as_stated(count: int) -> None:
    """1500 samples a count, with a coefficient of variation of 10 %: three standard errors are 2 % of them."""
    samples = np.random.default_rng((2011, count)).normal(100.0, 10.0, size=(1500, count))
    false_alarms = sum(bool(outliers(sample.tolist())) for sample in samples) / len(samples)
    assert false_alarms == 0 if count < 5 else 0.6 * ALPHA < false_alarms < 1.8 * ALPHA


@given(st.lists(st.floats(min_value=-1e12, max_value=1e12), max_size=30), st.randoms())
def test_any_input_keeps_four_fifths_whatever_its_order(values: list[float], random: Random) -> None:
    found = outliers(values)
    assert len(found) <= len(values) // 5
    assert list(found) == sorted(set(found))
    shuffled = sorted(values, key=lambda _: random.random())
    again = outliers(shuffled)
    if len(set(values)) == len(values):
        assert sorted(shuffled[position] for position in again) == sorted(values[position] for position in found)
