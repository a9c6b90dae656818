"""What the engine makes of steps that do not print the same."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from core.errors import BlockedError
from core.jobs import Event, Job, Note
from core.migration.execution.engine import hold_against
from core.migration.execution.executor import Executor
from core.migration.model.plan import Step
from core.migration.plan.steps.inventory import INVENTORY
from tests.core.migration.execution.whole_move import PLAN, execution

TAKEN = Step("take inventory of old", "old", "postgres", "take_inventory", "", name=INVENTORY, number=1)
COMPARED = Step(
    "compare new's inventory with old's", "new", "postgres", "take_inventory", "", agrees_with=INVENTORY, number=2
)


def executor(events: list[Event], taken: Step, compared: Step) -> Executor:
    made = replace(execution(), plan=replace(PLAN, steps=(taken, compared)))
    outputs = {1: "setting a = 1\nrelations r 2\n", 2: "setting a = 1\nrelations r 3\nsetting b = 4\n"}
    return cast("Executor", SimpleNamespace(execution=made, plan=made.plan, outputs=outputs, job=Job(events.append)))


def test_inventories_of_an_earlier_plan_that_differ_are_a_warning_with_both_sides() -> None:
    events: list[Event] = []
    hold_against(executor(events, TAKEN, COMPARED), COMPARED)
    (said,) = (each for each in events if isinstance(each, Note))
    assert said.level == "warning"
    assert re.search(r": relations r 2\. [^:]+: relations r 3; setting b = 4\.", said.text)


def test_other_steps_that_differ_have_failed() -> None:
    taken, compared = replace(TAKEN, name="sums"), replace(COMPARED, agrees_with="sums")
    with pytest.raises(BlockedError, match=r"relations r 2 .*relations r 3 "):
        hold_against(executor([], taken, compared), compared)
