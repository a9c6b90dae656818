"""What a tool has logged of each interval becomes a course; any other output has none."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.benchmarks.model import LONGEST_COURSE, Outcome, Repetition, Run, Series
from core.benchmarks.series import series_of
from core.benchmarks.tools import read_output
from core.comparison.foreign_outputs import runs_of
from core.errors import ParseError

DATA = Path(__file__).resolve().parents[2] / "data"
RATE = "transactions_per_second"


def of(tool: str, text: str, file: str = "") -> Run:
    """The first result of an output as a run with its text, as an import records it."""
    run = runs_of("/a", read_output(tool, text, file), frozenset())[0]
    return replace(run, repetitions=(replace(run.repetitions[0], raw=text),))


def of_file(folder: str, file: str) -> Run:
    return of(folder.partition("-")[0], (DATA / folder / file).read_text(), file)


@pytest.mark.parametrize(
    ("file", "metric", "first", "last"),
    [
        ("v3.33-averaged_bw.1.log", "write_bytes_per_second", (0.2, 820 * 1024), (0.8, 800 * 1024)),
        ("v3.33-averaged_iops.1.log", "write_iops", (0.2, 205), (0.8, 200)),
        ("v3.33-averaged_lat.1.log", "write_latency_mean_seconds", (0.2, 37374e-9), (1.0, 24260e-9)),
    ],
)
def test_a_log_of_fio_has_a_point_an_interval(
    file: str, metric: str, first: tuple[float, float], last: tuple[float, float]
) -> None:
    run = of_file("fio-log", file)
    (series,) = series_of(run)
    assert series.metric == metric
    assert series.points[0] == pytest.approx(first)
    assert series.points[-1] == pytest.approx(last)
    values = [value for _, value in series.points]
    assert sum(values) / len(values) == pytest.approx(run.repetitions[0].metrics[metric], rel=0.01)


def test_a_log_of_each_request_has_a_point_a_second() -> None:
    """One request of 4 KiB every 100 ms, none in the third second, until the fifth has begun."""
    times = [at for at in range(100, 4200, 100) if not 2000 <= at < 3000]
    run = of("fio", "".join(f"{at}, 900000, 0, 4096, 0\n" for at in times), "job_lat.1.log")
    assert series_of(run) == (
        Series("read_bytes_per_second", ((1.0, 9 * 4096.0), (2.0, 10 * 4096.0), (3.0, 0.0), (4.0, 10 * 4096.0))),
    )


def test_reads_and_writes_of_one_log_have_a_course_each() -> None:
    text = "".join(f"{at}, {1000 + at}, {way}, 0, 0\n" for at in (1000, 2000, 3000) for way in (0, 1))
    found = series_of(of("fio", text, "job_iops.1.log"))
    assert [series.metric for series in found] == ["read_iops", "write_iops"]


def test_a_log_of_intervals_of_pgbench() -> None:
    (series,) = series_of(of_file("pgbench-log", "aggregated-9.3-f33236247336.txt"))
    assert series == Series(RATE, ((2.0, 5601 / 2), (4.0, 7884 / 2), (6.0, 7208 / 2), (8.0, 7685 / 2)))


def test_the_logs_of_several_threads_are_added() -> None:
    lines = [f"{1650260550 + at} {count} 900 90000 1 9\n" for count in (10, 30) for at in (0, 5, 10, 15)]
    (series,) = series_of(of("pgbench", "".join(lines)))
    assert series.points == ((5.0, 8.0), (10.0, 8.0), (15.0, 8.0))


def test_a_log_of_transactions_has_a_point_a_second_also_where_none_ended() -> None:
    ends = [*[1499414498] * 4, *[1499414499] * 2, *[1499414501] * 3, 1499414502]
    lines = [f"0 {number} 8333 0 {end} 42848\n" for number, end in enumerate(ends)]
    (series,) = series_of(of("pgbench", "".join(lines)))
    assert series.points == ((1.0, 4.0), (2.0, 2.0), (3.0, 0.0), (4.0, 3.0))


def test_progress_lines_are_a_course_too() -> None:
    (series,) = series_of(of_file("pgbench", "22-v18beta3-select-only-pgbench_13x18beta.txt"))
    assert series.metric == RATE
    assert series.points[:2] == ((30.0, 31601.7), (60.0, 33688.5))


@pytest.mark.parametrize(
    ("folder", "file"),
    [
        ("fio", "11-v3.33-fdatasync-k8s-homelab.txt"),
        ("fio-log", "v3.33-each-io_clat.1.log"),  # it ends in its first second
        ("pgbench-log", "aggregated-15-f17992850369.txt"),  # two lines, of which the second may have been cut off
    ],
)
def test_what_is_no_log_or_too_short_has_no_course(folder: str, file: str) -> None:
    assert series_of(of_file(folder, file)) == ()


@pytest.mark.parametrize("seconds", [LONGEST_COURSE + 2, 999_999_999])
@pytest.mark.parametrize("tool", ["fio", "pgbench"])
def test_a_log_that_names_a_far_time_has_no_course(tool: str, seconds: int) -> None:
    """It would take memory for each second until then: 8 GB for three lines."""
    times = (1, 2, 3, seconds)
    lines = {
        "fio": [f"{at * 1000}, 900000, 0, 4096, 0\n" for at in times],
        "pgbench": [f"0 {at} 8333 0 {1_000_000_000 + at} 42848\n" for at in times],
    }
    text = "".join(lines[tool])
    assert series_of(of(tool, text, "job_lat.1.log" if tool == "fio" else "")) == ()


def test_of_each_metric_the_first_repetition_that_is_done_counts() -> None:
    bandwidth, requests = (of_file("fio-log", f"v3.33-averaged_{kind}.1.log") for kind in ("bw", "iops"))
    (one,), (other,) = bandwidth.repetitions, requests.repetitions
    failed = replace(one, outcome=Outcome.FAILED, raw=one.raw.replace("820", "1"))
    both = replace(bandwidth, repetitions=(failed, one, other, _without_text(one)))
    assert {series.metric: series.points[0][1] for series in series_of(both)} == {
        "write_bytes_per_second": 820 * 1024,
        "write_iops": 205,
    }


def _without_text(repetition: Repetition) -> Repetition:
    return replace(repetition, raw="")


def test_every_output_of_fio_and_pgbench_is_read_or_has_none() -> None:
    """No output breaks a report: what a parser reads, the search for a course gets through."""
    read = 0
    for folder in ("fio", "fio-json", "fio-log", "fio-terse", "pgbench", "pgbench-log"):
        for path in sorted((DATA / folder).iterdir()):
            if path.suffix in (".txt", ".log", ".json") and path.name != "expected.json":
                try:
                    run = of_file(folder, path.name)
                except ParseError:
                    continue
                assert all(len(series.points) >= 3 for series in series_of(run)), path.name
                read += 1
    assert read > 50
