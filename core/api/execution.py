"""Actions that start, continue, cancel and roll back the execution of a move."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module

from core.api.checks import run_checks
from core.api.migration import make_estimate, plan_move
from core.api.model import ExecutionState
from core.api.servers import find_leftover_execution, with_advice
from core.api.session import Session, record_commands
from core.errors import InputError
from core.facts.model import TrialStart
from core.jobs import Job
from core.migration.execution.entry import (
    describe_leftovers,
    find_cancellable,
    find_resumable,
    find_rollbackable,
    refuse_blockers,
    refuse_changed_move,
    refuse_if_unfinished,
    require_execution,
)
from core.migration.execution.lock import HeldError
from core.migration.execution.outcome import (
    Figures,
    Paragraph,
    figures_of,
    files_verified,
    follow_up,
    follow_up_tasks,
    open_follow_up_tasks,
    outcome_of,
    result_of,
)
from core.migration.execution.passes import FinishedPasses, read_finished_passes
from core.migration.execution.queries import METRICS as QUERY_METRICS
from core.migration.execution.queries import SHOWN as QUERY_RUNS
from core.migration.execution.queries import QueryResults, query_results, without_script_texts
from core.migration.execution.queries import lines as lines_of_queries
from core.migration.execution.queries import missing as explain_missing_query
from core.migration.execution.queries import sentences as describe_queries
from core.migration.execution.rollback import roll_back
from core.migration.execution.runner import Runner, new_execution
from core.migration.execution.status import (
    MoveStatus,
    NextOption,
    Possible,
    describe_both_clusters,
    known_downtime,
    move_status,
    next_options,
    possible,
    suggest_next_commands,
    was_stopped_before,
)
from core.migration.execution.step_runner import StepRunner
from core.migration.execution.taking_over import describe_execution, find_functions_to_replace, refuse_strange_commands
from core.migration.execution.timeline import (
    Account,
    Awaited,
    Downtime,
    RunningStep,
    Wait,
    account,
    current_rate,
    describe_failed_tries,
    describe_progress,
    downtime,
    find_wait,
    running_steps,
    seconds_left,
    status_of,
)
from core.migration.findings.dress import explain_no_dress_rehearsal as why_not
from core.migration.findings.query_scripts import check_queries, read_script
from core.migration.model import step_ids
from core.migration.model.dress import USUAL, RehearsalOptions
from core.migration.model.execution import Execution, Kind, Operator
from core.migration.model.move import Verify
from core.migration.model.schedule import UNSCHEDULED, Schedule
from core.migration.probing.trial_start import with_trial_start
from core.servers.secrets import Key, session_secrets
from core.servers.shell import Secret
from core.sides import Side

__all__ = [
    "LOADED_LATE",
    "QUERY_METRICS",
    "QUERY_RUNS",
    "Account",
    "Awaited",
    "Downtime",
    "ExecutionState",
    "Figures",
    "FinishedPasses",
    "MoveStatus",
    "NextOption",
    "Operator",
    "Paragraph",
    "Possible",
    "QueryResults",
    "RunningStep",
    "Wait",
    "account",
    "cancel_execution",
    "check_queries",
    "describe_both_clusters",
    "describe_failed_tries",
    "describe_outcome",
    "describe_progress",
    "describe_queries",
    "downtime",
    "execute",
    "execution_status",
    "explain_missing_query",
    "explain_no_dress_rehearsal",
    "files_verified",
    "find_wait",
    "follow_up",
    "follow_up_tasks",
    "lines_of_queries",
    "move_status",
    "next_options",
    "open_follow_up_tasks",
    "query_results",
    "read_finished_passes",
    "read_script",
    "read_state",
    "result_of",
    "resume_execution",
    "roll_back_execution",
    "running_steps",
    "seconds_left",
    "suggest_next_commands",
    "tell_again",
    "was_stopped_before",
    "without_script_texts",
]

LOADED_LATE = ("humanize", "numpy")
"""Modules that would otherwise be loaded only by the first formatted size and by the estimate after a rehearsal.

