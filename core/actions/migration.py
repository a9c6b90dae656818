"""From what would break to every command: checks, probes, estimate, plan of a move."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from core.actions.facts import both_facts, facts_of
from core.actions.locks import refuse_held
from core.actions.session import Session, record_commands
from core.actions.watching import collect_if_due
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
from core.reports.record import record_of, record_of_all
from core.servers.connection import Server


def run_checks(session: Session, move: str, job: Job, *, refresh: bool = True) -> tuple[CheckResult, ...]:
    """What must hold before the move, from fresh facts of both servers (or the latest, without `refresh`).

    Fresh facts of new hold what a trial cluster shows of its binaries, and how an empty cluster with the configuration
    of old started there, so that later checks of facts alone know it.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    old = facts_of(session, found, Side.OLD, job, refresh=refresh)
    cluster = old.cluster(found.cluster)

    def tried(server: Server, facts: Facts) -> Facts:
        return with_trial_start(
            session.server(found.old, job), server, old, facts, found, job, hooks=session.store.hooks(move)
        )

    new = facts_of(session, found, Side.NEW, job, refresh=refresh, trial=cluster, tried=tried)
    results = check_facts(found, old, new)
    session.store.save_checks(move, results)
    return apply_waivers(results, session.store.waivers(move))


def judge(session: Session, move: Move, old: Facts, new: Facts) -> tuple[tuple[CheckResult, ...], Estimate]:
    """Checks and estimate of a move by facts alone, recorded; no server is reached.

    Raises:
        InputError: the facts do not tell the size of the cluster.
    """
    results = check_facts(move, old, new)
    session.store.save_checks(move.name, results)
    made, _ = _estimated(session, move, old, new, Verify.CHANGED, results)
    session.store.save_estimate(move.name, made)
    return apply_waivers(results, session.store.waivers(move.name)), made


def probe(session: Session, move: str, job: Job, *, thorough: bool = False) -> tuple[Probe, ...]:
    """Short measurements of each link of the copy chain, in proportion to the move or `thorough`."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    refuse_held(session, (found.old, found.new), job)
    old, new = both_facts(session, found, job, refresh=True)
    servers = session.server(found.old, job), session.server(found.new, job)
    store = session.store
    before = store.probes(move)
    return probe_servers(*servers, old, new, found, store.seed(move), store, job, before=before, thorough=thorough)


def probe_sustained(session: Session, move: str, seconds: float, job: Job) -> Probe:
    """A longer write to new's disk, for so many seconds at the most: what a copy gets when a cache is full."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    refuse_held(session, (found.old, found.new), job)
    old, new = both_facts(session, found, job, refresh=True)
    servers = session.server(found.old, job), session.server(found.new, job)
    site = ProbeContext(*servers, old, new, found, session.store.seed(move), job)
    short = [each for each in session.store.probes(move) if each.quantity is Quantity.WRITE]
    return measure(site, seconds, short[-1].bytes_per_second if short else None, session.store)


def estimate(session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED) -> Estimate:
    """How long each method takes, from what the history holds of the move; what is missing is assumed, and said."""
    return estimate_with_spec(session, move, job, verify=verify)[0]


