"""What an execution did on its way, read from its rows alone: passes, comparisons, breaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.migration.model import step_ids
from core.migration.model.execution import Execution, State, StepRun
from core.migration.model.plan import Phase, Plan, Step


@dataclass(frozen=True, slots=True)
class PassName:
    """Which pass over the data roots it is.

    Attributes:
        phase: the phase of its steps.
        number, all: of a pre-copy pass which one it is, and how many the plan has; else 0.
        part: the family of the ids of its steps, such as `final-sync/rest`; empty where a plan of an
            earlier pghaul names none.
    """

    phase: Phase
    number: int = 0
    all: int = 0
    part: str = ""


@dataclass(frozen=True, slots=True)
class PassMade:
    """A pass over all data roots: what it sent in bytes of cluster, and from the start of its first to its last end.

    `left_out`: why it was not made; empty: it was. `attempt`: which try it is, from 1.
    """

    name: PassName
    started_at: datetime
    seconds: float
    bytes: int
    left_out: str = ""
    attempt: int = 1

    @property
    def bytes_per_second(self) -> float | None:
        """Its rate; None where it sent nothing."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0 else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """A step and the other one that it was held against.

    Attributes:
        agreed: None where the step was not done.
        output: what the other one printed.
        message: why they do not agree.
    """

    step: Step
    other: Step
    agreed: bool | None
    output: str
    message: str


@dataclass(frozen=True, slots=True)
class Break:
    """Where it ended on its way, and when it was gone on with; None: not yet, or by the way back."""

    at: datetime
    title: str
    why: str
    resumed_at: datetime | None


def passes(execution: Execution) -> tuple[PassMade, ...]:
    """Return the passes in the order in which they were made, each over all its data roots, the tries of one apart."""
    names = {step.number: _pass_name(execution.plan, step) or PassName(step.phase) for step in execution.plan.steps}
    groups: list[list[StepRun]] = []
    for run in _forward(execution):
        if run.exit_status != 0 or (run.bytes is None and not _left_out(execution, run)):
            continue
        last = groups[-1] if groups else []
        same = bool(last) and names[last[0].number] == names[run.number]
        if same and run.number not in {each.number for each in last}:
            last.append(run)
        else:
            groups.append([run])
    return tuple(_pass(names[runs[0].number], runs) for runs in groups)


def _pass(name: PassName, runs: Sequence[StepRun]) -> PassMade:
    began = min(run.started_at for run in runs)
    ended = max(run.ended_at or run.started_at for run in runs)
    sent = sum(run.bytes or 0 for run in runs)
    left_out = next((run.message for run in runs if run.bytes is None), "")
    return PassMade(name, began, (ended - began).total_seconds(), sent, left_out, runs[0].attempt)


def _left_out(execution: Execution, run: StepRun) -> bool:
    return bool(run.message) and any(step.number == run.number and step.root for step in execution.plan.steps)


def _pass_name(plan: Plan, step: Step) -> PassName | None:
    """Return the pass that a step belongs to; None: by its id it belongs to none."""
    if step.precopy_pass and step.root:
        return PassName(step.phase, step.precopy_pass, max(each.precopy_pass for each in plan.steps))
    part = step_ids.family_of(step.id, step_ids.FINAL_SYNC_CHANGED, step_ids.FINAL_SYNC_REST, step_ids.COPY)
    return PassName(step.phase, part=part) if part is not None else None


def agreements(execution: Execution) -> tuple[Agreement, ...]:
    """What was held against each other, in the order of the plan."""
    steps = {step.id: step for step in execution.plan.steps}
    found = []
    for step in execution.plan.steps:
        name = step.verification.equals or (
            step.reads if step.reads == step_ids.TAKE_INVENTORY and step.verification.only_checks else ""
        )
        if not name or name not in steps:
            continue
        other, run = steps[name], execution.latest(step.number)
        printed = execution.latest(other.number)
        agreed = None if run is None or run.ended_at is None or run.void else run.exit_status == 0
        output, message = printed.output if printed is not None else "", run.message if run is not None else ""
        found.append(Agreement(step, other, agreed, output, message))
    return tuple(found)


def follow_up(execution: Execution) -> tuple[str, ...]:
    """What is still to do once new is open: what the steps since warned of, then what the plan advises."""
    number = next((step.number for step in execution.plan.steps if step.point_of_no_return), len(execution.plan.steps))
    runs = [execution.latest(step.number) for step in execution.plan.steps if step.number > number]
    lines = [line for run in runs if run is not None and run.done for line in run.output.splitlines()]
    told = [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")]
    return (*told, *execution.plan.advice)


def taken_on(execution: Execution) -> tuple[str, ...]:
    """What proofs could not see, and a person has taken on: what that was, who, and why."""
    runs = [execution.latest(step.number) for step in execution.plan.steps if step.verification.only_checks]
    return tuple(run.message for run in runs if run is not None and run.done and run.message)


def proven(execution: Execution) -> bool:
    """Whether both sides were found to hold the same."""
    return any(each.agreed is True for each in agreements(execution) if each.other.id == step_ids.CHECKSUMS_OLD)


def breaks(execution: Execution) -> tuple[Break, ...]:
    """Where a step failed, was cancelled, or was lost from sight, one for all that ended together."""
    found: list[Break] = []
    runs = _forward(execution)
    for at, run in enumerate(runs):
        lost = run.ended_at is None and execution.state is not State.RUNNING
        if run.exit_status == 0 or (run.ended_at is None and not lost):
            continue
        ended = run.ended_at or run.started_at
        resumed = next((later.started_at for later in runs[at + 1 :] if later.started_at >= ended), None)
        if not found or found[-1].resumed_at != resumed:
            found.append(Break(ended, run.title, run.message or "Its end was not seen.", resumed))
    return tuple(found)


def made_again(execution: Execution) -> tuple[PassName | str, ...]:
    """Return what ended well and was done once more, as a pre-copy pass that was asked for: passes, titles of steps."""
    names = {step.number: _pass_name(execution.plan, step) for step in execution.plan.steps}
    known, again = set[int](), dict[PassName | str, None]()
    for run in _forward(execution):
        if run.number in known:
            again[names.get(run.number) or run.title] = None
        if run.exit_status == 0:
            known.add(run.number)
    return tuple(again)


def stages(execution: Execution) -> dict[int, str]:
    """The heading of the phase of each step of the plan, by its number."""
    return {step.number: step.phase.heading for step in execution.plan.steps}


def _forward(execution: Execution) -> list[StepRun]:
    """The tries at the plan's own steps, without the way back."""
    return [run for run in execution.steps if not run.back]
