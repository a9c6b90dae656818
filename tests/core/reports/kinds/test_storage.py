"""A comparison of storages: any sets, how sure it is, what explains poor results."""

import dataclasses
from datetime import timedelta

from core.benchmarks.model import Outcome, Run
from core.comparison.compare import compare
from core.comparison.machines import Machines
from core.comparison.model import Comparison
from core.reports.charts.time_plots import MOST_LINES
from core.reports.drawing import Drawing, Line
from core.reports.kinds.storage import StorageReport, storage_report
from core.reports.make import of_storage
from core.reports.model import Text, drawings
from core.reports.options import Options
from core.reports.parts.storage_over_time import courses, results_over_time
from core.sides import Side
from tests.core.reports.documents import repeated
from tests.core.reports.reading import answers, names, rows, titles, words


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


def test_runs_of_one_volume_are_plotted_over_time(storages: StorageReport) -> None:
    report = repeated(storages)
    made = storage_report(report, Options())
    assert titles(made)[:3] == ["Values", "Results over time", "Course of the runs"]
    first, *_ = found = [one for one in drawings(made) if one.name == "over-time"]
    assert len(found) == 3  # two of the five workloads beside each other
    values = [sum(one.metrics["write_iops"] for one in run.repetitions) / 3 for run in report.runs[:5]]
    assert [f"{value:,.0f} IOPS".replace(",", "\u202f") in first.alt for value in values] == [True] * 5
    assert sum(isinstance(mark, Line) and mark.dashed for mark in first.marks) == 2 * 4  # the second volume's, twice


def test_runs_of_which_all_values_are_zero_lie_on_the_axis(storages: StorageReport) -> None:
    def idle(run: Run) -> Run:
        none = (dataclasses.replace(one, metrics=dict.fromkeys(one.metrics, 0.0)) for one in run.repetitions)
        return dataclasses.replace(run, repetitions=tuple(none))

    section = results_over_time([idle(run) for run in repeated(storages).runs])
    lines = [
        mark
        for block in section.blocks
        if isinstance(block, Drawing)
        for mark in block.marks
        if isinstance(mark, Line) and mark.width == 1.2
    ]
    (axis,) = {mark.y1 for mark in lines} | {mark.y2 for mark in lines}
    assert axis == max(
        mark.y1
        for block in section.blocks
        if isinstance(block, Drawing)
        for mark in block.marks
        if isinstance(mark, Line) and mark.colour == "muted"
    )


def test_a_workload_that_is_repeated_on_a_volume_without_a_line_has_no_plot(storages: StorageReport) -> None:
    """Seven volumes run one workload again and again, and the last of them alone also another one."""
    once, other = storages.runs[0], storages.runs[1]
    runs = [
        dataclasses.replace(
            run,
            volume=dataclasses.replace(run.volume, server=f"db{number}"),
            started_at=run.started_at + timedelta(days=day),
        )
        for number in range(MOST_LINES + 1)
        for day in range(3)
        for run in ((once, other) if number == MOST_LINES else (once,))
    ]
    section = results_over_time(runs)
    assert [block.name for block in section.blocks if isinstance(block, Drawing)] == ["over-time"]
    told = [block.words for block in section.blocks if isinstance(block, Text)]
    assert len(told) == 3  # what a mark is, a line that is not shown, and a plot that is not


def test_runs_that_cannot_be_joined_have_no_line(storages: StorageReport) -> None:
    """Of other parameters, elsewhere, without a value, or failed: each alone is no course of time."""
    run = storages.runs[0]
    later = dataclasses.replace(run, started_at=run.started_at + timedelta(days=1))
    elsewhere = dataclasses.replace(run.volume, server="elsewhere")
    workload = dataclasses.replace(run.workload, parameters={**run.workload.parameters, "jobs": 99})
    for runs in (
        (run, dataclasses.replace(later, workload=workload)),
        (run, dataclasses.replace(later, outcome=Outcome.FAILED)),
        (run, dataclasses.replace(later, repetitions=())),
        (run, dataclasses.replace(later, volume=dataclasses.replace(run.volume, mount_point="/b"))),
        tuple(dataclasses.replace(one, volume=elsewhere) for one in (run, later)),
    ):
        assert not results_over_time(runs)
    assert results_over_time((run, later))


def test_what_a_run_has_logged_is_plotted(storages: StorageReport) -> None:
    made = storage_report(repeated(storages), Options())
    (found,) = (one for one in drawings(made) if one.name == "course")
    assert "gannon-old:/srv/pg: lowest 16.4 MB/s, mean 80.2 MB/s, highest 81.9 MB/s." in found.alt
    # 300 points become 100, and each that hides a range shows it
    assert any(isinstance(mark, Line) and mark.x1 == mark.x2 and mark.width == 0.6 for mark in found.marks)


def test_of_more_runs_than_there_are_marks_the_newest_are_shown(storages: StorageReport) -> None:
    logged = repeated(storages).runs[-1]
    days = [dataclasses.replace(logged, started_at=logged.started_at + timedelta(days=day)) for day in range(8)]
    section = courses(days)
    assert "2 further lines are not shown." in words([section])
    assert "2026-03-15" not in words([section])
    assert "2026-03-22" in words([section])


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


def test_machines_that_had_one_name_are_never_joined(storages: StorageReport) -> None:
    run = storages.runs[0]
    runs = [dataclasses.replace(run, id=day, started_at=run.started_at + timedelta(days=day)) for day in range(1, 5)]

    at = {day: run.started_at for day, run in enumerate(runs, 1)}
    began = {("gannon-old", "a"): at[1], ("gannon-old", "b"): at[3]}
    machines = Machines({1: "a", 2: "a", 3: "b", 4: "b"}, began)
    section = results_over_time(runs, machines)
    (plot,) = (block for block in section.blocks if isinstance(block, Drawing))
    joins = [mark for mark in plot.marks if isinstance(mark, Line) and mark.width == 1.2]
    assert len(joins) == 2
    assert plot.alt.count("gannon-old:/srv/pg (machine since ") == 2
    assert "gannon-old" in words([section]).splitlines()[1]  # who the machines were is said in a sentence
    assert not results_over_time(runs[1:3], machines)
    assert " since " not in words([results_over_time(runs)])


def test_a_removed_server_is_called_removed(storages: StorageReport) -> None:
    machines = Machines(removed=frozenset({"gannon-old"}))
    again = repeated(storages)
    sets = [[run for run in again.runs if run.volume.side is side] for side in Side]
    removed = dataclasses.replace(again, compared=compare(*sets, machines=machines), machines=machines)
    made = storage_report(removed, Options())
    name = "gannon-old:/srv/pg (removed)"
    assert made.subtitle == f"gannon-new:/var/lib/postgresql compared with {name}"
    assert all(f"{name}: " in row[2] for row in rows(made, "workloads"))
    assert any(name in one.alt for one in drawings(made) if one.name == "over-time")
    assert "gannon-new:/var/lib/postgresql (removed)" not in words(made.sections)
    german = of_storage(removed, Options(language="de"))
    dated = compare([removed.runs[0]], [removed.runs[1]], dated=True, machines=machines)
    over_time = storage_report(dataclasses.replace(removed, compared=dated), Options())
    assert over_time.subtitle.count(f"{name} 2026-03-") == 2
    assert "gannon-old:/srv/pg (entfernt)" in german.subtitle
