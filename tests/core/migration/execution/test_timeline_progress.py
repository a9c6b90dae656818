"""How far an execution is, from its rows at a moment."""

import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.migration.execution.timeline import (
    Awaited,
    Wait,
    current_rate,
    describe_position,
    describe_progress,
    make_progress_event,
    status_of,
)
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import OperatorTask, Step
from core.migration.model.schedule import Schedule, shown
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution
from tests.steps import change_step

FIGURES = re.compile(r"[\d.]+ of [\d.]+|[\d.]+ MiB of [\d.]+ MiB|[\d.]+ MB/s|(?:\d+ min )?[\d.]+ s\b")
COPY = change_step(
    STEP,
    title="warm pass 1",
    id=step_ids.of_part(step_ids.PRE_COPY, 1, "data"),
    expected_seconds=100.0,
    in_rehearsal=True,
)
STOPPING = change_step(STEP, title="stop old", id=step_ids.STOP_OLD_CLUSTER, downtime=True, expected_seconds=5.0)
PEOPLE = change_step(STEP, title="decide", action=OperatorTask(), expected_seconds=None)
OPENING = change_step(STEP, title="open new", id=step_ids.CUTOVER, expected_seconds=2.0)


PLANNED = (COPY, STOPPING, PEOPLE, OPENING)


def made(*runs: StepRun, steps: tuple[Step, ...] = PLANNED, kind: Kind = Kind.REAL) -> Execution:
    return replace(execution(*steps, kind=kind), steps=runs)


def run(
    number: int, began: float, ended: float | None = None, through: int | None = None, of: int | None = None
) -> StepRun:
    begun = StepRun(number, number, "", 1, NOW + timedelta(seconds=began), bytes=through, total=of)
    return begun if ended is None else replace(begun, ended_at=NOW + timedelta(seconds=ended), exit_status=0)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_before_a_pace_shows_the_plans_expectation_counts() -> None:
    found = status_of(made(run(1, 0)), after(30))
    assert (found.position, found.steps, found.stopped_seconds) == (1, 4, None)
    assert found.left_seconds == 70 + 5 + 2
    assert FIGURES.findall(describe_position(found)) == ["1 of 4", "1 min 20 s"]


def test_the_pace_of_the_pass_overrules_the_plan() -> None:
    found = status_of(made(run(1, 0, through=100_000_000, of=400_000_000)), after(10))
    assert found.left_seconds == pytest.approx(30 + 5 + 2)
    event = make_progress_event(replace(made(run(1, 0, through=100_000_000, of=400_000_000)), id=7), after(10))
    assert (event.execution, make_progress_event(replace(made(), id=8), after(10)).execution) == (7, 8)
    assert (event.id, event.done, event.total, event.unit) == (COPY.id, 100_000_000, 400_000_000, "bytes")
    assert FIGURES.findall(event.whole) == ["1 of 4", "37 s"]


@pytest.mark.parametrize(("seconds", "told"), [(2.0, []), (80.0, ["1 min 20 s"])])
def test_while_a_command_to_come_may_take_any_time_only_the_least_is_told(seconds: float, told: list[str]) -> None:
    """Such as the start of the copy in a dress rehearsal."""
    known = made(run(1, 0, 60))
    expected = {2: seconds, 4: None}
    steps = tuple(
        change_step(step, expected_seconds=expected[step.number]) if step.number in expected else step
        for step in known.plan.steps
    )
    found = status_of(replace(known, plan=replace(known.plan, steps=steps)), after(65))
    assert (found.left_is_least, found.left_seconds) == (True, seconds)
    assert FIGURES.findall(describe_position(found)) == ["2 of 4", *told]
    assert ("at least" in describe_position(found)) is bool(told)
    assert not status_of(known, after(65)).left_is_least


def test_from_the_stop_on_its_time_is_told_until_new_is_open() -> None:
    stopped = made(run(1, 0, 60), run(2, 70, 73), run(3, 80))
    assert FIGURES.findall(describe_position(status_of(stopped, after(100)))) == ["3 of 4", "30 s", "2 s"]
    opened = made(run(1, 0, 60), run(2, 70, 73), run(3, 80, 90), run(4, 90, 92))
    assert status_of(opened, after(100)).stopped_seconds is None


