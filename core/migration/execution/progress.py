"""How far an execution is: which step, how long old has been stopped, how long the commands to come may still take."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core import units
from core.jobs import Progress
from core.migration.execution.account import account
from core.migration.model.execution import Execution, StepRun
from core.migration.model.plan import Step

_TELLING_SECONDS, _TELLING = 3.0, 0.02
"""How long, and how much of the whole, must be done before the pace of it tells when it ends."""


@dataclass(frozen=True, slots=True)
class ExecutionStatus:
    """Where an execution is.

    Attributes:
        position: of the first step that is under way or to come, from 1, among the `steps` that it takes.
        under_way: the steps that run now, side by side where there are several; each with its try.
        stopped_seconds: since old was stopped; None before, and once new is open.
        left_seconds: what the commands to come may take, without what people take; None where nothing tells.
    """

    position: int
    steps: int
    under_way: tuple[tuple[Step, StepRun], ...]
    stopped_seconds: float | None
    left_seconds: float | None


def status_of(execution: Execution, now: datetime) -> ExecutionStatus:
    """By its rows alone, so that another program sees it too."""
    taken = execution.steps_taken
    runs = {step.number: execution.latest(step.number) for step in taken}
    under_way = [(step, run) for step in taken if (run := runs[step.number]) is not None and _runs(run)]
    to_come = [step for step in taken if not execution.done(step.number)]
    first = to_come[0] if to_come else taken[-1]
    known = [seconds for step in to_come if (seconds := _seconds_left(step, runs[step.number], now)) is not None]
    found = account(execution)
    stopped = found.stopped_at if found.reached_at is None else None
    return ExecutionStatus(
        position=next((at for at, step in enumerate(taken, 1) if step.number == first.number), len(taken)),
        steps=len(taken),
        under_way=tuple(under_way),
        stopped_seconds=(now - stopped).total_seconds() if stopped is not None else None,
        left_seconds=sum(known) if known else None,
    )


def describe_position(found: ExecutionStatus) -> str:
    """For people: `step 23 of 51, downtime 2 min 13 s, about 4 min 00 s left`."""
    parts = [f"step {found.position} of {found.steps}"]
    if found.stopped_seconds is not None:
        parts.append(f"downtime {units.duration(found.stopped_seconds)}")
    if found.left_seconds is not None:
        left = found.left_seconds
        parts.append(f"about {units.duration(round(left, -1) if left > 60 else max(1, round(left)))} left")
    return ", ".join(parts)


def make_progress_event(execution: Execution, now: datetime) -> Progress:
    """The steps that run now as one event, in bytes where they tell them."""
    found = status_of(execution, now)
    steps = [step for step, _ in found.under_way]
    progress_id, title = "+".join(step.id for step in steps), _title(steps)
    runs = [run for _, run in found.under_way if run.bytes is not None]
    if not runs:
        return Progress(progress_id, title, found.position - 1, found.steps, "steps", describe_position(found))
    totals = [run.total for run in runs if run.total is not None]
    total = sum(totals) if len(totals) == len(runs) else None
    return Progress(progress_id, title, sum(run.bytes or 0 for run in runs), total, "bytes", describe_position(found))


def describe_progress(execution: Execution, now: datetime) -> tuple[str, ...]:
    """How far it is, then each step that runs: for who looks at it from outside."""
    found = status_of(execution, now)
    return (describe_position(found), *(_describe_running_step(step, run, now) for step, run in found.under_way))


def _describe_running_step(step: Step, run: StepRun, now: datetime) -> str:
    said = f"{step.title}, for {units.duration((now - run.started_at).total_seconds())}"
    if run.bytes is not None:
        said += f": {units.size(run.bytes)}" + (f" of {units.size(run.total)}" if run.total is not None else "")
        pace = current_rate(run, now)
        said += f" at {units.rate(pace)}" if pace is not None else ""
    return said


def current_rate(run: StepRun, now: datetime) -> float | None:
    """Bytes a second of a try that runs, since it began; None where it is too early to tell."""
    seconds = (now - run.started_at).total_seconds()
    return run.bytes / seconds if run.bytes and seconds >= _TELLING_SECONDS else None


def _runs(run: StepRun) -> bool:
    return run.ended_at is None and not run.void


def _title(steps: Sequence[Step]) -> str:
    if len(steps) == 1:
        return f"{steps[0].server}: {steps[0].title}"
    return f"{len(steps)} steps side by side, {steps[0].title}" if steps else "between two steps"


def _seconds_left(step: Step, run: StepRun | None, now: datetime) -> float | None:
    """Seconds that a step may still take: by its pace where that tells, else by what the plan expected."""
    if run is None or not _runs(run):
        return step.expected_seconds
    pace = current_rate(run, now)
    if pace is not None and run.total and run.bytes is not None and run.bytes >= _TELLING * run.total:
        return max(0, run.total - run.bytes) / pace
    if step.expected_seconds is None:
        return None
    return max(0.0, step.expected_seconds - (now - run.started_at).total_seconds())
