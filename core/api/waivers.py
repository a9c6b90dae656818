"""Waive warnings of the latest checks, and withdraw waivers."""

from core.api.session import Session
from core.errors import InputError
from core.migration.checks.waivers import waive
from core.migration.model.checks import CheckResult


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
        raise InputError(f"the checks of the move {move} have not run yet", f"run: pghaul check {move}")
    return results
