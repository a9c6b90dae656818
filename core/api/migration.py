"""What precedes a move: its checks and their waivers, probes, watches on the old server, the estimate, the plan."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.api.facts import get_facts, get_facts_of_both
from core.api.servers import refuse_locked_servers
from core.api.session import Session, record_commands
from core.benchmarks.model import Outcome
from core.errors import HistoryError, InputError, ParseError, PghaulError
from core.facts.model import Facts
from core.files import write_text
from core.history.store import Store
from core.jobs import Job, Note
from core.migration.checks import run_checks as check_facts
from core.migration.checks.waivers import apply_waivers
from core.migration.estimate import estimate as estimate_spec
from core.migration.estimate import load_spec, ruled_out, spec_of
from core.migration.estimate.copy_methods import planned
from core.migration.estimate.growth import Later, monthly_growth
from core.migration.estimate.planning import Planned, answered, begins_with_a_precopy, clock
from core.migration.estimate.planning import answers as answer_from_spec
from core.migration.estimate.spec import Spec
from core.migration.estimate.watched import Watched, watched
from core.migration.execution.rates import changed, command_seconds, copied
from core.migration.execution.record import (
    ByStage,
    EstimateComparison,
    bias,
    by_stage,
    history_of,
    hit_rate,
    select_counted,
)
from core.migration.execution.script_check import ScriptCheck
from core.migration.execution.script_check import check_script as run_dry
from core.migration.execution.status import describe_completed_move
from core.migration.model.asked import NOTHING, Asked
from core.migration.model.checks import CheckResult
from core.migration.model.dress import USUAL, RehearsalOptions
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import Move, Verify
from core.migration.model.plan import Plan, PlanWarning
from core.migration.model.probe import Probe, Quantity
from core.migration.model.watch import WatchResult, parse_watch
from core.migration.plan import make_plan, runbook, script
from core.migration.probing import watching
from core.migration.probing.probes import probe as probe_servers
from core.migration.probing.proportion import (
    THOROUGH,
    ProbeForecast,
    forecast,
    forecast_text,
    in_proportion,
    lately,
    latest_links,
    slowest,
)
from core.migration.probing.sustained import measure
from core.migration.probing.taking import ProbeContext
from core.migration.probing.watching import Watching
from core.migration.transports.choice import Choice, is_on_one_server, tried_routes
from core.migration.transports.choice import choose_transport as choice_of
from core.reports.estimate_record import record_of, record_of_all
from core.servers.connection import Server
from core.servers.shell import quoted
from core.sides import Side

__all__ = [
    "SAW_NOTHING",
    "ByStage",
    "Choice",
    "EstimateComparison",
    "Later",
    "Planned",
    "ProbeForecast",
    "ScriptCheck",
    "Spec",
    "Watching",
    "answer_from_spec",
    "answer_planning",
    "begin_watch",
    "begins_with_a_precopy",
    "bias",
    "by_stage",
    "check_and_estimate",
    "check_script",
    "choose_transport",
    "clock",
    "collect_if_due",
    "collect_watch",
    "compare_with_estimates",
    "describe_completion",
    "estimate_from_spec",
    "estimate_with",
    "forecast_probes",
    "forecast_text",
    "hit_rate",
    "make_estimate",
    "make_estimate_with_spec",
    "plan_move",
    "probe_sustained_write",
    "run_probes",
    "save_runbook",
    "save_script",
    "select_counted",
    "watch_status",
]


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
    began = time.monotonic()
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    refuse_locked_servers(session, (found.old, found.new), job)
    old, new = get_facts_of_both(session, found, job, refresh=True)
    servers = session.server(found.old, job), session.server(found.new, job)
    store = session.store
    return probe_servers(
        *servers,
        old,
        new,
        found,
        store.seed(move),
        store,
        job,
        before=store.probes(move),
        thorough=thorough,
        expected_seconds=_expected_seconds(store, move),
        began=began,
    )


def forecast_probes(session: Session, move: str, *, thorough: bool = False) -> ProbeForecast:
    """Return what the probes of the move will take, by the facts and probes of the history. No server is reached."""
    store = session.store
    found = store.move(move)
    old, new = store.facts(found.old), store.facts(found.new)
    cluster = old.cluster(found.cluster) if old is not None else None
    probes, expected = store.probes(move), _expected_seconds(store, move)
    size = cluster.size_bytes if cluster is not None else None
    bounds = THOROUGH if thorough else in_proportion(size, slowest(probes), expected)
    again = [] if thorough else list(lately(probes, datetime.now(UTC)))
    known = {quantity: each.bytes_per_second for quantity, each in latest_links(probes).items()}
    here = old is not None and new is not None and is_on_one_server(found, old, new, store.profile(found.new))
    return forecast(bounds, known, again, over_network=not here)


def _expected_seconds(store: Store, move: str) -> float | None:
    """Return the likely duration of the move by its latest estimate; None if that rests on no sample of the copy."""
    samples = [each.taken_at for each in store.probes(move) if each.quantity is Quantity.END_TO_END]
    estimates = store.estimates(move)
    if not samples or not estimates or estimates[0].made_at is None or estimates[0].made_at < max(samples):
        return None
    method = estimates[0].method(estimates[0].to_take)
    return method.duration_seconds.likely if method is not None else None


def choose_transport(probes: Sequence[Probe]) -> Choice:
    """Return the transport that a plan would use by these probes, and why."""
    return choice_of(probes, tried_routes(probes))


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


def estimate_from_spec(text: str, name: str, verify: Verify, asked: Asked = NOTHING) -> tuple[Estimate, Spec]:
    """Return an estimate from a TOML or JSON spec, without servers, and the spec.

    Args:
        text: the spec.
        name: the name of its file, for messages.
        verify: which files are compared by their checksums during the downtime.
        asked: the window and the downtime that the methods have to fit into.

    Raises:
        InputError: the spec cannot be read, or contradicts itself.
    """
    spec = load_spec(text, name)
    return answered(spec, estimate_spec(spec, verify), asked), spec


def make_estimate(session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED) -> Estimate:
    """Return how long each method takes, from the history of the move; what is missing is assumed and listed."""
    return make_estimate_with_spec(session, move, job, verify=verify)[0]


def make_estimate_with_spec(
    session: Session, move: str, job: Job, *, verify: Verify = Verify.CHANGED, asked: Asked | None = None
) -> tuple[Estimate, Spec]:
    """Return the estimate and the data from which it was made.

    Args:
        session: the history and the connections.
        move: the name of the move.
        job: the job that reports progress.
        verify: which files are compared by their checksums during the downtime.
        asked: the window and the downtime that the move has to fit into, which are kept with it; None: those that are
            kept.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    collect_if_due(session, move, job)
    old, new = get_facts(session, found, Side.OLD, job), session.store.facts(found.new)
    if asked is not None:
        session.store.save_asked(move, asked)
    made, spec = _estimate(session, found, old, new, verify)
    latest = session.store.estimate(move)
    if verify is Verify.CHANGED:  # reports and the window use this estimate until a plan with more checks is made
        session.store.save_estimate(move, made)
    elif latest is not None and latest.asked != made.asked:  # what they use must answer what is kept
        session.store.save_estimate(move, _estimate(session, found, old, new, latest.checking)[0])
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