def estimate_with_spec(
    session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED
) -> tuple[Estimate, Spec]:
    """The same, and what it was made from."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    collect_if_due(session, move, job)
    old = facts_of(session, found, Side.OLD, job)
    made, spec = _estimated(session, found, old, session.store.facts(found.new), verify)
    if verify is Verify.CHANGED:  # what a report and the window go by, until a plan is made that proves more
        session.store.save_estimate(move, made)
    return made, spec


def record(session: Session, move: str | None = None) -> tuple[EstimateComparison, ...]:
    """Every execution and rehearsal of a move, or of all, beside the estimate that was made before it, newest first.

    Of all moves those that this version cannot read are left out.
    """
    return record_of_all(session.store) if move is None else record_of(session.store, move)


def plan(
    session: Session,
    move: str,
    job: Job,
    *,
    verify: Verify = Verify.CHANGED,
    dressed: bool = False,
    asked: RehearsalOptions = USUAL,
) -> Plan:
    """The steps of the move with their exact commands, and as warnings what the checks say of the same facts.

    The estimate of just that, with what it proves, is kept beside it. `dressed`: it is for a dress rehearsal, for
    which this is `asked`.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    old, new = both_facts(session, found, job, refresh=False)
    estimated, _ = _estimated(session, found, old, new, verify)
    session.store.save_estimate(move, estimated)
    made = make_plan(
        found,
        session.store.profile(found.old),
        session.store.profile(found.new),
        old,
        new,
        apply_waivers(check_facts(found, old, new), session.store.waivers(move)),
        session.store.probes(move),
        estimated,
        session.store.hooks(move),
        verify,
        seed=session.store.seed(move),
        dressed=dressed,
        asked=asked,
    )
    said = carried_out(session, move)
    made = replace(made, warnings=(PlanWarning(said), *made.warnings)) if said else made
    if not dressed:  # a report shows the plan of the move
        session.store.save_plan(move, made)
    return made


def carried_out(session: Session, move: str) -> str:
    """That the move is over, in a sentence for whoever asks for a plan or an estimate of it; empty: it is not."""
    return describe_completed_move(session.store.latest_execution(move))


def answers(session: Session, move: str, asked: Asked) -> Planned | None:
    """What is asked of the latest estimate beyond its methods, by what the history holds; None where there is none."""
    found = session.store.move(move)
    made, old = session.store.estimate(move), session.store.facts(found.old)
    if made is None or old is None:
        return None
    return answers_of(_spec(session, found, old, session.store.facts(found.new)), made, asked, made.checking)


def _estimated(
    session: Session,
    move: Move,
    old: Facts,
    new: Facts | None,
    verify: Verify,
    checks: Sequence[CheckResult] | None = None,
) -> tuple[Estimate, Spec]:
    """`checks`: the latest, where they are at hand."""
    spec = _spec(session, move, old, new)
    cluster = old.cluster(move.cluster)
    found = session.store.checks(move.name) if checks is None else checks
    made = ruled_out(estimate_spec(spec, verify), found or ())
    made = replace(made, planned=planned(cluster) if cluster is not None else "")
    return replace(made, helps=helps(spec, made.to_take, verify)), spec


def _spec(session: Session, move: Move, old: Facts, new: Facts | None) -> Spec:
    """What an estimate is made from: the facts, and what the history holds of the move and of those like it."""
    store = session.store
    probes, runs = store.probes(move.name), store.runs(move.name, latest_only=True)
    executions, others = _own(store, move.name), _between_the_same(store, move)
    rows = [row for name in (move.name, *others) for row in record_of(store, name)]
    known = history_of(executions, [each for name in others for each in _own(store, name)], rows)
    known = replace(known, now=datetime.now(UTC), watched=_watched(probes))
    took = command_seconds([command.seconds for command in store.commands(move.name)])
    spec = spec_of(move, old, probes, runs, new, copied(executions), changed(executions), known, took)
    return replace(spec, cluster=replace(spec.cluster, growth_bytes_per_month=_growth(session, move)))


def _own(store: Store, move: str) -> list[Execution]:
    """The executions of a move that count, newest first: what came from elsewhere does not."""
    own = store.own_executions(move)
    return [each for each in store.executions(move) if each.id in own]


def _watched(probes: Sequence[Probe]) -> Watched | None:
    """What the latest watch on old tells."""
    taken = next((each for each in probes if each.quantity is Quantity.CHANGES), None)
    if taken is None:
        return None
    with suppress(ParseError):  # a log that was cut or edited in the history tells nothing, and keeps no estimate
        return watched(parse_watch(taken.raw))
    return None


def _between_the_same(store: Store, move: Move) -> list[str]:
    """Other moves between its servers, but for those that this version cannot read."""
    found = []
    for each in store.moves():
        if each.name != move.name and (each.old, each.new) == (move.old, move.new):
            with suppress(HistoryError):
                record_of(store, each.name)
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
