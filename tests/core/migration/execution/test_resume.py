"""What runs again when an execution is resumed: the same steps here and in the exported script."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from core.migration.execution.resume import steps_to_repeat
from core.migration.model import step_ids
from core.migration.model.execution import ENDED_EARLY, Execution, Kind, State, StepRun
from core.migration.model.move import Verify
from core.migration.model.plan import Plan
from tests.core.migration.builders import NOW, space
from tests.core.migration.execution import builders
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.core.migration.plan.plans import odd_plan, plan
from tests.core.migration.plan.test_script import Run
from tests.steps import change_step

pytestmark = pytest.mark.filling

PLANS: Mapping[str, Plan] = {
    "running": plan({"running": True, "tablespaces": (space("/s"),)}),
    "stopped": plan({"running": False}),
    "all files": plan({"running": True}, verify=Verify.ALL),
    "odd": odd_plan(),
}


def interrupted_at(made: Plan, number: int, kind: Kind = Kind.REAL) -> Execution:
    """An execution whose steps before that number are done."""
    runs = (StepRun(step.number, step.number, "", 1, NOW, NOW, 0) for step in made.steps if step.number < number)
    return replace(builders.execution(kind=kind), plan=made, steps=tuple(runs))


def repeated(execution: Execution) -> list[int]:
    return [step.number for step in steps_to_repeat(execution)]


def turning_points(made: Plan) -> list[int]:
    """The steps from which on other steps are repeated than from the step before."""
    numbers = {step.id: step.number for step in made.steps}
    last = made.steps[-1].number
    policies = [(step.number, numbers[step.resume.repeat_until]) for step in made.steps if step.resume.repeat_until]
    return sorted({1, *(at + more for pair in policies for at in pair for more in (0, 1) if at + more <= last)})


_LONG = ("stopped", "all files", "odd")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in _LONG else name for name in PLANS]
)
def test_the_script_repeats_the_same_steps_from_whichever_step_it_goes_on(name: str, tmp_path: Path) -> None:
    made, run = PLANS[name], Run(PLANS[name], tmp_path)
    some = set[int]()
    for at in turning_points(made):
        shown = run("--dry-run", "--from", str(at)).stdout.splitlines()
        rows = [int(line[:3]) for line in shown if line[:3].strip().isdecimal()]
        assert rows[-1] == made.steps[-1].number
        assert [number for number in rows if number < at] == repeated(interrupted_at(made, at)), at
        some.update(repeated(interrupted_at(made, at)))
    assert {step_ids.CHECK_STOPPED, step_ids.START_LOCALLY, step_ids.CHECK_LISTENERS} <= {
        each.id for each in made.steps if each.number in some
    }


@pytest.mark.parametrize("name", PLANS)
def test_nothing_is_repeated_behind_the_step_that_needs_it(name: str) -> None:
    made = PLANS[name]
    numbers = {step.id: step.number for step in made.steps}
    for step in made.steps:
        later = numbers.get(step.resume.repeat_until, 0)
        found = {at for at in range(1, len(made.steps) + 2) if step.number in repeated(interrupted_at(made, at))}
        assert found == set(range(step.number + 1, later + 1)), step.id


def test_the_local_only_start_is_repeated_until_its_fence_is_lifted() -> None:
    made = PLANS["running"]
    start, lift = (made.step(each) for each in (step_ids.START_LOCALLY, step_ids.LIFT_FENCE))
    assert start is not None
    assert lift is not None
    assert start.number in repeated(interrupted_at(made, lift.number))
    assert start.number not in repeated(interrupted_at(made, lift.number + 1))


def test_the_port_is_not_looked_at_again_once_the_new_cluster_may_have_it() -> None:
    made = PLANS["running"]
    look, cutover = (made.step(each) for each in (step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER, step_ids.CUTOVER))
    assert look is not None
    assert cutover is not None
    assert look.number in repeated(interrupted_at(made, look.number + 1))
    assert look.number not in repeated(interrupted_at(made, cutover.number))


def test_a_rehearsal_repeats_no_step_that_it_does_not_take() -> None:
    made = plan({"running": True}, dressed=True)
    taken = {step.number for step in interrupted_at(made, 1, Kind.REHEARSAL).steps_taken}
    for at in taken:
        found = repeated(interrupted_at(made, at, Kind.REHEARSAL))
        assert set(found) <= taken
        closing = [step for step in made.steps if step.resume.closes_channel and step.number in taken]
        opened = [
            step for step in made.steps if step.resume.opens_channel and step.number in taken and step.number < at
        ]
        assert bool(opened and at <= closing[-1].number) == bool({step.number for step in opened} & set(found))


@pytest.mark.parametrize(
    ("state", "done", "following"),
    [
        *((state, 0, 1) for state in State),
        *((state, 3, 2) for state in sorted(ENDED_EARLY)),
        (State.RUNNING, 3, 4),
        (State.INTERRUPTED, 3, 4),
        *((state, 4, 5) for state in State),
        (State.DONE, 5, None),
    ],
)
def test_the_next_step_is_the_first_pass_until_the_old_cluster_is_stopped(
    state: State, done: int, following: int | None
) -> None:
    """Only what ended early has removed the lists of its passes."""
    ids = ("key", "warm", step_ids.LIST_CLIENTS, step_ids.STOP_OLD_CLUSTER, step_ids.CHECK_STOPPED)
    steps = [change_step(STEP, id=name, precopy_pass=int(name == "warm")) for name in ids]
    made = execution(*steps, state=state)
    for number in range(1, done + 1):
        made = ran(made, number)
    assert (None if made.next_step is None else made.next_step.number) == following
