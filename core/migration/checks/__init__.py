"""Checks: what must hold before a move. Declared data beside a pure function over the facts of both servers.

The id of a check is its name for ever: history, reports and scripts refer to it.
"""

from collections.abc import Callable

from core.facts.model import Facts
from core.migration.checks import (
    capacity,
    collations,
    compatibility,
    configuration,
    distinct,
    files,
    hosts,
    libraries,
    replication,
    required_tools,
    services,
    state,
    storage,
)
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.finding import Case, Finding
from core.migration.model.checks import CheckResult, Status
from core.migration.model.move import Move

_CORE: tuple[Declaration, ...] = (
    Declaration("cluster-exists", "a cluster on old", True, "the data directory on old", "creating-cluster"),
    Declaration(
        "two-places",
        "two different hosts, or two different places",
        True,
        "host names, boot ids, addresses and folders of both sides",
        "backup-file",
    ),
    Declaration("product", "PostgreSQL on both sides", True, "product names and control versions", "upgrading"),
    Declaration("series", "same release series", True, "series of both binaries", "upgrading"),
    Declaration("minor", "minor release not older on new", False, "minor releases of both binaries", "upgrading"),
    Declaration("architecture", "same architecture", True, "uname -m of both hosts", "upgrading"),
    Declaration("control-data", "same binary layout", True, "pg_controldata of both sides", "app-pgcontroldata"),
    Declaration("libc", "same C library", False, "C library versions, which sort text", "collation"),
    Declaration("target-identity", "target empty or ours", True, "identifiers, and which side is ahead", "backup-file"),
    Declaration("target-stopped", "no server in the target", True, "servers running on new", "server-shutdown"),
    Declaration("old-stopped", "old shut down cleanly", True, "cluster state on old", "server-shutdown"),
    Declaration("leftovers", "no leftovers", True, "signal, label and lock files on old", "storage-file-layout"),
    Declaration("links", "links lead somewhere", True, "tablespace and other links on old", "manage-ag-tablespaces"),
    Declaration(
        "tablespaces-inside",
        "tablespaces outside the data directory",
        False,
        "tablespace locations on old",
        "manage-ag-tablespaces",
    ),
    Declaration(
        "tablespace-targets",
        "targets name tablespaces of the cluster",
        True,
        "tablespace and other links on old, targets of the move",
        "manage-ag-tablespaces",
    ),
    Declaration("space", "enough space", True, "sizes on old, free space of each file system of new", "backup-file"),
    Declaration("inodes", "enough inodes", True, "files on old, free inodes of each file system of new", "backup-file"),
    Declaration(
        "memory", "shared_buffers fits", False, "shared_buffers of old, memory of new", "runtime-config-resource"
    ),
    Declaration("rsync", "rsync on both servers", True, "rsync of both servers", "backup-file"),
    Declaration("ssh", "ssh from old to new", True, "ssh of old", "backup-file"),
)
_INSIDE: tuple[Check, ...] = (*collations.CHECKS, *libraries.CHECKS, *configuration.CHECKS, *replication.CHECKS)
_MORE: tuple[Check, ...] = (*state.CHECKS, *services.CHECKS, *files.CHECKS, *storage.CHECKS, *hosts.CHECKS, *_INSIDE)

CATALOGUE: tuple[Declaration, ...] = (*_CORE, *(declaration for declaration, _ in _MORE))
"""Every check, in the order in which a person would ask."""

_COMPARE: dict[str, Callable[[Case], Finding]] = {
    "cluster-exists": state.cluster_exists,
    "two-places": distinct.two_places,
    "product": compatibility.product,
    "series": compatibility.series,
    "minor": compatibility.minor,
    "architecture": compatibility.architecture,
    "control-data": compatibility.control_data,
    "libc": compatibility.libc,
    "target-identity": state.target_identity,
    "target-stopped": state.target_stopped,
    "old-stopped": state.old_stopped,
    "leftovers": state.leftovers,
    "links": state.links,
    "tablespaces-inside": state.tablespaces_inside,
    "tablespace-targets": state.tablespace_targets,
    "space": capacity.space,
    "inodes": capacity.inodes,
    "memory": capacity.memory,
    "rsync": required_tools.rsync,
    "ssh": required_tools.ssh,
    **{declaration.id: compare for declaration, compare in _MORE},
}

_WORST_FIRST = (Status.BLOCKER, Status.UNKNOWN, Status.WARNING, Status.PASS)

_PAGES_BEFORE = {
    "upgrading": ((9, 1), "migration"),
    "collation": ((9, 1), "locale"),
    "extend-extensions": ((9, 1), "contrib"),
    "bgworker": ((9, 3), "contrib"),
    "logical-replication": ((10,), "high-availability"),
}
"""Pages that had another name before a series."""


def check(move: Move, old: Facts, new: Facts) -> tuple[CheckResult, ...]:
    """Every check of the catalogue on the facts of both servers, worst first."""
    case = Case(move, old, new)
    series = case.cluster.series if case.cluster is not None else None
    results = [_result(declaration, _COMPARE[declaration.id](case), series) for declaration in CATALOGUE]
    return tuple(sorted(results, key=lambda result: _WORST_FIRST.index(result.status)))


def documentation(page: str, series: str | None) -> str:
    """The address of a page of PostgreSQL's documentation of that series; of the current one where it is not known."""
    if series is None:
        return f"https://www.postgresql.org/docs/current/{page}.html"
    before = _PAGES_BEFORE.get(page)
    if before is not None and tuple(int(part) for part in series.split(".")) < before[0]:
        page = before[1]
    return f"https://www.postgresql.org/docs/{series}/{page}.html"


def _result(declaration: Declaration, finding: Finding, series: str | None) -> CheckResult:
    return CheckResult(
        id=declaration.id,
        title=declaration.title,
        status=finding.status,
        old=finding.old,
        new=finding.new,
        message=finding.message,
        hint=finding.hint,
        blocking=declaration.blocking,
        documentation=documentation(declaration.page, series),
    )
