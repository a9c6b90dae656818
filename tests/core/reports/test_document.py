"""What the template is given: answers, charts between 0 and 1, sentences for what is missing, no long word whole."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.comparison.model import Finding, LeftOut, Row, Verdict
from core.facts.model import Gap
from core.migration.execution.record import Held
from core.migration.model.checks import Status, Waiver
from core.migration.model.estimate import Estimate, Method, Span, Stage
from core.migration.model.execution import Kind
from core.reports.document import LONGEST_COMMAND, document
from core.reports.pdf import render
from core.reports.report import Report, build
from core.reports.words import about, listed, time_axis
from tests.core.history import samples
from tests.histories import Histories


def _answers(report: Report) -> list[str]:
    return [answer["answer"] for answer in document(report)["summary"]["answers"]]


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, float) and key in {"at", "low", "likely", "high", "value"}:
                yield item
            else:
                yield from _numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def test_page_one_answers(full: Report) -> None:
    assert _answers(full) == ["In 4 of 5 workloads", "Not yet: 1 blocker and 1 unknown", "3 h 48 min"]
    storage, movable, time = document(full)["summary"]["answers"]
    assert storage["details"] == [
        "From 0.893 × (One stream written) to 4.91 × (Sequential writes, direct) of the old.",
        "Slower in One stream written.",
    ]
    assert movable["details"][0] == "1 warning, 4 checks passed of 7."
    assert time["details"] == [
        "Cold copy: 3 h 12 min to 4 h 54 min.",
        "Dump & restore: 24 h (16 h to 41 h).",
        "With warm passes before the stop: 42 min (24 min to 1 h 30 min).",
    ]


def test_a_plan_with_warm_passes_is_answered_for(full: Report) -> None:
    assert full.plan is not None
    steps = tuple(dataclasses.replace(step, warm_pass=int(step.number == 1)) for step in full.plan.steps)
    report = dataclasses.replace(full, plan=dataclasses.replace(full.plan, steps=steps))
    time = document(report)["summary"]["answers"][2]
    assert (time["answer"], time["details"][0]) == ("42 min", "Warm copy: 24 min to 1 h 30 min.")
    assert time["details"][-1] == "Without warm passes before the stop: 3 h 48 min (3 h 12 min to 4 h 54 min)."


def test_without_blockers_it_can_be_moved(full: Report) -> None:
    fine = tuple(check for check in samples.checks() if check.status in {Status.PASS, Status.WARNING})
    report = dataclasses.replace(full, checks=fine)
    assert _answers(report)[1] == "Yes, no blockers"
    assert document(report)["summary"]["stops"] == []


def _with(report: Report, *verdicts: Verdict) -> Report:
    assert report.comparison is not None
    rows = [row for row in report.comparison.rows if row.headline]
    changed = tuple(dataclasses.replace(row, verdict=verdict) for row, verdict in zip(rows, verdicts, strict=False))
    return dataclasses.replace(report, comparison=dataclasses.replace(report.comparison, rows=changed))


@pytest.mark.parametrize(
    ("verdicts", "answer", "tone"),
    [
        ((Verdict.NEW, Verdict.NEW), "Yes, in all 2 workloads", "good"),
        ((Verdict.NEW,), "Yes", "good"),
        ((Verdict.NEW, Verdict.NONE), "In 1 of 2 workloads", "good"),
        ((Verdict.NEW, Verdict.OLD), "In 1 of 2 workloads", "mixed"),
        ((Verdict.OLD, Verdict.NONE), "No", "bad"),
        ((Verdict.NONE, Verdict.NONE), "No difference", "mixed"),
        ((Verdict.ONE_SIDED,), "Not known", "unknown"),
        ((Verdict.UNLIKE,), "Not known", "unknown"),
        ((Verdict.NEW, Verdict.UNLIKE), "Yes", "good"),
    ],
)
def test_the_answer_on_storage(full: Report, verdicts: tuple[Verdict, ...], answer: str, tone: str) -> None:
    found = document(_with(full, *verdicts))["summary"]["answers"][0]
    assert (found["answer"], found["tone"]) == (answer, tone)


def test_what_was_cached_on_one_side_is_named(full: Report) -> None:
    storage = document(_with(full, Verdict.NEW, Verdict.UNLIKE))["summary"]["answers"][0]
    assert storage["details"][-1] == "Not compared, because cached on one side only: Random writes, buffered."


def test_every_empty_section_says_what_to_do(empty: Report) -> None:
    found = document(empty)
    assert _answers(empty) == ["Not known"] * 3
    for text, command in (
        (found["storage"]["missing"], "bench"),
        (found["checks"]["missing"], "check"),
        (found["durations"]["missing"], "estimate"),
        (found["durations"]["probes_missing"], "probe"),
        (found["plan"]["missing"], "plan"),
    ):
        assert f"Run pghaul {command} 'gannon to the new storage', or open" in text
    assert found["servers"]["missing"][0].startswith(
        "No facts of gannon-old were read yet. Run pghaul facts gannon-old"
    )
    assert found["summary"]["durations"] is None


def test_charts_stay_within_their_scale(full: Report) -> None:
    numbers = list(_numbers(document(full)))
    assert len(numbers) > 60
    assert all(0 <= number <= 1 for number in numbers)
    bars = {bar["title"]: bar for bar in document(full)["storage"]["bars"]}
    reads = bars["One stream read"]
    assert reads["new"]["high"] == 1
    assert reads["old"]["value"] == pytest.approx(512e6 * (1 + 0.013 / 3) / (1.31e9 * 1.034))
    assert (reads["old"]["text"], reads["new"]["text"], reads["ratio"]) == ("514 MB/s", "1.32 GB/s", "2.56 ×")


def test_a_side_that_was_not_measured_has_no_bar(full: Report) -> None:
    assert full.comparison is not None
    first: Row = dataclasses.replace(full.comparison.rows[0], new=None, ratio=None, verdict=Verdict.ONE_SIDED)
    report = dataclasses.replace(full, comparison=dataclasses.replace(full.comparison, rows=(first,)))
    bar = document(report)["storage"]["bars"][0]
    assert bar["new"] == {"measured": False, "text": "not measured"}
    assert bar["old"]["high"] == 1
    assert bar["ratio"] == "–"


def test_a_chart_says_the_same_in_words(full: Report) -> None:
    found = document(full)
    assert "One stream read: old 514 MB/s, new 1.32 GB/s." in found["storage"]["alt"]
    assert "Warm copy: 42 min (24 min to 1 h 30 min) without the cluster" in found["summary"]["durations"]["alt"]
    assert "copy: 3 h 40 min (3 h 06 min to 4 h 42 min), bound by wire." in found["durations"]["methods"][0]["alt"]


def test_an_estimate_of_no_time_can_be_drawn(full: Report) -> None:
    nothing = Span(0, 0, 0)
    estimate = Estimate((Method("cold-copy", nothing, nothing, (Stage("copy", nothing, "files"),)),))
    found = document(dataclasses.replace(full, estimate=estimate))
    assert found["summary"]["durations"]["axis"] == [{"at": 0.0, "label": "0"}]
    assert set(_numbers(found["durations"])) == {0.0}


def test_long_words_can_break_and_lose_nothing(full: Report) -> None:
    path = "/srv/" + "w" * 300 + "/數據/a b"
    found = document(dataclasses.replace(full, move=dataclasses.replace(full.move, target=path)))
    cell = found["servers"]["cluster"]["places"]["rows"][0][2]
    assert "".join(cell["pieces"]) == path
    assert max(len(word) for text in _texts(found) for word in text.split()) <= 16


def test_a_long_command_is_cut_and_says_so(full: Report) -> None:
    run = full.runs[0]
    long = dataclasses.replace(run.repetitions[0], command="x " * LONGEST_COMMAND)
    ran = dataclasses.replace(run, repetitions=(long,))
    text = document(dataclasses.replace(full, runs=(ran,)))["outputs"][0]["command"]
    assert text.endswith(f"… (1\u00a0600 characters in all: pghaul history run {run.id})")


def test_what_both_sides_ran_alike_is_one_row(full: Report) -> None:
    rows = document(full)["workloads"]["rows"]
    assert len(rows) == len(samples.WORKLOADS)
    assert rows[0][2:] == ["fio-3.33, 3 repetitions", "fio-3.33, 3 repetitions"]


@pytest.mark.parametrize(
    ("most", "labels"),
    [
        (41 * 3600, ["0", "12 h", "24 h", "36 h"]),
        (3600, ["0", "10 min", "20 min", "30 min", "40 min", "50 min", "60 min"]),
        (9, ["0", "2 s", "4 s", "6 s", "8 s"]),
        (0.5, ["0"]),
        (10 * 86400, ["0", "2 d", "4 d", "6 d", "8 d", "10 d"]),
    ],
)
def test_an_axis_has_round_marks(most: float, labels: list[str]) -> None:
    axis = time_axis(most)
    assert [mark["label"] for mark in axis] == labels


def test_an_axis_of_years_has_few_marks() -> None:
    assert len(time_axis(20 * 365 * 86400)) == 7


def test_words() -> None:
    assert [about(seconds) for seconds in (0.4, 45, 599, 2520, 86400, 13680)] == [
        "0.4 s", "45 s", "9 min 59 s", "42 min", "24 h", "3 h 48 min",
    ]  # fmt: skip
    assert [listed(words) for words in ([], ["a"], ["a", "b"], "abcde")] == ["", "a", "a and b", "a, b, c and 2 more"]


def _measured_badly(report: Report) -> Report:
    """One value of old was left out, old was disturbed, and one repetition is all that new has."""
    assert report.comparison is not None
    row, *others = report.comparison.rows
    assert row.old is not None
    old = dataclasses.replace(row.old, left_out=(LeftOut(3170.57, "outlier"),), disturbed=True, from_memory=True)
    rows = (dataclasses.replace(row, old=old, note="one value on a side cannot show the noise"), *others)
    return dataclasses.replace(report, comparison=dataclasses.replace(report.comparison, rows=rows))


def test_what_does_not_count_is_said(full: Report) -> None:
    storage = document(_measured_badly(full))["storage"]
    assert storage["table"]["rows"][0][2] == "7\xa0149 (disturbed, from memory, 1 left out)"
    said = " ".join(_texts(storage["notes"]))
    assert "The interval is where the ratio lies with 95 % confidence" in said
    assert "Random writes, direct: one value on a side cannot show the noise." in said
    assert "Left out of Random writes, direct on gannon-old: 3\xa0171 (outlier)." in said
    assert "too few repetitions were undisturbed: Random writes, direct." in said
    plain = " ".join(_texts(document(full)["storage"]["notes"]))
    assert not any(word in plain for word in ("Left out", "undisturbed", "from memory", "one value"))


def test_a_diagnosis_with_its_evidence(full: Report) -> None:
    finding = Finding("access-times", "reads that write", ("/srv is mounted with rw",), ("mount it with noatime",))
    found = dataclasses.replace(full.diagnoses[0], findings=(finding,))
    report = dataclasses.replace(full, diagnoses=(found, *full.diagnoses[1:]))
    first, second = document(report)["storage"]["diagnoses"]
    assert first["findings"] == [
        {"title": "Reads that write", "evidence": ["/srv is mounted with rw"], "advice": ["mount it with noatime"]}
    ]
    assert "11 figures" in first["looked"]
    assert second["findings"] == []


def test_an_empty_target_is_no_gap(full: Report) -> None:
    assert full.new_facts is not None
    gaps = (
        Gap("identity", f"version of {full.move.target}", "it is empty", full.move.target, absent=True),
        Gap("identity", "version of /elsewhere", "it is empty", "/elsewhere", absent=True),
        Gap("settings", f"settings of {full.move.target}", "permission denied", full.move.target),
    )
    shown = document(dataclasses.replace(full, new_facts=dataclasses.replace(full.new_facts, gaps=gaps)))
    of_new = [text for text in map(_joined, shown["servers"]["gaps"]) if text.startswith("gannon-new")]
    assert len(of_new) == 2
    assert not any(full.move.target in text and "empty" in text for text in of_new)


def _joined(value: Any) -> str:
    return value if isinstance(value, str) else "".join(value["pieces"])


def test_a_waived_warning_says_who_waived_it_and_why(full: Report) -> None:
    waiver = Waiver("x", "only C collations", "dba@desk", samples.START, Status.WARNING, "a", "b")
    checks = tuple(
        dataclasses.replace(check, waiver=waiver if check.status is Status.WARNING else None)
        for check in full.checks or ()
    )
    results = document(dataclasses.replace(full, checks=checks))["checks"]["results"]
    said = [result["waived"] for result in results]
    assert sum(bool(text) for text in said) == 1
    assert next(text for text in said if text).startswith("Waived by dba@desk on 14 March 2026")
    assert next(text for text in said if text).endswith(": only C collations")


def test_every_volume_side_by_side(histories: Histories, tmp_path: Path) -> None:
    with histories.open(tmp_path, samples.fill) as store:
        run = next(run for run in store.runs(samples.MOVE.name) if run.workload.title == "Random writes, direct")
        elsewhere = dataclasses.replace(run.volume, mount_point="/mnt/a", folder="/mnt/a/x")
        store.run_started(dataclasses.replace(run, volume=elsewhere, id=None))
        report = build(store, samples.MOVE.name)
    volumes = document(report)["storage"]["volumes"]
    assert [_joined(cell) for cell in volumes["head"]] == [
        *("Workload", "Metric", "gannon-old:/srv/pg", "gannon-old:/mnt/a", "gannon-new:/var/lib/postgresql")
    ]
    row = next(row for row in volumes["rows"] if row[0] == "Random writes, direct")
    assert row[2:] == ["7\xa0149", "7\xa0149: 1.00 ×, no difference", "18\xa0279: 2.56 ×, faster"]
    assert render(report).startswith(b"%PDF")


def test_two_volumes_need_no_further_table(full: Report) -> None:
    assert document(full)["storage"]["volumes"] is None


def test_estimates_say_where_their_figures_come_from_and_are_held_against_the_clock(full: Report) -> None:
    assert full.estimate is not None
    stage = Stage("copy", Span(1, 2, 3), "wire", "timed 2 times in this move")
    method = Method("cold-copy", Span(1, 2, 3), Span(1, 2, 3), (stage,), ruled_out="another major version")
    rows = tuple(
        Held(7, "spring", Kind.REAL, full.made_at, name, Span(1, 2, 3), seconds)
        for name, seconds in (("copy", 2), ("downtime", 8))
    )
    found = document(dataclasses.replace(full, estimate=Estimate((method,)), record=rows))["durations"]
    assert found["methods"][0]["evidence"] == "copy: timed 2 times in this move"
    assert found["methods"][0]["ruled_out"] == "another major version"
    assert [row[4] for row in found["record"]["rows"]] == ["1.00 ×", "4.00 × (outside)"]
    assert found["record_sum"].startswith("1 of 2 lie between low and high; they took 2.00 ×")
    assert document(dataclasses.replace(full, record=()))["durations"]["record_sum"] == ""
