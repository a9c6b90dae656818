"""Warnings of the latest checks that somebody takes on, and takes back."""

from core.actions.desk import Desk
from core.errors import InputError
from core.migration.checks.waivers import waive
from core.migration.model.checks import CheckResult


def waive_check(desk: Desk, move: str, check: str, reason: str) -> tuple[CheckResult, ...]:
    """Take one warning of the latest pass on, with a reason; the pass as it stands then.

    Raises:
        InputError: nothing was checked yet, or the check is no warning of that pass.
    """
    desk.store.add_waiver(move, waive(_latest(desk, move), check, reason))
    return _latest(desk, move)


def unwaive_check(desk: Desk, move: str, check: str) -> tuple[CheckResult, ...]:
    """Take a waiver back; the pass as it stands then.

    Raises:
        InputError: the check is not waived.
    """
    desk.store.withdraw_waiver(move, check)
    return _latest(desk, move)


def _latest(desk: Desk, move: str) -> tuple[CheckResult, ...]:
    results = desk.store.checks(move)
    if results is None:
        raise InputError(f"nothing was checked yet for the move {move}", f"run: pghaul check {move}")
    return results