def save_runbook(plan: Plan, path: Path, *, replacing: bool = False) -> Path:
    """Write a plan to a file as a runbook in Markdown, and return its path.

    Raises:
        InputError: the file exists and must not be replaced, or it cannot be written.
    """
    write_text(path, runbook(plan), replacing=replacing)
    return path


def save_script(plan: Plan, path: Path, *, replacing: bool = False) -> Path:
    """Write a plan to a file as a POSIX shell script, and return its path. Raises the errors of `save_runbook`."""
    write_text(path, script(plan), replacing=replacing, executable=True)
    return path


def check_script(plan: Plan, job: Job) -> ScriptCheck:
    """Run the script of a plan on this workstation as a dry run: it shows what each step would run, and runs nothing.

    Raises:
        InputError: this workstation has no `sh`.
    """
    return run_dry(plan, job)


def describe_completion(session: Session, move: str) -> str:
    """Return a sentence that the move is finished, for its plan or estimate; empty if it is not."""
    return describe_completed_move(session.store.latest_execution(move))


def estimate_with(session: Session, move: str, verify: Verify | None = None) -> Estimate | None:
    """Return the latest estimate, or what it is with another verification; None if there is none. Nothing is saved.

    Args:
        session: the history.
        move: the move.
        verify: which files are compared by their checksums during the downtime; None: as in the latest estimate.
    """
    found = session.store.move(move)
    made, old = session.store.estimate(move), session.store.facts(found.old)
    if made is None or old is None or verify in {None, made.checking}:
        return made
    return _estimate(session, found, old, session.store.facts(found.new), verify)[0]


