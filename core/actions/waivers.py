"""Warnings of the latest checks that somebody takes on, and takes back."""

from core.actions.session import Session
from core.errors import InputError
from core.migration.checks.waivers import waive
from core.migration.model.checks import CheckResult


def waive_check(session: Session, move: str, check: str, reason: str) -> tuple[CheckResult, ...]:
    """Take one warning of the latest pass on, with a reason; the pass as it stands then.

    Raises:
        InputError: nothing was checked yet, or the check is no warning of that pass.
    """
    session.store.add_waiver(move, waive(_latest(session, move), check, reason))
    return _latest(session, move)


def unwaive_check(session: Session, move: str, check: str) -> tuple[CheckResult, ...]:
    """Take a waiver back; the pass as it stands then.

    Raises:
        InputError: the check is not waived.
    """
    session.store.withdraw_waiver(move, check)
    return _latest(session, move)


def _latest(session: Session, move: str) -> tuple[CheckResult, ...]:
    results = session.store.checks(move)
    if results is None:
        raise InputError(f"the checks of the move {move} have not run yet", f"run: pghaul check {move}")
    return results
