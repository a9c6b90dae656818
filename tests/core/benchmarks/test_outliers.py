"""The outlier test against published critical values and samples, and its rate of false alarms on normal ones."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.statistics import ALPHA, critical_value, mean, outliers

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
