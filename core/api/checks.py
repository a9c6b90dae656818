"""The checks of a move, and the waivers of their warnings."""

from typing import TYPE_CHECKING

from core.api.session import Session, record_commands
from core.errors import InputError
from core.jobs import Job
from core.migration import checks
from core.migration.checks.declaration import Declaration
from core.migration.checks.waivers import apply_waivers, is_waivable, waive
from core.migration.model.checks import CheckResult
from core.servers.shell import quoted
from core.sides import Side

if TYPE_CHECKING:
    from core.facts.model import Facts
    from core.servers.connection import Server

__all__ = ["Declaration", "is_waivable", "list_checks", "run_checks", "unwaive_check", "waive_check"]


def run_checks(
    session: Session, move: str, job: Job, *, refresh: bool = True, holder: str = "-"
) -> tuple[CheckResult, ...]:
    """Run the checks of a move and return their results.

    Fresh facts of the new server contain what a trial cluster shows of its binaries, and the result of a trial start
    with the old cluster's configuration. So later checks can use them without reaching the servers.

    Args:
        session: the history and the connections.
        move: the name of the move.
        job: the job that reports progress.
        refresh: read the facts of both servers again instead of using the latest ones.
        holder: the token of the execution that checks again; its own locks do not prevent a trial start. `-`: none.
    """
    # they bring paramiko and SQLAlchemy, which the list of checks does without
    from core.api.facts import get_facts
    from core.migration.probing.trial_start import with_trial_start

    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    old = get_facts(session, found, Side.OLD, job, refresh=refresh)
    cluster = old.cluster(found.cluster)

    def add_trial_start(server: "Server", facts: "Facts") -> "Facts":
        return with_trial_start(
            session.server(found.old, job), server, old, facts, found, job, holder, hooks=session.store.hooks(move)
        )

    new = get_facts(session, found, Side.NEW, job, refresh=refresh, trial=cluster, add_trial_start=add_trial_start)
    results = checks.run_checks(found, old, new)
    session.store.save_checks(move, results)
    return apply_waivers(results, session.store.waivers(move))


def list_checks() -> tuple[Declaration, ...]:
    """Return what each check declares, in the order in which they are shown."""
    return tuple(check.declaration for check in checks.CHECKS)


def waive_check(session: Session, move: str, check: str, reason: str) -> tuple[CheckResult, ...]:
    """Waive one warning of the latest checks with a reason, and return all results.

    Raises:
        InputError: no checks have run yet, or the check has no warning.
    """
    session.store.add_waiver(move, waive(_latest(session, move), check, reason))
    return _latest(session, move)


def unwaive_check(session: Session, move: str, check: str) -> tuple[CheckResult, ...]:
    """Withdraw a waiver, and return all results.

    Raises:
        InputError: the check is not waived.
    """
    session.store.withdraw_waiver(move, check)
    return _latest(session, move)


def _latest(session: Session, move: str) -> tuple[CheckResult, ...]:
    results = session.store.checks(move)
    if results is None:
        raise InputError(f"the checks of the move {move} have not run yet", f"run: pghaul check {quoted(move)}")
    return results
