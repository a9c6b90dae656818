"""Plans made from facts made by hand, and how tests know their steps."""

from typing import Any

from core.facts.model import Facts
from core.migration.checks import run_checks
from core.migration.estimate import estimate, spec_of
from core.migration.model.dress import USUAL, RehearsalOptions
from core.migration.model.move import Verify
from core.migration.model.plan import Plan, Step
from core.migration.model.probe import Quantity
from core.migration.plan import make_plan
from core.migration.plan.steps.verify import SUMS
from tests.core.migration.builders import ODD, cluster, move, new, old, probe, profile, space


def step(made: Plan, known: str) -> Step:
    """The step of that name; those of the way back come last."""
    return next(each for each in (*made.steps, *made.way_back) if each.name == known)


def opening(made: Plan) -> Step:
    """The point of no return."""
    (found,) = (each for each in made.steps if each.point_of_no_return)
    return found


def compared(made: Plan) -> Step:
    """The step on new that lists its files, and must print what old's did."""
    (found,) = (each for each in made.steps if each.agrees_with == SUMS)
    return found


def plan(
    cluster_changes: dict[str, Any] | None = None,
    move_changes: dict[str, Any] | None = None,
    *,
    old_facts: Facts | None = None,
    new_facts: Facts | None = None,
    verify: Verify = Verify.CHANGED,
    dressed: bool = False,
    asked: RehearsalOptions = USUAL,
    **new_profile: Any,
) -> Plan:
    made = cluster(**(cluster_changes or {}))
    undertaking = move(cluster=made.data_directory, **(move_changes or {}))
    old_facts, new_facts = old_facts or old(made), new_facts or new()
    probes = [probe(Quantity.SSH, 250e6), probe(Quantity.READ, 80e6)]
    estimated = estimate(spec_of(undertaking, old_facts, probes, new=new_facts))
    checks = run_checks(undertaking, old_facts, new_facts)
    profiles = profile("old"), profile("new", **new_profile)
    return make_plan(
        undertaking,
        *profiles,
        old_facts,
        new_facts,
        checks,
        probes,
        estimated,
        verify=verify,
        seed="0123",
        dressed=dressed,
        asked=asked,
    )


def odd_plan() -> Plan:
    changes = {
        "data_directory": ODD,
        "config_file": f"{ODD}/postgresql.conf",
        "wide": None,
        "running": True,
        "tablespaces": (space(f"{ODD} 2"),),
    }
    return plan(changes, {"target": ODD, "name": "it's $(touch x)\n# `touch y`"})