def test_a_pass_once_more_before_the_stop_is_told() -> None:
    warm = change_step(COPY, precopy_pass=1)
    first = made(run(1, 0), steps=(warm, COPY, OPENING))
    again = made(run(1, 0, 60), run(2, 60, 61), run(1, 90), steps=(warm, COPY, OPENING))
    assert [status_of(one, after(100)).extra_pass for one in (first, again)] == [False, True]
    position = describe_position(status_of(again, after(100)))
    assert position != describe_position(replace(status_of(again, after(100)), extra_pass=False))
    assert FIGURES.findall(position)[0] == "1 of 3"


def test_the_time_for_which_it_waits_is_told_in_place_of_what_is_left() -> None:
    at = after(3600)
    to_start = replace(made(), schedule=Schedule(at, None))
    found = status_of(to_start, after(0))
    assert found.waits == Wait(at, 3600.0, Awaited.START)
    assert describe_position(found).endswith(f"starts at {shown(at)} (in 1 h 00 min)")
    assert make_progress_event(to_start, after(0)).title == "waiting for the scheduled time"
    assert status_of(to_start, at).waits is None
    assert status_of(replace(to_start, state=State.CANCELLED), after(0)).waits is None


def test_the_question_is_waited_for_between_the_copy_and_the_stop_alone() -> None:
    at = after(3600)
    steps = (COPY, change_step(COPY, downtime=True), OPENING)
    copied, copying, stopping = (
        replace(made(*runs, steps=steps), schedule=Schedule(None, at))
        for runs in ((run(1, 0, 60),), (run(1, 0),), (run(1, 0, 60), run(2, 61)))
    )
    assert status_of(copied, after(600)).waits == Wait(at, 3000.0, Awaited.QUESTION)
    assert describe_position(status_of(copied, after(600))).endswith(f"at {shown(at)} (in 50 min 00 s)")
    assert status_of(copying, after(600)).waits is None
    assert status_of(stopping, after(600)).waits is None
    assert status_of(replace(copied, kind=Kind.REHEARSAL), after(600)).waits is None


def test_side_by_side_their_bytes_add_up() -> None:
    beside = made(run(1, 0, through=3, of=30), run(2, 0, through=4, of=40), steps=(COPY, COPY, OPENING))
    event = make_progress_event(beside, after(1))
    assert (event.done, event.total) == (7, 70)
    assert event.id == f"{COPY.id}+{COPY.id}"
    assert (
        make_progress_event(made(run(1, 0, through=3), run(2, 0, through=4, of=40), steps=(COPY, COPY)), after(1)).total
        is None
    )


def test_where_a_step_tells_no_bytes_the_steps_are_counted() -> None:
    event = make_progress_event(made(run(1, 0, 60), run(2, 70)), after(72))
    assert (event.done, event.total, event.unit) == (1, 4, "steps")
    assert make_progress_event(made(), after(0)).id == ""


def test_a_rehearsal_counts_the_steps_that_it_takes() -> None:
    found = status_of(made(run(1, 0), kind=Kind.REHEARSAL), after(1))
    assert (found.position, found.steps) == (1, 1)


def test_who_looks_from_outside_sees_what_runs() -> None:
    running = made(run(1, 0, through=100_000_000, of=400_000_000))
    of_all, of_one = describe_progress(running, after(10))
    assert FIGURES.findall(of_all) == ["1 of 4", "37 s"]
    assert of_one.startswith("warm pass 1, ")
    assert FIGURES.findall(of_one.partition(", ")[2]) == ["10 s", "95.4 MiB of 381.5 MiB", "10.0 MB/s"]
    _, of_one = describe_progress(made(run(1, 0, 60), run(2, 70)), after(72))
    assert of_one.startswith("stop old, ")
    assert FIGURES.findall(of_one) == ["2.0 s"]


def test_a_rate_needs_some_seconds() -> None:
    begun = run(1, 0, through=300)
    assert current_rate(begun, after(2)) is None
    assert current_rate(begun, after(3)) == 100
    assert current_rate(run(1, 0), after(60)) is None


def test_a_step_without_a_share_adds_nothing_to_the_time_that_is_left() -> None:
    """Nothing is expected of it, because it runs beside others; of one with a share, nothing tells."""
    beside = change_step(STEP, title="list deletions", expected_seconds=None, share=0.0)
    found = status_of(made(run(1, 0), steps=(COPY, beside, OPENING)), after(30))
    assert (found.left_seconds, found.left_is_least) == (70 + 2, False)
    untold = change_step(STEP, title="start the copy", expected_seconds=None)
    assert status_of(made(run(1, 0), steps=(COPY, untold, OPENING)), after(30)).left_is_least
