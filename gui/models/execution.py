"""An execution as rows: each try at a step, and what may be done next."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from core import units
from core.migration.model.execution import Execution, Kind, State, StepRun
from gui.appearance import Tone
from gui.models.words import in_window, moment
from gui.states import ExecutionState

if TYPE_CHECKING:
    from core.migration.execution.account import Downtime
    from core.migration.execution.outcome import Paragraph


def summary(state: ExecutionState) -> str:
    """How the execution stands, and why; of one that runs, how far it is."""
    execution = state.execution
    if execution is None:
        return ""
    what = "The rehearsal" if execution.kind is Kind.REHEARSAL else "The move"
    done = sum(execution.done(step.number) for step in execution.plan.steps)
    killed = execution.state is State.RUNNING and not state.alive
    how = "was interrupted: the program that carried it out has ended" if killed else _STATES[execution.state]
    counts = f"{done} of {units.counted(len(execution.steps_taken), 'step')} done"
    lines = [f"{what} of {moment(execution.started_at)} {how}; {counts}."]
    if not state.alive and state.stands:
        lines.append(f"{_sentence(state.stands)}.")
    lines += [f"{_sentence(state.left)}."] if state.left else []
    return "\n".join(part for part in (*lines, _sentence(in_window(execution.message)), *state.far) if part)


_STATES = {
    State.RUNNING: "is under way",
    State.INTERRUPTED: "was interrupted",
    State.STOPPED: "has stopped",
    State.CANCELLED: "was cancelled",
    State.DONE: "is done",
    State.ROLLED_BACK: "was taken back",
}


def clock_text(down: "Downtime") -> str:
    """`Old has been stopped for 3 min 53 s; the plan expected 2 min 10 s of commands, people took 40 s.`"""
    if down.ended_at is None:
        said = f"Old has been stopped for {units.clock(down.seconds)}, since {down.began_at.astimezone():%H:%M:%S}"
    else:
        said = f"Clients had no cluster for {units.clock(down.seconds)}"
    expected = f"the plan expected {units.duration(down.expected_seconds)} of commands" if down.expected_seconds else ""
    people = f"people took {units.clock(down.people_seconds)}" if down.people_seconds >= 1 else ""
    return "; ".join(part for part in (said, expected, people) if part) + "."


def told_text(paragraphs: "Sequence[Paragraph]") -> str:
    """How an execution ended, to read and copy."""
    return "\n\n".join("\n  ".join((_sentence(each.title), *each.sentences)) for each in paragraphs)


class Doing(StrEnum):
    """What a person may do with an execution; the words by which the job bar names it."""

    MOVE = "Moving"
    REHEARSE = "Rehearsing"
    RESUME = "Continuing"
    END = "Cancelling"
    BACK = "Going back from"


BUTTONS = {
    Doing.MOVE: "&Move",
    Doing.REHEARSE: "&Rehearse",
    Doing.RESUME: "&Continue",
    Doing.END: "C&ancel and clean up",
    Doing.BACK: "&Back to old",
}
"""What the button says that begins it."""


def confirmation(doing: Doing, state: ExecutionState) -> str:
    """What a person reads before they type the cluster's name; empty where nothing is at stake yet."""
    if doing in {Doing.MOVE, Doing.REHEARSE}:
        if not state.left:
            return ""
        return f"{_sentence(state.left)}. To go on with it is the shortest; a new one begins from its first step."
    if state.execution is None or state.execution.kind is Kind.REHEARSAL:
        return ""
    return _resumed(state.execution, state.stands) if doing is Doing.RESUME else _AT_STAKE[doing]


def _resumed(execution: Execution, stands: str) -> str:
    """From where it goes on, and what is still to come."""
    following = next((step for step in execution.steps_taken if not execution.done(step.number)), None)
    if following is None:
        return f"{_sentence(stands)}. Every step is done: what the copy needed is taken away."
    at = f"{_sentence(stands)}. The move goes on with step {following.number}, {following.title}"
    if following.stopped and any(step.stopped and execution.done(step.number) for step in execution.plan.steps):
        return f"{at}."
    return f"{at}; before it stops old it asks for the cluster's name once more."


_AT_STAKE = {
    Doing.END: "The copy ends, and what it needed is taken away. Old stays as it is; what lies on new stays there.",
    Doing.BACK: "New is stopped and keeps its files; old is let go, started, and proven to run.",
}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def outcome(run: StepRun) -> str:
    """How a try ended."""
    if run.void:
        return "overruled"
    if run.done:
        return "left out" if run.message else "done"
    if run.ended_at is not None:
        return "failed"
    return "not ended" if run.total is None or run.bytes is None else units.percent(min(1.0, run.bytes / run.total))


def run_text(run: StepRun) -> str:
    """A try whole: how it ended and what it printed."""
    lines = [f"{run.number}. {run.title}, try {run.attempt}: {outcome(run)}"]
    lines += [run.message] if run.message else []
    return "\n".join([*lines, "", run.output])


def took(run: StepRun) -> str:
    """How long it took."""
    return units.duration((run.ended_at - run.started_at).total_seconds() if run.ended_at is not None else None)


def tone(run: StepRun) -> Tone | None:
    """The colour of its outcome."""
    return Tone.GOOD if run.done else Tone.WARNING if run.ended_at is None or run.void else Tone.BAD
