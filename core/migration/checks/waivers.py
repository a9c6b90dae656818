"""Waivers: warnings that the operator accepts with a reason, for exactly the evidence that was seen."""

import getpass
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.errors import InputError
from core.migration.model.checks import CheckResult, Status, Waiver

_LONGEST_REASON = 2000


def with_waivers(results: Sequence[CheckResult], waivers: Sequence[Waiver]) -> tuple[CheckResult, ...]:
    """The results, each warning with the waiver that was given for this very evidence; other evidence stands again."""
    given = {waiver.check: waiver for waiver in waivers}
    return tuple(
        replace(result, waiver=waiver if (waiver := given.get(result.id)) and _holds(waiver, result) else None)
        for result in results
    )


def waivable(result: CheckResult) -> bool:
    """Whether it can be waived: a warning, or what is not known where it could not block. Never a blocker."""
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
    if not waivable(result):
        raise InputError(
            f"The check {check} is a blocker ({result.status}) and cannot be waived.",
            result.hint or "Correct what it names.",
        )
    said = " ".join(reason.split())
    if not said:
        raise InputError(
            f"The waiver of {check} needs a reason.", "Give the reason with --reason. It is recorded and printed."
        )
    if len(said) > _LONGEST_REASON:
        raise InputError(f"The reason has {len(said)} characters.", f"Use at most {_LONGEST_REASON} characters.")
    return Waiver(check, said, whoami(), datetime.now(UTC), result.status, result.old, result.new)


def whoami() -> str:
    """`user@workstation`, by which the history names who did something."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no entry in passwd, as in some containers
        user = "unknown"
    return f"{user}@{platform.node() or 'workstation'}"


def _holds(waiver: Waiver, result: CheckResult) -> bool:
    return waivable(result) and (waiver.status, waiver.old, waiver.new) == (result.status, result.old, result.new)
