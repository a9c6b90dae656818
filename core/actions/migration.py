"""From what would break to every command: checks, probes, estimate, plan of a move."""

from dataclasses import replace

from core.actions.desk import Desk, recorded
from core.actions.facts import both_facts, facts_of
from core.actions.locks import refuse_held
from core.benchmarks.model import Side
from core.facts.model import Facts
from core.jobs import Job
from core.migration.checks import check as check_facts
from core.migration.checks.waivers import with_waivers
from core.migration.estimate import estimate as estimate_spec
from core.migration.estimate import spec_of
from core.migration.estimate.copy_methods import planned
from core.migration.execution.rates import change_rate, copy_rate
from core.migration.model.checks import CheckResult
from core.migration.model.estimate import Estimate
from core.migration.model.move import Move, Verify
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.migration.plan import make_plan
from core.migration.probing.probes import probe as probe_servers


def check(desk: Desk, move: str, job: Job, *, refresh: bool = True) -> tuple[CheckResult, ...]:
    """What must hold before the move, from fresh facts of both servers (or the latest, without `refresh`).

    Fresh facts of new hold what a trial cluster shows of its binaries, so that later checks of facts alone know it.
    """
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    old = facts_of(desk, found, Side.OLD, job, refresh=refresh)
    cluster = old.cluster(found.cluster)
    new = facts_of(desk, found, Side.NEW, job, refresh=refresh, trial=cluster)
    results = check_facts(found, old, new)
    desk.store.save_checks(move, results)
    return with_waivers(results, desk.store.waivers(move))


def probe(desk: Desk, move: str, job: Job) -> tuple[Probe, ...]:
    """Short measurements of each link of the copy chain."""
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    refuse_held(desk, (found.old, found.new), job)
    old, new = both_facts(desk, found, job, refresh=True)
    return probe_servers(desk.server(found.old, job), desk.server(found.new, job), old, new, found, desk.store, job)


def estimate(desk: Desk, move: str, job: Job) -> Estimate:
    """How long each method takes, from what the history holds of the move; what is missing is assumed, and said."""
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    return _estimated(desk, found, facts_of(desk, found, Side.OLD, job), desk.store.facts(found.new))


def plan(desk: Desk, move: str, job: Job, *, verify: Verify = Verify.CHANGED) -> Plan:
    """The steps of the move with their exact commands, and as warnings what the checks say of the same facts."""
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    old, new = both_facts(desk, found, job, refresh=False)
    made = make_plan(
        found,
        desk.store.profile(found.old),
        desk.store.profile(found.new),
        old,
        new,
        with_waivers(check_facts(found, old, new), desk.store.waivers(move)),
        desk.store.probes(move),
        _estimated(desk, found, old, new),
        desk.store.hooks(move),
        verify,
    )
    desk.store.save_plan(move, made)
    return made


def _estimated(desk: Desk, move: Move, old: Facts, new: Facts | None) -> Estimate:
    probes, runs = desk.store.probes(move.name), desk.store.runs(move.name, latest_only=True)
    executions = desk.store.executions(move.name)
    spec = spec_of(move, old, probes, runs, new, copy_rate(executions), change_rate(executions))
    cluster = old.cluster(move.cluster)
    made = replace(estimate_spec(spec), planned=planned(cluster) if cluster is not None else "")
    desk.store.save_estimate(move.name, made)
    return made
