"""HammerDB: a time profile whose tabs were lost, and the log of the transaction counter."""

import pytest

from core.benchmarks.hammerdb import parse_hammerdb
from core.errors import ParseError

PROFILE = """\
>>>>> SUMMARY OF 2 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 100ms
>>>>> PROC: NEWORD
CALLS: 1234MIN: 2.5msAVG: 9.25msMAX: 30.5msTOTAL: 11414.5ms
P99: 14.5msP95: 12.5msP50: 9.5msSD: 1840.094RATIO: 41.435%
"""
COUNTER = """\
Hammerdb Transaction Counter Log @ Thu Jun 30 22:43:39 UTC 2022
0 PostgreSQL tpm @ Thu Jun 30 22:43:40 UTC 2022
6000 PostgreSQL tpm @ Thu Jun 30 22:43:50 UTC 2022
0 PostgreSQL tpm @ Thu Jun 30 22:44:00 UTC 2022
12000 PostgreSQL tpm @ Thu Jun 30 22:44:10 UTC 2022
"""


def test_figures_that_touch_each_other_are_read() -> None:
    (result,) = parse_hammerdb(PROFILE).results
    assert result.metrics == {
        "transactions": 1234,
        "latency_mean_seconds": pytest.approx(0.00925),
        "latency_max_seconds": pytest.approx(0.0305),
        "latency_p99_seconds": pytest.approx(0.0145),
        "latency_p95_seconds": pytest.approx(0.0125),
        "latency_p50_seconds": pytest.approx(0.0095),
    }


@pytest.mark.parametrize("cut", range(len("CALLS: 1234"), 1, -1))
def test_a_figure_that_was_cut_off_is_none(cut: int) -> None:
    with pytest.raises(ParseError):
        parse_hammerdb(PROFILE[: PROFILE.index("CALLS") + cut])


def test_the_counter_counts_from_its_first_transaction_on() -> None:
    (result,) = parse_hammerdb(COUNTER).results
    assert (result.name, result.metrics) == ("PostgreSQL transaction counter", {"transactions_per_second": 100})


def test_a_result_line_counts_before_the_counter() -> None:
    (result,) = parse_hammerdb(COUNTER + "System achieved 60 NOPM from 120 PostgreSQL TPM\n").results
    assert result.metrics["transactions_per_second"] == 2


def test_a_counter_that_never_counted_has_no_result() -> None:
    with pytest.raises(ParseError):
        parse_hammerdb("0 PostgreSQL tpm @ Thu Jun 30 22:43:40 UTC 2022\n")
