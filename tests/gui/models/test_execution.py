from dataclasses import replace

from core.api.model import ExecutionState
from core.migration.execution.outcome import Paragraph
from core.migration.execution.timeline import RunningStep
from core.migration.model.execution import CANCELLED_STEP, Kind, State
from core.tones import Tone
from gui.models.execution import (
    AT_STAKE,
    KILLED,
    Doing,
    confirmation,
    describe_end,
    ended,
    needs_name,
    outcome,
    outcome_text,
    run_text,
    state_name,
    summary,
    tone,
)
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.figures import figures
from tests.steps import change_step


def test_how_it_stands_in_words() -> None:
    stopped = replace(ran(execution(STEP, STEP, state=State.STOPPED), 1), message="the disk is full")
    began, *under = summary(ExecutionState(stopped, left="Execution 7 was stopped.")).splitlines()
    assert figures(began)[-2:] == ["1", "2"]  # steps done, of all
    assert under == ["Execution 7 was stopped.", "The disk is full"]
    _, *under = summary(ExecutionState(execution(), stands="The old cluster is stopped.")).splitlines()
    assert under == ["The old cluster is stopped."]
    assert describe_end(execution(), alive=False) == KILLED
    assert describe_end(stopped, alive=False) == ended(State.STOPPED)
    paused = replace(stopped, state=State.PAUSED, message="the execution ended before step 2, as you asked")
    assert figures(describe_end(paused, alive=False)) == ["2"]  # paused before it
    assert state_name(State.PAUSED) == "paused"
    copying = RunningStep("copy", 10.0, 3 << 30, 5 << 30, 100e6)
    position, *under = summary(ExecutionState(execution(), alive=True, running=(copying,))).splitlines()
    assert figures(position) == ["1", "1"]  # the step, of all
    assert under == ["copy, for 10 s: 3.0 GiB of 5.0 GiB at 100 MB/s"]
    assert summary(ExecutionState()) == ""


def test_what_it_came_to_is_read_by_paragraphs() -> None:
    text = outcome_text((Paragraph("downtime", ("38 s", "as expected")), Paragraph("next", ("take a backup",))))
    assert text == "Downtime\n  38 s\n  as expected\n\nNext\n  take a backup"


def test_a_cluster_that_is_at_stake_is_named_first() -> None:
    running = ExecutionState(execution(), alive=True)
    for doing in (Doing.RESUME, Doing.END, Doing.BACK):
        assert confirmation(doing, running)
        assert needs_name(doing, running)
        assert not needs_name(doing, ExecutionState(execution(kind=Kind.REHEARSAL)))
    copying = change_step(STEP, in_rehearsal=True)
    stands = "old is as it was"
    rehearsed = ExecutionState(ran(execution(copying, copying, kind=Kind.REHEARSAL), 1), stands=stands)
    assert figures(confirmation(Doing.RESUME, rehearsed)) == ["2"]
    assert stands not in confirmation(Doing.RESUME, rehearsed).lower()  # it touches neither server
    assert confirmation(Doing.END, rehearsed) == AT_STAKE[Doing.END]
    assert confirmation(Doing.BACK, running) == AT_STAKE[Doing.BACK] != AT_STAKE[Doing.END]
    for doing in (Doing.MOVE, Doing.REHEARSE):
        assert confirmation(doing, ExecutionState())
        assert not needs_name(doing, ExecutionState())
    assert needs_name(Doing.RESUME, running)
    down = change_step(STEP, downtime=True)
    held = ExecutionState(ran(execution(down, down), 1), stands="The old cluster is stopped.")
    goes_on = confirmation(Doing.RESUME, held)
    assert goes_on.startswith("The old cluster is stopped. ")
    assert figures(goes_on) == ["2"]
    before = ExecutionState(ran(execution(copying, down), 1), stands="The old cluster is stopped.")
    assert confirmation(Doing.RESUME, before) != goes_on  # it says that the name will be asked for
    assert confirmation(Doing.RESUME, before).startswith(goes_on.rstrip("."))
    left = ExecutionState(execution(state=State.CANCELLED), left="Execution 7 was cancelled.")
    assert confirmation(Doing.REHEARSE, left).startswith("Execution 7 was cancelled. ")


def test_each_try_is_a_row() -> None:
    made = ran(ran(execution(), 1, status=12, seconds=90, note="the cable was cut"), 1, sent=1 << 30)
    failed, done = made.steps
    assert [outcome(run) for run in made.steps] == ["failed", "done"]
    assert "the cable was cut" in run_text(failed)
    cancelled = replace(failed, exit_status=CANCELLED_STEP)
    assert (outcome(cancelled), tone(cancelled), tone(failed)) == ("cancelled", Tone.WARNING, Tone.BAD)
    assert outcome(replace(failed, exit_status=130)) == "failed"  # a command that was interrupted on the server
    assert outcome(replace(done, void=True)) == "superseded"
    assert outcome(replace(done, message="not needed")) == "skipped"
    assert outcome(replace(failed, ended_at=None)) == "not finished"
    assert outcome(replace(failed, ended_at=None, bytes=3, total=10)) == "30.0 %"
    assert outcome(replace(failed, ended_at=None, bytes=0, total=0)) == "not finished"  # nothing has changed since
