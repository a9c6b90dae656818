"""The decrease of random reads after updates, held against figures that were published."""

import pytest

from core.benchmarks.pgbench.tool import HEADLINES, decrease, drift
from core.errors import ParseError


@pytest.mark.parametrize(
    ("initial", "final", "per_cent"),
    [
        pytest.param(95, 45, 53, id="HAMMER"),
        pytest.param(70, 55, 21, id="UFS"),
        pytest.param(94, 46, 51, id="HAMMER with sysctls"),
        pytest.param(79, 61, 23, id="JFS"),
        pytest.param(75, 93, -24, id="ext3"),
        pytest.param(114, 68, 40, id="XFS"),
    ],
)
def test_the_decreases_of_2010(initial: float, final: float, per_cent: int) -> None:
    """Lentfer, "HAMMER and PostgreSQL Performance", second table."""
    assert round(100 * decrease(initial, final)) == per_cent


def test_a_pass_has_the_mean_of_its_updates() -> None:
    reads = {"transactions_per_second": 100.0, "latency_mean_seconds": 0.1, "clients": 10.0, "transactions": 1000.0}
    worn = {**reads, "transactions_per_second": 60.0}
    updates = [{**reads, "transactions_per_second": rate, "failed_transactions": 1.0} for rate in (20.0, 25.0, 36.0)]
    updates[0]["latency_stddev_seconds"] = 1.0
    assert drift(reads, updates, worn) == {
        "clients": 10.0,
        "transactions": 5000.0,
        "failed_transactions": 3.0,
        "initial_transactions_per_second": 100.0,
        "initial_latency_mean_seconds": 0.1,
        "tpcb_transactions_per_second": 27.0,
        "tpcb_latency_mean_seconds": pytest.approx(0.1),
        "final_transactions_per_second": 60.0,
        "final_latency_mean_seconds": 0.1,
        "decrease_fraction": 0.4,
    }
    assert set(HEADLINES) <= set(drift(reads, updates, worn))


def test_nothing_decreases_from_nothing() -> None:
    with pytest.raises(ParseError, match=r"\b0 "):
        decrease(0, 10)
