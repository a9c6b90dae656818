"""Checks, probes, estimate and plan of a move."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from core.api.facts import get_facts, get_facts_of_both
from core.api.locks import refuse_locked_servers
from core.api.session import Session, record_commands
from core.api.watching import collect_if_due
from core.benchmarks.model import Side
from core.errors import HistoryError, ParseError
from core.facts.model import Facts
from core.history.store import Store
from core.jobs import Job
from core.migration.checks import run_checks as check_facts
from core.migration.checks.waivers import apply_waivers
from core.migration.estimate import estimate as estimate_spec
from core.migration.estimate import ruled_out, spec_of
from core.migration.estimate.advice import helps
from core.migration.estimate.copy_methods import planned
from core.migration.estimate.planning import Planned
from core.migration.estimate.planning import answers as answers_of
from core.migration.estimate.spec import Spec
from core.migration.estimate.watched import Watched, watched
from core.migration.execution.rates import changed, command_seconds, copied
from core.migration.execution.record import EstimateComparison, history_of
from core.migration.execution.status import describe_completed_move
from core.migration.model.asked import Asked
from core.migration.model.checks import CheckResult
from core.migration.model.dress import USUAL, RehearsalOptions
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import Move, Verify
from core.migration.model.plan import Plan, PlanWarning
from core.migration.model.probe import Probe, Quantity
from core.migration.model.watch import parse_watch
from core.migration.plan import make_plan
from core.migration.probing.probes import probe as probe_servers
from core.migration.probing.sustained import measure
from core.migration.probing.taking import ProbeContext
from core.migration.probing.trial_start import with_trial_start
from core.reports.estimate_record import record_of, record_of_all
from core.servers.connection import Server


def run_checks(session: Session, move: str, job: Job, *, refresh: bool = True) -> tuple[CheckResult, ...]:
    """Run the checks of a move and return their results.

    Fresh facts of the new server contain what a trial cluster shows of its binaries, and the result of a trial start
    with the old cluster's configuration. So later checks can use them without reaching the servers.

    Args:
        session: the history and the connections.
        move: the name of the move.
        job: the job that reports progress.
        refresh: read the facts of both servers again instead of using the latest ones.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    old = get_facts(session, found, Side.OLD, job, refresh=refresh)
    cluster = old.cluster(found.cluster)

    def add_trial_start(server: Server, facts: Facts) -> Facts:
        return with_trial_start(
            session.server(found.old, job), server, old, facts, found, job, hooks=session.store.hooks(move)
        )

    new = get_facts(session, found, Side.NEW, job, refresh=refresh, trial=cluster, add_trial_start=add_trial_start)
    results = check_facts(found, old, new)
    session.store.save_checks(move, results)
    return apply_waivers(results, session.store.waivers(move))


def check_and_estimate(
    session: Session, move: Move, old: Facts, new: Facts
) -> tuple[tuple[CheckResult, ...], Estimate]:
    """Check and estimate a move from these facts alone, record both, and return them. No server is reached.

    Raises:
        InputError: the facts do not contain the size of the cluster.
    """
    results = check_facts(move, old, new)
    session.store.save_checks(move.name, results)
    made, _ = _estimate(session, move, old, new, Verify.CHANGED, results)
    session.store.save_estimate(move.name, made)
    return apply_waivers(results, session.store.waivers(move.name)), made


def run_probes(session: Session, move: str, job: Job, *, thorough: bool = False) -> tuple[Probe, ...]:
    """Measure each link between the servers for a short time, in proportion to the move or `thorough`."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    refuse_locked_servers(session, (found.old, found.new), job)
    old, new = get_facts_of_both(session, found, job, refresh=True)
    servers = session.server(found.old, job), session.server(found.new, job)
    store = session.store
    before = store.probes(move)
    return probe_servers(*servers, old, new, found, store.seed(move), store, job, before=before, thorough=thorough)


def probe_sustained_write(session: Session, move: str, seconds: float, job: Job) -> Probe:
    """Write to the new server's disk for at most `seconds`: the rate of a copy once a cache is full."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    refuse_locked_servers(session, (found.old, found.new), job)
    old, new = get_facts_of_both(session, found, job, refresh=True)
    servers = session.server(found.old, job), session.server(found.new, job)
    site = ProbeContext(*servers, old, new, found, session.store.seed(move), job)
    short = [each for each in session.store.probes(move) if each.quantity is Quantity.WRITE]
    return measure(site, seconds, short[-1].bytes_per_second if short else None, session.store)


def make_estimate(session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED) -> Estimate:
    """Return how long each method takes, from the history of the move; what is missing is assumed and listed."""
    return make_estimate_with_spec(session, move, job, verify=verify)[0]


