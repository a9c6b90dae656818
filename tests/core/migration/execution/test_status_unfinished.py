"""An execution that is not at its end, as every page shows it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.migration.execution.status import SENTENCES, MoveStatus, Possible, possible, sentence, unfinished
from core.migration.execution.timeline import describe_position, status_of
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State
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
    assert figures(found.at) == ["4", "4", "5.0 s"]  # the step, of all; what is left, and no downtime of another moment
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
