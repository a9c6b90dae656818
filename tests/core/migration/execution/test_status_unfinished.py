"""An execution that is not at its end, as every page shows it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.language import spoken
from core.migration.execution.status import (
    APPLICATIONS_STOPPED,
    SENTENCES,
    MoveStatus,
    Possible,
    describe_status,
    possible,
    sentence,
    unfinished,
)
from core.migration.execution.timeline import describe_position, status_of
from core.migration.model import step_ids
from core.migration.model.execution import ENDED_EARLY, Execution, Kind, State
from core.migration.model.move import Hook
from core.migration.model.plan import OperatorTask
from core.migration.model.standing import Milestone
from core.migration.standing import KnownState, list_marks
from core.reports.recorded import recorded
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.figures import figures
from tests.steps import change_step

STEPS = (
    replace(STEP, title="warm pass 1"),
    change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, title="stop old", expected_seconds=30.0),
    change_step(STEP, id=step_ids.CHECK_STOPPED, title="prove the stop"),
    change_step(STEP, title="open new to clients", id=step_ids.CUTOVER, expected_seconds=5.0),
)


def after(done: int, state: State, kind: Kind = Kind.REAL) -> Execution:
    """An execution whose first steps are done."""
    made = execution(*STEPS, kind=kind, state=state)
    for number in range(1, done + 1):
        made = ran(made, number)
    return made


def test_one_that_runs_is_under_way() -> None:
    made = after(1, State.RUNNING)
    found = unfinished(made, made.started_at, alive=True)
    assert found is not None
    assert (found.stopped_at, found.grave) == (None, False)
    assert sentence(found, made.started_at).startswith(f"{made.move}: ")
    assert sentence(found, made.started_at).endswith(f" {SENTENCES[MoveStatus.UNTOUCHED]}")
    died = unfinished(made, made.started_at, alive=False)
    assert died is not None
    assert sentence(died, made.started_at) != sentence(found, made.started_at)
    assert found.possible == replace(found.possible, begin=False, resume=False, end=True, roll_back=False)


def test_since_its_stop_the_clock_of_old_runs() -> None:
    made = after(3, State.RUNNING)
    began = made.steps[1].started_at
    found = unfinished(made, began + timedelta(seconds=233), alive=False)
    assert found is not None
    assert found.grave
    assert (found.stopped_at, found.expected_seconds) == (began, 36.0)
    said = sentence(found, began + timedelta(seconds=233))
    assert said.startswith(f"{made.move}: The old cluster has been stopped since ")
    assert f" {began.astimezone():%H:%M:%S} (3 min 53 s). " in said
    assert (found.possible.resume, found.possible.roll_back, found.possible.end) == (True, True, False)


def test_the_downtime_is_one_figure_at_one_moment() -> None:
    made, since = after(3, State.RUNNING), timedelta(seconds=59.7)
    now = made.steps[1].started_at + since
    found = unfinished(made, now, alive=True)
    assert found is not None
    assert "59 s" in figures(sentence(found, now))
    assert "3 min 53 s" in figures(sentence(found, made.steps[1].started_at + timedelta(seconds=233)))
    assert figures(found.at) == ["4", "4", "5 s"]  # the step, of all; what is left, and no downtime of another moment
    whole = describe_position(status_of(made, now))
    assert "59 s" in figures(whole)


def test_what_the_operator_stopped_was_not_interrupted() -> None:
    lost, left, paused = (
        unfinished(after(3, state), NOW, alive=False) for state in (State.INTERRUPTED, State.CANCELLED, State.PAUSED)
    )
    assert lost is not None
    assert left is not None
    assert paused is not None
    assert len({sentence(each, NOW) for each in (lost, left, paused)}) == 3
    assert sentence(paused, NOW).endswith(" was paused by the operator.")
    assert left.possible == paused.possible == replace(lost.possible, end=False)


@pytest.mark.parametrize(
    ("done", "state", "kind"),
    [
        (4, State.DONE, Kind.REAL),
        (1, State.STOPPED, Kind.REAL),
        (1, State.CANCELLED, Kind.REHEARSAL),
        (1, State.PAUSED, Kind.REAL),
    ],
)
def test_where_old_serves_and_nobody_is_at_it_nothing_is_said(done: int, state: State, kind: Kind) -> None:
    made = after(done, state, kind)
    assert unfinished(made, made.started_at, alive=False) is None


@pytest.mark.parametrize(
    ("state", "alive", "expected"),
    [
        (State.RUNNING, True, Possible(begin=False, resume=False, end=True, roll_back=False)),
        (State.RUNNING, False, Possible(begin=False, resume=True, end=True, roll_back=True)),
        (State.INTERRUPTED, False, Possible(begin=False, resume=True, end=True, roll_back=True)),
        (State.STOPPED, False, Possible(begin=True, resume=True, end=False, roll_back=True)),
        (State.ROLLED_BACK, False, Possible(begin=True, resume=False, end=False, roll_back=False)),
    ],
)
def test_what_may_be_done_next(state: State, alive: bool, expected: Possible) -> None:
    assert possible(after(1, state), alive=alive) == expected


def test_a_move_that_is_done_is_not_begun_again() -> None:
    assert possible(None, alive=False).begin
    assert not possible(after(4, State.DONE), alive=False).begin
    assert possible(after(1, State.DONE, Kind.REHEARSAL), alive=False).begin
    assert possible(after(1, State.STOPPED), alive=False).begin
    assert not possible(after(3, State.STOPPED), alive=False).begin


HOOKED = (
    change_step(STEP, id="warm", precopy_pass=1),
    change_step(STEP, id=Hook.STOP_APPLICATIONS, downtime=True, action=OperatorTask(hook=Hook.STOP_APPLICATIONS)),
    change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, downtime=True),
)


@pytest.mark.parametrize("state", sorted(ENDED_EARLY))
@pytest.mark.parametrize(
    ("runs", "void", "told"), [(1, False, False), (2, False, True), (2, True, False), (3, False, False)]
)
def test_stopped_applications_are_named_until_the_old_cluster_is_stopped(
    state: State, runs: int, *, void: bool, told: bool
) -> None:
    """`runs`: how many steps are done; `void`: a resume has begun with the passes again."""
    made = execution(*HOOKED, state=state)
    for number in range(1, runs + 1):
        made = ran(made, number)
    made = made.with_void(1) if void else made
    assert (APPLICATIONS_STOPPED in describe_status(made)) is told
    (mark,) = (each for each in list_marks(KnownState(executions=(made,)), NOW) if each.milestone is Milestone.MOVE)
    assert mark.said.endswith("; the applications were stopped for the move") is told
    assert ("clients use the old cluster" in mark.said) is (runs < 3 and not told)


def test_clients_are_not_said_to_use_a_cluster_that_was_stopped_all_along() -> None:
    made = execution(STEP, change_step(STEP, id=step_ids.CHECK_STOPPED), state=State.PAUSED)
    (mark,) = (each for each in list_marks(KnownState(executions=(made,)), NOW) if each.milestone is Milestone.MOVE)
    assert mark.said == "paused; the old cluster was stopped before"


@pytest.mark.parametrize(
    ("state", "said"), [(State.STOPPED, "has failed."), (State.INTERRUPTED, "was interrupted."), (State.CANCELLED, "")]
)
def test_only_what_was_interrupted_is_called_so(state: State, said: str) -> None:
    made = replace(ran(execution(*HOOKED, state=state), 3), state=state)
    found = unfinished(made, NOW, alive=False)
    assert found is not None
    shown = sentence(found, NOW)
    assert shown.endswith(said)
    (mark,) = (each for each in list_marks(KnownState(executions=(made,)), NOW) if each.milestone is Milestone.MOVE)
    assert ("interrupted" in mark.said, "interrupted" in shown) == ((state is State.INTERRUPTED,) * 2)


@pytest.mark.parametrize(
    "text",
    [
        APPLICATIONS_STOPPED,
        "The move spring cannot be removed now. Execution 1 of the move has not ended.",
        (
            "The server old cannot be renamed or reached in another way now, because the move spring uses it. "
            "Execution 1 of the move has stopped the old cluster."
        ),
    ],
)
def test_what_an_unfinished_move_forbids_or_advises_is_german_in_german(text: str) -> None:
    with spoken("de"):
        assert recorded(text) != text