def answer_planning(
    session: Session, move: str, asked: Asked, verify: Verify | None = None
) -> tuple[Estimate, Planned] | None:
    """Return the answers to the planning questions, and the estimate whose figures they are; None if there is none.

    The window and the downtime are kept with the move. If the latest estimate has not answered them, it is made again
    from the history, and saved: so each figure has one source.

    Args:
        session: the history. No server is reached.
        move: the move.
        asked: the questions.
        verify: that of `estimate_with`.
    """
    found = session.store.move(move)
    latest, old, new = session.store.estimate(move), session.store.facts(found.old), session.store.facts(found.new)
    if latest is None or old is None:
        return None
    if asked.kept != session.store.asked(move):
        session.store.save_asked(move, asked)
    if asked.kept != latest.asked:
        session.store.save_estimate(move, _estimate(session, found, old, new, latest.checking)[0])
    made = estimate_with(session, move, verify)
    return None if made is None else (made, answer_from_spec(_make_spec(session, found, old, new), made, asked))


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
    return answered(spec, made, session.store.asked(move.name)), spec


def _make_spec(session: Session, move: Move, old: Facts, new: Facts | None) -> Spec:
    """Return the data for an estimate: the facts, and the history of this move and of similar moves."""
    store = session.store
    probes, runs = store.probes(move.name), store.runs(move.name, latest_only=True)
    own = store.machines((move.old, move.new), move=move.name).current(runs)
    executions, others = _own_executions(store, move.name), _similar_moves(store, move)
    rows = [row for name in (move.name, *others) for row in record_of(store, name)]
    known = history_of(executions, [each for name in others for each in _own_executions(store, name)], rows)
    renamed = frozenset(run.volume.side for run in runs if run.outcome is Outcome.DONE and run not in own)
    known = replace(known, now=datetime.now(UTC), zone=_zone(old), watched=_latest_watch(probes), renamed=renamed)
    took = command_seconds([command.seconds for command in store.commands(move.name)])
    spec = spec_of(move, old, probes, own, new, copied(executions), changed(executions), known, took)
    grown = monthly_growth(store.cluster_sizes(move.old, move.cluster, 2))
    return replace(spec, cluster=replace(spec.cluster, growth_bytes_per_month=grown if grown and grown > 0 else None))


def _zone(old: Facts) -> ZoneInfo | None:
    """Return the time zone of a server; None if it is not known, or not to this workstation."""
    name = old.system.time_zone if old.system is not None else None
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None


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


SAW_NOTHING = "watch ended before its second observation; it has no result"
"""What is recorded for a watch that no longer exists and has no result."""


