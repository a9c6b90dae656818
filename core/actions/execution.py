"""A move carried out: begun, gone on with, cancelled, taken back."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from core.actions.locks import advised, left_by
from core.actions.migration import estimate, plan, run_checks
from core.actions.session import Session, record_commands
from core.errors import InputError
from core.facts.model import TrialStart
from core.jobs import Job
from core.migration.execution.engine import cancel_abandoned_execution, carry_out_plan, new_execution, remove_leftovers
from core.migration.execution.entry import (
    find_cancellable,
    find_resumable,
    find_rollbackable,
    refuse_blockers,
    refuse_if_unfinished,
    require_execution,
)
from core.migration.execution.executor import Executor, Operator
from core.migration.execution.lock import HeldError
from core.migration.execution.outcome import Paragraph, outcome_of
from core.migration.execution.rollback import roll_back
from core.migration.execution.taking_over import describe_execution, find_functions_to_replace, refuse_strange_commands
from core.migration.findings.dress import explain_no_dress_rehearsal as why_not
from core.migration.model.dress import USUAL, RehearsalOptions
from core.migration.model.execution import Execution, Kind
from core.migration.model.move import Verify
from core.migration.plan.steps.dress import QUERIES_ON_OLD
from core.migration.probing.trial_start import with_trial_start
from core.servers.secrets import Key, session_secrets
from core.servers.shell import Secret

LOADED_LATE = ("humanize", "numpy")
"""What the first size that is said and the estimate after a rehearsal load: hours after the beginning, it may be, when
an upgrade or a removal of the package has taken away the files that this program was started from."""


def explain_no_dress_rehearsal(session: Session, move: str) -> str:
    """Why there can be no dress rehearsal of the move, by the latest facts; empty where there can, or no facts tell."""
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
) -> Execution:
    """Carry the move out, or rehearse it: from fresh facts, checks and a fresh plan.

    `dressed`: in this rehearsal the copy itself is started on the new server, and looked at; `asked`: what it does
    beyond that.

    Raises:
        BlockedError: blockers stand, another workstation has the cluster, or a proof failed.
        InputError: an earlier execution must be gone on with, or taken back, first; or it ended on its way, and
            nobody has said that this one may `start_over`; or the name that was given is another cluster's.
        PghaulError: what the steps raise; the execution's state in the history then says how it stands.
    """
    latest = _latest(session, move)
    refuse_if_unfinished(latest, alive=_is_running_here(session, latest), start_over=start_over)
    refuse_blockers(run_checks(session, move, job))
    made = plan(session, move, job, verify=verify, dressed=dressed, asked=asked)
    operator.announce(made.cluster)
    return _carry_out(session, session.store.execution_started(new_execution(made, kind)), operator, job)


def resume_execution(session: Session, move: str, operator: Operator, job: Job) -> Execution:
    """Go on with the latest execution, from its first step that is not done. Raises as `execute` does."""
    latest = _latest(session, move)
    found = find_resumable(latest, move, alive=_is_running_here(session, latest))
    operator.announce(found.plan.cluster)
    return _carry_out(session, found.id, operator, job)


def cancel_execution(session: Session, move: str, operator: Operator, job: Job) -> Execution:
    """End the latest execution: ask the program that carries it out to; where none does, end it here."""
    found = find_cancellable(_latest(session, move), move)
    if _is_running_here(session, found):
        session.store.ask_cancel(found.id)
        while _is_running_here(session, found):
            job.wait(0.2)
    else:
        cancel_abandoned_execution(_make_executor(session, found, operator, job))
    return session.store.execution(found.id)


def roll_back_execution(session: Session, move: str, operator: Operator, job: Job) -> Execution:
    """Make old what it was, before the point of no return; raises BlockedError with words on the way back after it."""
    latest = _latest(session, move)
    found = find_rollbackable(latest, move, alive=_is_running_here(session, latest))
    _run_after_cleanup(session, partial(roll_back, _make_executor(session, found, operator, job)), operator, job)
    return session.store.execution(found.id)


def execution_status(session: Session, move: str) -> tuple[Execution, bool]:
    """The latest execution, and whether a program of this workstation is at it; raises InputError without one."""
    latest = require_execution(_latest(session, move), move)
    return latest, _is_running_here(session, latest)


def describe_outcome(session: Session, execution: Execution) -> tuple[Paragraph, ...]:
    """What an execution that is done came to, and what is still to do; of a rehearsal, what the move will cost."""
    return outcome_of(execution, session.store.estimate(execution.move))


def _latest(session: Session, move: str) -> Execution | None:
    return session.store.latest_execution(move)


def _is_running_here(session: Session, execution: Execution | None) -> bool:
    return execution is not None and session.store.carried_out(execution.id)


def _carry_out(session: Session, execution_id: int, operator: Operator, job: Job) -> Execution:
    execution = session.store.execution(execution_id)
    for name in LOADED_LATE:
        import_module(name)
    executor = _make_executor(session, execution, operator, job)
    executor.passwords = _ask_passwords(session, execution)
    _run_after_cleanup(session, partial(carry_out_plan, executor), operator, job)
    if execution.kind is Kind.REHEARSAL:
        estimate(session, execution.move, job)  # anew, by what was measured now
    return session.store.execution(execution_id)


def _run_after_cleanup(session: Session, action: Callable[[], None], operator: Operator, job: Job) -> None:
    """Do it; where the lock of an execution that is over is in the way, what that one has left is removed first.

    Raises:
        HeldError: somebody else has the lock.
    """
    try:
        action()
    except HeldError as error:
        left = left_by(session, error.holder)
        if left is None:
            raise advised(session, error) from error
    else:
        return
    remove_leftovers(_make_executor(session, left, operator, job))
    try:
        action()
    except HeldError as error:
        raise advised(session, error) from error


def _ask_passwords(session: Session, execution: Execution) -> dict[str, Secret]:
    """Of the role of the queries, where they are still to be measured on the old server.

    It is asked for before hours of work. Nobody need give one: the server may let the role in without.
    """
    queries, step = execution.plan.queries, execution.plan.step(QUERIES_ON_OLD)
    if queries is None or step is None or execution.done(step.number):
        return {}
    key = Key(session.store.move(execution.move).old, "password", f"role {queries.role}")
    prompt = f"PostgreSQL password of the role {queries.role} for the queries (press Enter if it has none)"
    found = session_secrets.get(key, prompt, session.asker)
    return {QUERIES_ON_OLD: Secret(found)} if found else {}


def _describe_servers(session: Session, move: str) -> dict[str, str]:
    """Which machines the move names now, by their sides."""
    found = session.store.move(move)
    said = {}
    for side, name in (("old", found.old), ("new", found.new)):
        profile = session.store.profile(name)
        port = f" port {profile.port}" if profile.port is not None else ""
        said[side] = f"{name} at {profile.address}{port}"
    return said


def _make_executor(session: Session, execution: Execution, operator: Operator, job: Job) -> Executor:
    """The one door to running what is recorded; of what bears no seal only what a person takes over with open eyes.

    Raises:
        InputError: they do not, or a command of it would run on the workstation that is none of theirs.
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
    names = {"old": move.old, "new": move.new}

    def try_start(job: Job) -> TrialStart | None:
        """By the latest facts; the configuration is packed anew."""
        old, new = session.store.facts(move.old), session.store.facts(move.new)
        if old is None or new is None:
            return None
        servers = session.server(move.old, job), session.server(move.new, job)
        holder = session.store.execution(execution.id).token
        return with_trial_start(*servers, old, new, move, job, holder).trial_start

    return Executor(
        execution.id, session.store, lambda side: session.server(names[side], job), operator, job, try_start
    )