def make_estimate_with_spec(
    session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED
) -> tuple[Estimate, Spec]:
    """Return the estimate and the data from which it was made."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    collect_if_due(session, move, job)
    old = get_facts(session, found, Side.OLD, job)
    made, spec = _estimate(session, found, old, session.store.facts(found.new), verify)
    if verify is Verify.CHANGED:  # reports and the window use this estimate until a plan with more checks is made
        session.store.save_estimate(move, made)
    return made, spec


def compare_with_estimates(session: Session, move: str | None = None) -> tuple[EstimateComparison, ...]:
    """Return every execution and rehearsal with the estimate that was made before it, newest first.

    Args:
        session: the history and the connections.
        move: the name of the move; None for all moves that this version can read.
    """
    return record_of_all(session.store) if move is None else record_of(session.store, move)


def plan_move(
    session: Session,
    move: str,
    job: Job,
    *,
    verify: Verify = Verify.CHANGED,
    dressed: bool = False,
    asked: RehearsalOptions = USUAL,
) -> Plan:
    """Make the plan of a move, with the open findings of the checks as warnings, and return it.

    The matching estimate is saved, too.

    Args:
        session: the history and the connections.
        move: the name of the move.
        job: the job that reports progress.
        verify: which files are compared by their checksums during the downtime.
        dressed: whether the plan is for a dress rehearsal.
        asked: the options of that dress rehearsal.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    old, new = get_facts_of_both(session, found, job, refresh=False)
    estimate, _ = _estimate(session, found, old, new, verify)
    session.store.save_estimate(move, estimate)
    made = make_plan(
        found,
        session.store.profile(found.old),
        session.store.profile(found.new),
        old,
        new,
        apply_waivers(check_facts(found, old, new), session.store.waivers(move)),
        session.store.probes(move),
        estimate,
        session.store.hooks(move),
        verify,
        seed=session.store.seed(move),
        dressed=dressed,
        asked=asked,
    )
    completion = describe_completion(session, move)
    made = replace(made, warnings=(PlanWarning(completion), *made.warnings)) if completion else made
    if not dressed:  # a report shows the plan of the move
        session.store.save_plan(move, made)
    return made


def describe_completion(session: Session, move: str) -> str:
    """Return a sentence that the move is finished, for its plan or estimate; empty if it is not."""
    return describe_completed_move(session.store.latest_execution(move))


def answer_planning(session: Session, move: str, asked: Asked) -> Planned | None:
    """Return the answers to the planning questions `asked`, from the latest estimate; None if there is none."""
    found = session.store.move(move)
    made, old = session.store.estimate(move), session.store.facts(found.old)
    if made is None or old is None:
        return None
    return answers_of(_make_spec(session, found, old, session.store.facts(found.new)), made, asked, made.checking)


def _estimate(
    session: Session,
    move: Move,
    old: Facts,
    new: Facts | None,
    verify: Verify,
    checks: Sequence[CheckResult] | None = None,
) -> tuple[Estimate, Spec]:
    """Return the estimate and the data from which it was made.

    Args:
        session: the history and the connections.
        move: the move.
        old: the facts of the old server.
        new: the facts of the new server; None if there are none.
        verify: which files are compared by their checksums during the downtime.
        checks: the latest results of the checks; None to take them from the history.
    """
    spec = _make_spec(session, move, old, new)
    cluster = old.cluster(move.cluster)
    found = session.store.checks(move.name) if checks is None else checks
    made = ruled_out(estimate_spec(spec, verify), found or ())
    made = replace(made, planned=planned(cluster) if cluster is not None else "")
    return replace(made, helps=helps(spec, made.to_take, verify)), spec


def _make_spec(session: Session, move: Move, old: Facts, new: Facts | None) -> Spec:
    """Return the data for an estimate: the facts, and the history of this move and of similar moves."""
    store = session.store
    probes, runs = store.probes(move.name), store.runs(move.name, latest_only=True)
    executions, others = _own_executions(store, move.name), _similar_moves(store, move)
    rows = [row for name in (move.name, *others) for row in record_of(store, name)]
    known = history_of(executions, [each for name in others for each in _own_executions(store, name)], rows)
    known = replace(known, now=datetime.now(UTC), watched=_latest_watch(probes))
    took = command_seconds([command.seconds for command in store.commands(move.name)])
    spec = spec_of(move, old, probes, runs, new, copied(executions), changed(executions), known, took)
    return replace(spec, cluster=replace(spec.cluster, growth_bytes_per_month=_monthly_growth_bytes(session, move)))


def _own_executions(store: Store, move: str) -> list[Execution]:
    """Return the executions of a move that were recorded here, newest first."""
    own = store.own_executions(move)
    return [each for each in store.executions(move) if each.id in own]


def _latest_watch(probes: Sequence[Probe]) -> Watched | None:
    """Return what the latest watch on the old server has seen."""
    taken = next((each for each in probes if each.quantity is Quantity.CHANGES), None)
    if taken is None:
        return None
    with suppress(ParseError):  # a log that was truncated or edited in the history must not prevent an estimate
        return watched(parse_watch(taken.raw))
    return None


def _similar_moves(store: Store, move: Move) -> list[str]:
    """Return other moves between the same servers that this version can read."""
    found = []
    for each in store.moves():
        if each.name != move.name and (each.old, each.new) == (move.old, move.new):
            with suppress(HistoryError):
                record_of(store, each.name)
                found.append(each.name)
    return found


_MONTH_SECONDS = 30.44 * 86400


def _monthly_growth_bytes(session: Session, move: Move) -> float | None:
    """Return the bytes by which the cluster has grown per month; None within a day or without growth."""
    listed = session.store.facts_history(move.old)
    if not listed or (listed[0][1] - listed[-1][1]).total_seconds() < _LEAST_SECONDS:
        return None
    clusters = [session.store.facts_by_id(number).cluster(move.cluster) for number, _ in (listed[0], listed[-1])]
    sizes = [each.size_bytes for each in clusters if each is not None and each.size_bytes]
    if len(sizes) < 2 or sizes[0] <= sizes[1]:
        return None
    return (sizes[0] - sizes[1]) / (listed[0][1] - listed[-1][1]).total_seconds() * _MONTH_SECONDS


_LEAST_SECONDS = 86400.0
"""Sizes on the same day say nothing about the growth in a month."""
