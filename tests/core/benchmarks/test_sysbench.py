"""sysbench fileio: units, several runs, runs that did nothing."""

from pathlib import Path

import pytest

from core.benchmarks.sysbench import parse_sysbench
from core.errors import ParseError

DATA = Path(__file__).parents[2] / "data" / "sysbench"
V04 = (DATA / "02-v0.4.12-f285875758.txt").read_text()
V10 = (DATA / "05-v1.0.18-f2495609999.txt").read_text()
V11 = (DATA / "v1.1.0-seqwr-mail.txt").read_text()
CPU = (DATA / "v1.0.20-cpu.txt").read_text()


@pytest.mark.parametrize(
    ("printed", "rate"),
    [
        ("36.609Mb/sec", 36.609 * 2**20),
        ("53.316Kb/sec", 53.316 * 1024),
        ("700b/sec", 700),
        ("1.223Gb/sec", 1.223 * 2**30),
    ],
)
def test_units_are_of_1024_bytes(printed: str, rate: float) -> None:
    (result,) = parse_sysbench(V04.replace("36.609Mb/sec", printed)).results
    assert result.metrics["bytes_per_second"] == pytest.approx(rate)


def test_0_5_says_reads_and_writes_in_small_letters() -> None:
    text = V04.replace("sysbench 0.4.12", "sysbench 0.5").replace(
        "421740 Read, 281160 Write", "421740 reads, 281160 writes"
    )
    output = parse_sysbench(text)
    assert output.version == "0.5"
    assert output.results[0].metrics["read_iops"] == pytest.approx(421740 / 300.0035)


def test_0_4_8_prints_seconds() -> None:
    text = (
        V04.replace("sysbench 0.4.12:", "sysbench v0.4.8:").replace("25.72ms", "0.0257s").replace("0.73ms", "0.0007s")
    )
    (result,) = parse_sysbench(text).results
    assert result.metrics["latency_max_seconds"] == 0.0257
    assert result.metrics["latency_p95_seconds"] == 0.0007


def test_several_runs_and_others_between() -> None:
    output = parse_sysbench(V04 + V10 + CPU + V11)
    assert [result.name for result in output.results] == ["rndrw", "rndrw", "seqwr"]
    assert output.results[1].metrics["latency_mean_seconds"] == pytest.approx(0.0001)


def test_a_percentile_of_another_name_is_not_taken_for_the_95th() -> None:
    (result,) = parse_sysbench(V10.replace("95th percentile:", "90th percentile:")).results
    assert not [name for name in result.metrics if "_p" in name and "latency" in name]


def test_a_run_without_an_event_is_no_result() -> None:
    text = V10
    for rate in ("2727.09", "1818.06", "5818.16", "42.61", "28.41"):
        text = text.replace(rate, "0.00")
    with pytest.raises(
        ParseError, match=r"^sysbench: (expected |this output was cut off, or its run has no result. Expected )"
    ):
        parse_sysbench(text.replace("min:                                    0.00", "min: 18446744073709.55"))
