"""An execution as rows: each try at a step, and what may be done next."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from core import units
from core.migration.model.execution import Execution, Kind, State, StepRun
from gui.actions import ExecutionState
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import moment

if TYPE_CHECKING:
    from core.migration.execution.outcome import Paragraph


@dataclass(frozen=True, slots=True)
class Possible:
    """What may be done with the latest execution of a move."""

    begin: bool
    resume: bool
    end: bool
    roll_back: bool


def possible(execution: Execution | None, *, alive: bool) -> Possible:
    """By how the execution stands; what core refuses all the same, it says."""
    if execution is None:
        return Possible(begin=True, resume=False, end=False, roll_back=False)
    over = execution.state in {State.DONE, State.ROLLED_BACK}
    interrupted = execution.state in {State.RUNNING, State.INTERRUPTED}
    real = execution.kind is Kind.REAL
    return Possible(
        begin=not alive and not interrupted,
        resume=not alive and not over,
        end=interrupted,
        roll_back=not alive and real and execution.state is not State.ROLLED_BACK and not execution.past_return,
    )


def summary(state: ExecutionState) -> str:
    """How the execution stands, and why; of one that runs, how far it is."""
    execution = state.execution
    if execution is None:
        return ""
    what = "The rehearsal" if execution.kind is Kind.REHEARSAL else "The move"
    done = sum(execution.done(step.number) for step in execution.plan.steps)
    stands = f"{what} of {moment(execution.started_at)} is {execution.state}; {done} of its steps are done."
    if execution.state is State.RUNNING and not state.alive:
        stands += " The program that carried it out has ended: go on, or end it."
    left = f"{_sentence(state.left)}." if state.left else ""
    return "\n".join(part for part in (stands, left, execution.message, *state.far) if part)


def told_text(paragraphs: "Sequence[Paragraph]") -> str:
    """What an execution came to, to read and copy."""
    return "\n\n".join("\n  ".join((_sentence(each.title), *each.sentences)) for each in paragraphs)


class Doing(StrEnum):
    """What a person may do with an execution; the words by which the job bar names it."""

    MOVE = "Moving"
    REHEARSE = "Rehearsing"
    RESUME = "Going on with"
    END = "Ending"
    BACK = "Going back from"


def confirmation(doing: Doing, state: ExecutionState) -> str:
    """What a person reads before they type the cluster's name; empty where nothing is at stake yet."""
    if doing in {Doing.MOVE, Doing.REHEARSE}:
        if not state.left:
            return ""
        return f"{_sentence(state.left)}. To go on with it is the shortest; a new one begins from its first step."
    if state.execution is None or state.execution.kind is Kind.REHEARSAL:
        return ""
    return _AT_STAKE[doing]


_AT_STAKE = {
    Doing.RESUME: "The move goes on from its first step that is not done, through the stop of old to the opening.",
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
    """A try whole: what it came to and what it printed."""
    lines = [f"{run.number}. {run.title}, try {run.attempt}: {outcome(run)}"]
    lines += [run.message] if run.message else []
    return "\n".join([*lines, "", run.output])


def _took(run: StepRun) -> str:
    return units.duration((run.ended_at - run.started_at).total_seconds() if run.ended_at is not None else None)


def _tone(run: StepRun) -> Tone | None:
    return Tone.GOOD if run.done else Tone.WARNING if run.ended_at is None or run.void else Tone.BAD


RUN_COLUMNS: tuple[Column[StepRun], ...] = (
    Column("#", lambda row: str(row.number), right=True),
    Column("Step", lambda row: f"back: {row.title}" if row.back else row.title, width=Width.REST),
    Column("Began", lambda row: moment(row.started_at)),
    Column("Took", _took, right=True),
    Column("Sent", lambda row: units.size(row.bytes) if row.bytes is not None else "", right=True),
    Column("Came to", outcome, tone=_tone),
)
