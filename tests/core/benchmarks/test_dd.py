"""dd: real outputs of every family, their languages, and texts that hold no result."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.dd import parse_dd, procedure
from core.benchmarks.forecasts import machine_of
from core.benchmarks.model import Workload
from core.benchmarks.tool import Machine
from core.benchmarks.tools import read_output
from core.errors import InputError, ParseError
from core.facts.model import Memory
from tests.core.migration.builders import old

DATA = Path(__file__).parents[2] / "data" / "dd"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_real_output(name: str) -> None:
    output = read_output("dd", (DATA / name).read_text())
    assert len(output.results) == len(EXPECTED[name]["results"])
    for result, wanted in zip(output.results, EXPECTED[name]["results"], strict=True):
        assert result.metrics == pytest.approx(wanted["metrics"], rel=0.006)


def test_records_alone_with_the_shells_time() -> None:
    """Smith, 2007: 250000 blocks of 8 kB in 47.961 s, of which 6.104 on a processor."""
    written, read = parse_dd((DATA / "records-alone-with-time.txt").read_text()).results
    assert written.metrics["bytes_per_second"] == pytest.approx(42.7e6, rel=1e-3)
    assert written.metrics["cpu_cores"] == pytest.approx(0.127, abs=5e-4)
    assert (written.metrics["bytes"], written.metrics["duration_seconds"]) == (2_048_000_000, 47.961)
    assert read.metrics["bytes_per_second"] == pytest.approx(57.77e6, rel=1e-3)
    assert read.metrics["cpu_cores"] == pytest.approx(0.0621, abs=5e-4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bs=8k", "bs=8q"),  # no unit of dd
        ("bs=8k ", ""),  # dd's default is 512, but another command may have been run
        ("250000+0 records out", "249999+1 records out"),  # how long the last block was is not known
        ("real", "rael"),
        ("0m47.961s", "0m0.000s"),
    ],
)
def test_no_figure_is_made_up_of_half_a_transcript(old: str, new: str) -> None:
    text = "\n".join((DATA / "records-alone-with-time.txt").read_text().splitlines()[2:8])
    whole = f"$ time dd if=/dev/zero of=bigfile bs=8k count=250000\n{text}\n"
    assert len(parse_dd(whole).results) == 1
    assert old in whole
    with pytest.raises(ParseError):
        parse_dd(whole.replace(old, new))


@pytest.mark.parametrize(
    "line",
    [
        "1024000 bytes (1.0 MB, 1000 KiB) copied, 2 s, 512 kB/s",
        "1024000 bytes (1.0 MB, 1000 KiB) copied, 2.0e+00 s, 512 kB/s",
        "1024000 bytes (1,0 MB) kopiert, 2,0 s, 512 kB/s",
        "1024000 octets (1,0 MB, 1000 KiB) copiés, 2,0 s, 512 kB/s",
        "1024000 байт (1,0 MB, 1000 KiB) скопирован, 2,0 s, 512 kB/s",
        "1024000 байт (1,0 MB) скопировано, 2,0 с, 512 kB/c",
        "1024000字节（1.0 MB，1000 KiB）已复制，2.0 s，512 kB/s",
        "1024000 bytes (1.0 MB, 1000 KiB) copied、 2.0 秒、 512 kB/s",
        "1024000 bytes (1000.0KB) copied, 2.000000 seconds, 500.0KB/s",
        "1024000 bytes transferred in 2.0 secs (512000 bytes/sec)",
        "1024000 bytes transferred in 2.000000 seconds (512000 bytes/sec)",
    ],
)
def test_every_family(line: str) -> None:
    (result,) = parse_dd(f"125+0 records in\n125+0 records out\n{line}\n").results
    assert result.metrics == {"bytes": 1024000, "duration_seconds": 2.0, "bytes_per_second": 512000.0}


def test_progress_lines_do_not_count_beside_the_summary() -> None:
    text = (
        "500 bytes (500 B) copied, 1 s, 0.5 kB/s\r900 bytes (900 B) copied, 2 s, 0.4 kB/s\n"
        "10+0 records in\n10+0 records out\n1000 bytes (1.0 kB) copied, 2.5 s, 0.4 kB/s\n"
    )
    (result,) = parse_dd(text).results
    assert result.metrics["bytes"] == 1000


@pytest.mark.parametrize("seconds", ["1,048.5", "1.234,5", "1，048.5", "1,048,576.5", "12,345,678"])
def test_seconds_are_no_end_of_a_longer_number(seconds: str) -> None:
    with pytest.raises(ParseError):
        parse_dd(f"1048576000 bytes (1.0 GB, 1000 MiB) copied, {seconds} s, 1.0 MB/s\n")


def test_two_transfers() -> None:
    text = "1+0 records in\n1+0 records out\n{0} bytes ({0} B) copied, 1 s, 1 kB/s\n"
    assert [result.metrics["bytes"] for result in parse_dd(text.format(10) + text.format(20)).results] == [10, 20]


def test_no_rate_without_time() -> None:
    (result,) = parse_dd("10 bytes copied, 0 s, Infinity B/s").results
    assert result.metrics == {"bytes": 10, "duration_seconds": 0}


@pytest.mark.parametrize(
    "text",
    ["", "dd: failed to open 'x': Permission denied", "1+0 records in\n1+0 records out\n", "1000 bytes (1.0 kB) cop"],
)
def test_no_result(text: str) -> None:
    with pytest.raises(
        ParseError, match=r"^dd: (expected |this output was cut off, or its run has no result. Expected )"
    ):
        parse_dd(text)


@given(st.text(alphabet="0123456789 bytescopid,().+\n", max_size=120))
def test_any_text_is_an_error_or_a_result(text: str) -> None:
    try:
        output = parse_dd(text)
    except ParseError:
        return
    assert all(value >= 0 for result in output.results for value in result.metrics.values())


def _workload(**parameters: int) -> Workload:
    return Workload("dd", "dd", "dd", "write_bytes_per_second", dict(parameters))


def test_size_is_twice_the_memory() -> None:
    assert procedure(_workload(), Machine(memory_bytes=2**30, threads=2)).fresh_bytes == 2**31
    assert procedure(_workload(size_bytes=2**20), Machine(None, None)).fresh_bytes == 2**20


def test_the_file_is_twice_what_a_control_group_allows() -> None:
    facts = replace(old(), memory=Memory(64 << 30, 60 << 30, 0, limit_bytes=2**30))
    assert procedure(_workload(), machine_of(facts, "postgres")).fresh_bytes == 2**31


def test_unknown_memory_needs_a_stated_size() -> None:
    with pytest.raises(InputError) as refused:
        procedure(_workload(), Machine(None, None))
    assert "size_bytes" in refused.value.hint


def test_reading_both_steps() -> None:
    made = procedure(_workload(size_bytes=1024000), Machine(None, threads=4))
    summary = "125+0 records in\n125+0 records out\n1024000 bytes (1.0 MB) copied, {} s, 1 kB/s\n"
    times = "0m0.000000s 0m0.010000s\n0m0.100000s 0m0.900000s\n"
    reading = made.read([summary.format("2.0") + times, summary.format("1.0")])
    assert reading.metrics == {
        "bytes": 1024000,
        "duration_seconds": 3.0,
        "write_bytes_per_second": 512000,
        "read_bytes_per_second": 1024000,
        "cpu_cores": 0.5,
        "cpu_fraction": 0.125,
    }
    assert reading.failure == ""


def test_a_short_copy_is_a_failure() -> None:
    made = procedure(_workload(size_bytes=1024000), Machine(None, None))
    whole = "1+0 records in\n1+0 records out\n1024000 bytes (1.0 MB) copied, 2 s, 1 kB/s\n"
    assert made.read([whole, whole.replace("1024000", "512000")]).failure == "dd copied 512000 of 1024000 bytes (read)"
