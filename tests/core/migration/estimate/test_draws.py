"""The nights that an estimate is drawn from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.migration.estimate.draws import NIGHTS, drawn, fixed, least, most, share, span
from core.migration.model.estimate import Span


@given(low=st.floats(0.001, 1e6), up=st.floats(0, 3), further=st.floats(0, 3))
def test_a_figure_has_the_percentiles_that_it_was_given(low: float, up: float, further: float) -> None:
    likely, high = low * 10**up, low * 10 ** (up + further)
    found = span(drawn("any", low, likely, high))
    assert (found.low, found.likely, found.high) == pytest.approx((low, likely, high), rel=0.01)


def test_percentiles_are_those_of_numpy() -> None:
    for night in np.random.default_rng(1).lognormal(sigma=3, size=(100, NIGHTS)):
        assert span(night) == Span(*np.percentile(night, (10, 50, 90)))


def test_a_figure_that_others_have_too_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        drawn("disk", 1, 2, 4)[0] = 0.0


def test_nothing_and_what_may_be_nothing() -> None:
    assert span(drawn("none", 0, 0, 0)) == Span(0, 0, 0)
    found = span(drawn("some", 0, 1, 10))
    assert (found.low, found.likely, found.high) == pytest.approx((0.2, 1, 10), rel=0.01)


def test_the_nights_are_the_same_each_time_and_two_figures_vary_apart() -> None:
    first, again, other = drawn("disk", 1, 2, 4), drawn("disk", 1, 2, 4), drawn("wire", 1, 2, 4)
    assert (first == again).all()
    assert len(first) == NIGHTS
    both = span(first + other)
    assert both.low > 2 * 1.05
    assert both.high < 2 * 4 * 0.95


def test_the_smaller_the_larger_and_how_often() -> None:
    disk = drawn("disk", 1, 2, 4)
    assert (least(disk, fixed(2)) <= 2).all()
    assert (most(disk, fixed(2)) >= 2).all()
    assert share(disk, 4) == pytest.approx(0.9, abs=0.01)
