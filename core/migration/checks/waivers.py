"""Waivers: warnings that the operator accepts with a reason, for exactly the evidence that was seen."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.errors import InputError
from core.migration.model.checks import CheckResult, Status, Waiver
from core.this_workstation import whoami

_LONGEST_REASON = 2000


def apply_waivers(results: Sequence[CheckResult], waivers: Sequence[Waiver]) -> tuple[CheckResult, ...]:
    """Return the results with their waivers; a waiver applies only to exactly the evidence that it was given for."""
    given = {waiver.check: waiver for waiver in waivers}
    return tuple(
        replace(result, waiver=waiver if (waiver := given.get(result.id)) and _applies(waiver, result) else None)
        for result in results
    )


def is_waivable(result: CheckResult) -> bool:
    """Return whether a result can be waived: a warning, or an unknown of a check that never blocks."""
    return result.status is Status.WARNING or (result.status is Status.UNKNOWN and not result.blocking)


def waive(results: Sequence[CheckResult], check: str, reason: str) -> Waiver:
    """The waiver of one check of a pass, by whoever runs the program now.

    Raises:
        InputError: there is no such check in the pass, it is no warning, or no reason is given.
    """
    result = next((result for result in results if result.id == check), None)
    if result is None:
        raise InputError(f"There is no check {check!r}.", "List the checks with: pghaul check --list")
    if result.status is Status.PASS:
        raise InputError(f"The check {check} has passed, so there is nothing to waive.")
    if not is_waivable(result):
        raise InputError(
            f"The check {check} is a blocker ({result.status}) and cannot be waived.",
            result.hint or "Correct what the check names.",
        )
    text = " ".join(reason.split())
    if not text:
        raise InputError(
            f"The waiver of {check} needs a reason.", "Give the reason with --reason. It is recorded and printed."
        )
    if len(text) > _LONGEST_REASON:
        raise InputError(f"The reason has {len(text)} characters.", f"Use at most {_LONGEST_REASON} characters.")
    return Waiver(check, text, whoami(), datetime.now(UTC), result.status, result.old, result.new)


def _applies(waiver: Waiver, result: CheckResult) -> bool:
    return is_waivable(result) and (waiver.status, waiver.old, waiver.new) == (result.status, result.old, result.new)
