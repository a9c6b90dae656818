"""What speaks against a figure makes its range wider, and never another way round."""

from dataclasses import replace
from datetime import timedelta
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.migration.estimate import simulated
from core.migration.estimate.draws import span
from core.migration.estimate.evidence import Evidence, Measured, surest, widened
from core.migration.estimate.rates import MEASURED
from core.migration.estimate.spec import ClusterSpec, CopySpec, History, Spec
from tests.core.migration.builders import NOW

days = st.floats(-10, 5000)
evidences = st.builds(
    lambda age, transport, hardware: Evidence(
        "probed", NOW - timedelta(days=age), other_transport=transport, other_hardware=hardware
    ),
    days,
    st.booleans(),
    st.booleans(),
)


@given(evidences, st.floats(0, 3000))
def test_older_is_never_surer(evidence: Evidence, later: float) -> None:
    assert evidence.doubt(NOW + timedelta(days=later)) >= evidence.doubt(NOW) >= 0


@given(evidences, st.floats(0.1, 1), st.floats(1, 10))
def test_a_doubt_never_makes_a_range_narrower_and_keeps_both_sides(evidence: Evidence, low: float, high: float) -> None:
    lower, higher = widened((low, high), evidence.doubt(NOW))
    assert 0 < lower <= low * (1 + 1e-9)
    assert higher >= high * (1 - 1e-9)


@given(days, st.booleans())
def test_another_transport_and_another_disk_each_say_less(age: float, other: bool) -> None:
    taken = NOW - timedelta(days=age)
    same = Evidence("", taken, other_transport=other).doubt(NOW)
    assert Evidence("", taken, other_transport=other, other_hardware=True).doubt(NOW) > same


def test_what_nobody_dated_and_what_is_asked_without_a_date_counts_as_of_now() -> None:
    assert Evidence("given").doubt(NOW) == 0
    assert Evidence("probed", NOW - timedelta(days=900)).doubt(None) == 0


def test_how_much_a_month_a_year_and_ten_make() -> None:
    def factor(age: float) -> float:
        return exp(Evidence("", NOW - timedelta(days=age)).doubt(NOW))

    assert factor(1) == pytest.approx(1.02, abs=0.01)
    assert factor(30) == pytest.approx(1.1, abs=0.01)
    assert factor(365) == pytest.approx(1.39, abs=0.02)
    assert factor(9999) == pytest.approx(2.0)


def test_what_tells_more_counts_until_it_is_clearly_doubted_more() -> None:
    def copy(age: float, *, other: bool = False) -> Measured:
        return Measured(1, Evidence("copy", NOW - timedelta(days=age), other_transport=other))

    sample = Measured(2, Evidence("sample", NOW))
    assert surest((copy(90), sample), NOW) == copy(90)
    assert surest((copy(900), sample), NOW) == sample
    assert surest((copy(1, other=True), sample), NOW) == sample
    assert surest((None, sample), NOW) == sample
    assert surest((copy(900), None), NOW) == copy(900)
    assert surest((None,), NOW) is None


@pytest.mark.slow
@given(evidences)
def test_a_doubted_copy_is_as_likely_and_in_a_wider_range(evidence: Evidence) -> None:
    sources = {"copy.observed_bytes_per_second": evidence, "prepare": evidence}
    spec = Spec(
        ClusterSpec(1e12, files=0), copy=CopySpec(1e8), history=History(timed={"prepare": (4.0,)}, whole_copy=True)
    )
    doubted = replace(spec, history=replace(spec.history, sources=sources, now=NOW))
    for stage in ("copy", "prepare"):
        plain, wide = (
            span(next(part.seconds for part in simulated(each)[0].parts if part.name == stage))
            for each in (spec, doubted)
        )
        assert wide.likely == pytest.approx(plain.likely)
        assert wide.low <= plain.low * (1 + 1e-9)
        assert wide.high >= plain.high * (1 - 1e-9)
    assert MEASURED == widened(MEASURED, 0.0) == pytest.approx(MEASURED)
