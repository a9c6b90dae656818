"""From what would break to every command: checks, probes, estimate, plan of a move."""

from contextlib import suppress
from dataclasses import replace

from core.actions.facts import both_facts, facts_of
from core.actions.locks import refuse_held
from core.actions.session import Session, recorded
from core.benchmarks.model import Side
from core.errors import HistoryError
from core.facts.model import Facts
from core.history.store import Store
from core.jobs import Job
from core.migration.checks import check as check_facts
from core.migration.checks.waivers import with_waivers
from core.migration.estimate import estimate as estimate_spec
from core.migration.estimate import ruled_out, spec_of
from core.migration.estimate.copy_methods import planned
from core.migration.estimate.spec import Spec
from core.migration.execution.rates import change_rate, copy_rate
from core.migration.execution.record import Held, held, history_of
from core.migration.model.checks import CheckResult
from core.migration.model.estimate import Estimate
from core.migration.model.move import Move, Verify
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.migration.plan import make_plan
from core.migration.probing.probes import probe as probe_servers


def check(session: Session, move: str, job: Job, *, refresh: bool = True) -> tuple[CheckResult, ...]:
    """What must hold before the move, from fresh facts of both servers (or the latest, without `refresh`).

    Fresh facts of new hold what a trial cluster shows of its binaries, so that later checks of facts alone know it.
    """
    job = recorded(session.store, job, move)
    found = session.store.move(move)
    old = facts_of(session, found, Side.OLD, job, refresh=refresh)
    cluster = old.cluster(found.cluster)
    new = facts_of(session, found, Side.NEW, job, refresh=refresh, trial=cluster)
    results = check_facts(found, old, new)
    session.store.save_checks(move, results)
    return with_waivers(results, session.store.waivers(move))


def probe(session: Session, move: str, job: Job) -> tuple[Probe, ...]:
    """Short measurements of each link of the copy chain."""
    job = recorded(session.store, job, move)
    found = session.store.move(move)
    refuse_held(session, (found.old, found.new), job)
    old, new = both_facts(session, found, job, refresh=True)
    servers = session.server(found.old, job), session.server(found.new, job)
    return probe_servers(*servers, old, new, found, session.store.seed(move), session.store, job)


def estimate(session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED) -> Estimate:
    """How long each method takes, from what the history holds of the move; what is missing is assumed, and said."""
    return estimate_with_spec(session, move, job, verify=verify)[0]


def estimate_with_spec(
    session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED
) -> tuple[Estimate, Spec]:
    """The same, and what it was made from."""
    job = recorded(session.store, job, move)
    found = session.store.move(move)
    return _estimated(session, found, facts_of(session, found, Side.OLD, job), session.store.facts(found.new), verify)


def record(session: Session, move: str | None = None) -> tuple[Held, ...]:
    """Every execution and rehearsal of a move, or of all, beside the estimate that was made before it, newest first.

    Of all moves those that this version cannot read are left out.
    """
    store = session.store
    if move is not None:
        return _newest_first(_held(store, move))
    rows: list[Held] = []
    for each in store.moves():
        with suppress(HistoryError):
            rows += _held(store, each.name)
    return _newest_first(rows)


def _held(store: Store, move: str) -> list[Held]:
    estimates = store.estimates(move)
    return [row for execution in store.executions(move) for row in held(execution, estimates)]


def _newest_first(rows: list[Held]) -> tuple[Held, ...]:
    return tuple(sorted(rows, key=lambda row: row.began_at, reverse=True))


def plan(session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED) -> Plan:
    """The steps of the move with their exact commands, and as warnings what the checks say of the same facts."""
    job = recorded(session.store, job, move)
    found = session.store.move(move)
    old, new = both_facts(session, found, job, refresh=False)
    made = make_plan(
        found,
        session.store.profile(found.old),
        session.store.profile(found.new),
        old,
        new,
        with_waivers(check_facts(found, old, new), session.store.waivers(move)),
        session.store.probes(move),
        _estimated(session, found, old, new)[0],
        session.store.hooks(move),
        verify,
        seed=session.store.seed(move),
    )
    session.store.save_plan(move, made)
    return made


def _estimated(
    session: Session, move: Move, old: Facts, new: Facts | None, verify: Verify = Verify.CHANGED
) -> tuple[Estimate, Spec]:
    store = session.store
    probes, runs = store.probes(move.name), store.runs(move.name, latest_only=True)
    executions = store.executions(move.name)
    others = _between_the_same(store, move)
    rows = [row for name in (move.name, *others) for row in _held(store, name)]
    known = history_of(executions, [each for name in others for each in store.executions(name)], rows)
    spec = spec_of(move, old, probes, runs, new, copy_rate(executions), change_rate(executions), known)
    spec = replace(spec, cluster=replace(spec.cluster, growth_bytes_per_month=_growth(session, move)))
    cluster = old.cluster(move.cluster)
    made = ruled_out(estimate_spec(spec, verify), store.checks(move.name) or ())
    made = replace(made, planned=planned(cluster) if cluster is not None else "")
    if verify is Verify.CHANGED:  # what a plan, a report and the window go by
        store.save_estimate(move.name, made)
    return made, spec


def _between_the_same(store: Store, move: Move) -> list[str]:
    """Other moves between its servers, but for those that this version cannot read."""
    found = []
    for each in store.moves():
        if each.name != move.name and (each.old, each.new) == (move.old, move.new):
            with suppress(HistoryError):
                _held(store, each.name)
                found.append(each.name)
    return found


_MONTH_SECONDS = 30.44 * 86400


def _growth(session: Session, move: Move) -> float | None:
    """Bytes a month by which the cluster grew since the oldest facts; None within a day, or if it did not."""
    listed = session.store.facts_history(move.old)
    if not listed or (listed[0][1] - listed[-1][1]).total_seconds() < _LEAST_SECONDS:
        return None
    clusters = [session.store.facts_by_id(number).cluster(move.cluster) for number, _ in (listed[0], listed[-1])]
    sizes = [each.size_bytes for each in clusters if each is not None and each.size_bytes]
    if len(sizes) < 2 or sizes[0] <= sizes[1]:
        return None
    return (sizes[0] - sizes[1]) / (listed[0][1] - listed[-1][1]).total_seconds() * _MONTH_SECONDS


_LEAST_SECONDS = 86400.0
"""Sizes of the same day say nothing of a month."""
