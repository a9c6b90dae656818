"""The checks: what must hold before a move. Each is declared data and a pure function over the facts that it needs.

The ID of a check never changes: history, reports and scripts refer to it.
"""

from collections.abc import Set as AbstractSet

from core.facts.model import Facts
from core.facts.sections import TRIAL
from core.migration.checks import (
    capacity,
    collations,
    compatibility,
    configuration,
    files,
    hosts,
    libraries,
    needs,
    replication,
    required_tools,
    services,
    start,
    state,
    storage,
)
from core.migration.checks.declaration import Check
from core.migration.findings.finding import CheckContext, Finding
from core.migration.model.checks import MANUAL, CheckResult, Status
from core.migration.model.move import Move

CHECKS: tuple[Check, ...] = (
    *state.CHECKS,
    *compatibility.CHECKS,
    *capacity.CHECKS,
    *required_tools.CHECKS,
    *services.CHECKS,
    *start.CHECKS,
    *files.CHECKS,
    *storage.CHECKS,
    *hosts.CHECKS,
    *collations.CHECKS,
    *libraries.CHECKS,
    *configuration.CHECKS,
    *replication.CHECKS,
)
"""Every check, in the order in which they are run and listed: that in which a person would ask."""

_WORST_FIRST = (Status.BLOCKER, Status.UNKNOWN, Status.WARNING, Status.PASS)

_PAGES_BEFORE = {
    "upgrading": ((9, 1), "migration"),
    "collation": ((9, 1), "locale"),
    "extend-extensions": ((9, 1), "contrib"),
    "bgworker": ((9, 3), "contrib"),
    "logical-replication": ((10,), "high-availability"),
}
"""Pages that had another name before a major version."""


def run_checks(move: Move, old: Facts, new: Facts) -> tuple[CheckResult, ...]:
    """Return the results of every check on the facts of both servers, worst first."""
    context = CheckContext(move, old, new)
    major_version = context.cluster.series if context.cluster is not None else None
    waiting = frozenset[str]() if _was_asked(context) else _answered_by_asking(context)
    results = [_check_result(each, each.run(context), major_version, waiting) for each in CHECKS]
    return tuple(sorted(results, key=lambda result: _WORST_FIRST.index(result.status)))


_ASKED = (needs.BINARIES, needs.NEW_CONTROL)
"""What the checks of a move learn from a temporary cluster, which they create on the new server."""


def _answered_by_asking(context: CheckContext) -> frozenset[str]:
    """Return the IDs of the checks that a temporary cluster on the new server would answer.

    A check whose other facts were not read either is not among them: a temporary cluster would not answer it.
    """
    return frozenset(each.id for each in CHECKS if each.blocking and _would_be_answered(each, context))


def _was_asked(context: CheckContext) -> bool:
    """Return whether the new server's binaries were asked for this move, also if they could not answer.

    The checks make the trial start after it, so the facts name the move of the latest temporary cluster.
    """
    started = context.new.trial_start
    ours = started is not None and (started.cluster, started.target) == (context.move.cluster, context.move.target)
    return ours and (context.binaries is not None or context.new.gap(TRIAL) is not None)


def _would_be_answered(each: Check, context: CheckContext) -> bool:
    """Return whether a temporary cluster is all that the check lacks."""
    used = (*each.needs, *each.uses)
    others = [need for need in used if need not in _ASKED]
    return len(others) < len(used) and all(need.read(context) is not None for need in others)


def documentation(page: str, major_version: str | None) -> str:
    """Return the URL of a page of PostgreSQL's manual for that major version, or for the current one if it is None."""
    if major_version is None:
        return f"{MANUAL}current/{page}.html"
    before = _PAGES_BEFORE.get(page)
    if before is not None and tuple(int(part) for part in major_version.split(".")) < before[0]:
        page = before[1]
    return f"{MANUAL}{major_version}/{page}.html"


def _check_result(check: Check, finding: Finding, major_version: str | None, waiting: AbstractSet[str]) -> CheckResult:
    return CheckResult(
        id=check.id,
        title=check.title,
        status=finding.status,
        old=finding.old,
        new=finding.new,
        message=finding.message,
        hint=finding.hint,
        blocking=check.blocking,
        documentation=documentation(check.page, major_version),
        pending=finding.status is Status.UNKNOWN and check.id in waiting,
    )
