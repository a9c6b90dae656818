from dataclasses import replace

import pytest

from core.migration.execution.outcome import Paragraph
from core.migration.model.execution import Kind, State
from gui.actions import ExecutionState
from gui.models.execution import (
    RUN_COLUMNS,
    Doing,
    Possible,
    confirmation,
    outcome,
    possible,
    run_text,
    summary,
    told_text,
)
from tests.core.migration.execution.builders import STEP, execution, ran

OPENING = replace(STEP, point_of_no_return=True)


@pytest.mark.parametrize(
    ("state", "alive", "expected"),
    [
        (State.RUNNING, True, Possible(begin=False, resume=False, end=True, roll_back=False)),
        (State.RUNNING, False, Possible(begin=False, resume=True, end=True, roll_back=True)),
        (State.INTERRUPTED, False, Possible(begin=False, resume=True, end=True, roll_back=True)),
        (State.STOPPED, False, Possible(begin=True, resume=True, end=False, roll_back=True)),
        (State.DONE, False, Possible(begin=True, resume=False, end=False, roll_back=True)),
        (State.ROLLED_BACK, False, Possible(begin=True, resume=False, end=False, roll_back=False)),
    ],
)
def test_what_may_be_done_next(state: State, alive: bool, expected: Possible) -> None:
    assert possible(execution(state=state), alive=alive) == expected


def test_without_an_execution_one_may_begin_and_an_opened_new_is_not_taken_back() -> None:
    assert possible(None, alive=False) == Possible(begin=True, resume=False, end=False, roll_back=False)
    assert not possible(ran(execution(OPENING, state=State.DONE), 1), alive=False).roll_back
    assert not possible(execution(kind=Kind.REHEARSAL, state=State.STOPPED), alive=False).roll_back


def test_how_it_stands_in_words() -> None:
    stopped = replace(ran(execution(STEP, STEP, state=State.STOPPED), 1), message="the disk is full")
    said = summary(ExecutionState(stopped, left="execution 7 was stopped"))
    assert "is stopped; 1 of its steps are done.\nExecution 7 was stopped.\n" in said
    assert said.endswith("the disk is full")
    assert "The program that carried it out has ended" in summary(ExecutionState(execution()))
    running = summary(ExecutionState(execution(), alive=True, far=("step 1 of 1", "copy: 3 of 5")))
    assert running.endswith("0 of its steps are done.\nstep 1 of 1\ncopy: 3 of 5")
    assert summary(ExecutionState()) == ""


def test_what_it_came_to_is_read_by_paragraphs() -> None:
    text = told_text((Paragraph("downtime", ("38 s", "as expected")), Paragraph("next", ("take a backup",))))
    assert text == "Downtime\n  38 s\n  as expected\n\nNext\n  take a backup"


def test_a_cluster_that_is_at_stake_is_named_first() -> None:
    running = ExecutionState(execution(), alive=True)
    for doing in (Doing.RESUME, Doing.END, Doing.BACK):
        assert confirmation(doing, running)
        assert not confirmation(doing, ExecutionState(execution(kind=Kind.REHEARSAL)))
    assert not confirmation(Doing.MOVE, ExecutionState())
    left = ExecutionState(execution(state=State.CANCELLED), left="execution 7 was cancelled")
    assert confirmation(Doing.REHEARSE, left).startswith("Execution 7 was cancelled. To go on with it")


def test_each_try_is_a_row() -> None:
    made = ran(ran(execution(), 1, status=12, seconds=90, note="the cable was cut"), 1, sent=1 << 30)
    failed, done = made.steps
    assert [outcome(run) for run in made.steps] == ["failed", "done"]
    assert [column.text(done) for column in RUN_COLUMNS][:2] == ["1", "step"]
    assert [column.text(done) for column in RUN_COLUMNS][3:] == ["1.0 s", "1.0 GiB", "done"]
    assert "the cable was cut" in run_text(failed)
    assert outcome(replace(done, void=True)) == "overruled"
    assert outcome(replace(done, message="not needed")) == "left out"
    assert outcome(replace(failed, ended_at=None)) == "not ended"
    assert outcome(replace(failed, ended_at=None, bytes=3, total=10)) == "30.0 %"
