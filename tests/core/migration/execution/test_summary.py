"""What an execution's rows tell: the time without the cluster, its passes, what was compared, where it broke off."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.migration.execution import summary
from core.migration.execution.summary import PassMade
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import Plan, Step

START = datetime(2026, 3, 14, 23, 0, tzinfo=UTC)


def step(number: int, title: str, side: str = "old", **more: object) -> Step:
    made = Step(number, title, side, side, "postgres", "" if side == "you" else "true", "why", 10.0, "")
    return replace(made, **more)  # type: ignore[arg-type]  # fields of a step, by name


STEPS = (
    step(1, "prove the target", "new"),
    step(2, "warm pass 1 of 2: /data", warm_pass=1),
    step(3, "warm pass 1 of 2: /space", warm_pass=1),
    step(4, "warm pass 2 of 2: /data", warm_pass=2),
    step(5, "warm pass 2 of 2: /space", warm_pass=2),
    step(6, "stop the applications", "you", name="stop-applications", stopped=True, expected_seconds=None),
    step(7, "stop old", name="stop", stopped=True),
    step(8, "prove the stop", name="stopped", stopped=True),
    step(9, "keep old from starting", name="fence", stopped=True),
    step(10, "final pass: /data", stopped=True),
    step(11, "prove that old stayed stopped", stopped=True, agrees_with=8),
    step(12, "flush", "new", stopped=True),
    step(13, "sum up old's files", name="sums", stopped=True, beside=True),
    step(14, "compare new's files", "new", stopped=True, beside=True, agrees_with=13),
    step(15, "take the key off new", "new", stopped=True, closes=True),
    step(16, "start new", "new", name="start-new", stopped=True),
    step(17, "decide", "you", stopped=True, expected_seconds=None),
    step(18, "open new", "new", stopped=True, point_of_no_return=True),
    step(19, "lead the applications to new", "you", expected_seconds=None),
)
PLAN = Plan("m", "rsync", "", STEPS, START, way_back=(step(1, "start old"), step(2, "prove that old runs")))


def run(number: int, began: float, seconds: float | None, *, status: int | None = 0, **more: object) -> StepRun:
    """A try at a step: seconds after the start, and how long it took; None: nobody saw its end."""
    at = START + timedelta(seconds=began)
    ended = None if seconds is None else at + timedelta(seconds=seconds)
    back = bool(more.get("back"))
    title = (PLAN.way_back if back else STEPS)[number - 1].title
    made = StepRun(int(began), number, title, 1, at, ended, status if seconds is not None else None)
    return replace(made, **more)  # type: ignore[arg-type]  # fields of a try, by name


def execution(*steps: StepRun, kind: Kind = Kind.REAL, state: State = State.DONE) -> Execution:
    return Execution(1, "m", kind, state, "t", "dba@desk", START, START + timedelta(hours=1), PLAN, steps)


STOPPED = (run(6, 90, 10), run(7, 100, 5), run(8, 105, 1), run(9, 106, 0))
OPENED = (run(17, 140, 30), run(18, 170, 4))
NOW = START + timedelta(seconds=1000)


def test_the_time_without_the_cluster_and_its_parts() -> None:
    found = summary.downtime(execution(*STOPPED, run(10, 106, 20, bytes=7), *OPENED), NOW)
    assert found is not None
    assert (found.began_at, found.ended_at) == (START + timedelta(seconds=100), START + timedelta(seconds=174))
    assert (found.seconds, found.people_seconds, found.idle_seconds, found.command_seconds) == (74, 30, 14, 30)
    assert found.expected_seconds == 110  # the eleven commands from the stop to the opening


def test_what_runs_side_by_side_is_counted_once() -> None:
    beside = (run(13, 110, 20), run(14, 112, 12), run(12, 110, 3))
    found = summary.downtime(execution(*STOPPED, *beside, *OPENED), NOW)
    assert found is not None
    assert found.command_seconds == 6 + 20 + 4


def test_while_old_is_stopped_it_goes_on() -> None:
    found = summary.downtime(execution(*STOPPED, state=State.STOPPED), NOW)
    assert found is not None
    assert (found.ended_at, found.seconds) == (None, 900)


def test_the_way_back_ends_it() -> None:
    back = (run(1, 200, 9, back=True), run(2, 209, 1, back=True))
    found = summary.downtime(execution(*STOPPED, *back, state=State.ROLLED_BACK), NOW)
    assert found is not None
    assert (found.seconds, found.idle_seconds) == (110, 94)


@pytest.mark.parametrize(
    "none",
    [
        execution(run(1, 0, 1), run(2, 1, 60, bytes=9)),
        execution(*STOPPED, kind=Kind.REHEARSAL),
        execution(),
    ],
)
def test_old_that_was_not_stopped_was_never_missed(none: Execution) -> None:
    assert summary.downtime(none, NOW) is None


def test_passes_over_all_places() -> None:
    found = summary.passes(
        execution(
            run(2, 0, 60, status=1, message="the cable was cut"),
            run(2, 100, 60, bytes=600, attempt=2, void=True),
            run(3, 160, 40, bytes=400),
            run(4, 200, 5, bytes=50),
            run(5, 205, 5, bytes=0),
            run(4, 210, 2, bytes=2, attempt=2),
            run(5, 212, 1, bytes=0, attempt=2),
            run(10, 300, 4, bytes=0),
        )
    )
    assert [(made.title, made.seconds, made.bytes, made.bytes_per_second) for made in found] == [
        ("warm pass 1 of 2", 100, 1000, 10.0),
        ("warm pass 2 of 2", 10, 50, 5.0),
        ("warm pass 2 of 2", 3, 2, pytest.approx(2 / 3)),
        ("final pass", 4, 0, None),
    ]


def test_a_pass_that_was_left_out_says_why() -> None:
    why = "it would shorten the stop by 0.5 s alone"
    left = (run(4, 10, 0, message=why), run(5, 10, 0, message=why))
    assert summary.passes(execution(*left)) == (PassMade("warm pass 2 of 2", START + timedelta(seconds=10), 0, 0, why),)


def test_what_agrees_and_what_does_not() -> None:
    same = execution(*STOPPED, run(11, 130, 1), run(13, 131, 5), run(14, 131, 6, output="data\nsum"))
    stayed, files = summary.agreements(same)
    assert (stayed.agreed, stayed.other.title) == (True, "prove the stop")
    assert (files.agreed, files.output) == (True, "data\nsum")
    assert summary.proven(same)
    other = execution(*STOPPED, run(11, 130, 1, void=True), run(14, 131, 6, status=1, message="they differ"))
    assert [each.agreed for each in summary.agreements(other)] == [None, False]
    assert not summary.proven(other)
    assert [each.agreed for each in summary.agreements(execution())] == [None, None]


def test_breaks_and_when_it_went_on() -> None:
    found = summary.breaks(
        execution(
            run(1, 0, 1),
            run(2, 1, 9, status=255, message="ssh broke"),
            run(2, 500, 60, attempt=2),
            run(13, 600, 5, status=1, message="no space"),
            run(14, 600, 4, status=1, message="no space either"),
            run(13, 700, None, attempt=2),
            state=State.INTERRUPTED,
        )
    )
    assert [(each.title, each.why, each.resumed_at) for each in found] == [
        ("warm pass 1 of 2: /data", "ssh broke", START + timedelta(seconds=500)),
        ("sum up old's files", "no space", START + timedelta(seconds=700)),
        ("sum up old's files", "its end was not seen", None),
    ]


def test_a_step_under_way_is_no_break() -> None:
    assert summary.breaks(execution(run(2, 0, None), state=State.RUNNING)) == ()


def test_each_step_has_its_stage() -> None:
    found = summary.stages(execution())
    assert [found[number] for number in (1, 2, 5, 6, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19)] == [
        "Preparation", "Warm passes", "Warm passes", "Stop", "Stop", "Final pass", "Final pass", "Verification",
        "Verification", "The copy's key is taken away", "First start of new", "First start of new", "Opening",
        "Opening",
    ]  # fmt: skip


def test_a_plan_without_names_has_stages_too() -> None:
    plain = replace(PLAN, steps=(step(1, "look"), step(2, "stop it", stopped=True), step(3, "copy", stopped=True)))
    assert summary.stages(replace(execution(), plan=plain)) == {1: "Preparation", 2: "Stop", 3: "Stop"}
