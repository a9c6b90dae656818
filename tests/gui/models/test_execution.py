from dataclasses import replace

from core.migration.execution.outcome import Paragraph
from core.migration.model.execution import Kind, State
from gui.models.execution import (
    Doing,
    confirmation,
    needs_name,
    outcome,
    run_text,
    summary,
    told_text,
)
from gui.states import ExecutionState
from tests.core.migration.execution.builders import STEP, execution, ran


def test_how_it_stands_in_words() -> None:
    stopped = replace(ran(execution(STEP, STEP, state=State.STOPPED), 1), message="the disk is full")
    said = summary(ExecutionState(stopped, left="execution 7 was stopped"))
    assert "has stopped; 1 of 2 steps done.\nExecution 7 was stopped.\n" in said
    assert said.endswith("The disk is full")
    killed = summary(ExecutionState(execution(), stands="old is stopped"))
    assert "was interrupted: the program that carried it out has ended" in killed
    assert killed.endswith("Old is stopped.")
    running = summary(ExecutionState(execution(), alive=True, far=("step 1 of 1", "copy: 3 of 5")))
    assert running.endswith("is under way; 0 of 1 step done.\nstep 1 of 1\ncopy: 3 of 5")
    assert summary(ExecutionState()) == ""


def test_what_it_came_to_is_read_by_paragraphs() -> None:
    text = told_text((Paragraph("downtime", ("38 s", "as expected")), Paragraph("next", ("take a backup",))))
    assert text == "Downtime\n  38 s\n  as expected\n\nNext\n  take a backup"


def test_a_cluster_that_is_at_stake_is_named_first() -> None:
    running = ExecutionState(execution(), alive=True)
    for doing in (Doing.RESUME, Doing.END, Doing.BACK):
        assert confirmation(doing, running)
        assert needs_name(doing, running)
        assert not needs_name(doing, ExecutionState(execution(kind=Kind.REHEARSAL)))
    copying = replace(STEP, rehearsed=True)
    rehearsed = ExecutionState(ran(execution(copying, copying, kind=Kind.REHEARSAL), 1))
    assert confirmation(Doing.RESUME, rehearsed).startswith("The rehearsal goes on with step 2, step. It copies while")
    assert confirmation(Doing.END, rehearsed).startswith("The copy ends, and what it needed is taken away")
    for doing in (Doing.MOVE, Doing.REHEARSE):
        assert confirmation(doing, ExecutionState())
        assert not needs_name(doing, ExecutionState())
    assert needs_name(Doing.RESUME, running)
    down = replace(STEP, stopped=True)
    held = ExecutionState(ran(execution(down, down), 1), stands="old is stopped")
    assert confirmation(Doing.RESUME, held) == "Old is stopped. The move goes on with step 2, step."
    left = ExecutionState(execution(state=State.CANCELLED), left="execution 7 was cancelled")
    assert confirmation(Doing.REHEARSE, left).startswith("Execution 7 was cancelled. To go on with it")


def test_each_try_is_a_row() -> None:
    made = ran(ran(execution(), 1, status=12, seconds=90, note="the cable was cut"), 1, sent=1 << 30)
    failed, done = made.steps
    assert [outcome(run) for run in made.steps] == ["failed", "done"]
    assert "the cable was cut" in run_text(failed)
    assert outcome(replace(done, void=True)) == "overruled"
    assert outcome(replace(done, message="not needed")) == "left out"
    assert outcome(replace(failed, ended_at=None)) == "not ended"
    assert outcome(replace(failed, ended_at=None, bytes=3, total=10)) == "30.0 %"
    assert outcome(replace(failed, ended_at=None, bytes=0, total=0)) == "not ended"  # nothing has changed since