That may be hours after the start, when an upgrade or removal of the package has deleted the program's files.
"""


def explain_no_dress_rehearsal(session: Session, move: str) -> str:
    """Return why the move cannot have a dress rehearsal, by the latest facts; empty if it can or facts are missing."""
    found = session.store.move(move)
    old, new = session.store.facts(found.old), session.store.facts(found.new)
    cluster = old.cluster(found.cluster) if old is not None else None
    if old is None or new is None or cluster is None:
        return ""
    return why_not(found, cluster, old, new)


def execute(
    session: Session,
    move: str,
    kind: Kind,
    operator: Operator,
    job: Job,
    *,
    verify: Verify = Verify.CHANGED,
    start_over: bool = False,
    dressed: bool = False,
    asked: RehearsalOptions = USUAL,
    schedule: Schedule = UNSCHEDULED,
) -> Execution:
    """Carry out or rehearse the move, with fresh facts, checks and a fresh plan, and return the execution.

    Args:
        session: the history and the connections.
        move: the name of the move.
        kind: a move or a rehearsal.
        operator: answers the questions of the plan.
        job: the job that reports progress.
        verify: which files are compared by their checksums during the downtime.
        start_over: start again although an earlier execution was interrupted.
        dressed: whether the rehearsal also starts the copy on the new server.
        asked: the options of such a dress rehearsal.
        schedule: when the first step begins, and when the operator is asked for the stop. The checks and the plan are
            made at once; the checks are made once more before a first step that begins later.

    Raises:
        BlockedError: there are blockers, another workstation has locked the cluster, or a check of the plan failed.
        InputError: an earlier execution must be resumed or rolled back first; or it was interrupted and `start_over` is
            not set; or the operator's confirmation names another cluster.
        PghaulError: an error of a step; the history then contains the state of the execution.
    """
    latest = _latest(session, move)
    refuse_if_unfinished(latest, alive=_is_running_here(session, latest), start_over=start_over)
    refuse_blockers(run_checks(session, move, job))
    made = plan_move(session, move, job, verify=verify, dressed=dressed, asked=asked)
    operator.announce(made.cluster)
    return _carry_out(session, session.store.execution_started(new_execution(made, kind, schedule)), operator, job)


def resume_execution(session: Session, move: str, operator: Operator, job: Job) -> Execution:
    """Continue the latest execution with its first step that is not done. Raises the errors of `execute`."""
    latest = _latest(session, move)
    found = find_resumable(latest, move, alive=_is_running_here(session, latest))
    operator.announce(found.plan.cluster)
    store = session.store
    refuse_changed_move(found, store.move(move), [profile.name for profile in store.profiles()])
    return _carry_out(session, found.id, operator, job)


def cancel_execution(session: Session, move: str, operator: Operator, job: Job) -> Execution:
    """Cancel the latest execution: ask the program that carries it out, or end it here if no program does."""
    found = find_cancellable(_latest(session, move), move)
    if _is_running_here(session, found):
        session.store.ask_cancel(found.id)
        while _is_running_here(session, found):
            job.wait(0.2)
    else:
        _make_runner(session, found, operator, job).cancel_abandoned()
    return session.store.execution(found.id)


def roll_back_execution(session: Session, move: str, operator: Operator, job: Job) -> Execution:
    """Roll back the latest execution; after the point of no return raise BlockedError with instructions."""
    latest = _latest(session, move)
    found = find_rollbackable(latest, move, alive=_is_running_here(session, latest))
    _run_after_cleanup(session, partial(roll_back, _make_runner(session, found, operator, job)), operator, job)
    return session.store.execution(found.id)


def execution_status(session: Session, move: str) -> tuple[Execution, bool]:
    """Return the latest execution and whether this workstation carries it out; raise InputError if there is none."""
    latest = require_execution(_latest(session, move), move)
    return latest, _is_running_here(session, latest)


def read_state(session: Session, move: str, kind: Kind | None = None, now: datetime | None = None) -> ExecutionState:
    """Return the latest execution of a move, what is happening in it, and what may be done next.

    Args:
        session: the history and the connections.
        move: the name of the move.
        kind: the kind of the execution that is returned; None for any. What is possible depends on the latest
            execution of all kinds.
        now: the time as of which it is told; None: the present one. Who shows several parts gives all the same.
    """
    made = _read_state(session, move, kind, now or datetime.now(UTC))
    if kind is not Kind.REHEARSAL or made.possible is None or not made.possible.begin:
        return made
    return replace(made, no_dress=explain_no_dress_rehearsal(session, move))


def _read_state(session: Session, move: str, kind: Kind | None, now: datetime) -> ExecutionState:
    newest, plan = session.store.latest_execution(move), session.store.plan(move)
    if newest is None:
        return ExecutionState(possible=possible(None, alive=False), plan=plan)
    shown = newest
    if kind is not None and newest.kind is not kind:
        older = next((one for one in session.store.executions(move) if one.kind is kind), None)
        if older is None:
            may = possible(newest, alive=session.store.carried_out(newest.id))
            return ExecutionState(possible=_only_begin(may), plan=plan)
        shown = older
    alive = session.store.carried_out(shown.id)
    may = possible(newest, alive=alive if shown is newest else session.store.carried_out(newest.id))
    return ExecutionState(
        execution=shown,
        alive=alive,
        running=running_steps(shown, now) if alive else (),
        stands=describe_both_clusters(shown),
        left=describe_leftovers(shown),
        ending=describe_outcome(session, shown),
        figures=figures_of(shown, session.store.estimate(shown.move)),
        possible=may if shown is newest else _only_begin(may),
        downtime=known_downtime(shown, now, alive=alive),
        bytes_per_second=(
            sum(current_rate(run, now) or 0.0 for _, run in status_of(shown, now).under_way) if alive else None
        ),
        read_at=now,
    )


def tell_again(state: ExecutionState, now: datetime) -> ExecutionState:
    """Return what was read before as of now: the downtime goes on, also while nobody can read the history."""
    execution = state.execution
    if execution is None:
        return state
    return replace(
        state,
        running=running_steps(execution, now) if state.alive else (),
        downtime=known_downtime(execution, now, alive=state.alive),
        read_at=now,
        told_again=True,
    )


def _only_begin(may: Possible) -> Possible:
    """Remove all but the beginning from what is possible: only the latest execution can be continued."""
    return replace(may, resume=False, end=False, roll_back=False)


def describe_outcome(session: Session, execution: Execution) -> tuple[Paragraph, ...]:
    """Return the result of a finished execution and its follow-up tasks; for a rehearsal, what the move will cost."""
    return outcome_of(execution, session.store.estimate(execution.move))


def _latest(session: Session, move: str) -> Execution | None:
    return session.store.latest_execution(move)


def _is_running_here(session: Session, execution: Execution | None) -> bool:
    return execution is not None and session.store.carried_out(execution.id)


def _carry_out(session: Session, execution_id: int, operator: Operator, job: Job) -> Execution:
    execution = session.store.execution(execution_id)
    for name in LOADED_LATE:
        import_module(name)
    runner = _make_runner(session, execution, operator, job)
    runner.steps.passwords = _ask_passwords(session, execution)
    _run_after_cleanup(session, runner.carry_out, operator, job)
    if execution.kind is Kind.REHEARSAL:
        make_estimate(session, execution.move, job)  # a new estimate, which uses what the rehearsal has measured
    return session.store.execution(execution_id)


def _run_after_cleanup(session: Session, action: Callable[[], None], operator: Operator, job: Job) -> None:
    """Run the action; if the lock of a finished execution prevents it, remove what that one has left and retry.

    Raises:
        HeldError: somebody else holds the lock.
    """
    try:
        action()
    except HeldError as error:
        leftover = find_leftover_execution(session, error.holder)
        if leftover is None:
            raise with_advice(session, error) from error
    else:
        return
    _make_runner(session, leftover, operator, job).remove_leftovers()
    try:
        action()
    except HeldError as error:
        raise with_advice(session, error) from error


def _ask_passwords(session: Session, execution: Execution) -> dict[str, Secret]:
    """Return the password of the role of the queries, if they are still to be measured on the old server.

    It is asked for before hours of work. It may be empty: the server may accept the role without one.
    """
    queries, step = execution.plan.queries, execution.plan.step(step_ids.MEASURE_QUERIES_OLD)
    if queries is None or step is None or execution.done(step.number):
        return {}
    key = Key(session.store.move(execution.move).old, "role", queries.role)
    prompt = f"PostgreSQL password of the role {queries.role} for the queries (press Enter if it has none)"
    found = session_secrets.get(key, prompt, session.asker)
    return {step_ids.MEASURE_QUERIES_OLD: Secret(found)} if found else {}


def _describe_servers(session: Session, move: str) -> dict[Side, str]:
    """Return the servers that the move names now, by their sides."""
    found = session.store.move(move)
    descriptions = {}
    for side, name in ((Side.OLD, found.old), (Side.NEW, found.new)):
        profile = session.store.profile(name)
        port = f" port {profile.port}" if profile.port is not None else ""
        descriptions[side] = f"{name} at {profile.address}{port}"
    return descriptions


def _make_runner(session: Session, execution: Execution, operator: Operator, job: Job) -> Runner:
    """Return the runner of a recorded execution. Every execution is run through this function.

    An unsigned execution runs only if the operator takes it over after seeing it.

    Raises:
        InputError: the operator does not take it over, or it contains a command for the workstation that is not among
            the operator's hooks.
    """
    if not session.store.recorded_here(execution.id):
        refuse_strange_commands(execution, session.store.hooks(execution.move))
        if not operator.confirm_take_over(
            execution.move, describe_execution(execution, _describe_servers(session, execution.move))
        ):
            raise InputError(
                f"execution {execution.id} of {execution.move} was not recorded by your pghaul and was not taken over, "
                "so none of its steps was run",
                "continue it on the workstation and as the user that started it. If it is your own, from before an "
                f"upgrade or before history.key was lost, repeat this command and type {execution.move} when asked",
            )
        session.store.take_over(execution, find_functions_to_replace(execution))
    job = record_commands(session.store, job, execution.move)
    move = session.store.move(execution.move)
    names = {Side.OLD: move.old, Side.NEW: move.new}

    def try_start(job: Job) -> TrialStart | None:
        """Try the start with the latest facts; the configuration is packed again."""
        old, new = session.store.facts(move.old), session.store.facts(move.new)
        if old is None or new is None:
            return None
        servers = session.server(move.old, job), session.server(move.new, job)
        holder = session.store.execution(execution.id).token
        return with_trial_start(*servers, old, new, move, job, holder).trial_start

    def check_again(job: Job) -> None:
        """Read the facts again, and check the move by them."""
        token = session.store.execution(execution.id).token
        refuse_blockers(run_checks(session, move.name, job, holder=token))

    steps = StepRunner(execution.id, session.store, lambda side: session.server(names[side], job), operator, job)
    return Runner(steps, try_start, check_again)
