"""Plans made from facts made by hand, and how tests know their steps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from core.facts.catalog import Edited
from core.facts.model import Facts
from core.facts.starters import Service
from core.migration.checks import run_checks
from core.migration.estimate import estimate, spec_of
from core.migration.model import step_ids
from core.migration.model.dress import USUAL, Queries, RehearsalOptions, Script
from core.migration.model.move import EditedSettings, Hook, HookCommand, Verify
from core.migration.model.plan import Plan, Step
from core.migration.model.probe import Quantity
from core.migration.model.transport import Route, Transport
from core.migration.plan import make_plan
from core.servers.profiles import Rights
from core.sides import Side
from tests.core.migration.builders import (
    DATA,
    LOCALE,
    NOW,
    ODD,
    TARGET,
    cluster,
    control,
    facts,
    move,
    new,
    old,
    probe,
    profile,
    space,
)


def step(made: Plan, known: str) -> Step:
    """The step of that name; those of the way back come last."""
    return next(each for each in (*made.steps, *made.way_back) if each.id == known)


def opening(made: Plan) -> Step:
    """The point of no return."""
    (found,) = (each for each in made.steps if each.point_of_no_return)
    return found


def compared(made: Plan) -> Step:
    """The step on new that lists its files, and must print what old's did."""
    (found,) = (each for each in made.steps if each.verification.equals == step_ids.CHECKSUMS_OLD)
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


HOOKS = (
    HookCommand(Hook.STOP_APPLICATIONS, "workstation", "./stop-applications now"),
    HookCommand(Hook.MOVE_CRON_JOBS, Side.OLD, "crontab -r"),
    HookCommand(Hook.MOVE_ADDRESS, Side.NEW, "ip address add 10.0.0.9/24 dev eth0", "root"),
    HookCommand(Hook.TELL_POOLER, "workstation", "psql -c 'RELOAD' | cat"),
)
_QUERIES = Queries((Script("one.sql", 3, "select 1;\n"), Script("two.sql", 1, "select 2")), "reader", on_old=True)
_DEBIAN = Service(TARGET, "15/main", "postgresql@15-main.service", debian=True, enabled=False)
_OWN = Service(TARGET, "own", "own.service", enabled=False)
_UNIT = {"unit": "postgresql-15.service"}


def by_route(route: Route, *, running: bool = True, dressed: bool = False, hooks: Sequence[HookCommand] = ()) -> Plan:
    """A plan of two data roots whose samples are fastest by this route, which the move allows."""
    made = cluster(running=running, tablespaces=(space("/space"),))
    undertaking = move(plain_text=True, tablespace_targets={"/space": "/srv/pg/space"})
    both = old(made), new()
    mount = "vers=4.2,nconnect=4" if route is Route.NFS else ""
    ways = (Transport(), 100e6), (Transport(route=route, mount=mount, streams=2), 300e6)
    probes = [replace(probe(Quantity.END_TO_END, rate), transport=way, began_at=NOW) for way, rate in ways]
    asked = RehearsalOptions(amcheck_seconds=60, queries=_QUERIES) if dressed else USUAL
    estimated = estimate(spec_of(undertaking, both[0], probes))
    profiles = profile("old"), profile("new")
    checks = run_checks(undertaking, *both)
    return make_plan(
        undertaking, *profiles, *both, checks, probes, estimated, hooks, seed="0123", dressed=dressed, asked=asked
    )


def on_one_server() -> Plan:
    """A plan between two folders of one host."""
    first = old(cluster(running=True))
    system = replace(first.system, boot_id="b", machine_id="m") if first.system is not None else None
    first = replace(first, system=system)
    second = replace(first, server="new", clusters=facts("new").clusters)
    estimated = estimate(spec_of(move(), first, []))
    return make_plan(move(), profile("old"), profile("new"), first, second, (), (), estimated, seed="0123")


VARIANTS: Mapping[str, Callable[[], Plan]] = {
    "cold": plan,
    "cold over NFS": partial(by_route, Route.NFS, running=False),
    "warm": partial(plan, {"running": True}),
    "warm over ssh, two data roots": partial(by_route, Route.SSH),
    "warm over NFS": partial(by_route, Route.NFS),
    "warm by a daemon": partial(by_route, Route.DAEMON),
    "warm with hooks": partial(by_route, Route.SSH, hooks=HOOKS),
    "warm with one hook": partial(by_route, Route.SSH, hooks=HOOKS[2:3]),
    "every file verified": partial(plan, {"running": True, "control": control(data_checksums=1)}, verify=Verify.ALL),
    "dressed": partial(plan, {"running": True}, dressed=True),
    "dressed, by a daemon, with queries and hooks": partial(by_route, Route.DAEMON, dressed=True, hooks=HOOKS),
    "on one server": on_one_server,
    "odd names": odd_plan,
    "sudo": partial(plan, {"running": True}, user="dba", rights=Rights.SUDO),
    "sudo with a password": partial(plan, {"running": True}, user="dba", rights=Rights.SUDO_PASSWORD),
    "sudo to postgres": partial(plan, {"running": True}, user="dba", rights=Rights.SUDO_POSTGRES),
    "configuration and clusters of Debian": lambda: plan(
        {"name": "15/main", "running": True, "config_file": "/etc/postgresql/15/main/postgresql.conf"},
        new_facts=new(services=(_DEBIAN,)),
    ),
    "registered with Debian": lambda: plan(new_facts=new(services=(_DEBIAN,))),
    "units": lambda: plan(
        {**_UNIT, "running": True},
        old_facts=old(
            cluster(**_UNIT, running=True), services=(Service(DATA, "postgresql-15", _UNIT["unit"], enabled=True),)
        ),
        new_facts=new(services=(_OWN,)),
    ),
    "indexes rebuilt": lambda: plan({"running": True}, new_facts=new(collation_order={LOCALE: "f" * 64})),
    "fenced before": partial(plan, {"fenced": True}),
    "settings kept in force": partial(
        plan, {"running": True, "edited": (Edited("port", "5432", "5433"),)}, {"edited": EditedSettings.IN_FORCE}
    ),
    "page checksums": partial(plan, {"control": control(data_checksums=1)}),
}
"""A plan of each kind, by what is special about it."""
