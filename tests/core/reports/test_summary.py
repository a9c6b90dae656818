"""The three answers for whoever decides."""

import dataclasses

import pytest

from core.comparison.model import Verdict
from core.migration.model import step_ids
from core.migration.model.asked import NOTHING, Asked, window_of
from core.migration.model.checks import Status
from core.migration.model.estimate import Fit, Span
from core.reports.model import Answer
from core.reports.report import Report
from core.reports.summary import answers, fits
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
            "Users cannot work for longer: from the stop of the applications until they are repointed. The time for "
            "these manual steps, and for the decision on the cutover, is not estimated."
        ),
    )


@pytest.mark.parametrize(
    ("ratios", "shown"),
    [
        ((1.01, 1.11), "take about as long on both: 1.01 to 1.11 times as fast (p99 latency)."),
        ((0.84, 1.19), "take about as long on both: 0.84 to 1.19 times as fast (p99 latency)."),
        ((1.01, 1.21), "(p99 latency) are 1.01 to 1.21 times as fast on "),
        ((0.82, 1.0), "(p99 latency) are 0.82 to 1 times as fast on "),
    ],
)
def test_the_slowest_requests_are_as_slow_as_before_or_their_ratios_are_told(
    full: Report, ratios: tuple[float, float], shown: str
) -> None:
    assert full.comparison is not None
    tails = [row for row in full.comparison.rows if row.metric.endswith("_latency_p99_seconds")]
    others = tuple(row for row in full.comparison.rows if row not in tails)
    made = tuple(dataclasses.replace(tails[0], ratio=ratio) for ratio in ratios)
    found = answers(dataclasses.replace(full, comparison=dataclasses.replace(full.comparison, rows=(*others, *made))))
    assert shown in found[0].details[-1]


def test_the_steps_between_which_users_cannot_work_are_named(full: Report) -> None:
    assert full.plan is not None
    first, *between, last = full.plan.steps
    steps = (
        dataclasses.replace(first, id=step_ids.STOP_APPLICATIONS),
        *between,
        dataclasses.replace(last, id=step_ids.REPOINT_APPLICATIONS),
    )
    time = answers(dataclasses.replace(full, plan=dataclasses.replace(full.plan, steps=steps)))[2]
    named = f"from the stop of the applications (step {first.number}) until they are repointed (step {last.number})."
    assert named in time.details[1]


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


def asked_of(report: Report, asked: Asked, likelihood: float, must_hold: str = "") -> Report:
    """The report of a move whose estimate has answered that."""
    assert report.estimate is not None
    made = tuple(
        Fit(each.method, likelihood, 1200.0, must_hold, 7200.0, each.downtime_seconds, Span(5.0, 10.0, 20.0))
        for each in report.estimate.methods
    )
    return dataclasses.replace(report, estimate=dataclasses.replace(report.estimate, asked=asked, fits=made))


NIGHT = window_of("22:00-02:00")


@pytest.mark.parametrize(
    ("likelihood", "words", "tone"),
    [
        (1.0, "Yes", "good"),
        (0.9, "Yes", "good"),
        (0.89, "Probably", "mixed"),
        (0.5, "Probably", "mixed"),
        (0.49, "Probably not", "bad"),
        (0.09, "No", "bad"),
        (0.0, "No", "bad"),
    ],
)
def test_whether_a_move_fits_is_said_by_its_likelihood(full: Report, likelihood: float, words: str, tone: str) -> None:
    (answer,) = fits(asked_of(full, Asked(NIGHT), likelihood))
    assert (answer.words, answer.figure, answer.tone.value) == (words, words, tone)
    assert answer.line == f"22:00 to 02:00: likelihood {likelihood * 100:.0f} %"


def test_the_window_and_the_downtime_are_said_with_what_is_needed(full: Report) -> None:
    rate = "the copy must reach 100 MB/s; it is expected to reach 50.0 MB/s"
    (answer,) = fits(asked_of(full, Asked(NIGHT, 3600.0), 0.75, rate))
    assert answer.question == "Does the move fit into the window?"
    assert answer.line == "22:00 to 02:00, at most 1 h: likelihood 75 %"
    assert answer.details == (
        (
            "Window: 22:00 to 02:00, by the clock of gannon-old. Longest acceptable downtime: 1 h. With a likelihood "
            "of 75 %, the downtime and a rollback after it take at most 1 h together."
        ),
        "Stop the old cluster at least 20 min before the end of the window, to leave time for a rollback.",
        f"For a likelihood of 90 %: {rate}.",
    )
    (answer,) = fits(asked_of(full, Asked(downtime_seconds=600.0), 1.0))
    assert answer.question == "Is the downtime short enough?"
    assert answer.details == ("The downtime is at most 10 min with a likelihood of 100 %.",)


def test_what_was_not_asked_or_is_over_is_not_answered(full: Report, shipped: Report) -> None:
    assert fits(full) == fits(shipped) == ()
    assert fits(asked_of(full, NOTHING, 0.0)) == ()
    assert fits(asked_of(shipped, Asked(NIGHT), 1.0)) == ()
    assert fits(dataclasses.replace(full, estimate=None)) == ()