def begin_watch(session: Session, move: str, seconds: float, job: Job) -> Watching:
    """Begin a watch on the old server, which runs by itself; later estimates use its results once it has ended."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    facts = get_facts(session, found, Side.OLD, job)
    old = session.server(found.old, job)
    asked_at = datetime.now(UTC)
    begun = watching.begin(old, facts, found, session.store.seed(move), seconds, job)
    session.store.probe_taken(move, _begun_probe(begun.command, seconds, asked_at))
    return watching.look(old, begun, job)


def watch_status(session: Session, move: str, job: Job) -> Watching:
    """Return the state of the watch on the old server; raise InputError if there is none."""
    job = record_commands(session.store, job, move)
    return _find_watch(session, session.store.move(move), job)[1]


def collect_watch(session: Session, move: str, job: Job, *, end: bool = False) -> Watching:
    """Save what the watch has seen so far. A watch that has ended, or is to `end`, is removed from the old server.

    Raises:
        InputError: there is no watch, or it has seen nothing yet and continues.
    """
    job = record_commands(session.store, job, move)
    old, now = _find_watch(session, session.store.move(move), job)
    seen = now.watch is not None and now.watch.seconds > 0
    if now.watch is not None and seen:
        session.store.probe_taken(move, _result_probe(now.job.command, now.log, now.watch))
    elif now.running and not end:
        raise InputError(
            "the watch has made fewer than two observations",
            f"try again later: pghaul probe {quoted(move)} --watch --collect",
        )
    if end or not now.running:
        watching.end(old, now, job)
        if not seen and session.store.uncollected_watch(move) is not None:
            session.store.probe_taken(move, _ended_probe(now.job.command, now.log))
            job.report(Note(f"{old.name}: {SAW_NOTHING}"))
    return now


def collect_if_due(session: Session, move: str, job: Job) -> None:
    """Save the results of a watch that has ended; a failure is reported and is not an error."""
    begun = session.store.uncollected_watch(move)
    if begun is None or datetime.now(UTC) < begun.taken_at + timedelta(seconds=float(begun.raw)):
        return
    try:
        collect_watch(session, move, job)
    except PghaulError as error:
        job.check()
        job.report(Note(f"the result of the watch on the old server cannot be used: {error.message}", "warning"))


def _find_watch(session: Session, found: Move, job: Job) -> tuple[Server, Watching]:
    old = session.server(found.old, job)
    begun = watching.find(old, session.store.facts(found.old), found, session.store.seed(found.name), job)
    if begun is None:
        lost = session.store.uncollected_watch(found.name)
        if lost is not None:  # for example after a restart that empties /var/tmp
            session.store.probe_taken(found.name, _ended_probe(lost.command, ""))
        raise InputError(
            f"there is no watch of {found.name} on {found.old}",
            f"start one with: pghaul probe {quoted(found.name)} --watch 24h",
        )
    return old, watching.look(old, begun, job)


def _begun_probe(command: str, seconds: float, at: datetime) -> Probe:
    """Return the record that a watch was begun and has measured nothing yet."""
    length = f"{round(seconds)}"
    return Probe(Quantity.CHANGES, 0.0, 0, 0.0, f"watch of {length} s started", command, length, at)


def _ended_probe(command: str, log: str) -> Probe:
    """Return the record that a watch no longer exists and has measured nothing."""
    now = datetime.now(UTC)
    return Probe(Quantity.CHANGES, 0.0, 0, 0.0, SAW_NOTHING, command, log, now, began_at=now)


def _result_probe(command: str, log: str, watch: WatchResult) -> Probe:
    steps = watch.wal
    grown, seconds = sum(each[2] for each in steps), sum(each[1] for each in steps)
    now = datetime.now(UTC)
    return Probe(
        quantity=Quantity.CHANGES,
        bytes_per_second=grown / seconds if seconds else 0.0,
        bytes=grown,
        seconds=watch.seconds,
        method=f"watch of the old cluster: WAL and file times, {len(watch.looks)} observations",
        command=command,
        raw=log,
        taken_at=now,
        began_at=now,
    )
