"""The checks: what must hold before a move. Each is declared data and a pure function over the facts that it needs.

The ID of a check never changes: history, reports and scripts refer to it.
"""

from core.facts.model import Facts
from core.migration.checks import (
    capacity,
    collations,
    compatibility,
    configuration,
    files,
    hosts,
    libraries,
    replication,
    required_tools,
    services,
    start,
    state,
    storage,
)
from core.migration.checks.declaration import Check
from core.migration.findings.finding import CheckContext, Finding
from core.migration.model.checks import CheckResult, Status
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
    results = [_check_result(each, each.run(context), major_version) for each in CHECKS]
    return tuple(sorted(results, key=lambda result: _WORST_FIRST.index(result.status)))


def documentation(page: str, major_version: str | None) -> str:
    """Return the URL of a page of PostgreSQL's manual for that major version, or for the current one if it is None."""
    if major_version is None:
        return f"https://www.postgresql.org/docs/current/{page}.html"
    before = _PAGES_BEFORE.get(page)
    if before is not None and tuple(int(part) for part in major_version.split(".")) < before[0]:
        page = before[1]
    return f"https://www.postgresql.org/docs/{major_version}/{page}.html"


def _check_result(check: Check, finding: Finding, major_version: str | None) -> CheckResult:
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
    )
