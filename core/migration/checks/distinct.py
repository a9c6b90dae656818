"""Check that source and target are separate: a copy of a cluster onto or into itself destroys it."""

import posixpath
from pathlib import PurePosixPath

from core.facts.model import Facts
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.data_roots import data_roots, source_data_roots
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, no_cluster_finding, passed, unknown
from core.migration.findings.hosts import Hosts, compare_hosts

_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "ceph", "fuse.ceph", "fuse.glusterfs", "glusterfs"})
"""Kinds of file systems whose `device` names a server: the same device is the same storage on every host."""


def check_distinct_places(context: CheckContext) -> Finding:
    """Check that the servers are different hosts, or that no source directory overlaps a target."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    sources = [root.source for root in source_data_roots(cluster)]
    targets = [root.target for root in data_roots(context.move, cluster)]
    shown = _shown(context.old, sources), _shown(context.new, targets)
    pairs = [(source, target) for source in sources for target in targets]
    hosts = compare_hosts(context.old, context.new)
    clash = next((pair for pair in pairs if _overlap(*pair)), None)
    storage = next((pair for pair in pairs if _same_storage(context, *pair)), None)
    if storage is not None:
        return blocker(
            *shown,
            f"{storage[1]} on {context.new.server} and {storage[0]} on {context.old.server} are on "
            "the same network storage and overlap. The copy would overwrite the files that it reads.",
            "Choose a target of its own.",
        )
    if clash is None or hosts is Hosts.TWO:
        return passed(
            *shown,
            "The two servers are different hosts."
            if hosts is Hosts.TWO
            else "The data directories of both servers do not overlap.",
        )
    where = f"{clash[1]} overlaps {clash[0]}: the copy would overwrite the files that it reads"
    if hosts is Hosts.ONE:
        return blocker(
            *shown,
            f"{context.old.server} and {context.new.server} are the same host, and {where}.",
            "Correct the address of one of the profiles, or choose a target that does not overlap the cluster.",
        )
    return unknown(
        *shown,
        f"{context.old.server} and {context.new.server} may be the same host, and {where}.",
        "Read the facts of both servers again. Different hosts have different host names and boot IDs.",
    )


def _overlap(one: str, other: str) -> bool:
    first, second = (PurePosixPath(posixpath.normpath(path)) for path in (one, other))
    return first.is_relative_to(second) or second.is_relative_to(first)


def _same_storage(context: CheckContext, source: str, target: str) -> bool:
    from_, to = context.old.file_system_of(source), context.new.file_system_of(target)
    if from_ is None or to is None or from_.kind not in _NETWORK or from_.device != to.device:
        return False
    return _overlap(posixpath.relpath(source, from_.mount_point), posixpath.relpath(target, to.mount_point))


def _shown(facts: Facts, folders: list[str]) -> str:
    system = facts.system
    name, boot = (system.hostname, system.boot_id) if system is not None else (None, None)
    return (
        f"host {name or NOTHING}, boot {boot or NOTHING}, {' '.join(facts.addresses) or NOTHING}: {' '.join(folders)}"
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "two-places",
            "Separate hosts or directories",
            True,
            "host names, boot IDs, addresses and directories of both servers",
            "backup-file",
        ),
        check_distinct_places,
    ),
)
