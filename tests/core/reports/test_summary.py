"""The three answers for whoever decides."""

import dataclasses

import pytest

from core.comparison.model import Verdict
from core.migration.model.checks import Status
from core.reports.model import Answer
from core.reports.report import Report
from core.reports.summary import answers
from tests.core.history import samples


def _words(report: Report) -> list[str]:
    return [one.words for one in answers(report)]


def test_page_one_answers(full: Report) -> None:
    assert _words(full) == ["In 4 of 5 workloads", "Not yet: 1 blocker and 1 unknown", "3 h 48 min"]
    storage, movable, time = answers(full)
    assert [(one.figure, one.line) for one in (storage, movable, time)] == [
        ("0.893 – 4.91 ×", "In 4 of 5 workloads"),
        ("Not yet", "1 blocker and 1 unknown"),
        ("3 h 48 min", "3 h 12 min to 4 h 54 min"),
    ]
    assert storage.details == (
        "From 0.893 × (One stream written) to 4.91 × (Sequential writes, direct).",
        "Slower in One stream written.",
        (
            "The slowest 1 % of the requests (p99 latency) are 5.19 times as fast on gannon-new:/var/lib/postgresql as "
            "on gannon-old:/srv/pg."
        ),
    )
    assert movable.details[0] == "4 of 7 checks passed; 1 warning and 1 without a result."
    assert time.details == (
        ("3 h 12 min to 4 h 54 min with a probability of 80 %. The method of the move: Copy with the cluster stopped."),
        (
            "Users are cut off for longer: the operator's decision on the cutover is not included, and the "
            "applications are stopped before the downtime and repointed after it."
        ),
    )


def test_a_plan_with_warm_passes_is_answered_for(full: Report) -> None:
    assert full.plan is not None
    steps = tuple(dataclasses.replace(step, precopy_pass=int(step.number == 1)) for step in full.plan.steps)
    report = dataclasses.replace(full, plan=dataclasses.replace(full.plan, steps=steps))
    time = answers(report)[2]
    assert (time.words, time.details[0]) == (
        "42 min",
        "24 min to 1 h 30 min with a probability of 80 %. The method of the move: Pre-copy and final sync.",
    )


def test_without_blockers_it_can_be_moved(full: Report) -> None:
    fine = tuple(check for check in samples.checks() if check.status in {Status.PASS, Status.WARNING})
    assert _words(dataclasses.replace(full, checks=fine))[1] == "Yes, no blockers"


def test_the_question_and_the_answer_on_a_finished_move_agree(shipped: Report) -> None:
    found = answers(shipped)[1]
    assert (found.question, found.words) == ("Was the cluster moved?", f"Yes, to {shipped.move.new}")
    assert len(found.details) == 1  # when it ended
    assert (found.figure, shipped.move.new in found.line) == ("Yes", True)
    assert answers(shipped)[2].figure in answers(shipped)[2].words


def _storage(report: Report, *verdicts: Verdict) -> Answer:
    assert report.comparison is not None
    found = [row for row in report.comparison.rows if row.headline]
    changed = tuple(dataclasses.replace(row, verdict=verdict) for row, verdict in zip(found, verdicts, strict=False))
    compared = dataclasses.replace(report.comparison, rows=changed)
    return answers(dataclasses.replace(report, comparison=compared))[0]


@pytest.mark.parametrize(
    ("verdicts", "answer", "tone"),
    [
        ((Verdict.NEW, Verdict.NEW), "Yes, in all 2 workloads", "good"),
        ((Verdict.NEW,), "Yes", "good"),
        ((Verdict.NEW, Verdict.NONE), "In 1 of 2 workloads", "good"),
        ((Verdict.NEW, Verdict.OLD), "In 1 of 2 workloads", "mixed"),
        ((Verdict.OLD, Verdict.NONE), "No", "bad"),
        ((Verdict.NONE, Verdict.NONE), "No difference", "mixed"),
        ((Verdict.ONE_SIDED,), "Not known", "muted"),
        ((Verdict.UNLIKE,), "Not known", "muted"),
        ((Verdict.NEW, Verdict.UNLIKE), "Yes", "good"),
    ],
)
def test_the_answer_on_storage(full: Report, verdicts: tuple[Verdict, ...], answer: str, tone: str) -> None:
    found = _storage(full, *verdicts)
    assert (found.words, found.tone.value) == (answer, tone)


def test_what_was_cached_on_one_side_is_named(full: Report) -> None:
    said = "Not compared, because cached on one side only: Random writes, buffered."
    assert _storage(full, Verdict.NEW, Verdict.UNLIKE).details[-1] == said


def test_what_is_not_known_says_what_to_do(empty: Report) -> None:
    assert _words(empty) == ["Not known"] * 3
    for one, command in zip(answers(empty), ("bench", "check", "estimate"), strict=True):
        assert f"Run pghaul {command} 'gannon to the new storage', or open" in one.details[0]
