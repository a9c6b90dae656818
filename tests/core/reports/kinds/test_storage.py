"""A comparison of storages: any sets, how sure it is, what explains poor results."""

import dataclasses

from core.comparison.compare import compare
from core.comparison.model import Comparison
from core.reports.kinds.storage import StorageReport, storage_report
from core.reports.model import drawings
from core.reports.options import Options
from tests.core.reports.reading import answers, names, rows, titles


def test_it_answers_which_is_faster_and_how_sure_that_is(storages: StorageReport) -> None:
    made = storage_report(storages, Options())
    sure = "Verdicts hold with 95 % confidence"
    assert answers(made) == ["In 4 of 5 workloads", sure, "10 runs", "Nothing was found"]
    assert made.subtitle == "gannon-new:/var/lib/postgresql compared with gannon-old:/srv/pg"
    assert rows(made, "storage")[2] == [
        *("Sequential writes, direct", "write rate", "84.3 MB/s", "414 MB/s"),
        *("4.91 ×", "4.65 to 5.19 ×", "faster"),
    ]


def test_its_plots(storages: StorageReport) -> None:
    made = storage_report(storages, Options())
    assert [one.name for one in drawings(made)] == ["ratios", "repetitions"]
    assert titles(made)[0] == "Values"
    assert "raw-values" not in names(made)
    assert "raw-values" in names(storage_report(storages, Options(raw=True)))


def test_latencies_by_percentile(storages: StorageReport) -> None:
    run = storages.runs[0]
    seconds = {"p50": 0.001, "p95": 0.002, "p99": 0.004, "p999": 0.009, "max": 0.02}
    told = {f"write_latency_{part}_seconds": value for part, value in seconds.items()}
    repetitions = tuple(dataclasses.replace(one, metrics={**one.metrics, **told}) for one in run.repetitions)
    timed = dataclasses.replace(run, repetitions=repetitions)
    report = dataclasses.replace(storages, compared=compare([timed], [timed]), runs=(timed,))
    found = next(one for one in drawings(storage_report(report, Options())) if one.name == "latency")
    assert "p99: gannon-old:/srv/pg 4.00 ms" in found.alt


def test_three_sets(storages: StorageReport) -> None:
    old, new = storages.runs[:5], storages.runs[5:]
    made = storage_report(dataclasses.replace(storages, compared=compare(old, new, old)), Options())
    assert "1 more set" in answers(made)
    assert made.answers[1].details == ("gannon-old:/srv/pg: faster in 0, slower in 0 of 5 workloads.",)


def test_no_runs_at_all(storages: StorageReport) -> None:
    nothing = StorageReport(Comparison("a", "b", ()), (), storages.made_at, "1")
    made = storage_report(nothing, Options())
    assert answers(made) == ["Not known", "Not known", "Nothing", "Not known: no facts of these servers"]


def test_a_version_alone_is_said_with_its_tool(storages: StorageReport) -> None:
    runs = tuple(dataclasses.replace(run, tool_version="3.33") for run in storages.runs if run.workload.tool == "fio")
    made = storage_report(dataclasses.replace(storages, runs=runs), Options())
    assert made.answers[2].details[0].endswith(", with fio 3.33.")
    assert all(row[2].startswith("gannon-old:/srv/pg: fio 3.33, ") for row in rows(made, "workloads"))
