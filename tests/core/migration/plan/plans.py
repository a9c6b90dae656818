"""Plans made from facts made by hand."""

from typing import Any

from core.facts.model import Facts
from core.migration.checks import check
from core.migration.estimate import estimate, spec_of
from core.migration.model.move import Verify
from core.migration.model.plan import Plan
from core.migration.model.probe import Quantity
from core.migration.plan import make_plan
from tests.core.migration.builders import ODD, cluster, move, new, old, probe, profile, space


def plan(
    cluster_changes: dict[str, Any] | None = None,
    move_changes: dict[str, Any] | None = None,
    *,
    old_facts: Facts | None = None,
    new_facts: Facts | None = None,
    verify: Verify = Verify.CHANGED,
    **new_profile: Any,
) -> Plan:
    made = cluster(**(cluster_changes or {}))
    undertaking = move(cluster=made.data_directory, **(move_changes or {}))
    old_facts, new_facts = old_facts or old(made), new_facts or new()
    probes = [probe(Quantity.SSH, 250e6), probe(Quantity.READ, 80e6)]
    estimated = estimate(spec_of(undertaking, old_facts, probes, new=new_facts))
    checks = check(undertaking, old_facts, new_facts)
    profiles = profile("old"), profile("new", **new_profile)
    return make_plan(
        undertaking, *profiles, old_facts, new_facts, checks, probes, estimated, verify=verify, seed="0123"
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
