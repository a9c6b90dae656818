"""fio's normal output: what its rounded numbers stand for, and what belongs to which job."""

from pathlib import Path

import pytest

from core.benchmarks.fio.normal_output import loses_carry, meanings, parse_fio_text
from core.benchmarks.fio.output import parse_fio
from core.errors import ParseError

DATA = Path(__file__).parents[3] / "data" / "fio"
V31 = (DATA / "05-v3.1-write-iops-53.0k-bug-vps-comparison.txt").read_text()
HEAD = "job: (groupid=0, jobs=1): err= 0: pid={}: Thu Dec 28 00:06:47 2017\n"
LINE = "  read: IOPS={}, BW={} ({})({}/{}msec)\n"
MIB = 1 << 20


@pytest.mark.parametrize(
    ("text", "binary", "carry", "values"),
    [
        ("16.4k", False, False, (16400,)),
        ("53.0k", False, True, (53000, 54000)),
        ("53.0k", False, False, (53000,)),
        ("53.1k", False, True, (53100,)),
        ("53k", False, True, (53000,)),
        ("64.0MiB/s", False, True, (64 * MIB, 65 * MIB)),
        ("67.2MB/s", False, False, (67.2e6,)),
        ("116Mi", False, False, (116 * MIB,)),
        ("31.2Gibit/s", False, False, (31.2 * 2**30 / 8,)),
        ("33.6Gbit/s", False, False, (4.2e9,)),
        ("8435.2KB/s", True, False, (8435.2 * 1024,)),
        ("521296 B/s", True, False, (521296,)),
        ("4096B", False, False, (4096,)),
        ("", False, False, ()),
        ("12x", False, False, ()),
    ],
)
def test_what_a_number_can_stand_for(text: str, binary: bool, carry: bool, values: tuple[float, ...]) -> None:
    assert meanings(text, binary=binary, carry=carry) == pytest.approx(values)


@pytest.mark.parametrize(
    ("version", "loses"), [(None, True), ("3.25", True), ("3.9", True), ("2.17", True), ("3.26-19-ge7e53", False)]
)
def test_which_versions_lose_the_carry(version: str | None, loses: bool) -> None:
    assert loses_carry(version) is loses


def test_a_lost_carry_is_found_by_the_other_numbers() -> None:
    text = "fio-3.1\n" + HEAD.format(7) + LINE.format("11.0k", "46.0MiB/s", "49.2MB/s", "4690MiB", 100000)
    (result,) = parse_fio_text(text).results
    assert result.metrics == {"read_bytes_per_second": pytest.approx(47 * MIB)}  # 11.0k may be 11 or 12 thousand
    fixed = text.replace("fio-3.1\n", "fio-3.26\n").replace("46.0", "46.9")
    assert parse_fio_text(fixed).results[0].metrics["read_iops"] == 11000


def test_the_block_size_tells_which_iops_are_meant_where_the_counters_are_missing() -> None:
    cut = V31[: V31.index("  cpu  ")]
    (result,) = parse_fio_text(cut).results
    assert result.metrics["write_iops"] == 54000


def test_a_varied_block_size_is_no_help() -> None:
    varied = V31.replace("(W) 4096B-4096B", "(W) 4096B-65536B")
    assert parse_fio_text(varied).results[0].metrics["write_bytes_per_second"] == 211 * MIB


def test_the_last_report_of_a_running_job_counts_unless_it_is_cut_shorter() -> None:
    earlier = V31[V31.index("myjob: (groupid") : V31.index("Run status")]
    later = earlier.replace("min=23, max=93977, avg=60.60", "min=23, max=93977, avg=61.60")
    (result,) = parse_fio_text(V31[: V31.index("myjob: (groupid")] + earlier + later).results
    assert result.metrics["write_latency_mean_seconds"] == pytest.approx(61.6e-6)
    (result,) = parse_fio_text(V31 + later[: later.index("    clat percentiles")]).results
    assert result.metrics["write_latency_mean_seconds"] == pytest.approx(60.6e-6)


def test_an_interruption_marks_its_own_run_alone() -> None:
    stopped = V31.replace("Starting 1 process\n", "Starting 1 process\nfio: terminating on signal 2\n")
    again = V31.replace("pid=4453", "pid=9")
    assert [result.interrupted for result in parse_fio_text(stopped + again).results] == [True, False]
    assert [result.interrupted for result in parse_fio_text(again + stopped).results] == [False, True]


def test_progress_that_a_terminal_did_not_overwrite() -> None:
    text = V31.replace("[eta 00m:01s]\n", "[eta 00m:01s]")
    assert [result.name for result in parse_fio_text(text).results] == ["myjob"]


def test_latencies_of_trims_syncs_and_priorities_belong_to_no_direction() -> None:
    latency = "    clat (usec): min=1, max=9, avg= 5.00, stdev= 1.00\n"
    text = (
        HEAD.format(7)
        + LINE.format("100", "400KiB/s", "410kB/s", "4000KiB", 10000)
        + "    clat prio 0/0 (usec): min=1, max=9, avg= 7.00, stdev= 1.00\n"
        + "  trim: IOPS=100, BW=400KiB/s (410kB/s)(4000KiB/10000msec)\n"
        + latency
        + "  write: IOPS=0, BW=0 (0)(0B/10000msec)\n"
        + latency
        + "  fsync/fdatasync/sync_file_range:\n"
        + latency
    )
    (result,) = parse_fio_text(text).results
    assert result.metrics == {"read_bytes_per_second": 400 * 1024, "read_iops": 100}


def test_jobs_that_did_nothing_are_no_result() -> None:
    with pytest.raises(ParseError, match=r"^fio: .*\bJSON\b"):
        parse_fio(HEAD.format(7) + LINE.format("0", "0B/s", "0B/s", "0B", 10000))


def test_one_idle_job_among_others_is_kept_without_metrics() -> None:
    idle = HEAD.format(8).replace("job:", "idle:")
    busy = HEAD.format(7) + LINE.format("100", "400KiB/s", "410kB/s", "4000KiB", 10000)
    assert [(result.name, bool(result.metrics)) for result in parse_fio_text(busy + idle).results] == [
        ("job", True),
        ("idle", False),
    ]
