"""What holds of the steps of every plan: their ids, what they refer to, and what a resume does with them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from core import documents
from core.migration.model import step_ids
from core.migration.model.plan import Decision, Plan, RemoteCall, Step, with_resume_policies
from tests.core.migration.plan.plans import VARIANTS

IDS = {value for name, value in vars(step_ids).items() if name.isupper()}
AS_TEXT = {"core/migration/model/step_ids.py", "core/history/earlier_plans.py", "core/migration/model/move.py"}
"""Where an id may stand as text: its declaration, earlier names, and the hooks, whose words people type."""


@cache
def made(name: str) -> Plan:
    return VARIANTS[name]()


def lists(plan: Plan) -> Iterator[tuple[Step, ...]]:
    yield from (plan.steps, plan.way_back, plan.back_with_loss, plan.later)


def is_declared(step_id: str) -> bool:
    return step_id in IDS or step_ids.family_of(step_id, *IDS) is not None


every_plan = pytest.mark.parametrize("name", VARIANTS)


@every_plan
def test_each_step_has_a_declared_id_that_is_unique_in_its_list(name: str) -> None:
    for steps in lists(made(name)):
        ids = [step.id for step in steps]
        assert len(set(ids)) == len(ids)
        assert [each for each in ids if not is_declared(each)] == []


@every_plan
def test_a_step_refers_to_steps_before_it(name: str) -> None:
    plan = made(name)
    for at, step in enumerate(plan.steps):
        earlier = {each.id for each in plan.steps[:at]}
        assert {step.reads, step.verification.equals} - {""} <= earlier, step.id
    known = {step.id for step in plan.steps}
    for step in plan.way_back:
        assert {step.reads} - {""} <= known, step.id
        assert step.verification.equals == "", step.id


@every_plan
def test_what_a_resume_repeats_it_repeats_until_a_later_step(name: str) -> None:
    steps = made(name).steps
    places = {step.id: at for at, step in enumerate(steps)}
    for at, step in enumerate(steps):
        until = step.resume.repeat_until
        last = step.id == step_ids.CHECK_OLD_STAYS_STOPPED and at == len(steps) - 1
        assert not until or places[until] > at or last, step.id
    opening = [at for at, step in enumerate(steps) if step.resume.opens_channel]
    closing = [at for at, step in enumerate(steps) if step.resume.closes_channel]
    assert opening
    assert closing
    assert {steps[at].resume.repeat_until for at in opening} == {steps[closing[-1]].id}
    assert with_resume_policies(steps) == steps


@every_plan
def test_what_runs_on_a_server_is_a_call_with_a_user(name: str) -> None:
    for steps in lists(made(name)):
        for step in steps:
            if isinstance(step.action, RemoteCall):
                assert step.call, step.id
                assert step.user, step.id
            else:
                assert step.server == "workstation", step.id


@every_plan
def test_the_operator_decides_once_and_before_the_one_point_of_no_return(name: str) -> None:
    steps = made(name).steps
    (decision,) = (step.number for step in steps if isinstance(step.action, Decision))
    (point,) = (step.number for step in steps if step.point_of_no_return)
    assert decision < point


@every_plan
def test_a_plan_is_the_same_when_it_is_read_again(name: str) -> None:
    assert documents.load(Plan, documents.dump(made(name))) == made(name)


def test_no_other_module_contains_an_id_as_text() -> None:
    telling = {each for each in IDS if "-" in each}
    found = [
        f"{path}:{node.lineno}"
        for folder in ("core", "gui")
        for path in sorted(Path(folder).rglob("*.py"))
        if path.as_posix() not in AS_TEXT
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in telling
    ]
    assert found == []
