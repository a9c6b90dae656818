"""An execution as rows: each try at a step, and what may be done next."""

from dataclasses import dataclass

from core import units
from core.migration.model import Execution, Kind, State, StepRun
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import moment


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


def summary(execution: Execution, *, alive: bool) -> str:
    """How the execution stands, and why."""
    what = "The rehearsal" if execution.kind is Kind.REHEARSAL else "The move"
    done = sum(execution.done(step.number) for step in execution.plan.steps)
    stands = f"{what} of {moment(execution.started_at)} is {execution.state}; {done} of its steps are done."
    if execution.state is State.RUNNING and not alive:
        stands += " The program that carried it out has ended: go on, or end it."
    return f"{stands}\n{execution.message}" if execution.message else stands


def outcome(run: StepRun) -> str:
    """How a try ended."""
    if run.void:
        return "overruled"
    if run.done:
        return "left out" if run.message else "done"
    return "not ended" if run.ended_at is None else "failed"


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
