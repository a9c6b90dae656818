"""Checks of the state of the old cluster, of its links, and of the target, which must not overlap it."""

import posixpath
import re
from pathlib import PurePosixPath

from core.facts.clusters import IDENTITY, PLACE
from core.facts.model import Cluster, Facts
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.findings.catalogs import format_list
from core.migration.findings.data_roots import (
    data_roots,
    links_leading_elsewhere,
    required_files,
    root_name_pattern,
    source_data_roots,
)
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    passed,
    unknown,
    warning,
)
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.model.checks import Status
from core.servers.shell import for_hint, quoted

TARGET_IDENTITY = "target-identity"
"""The check whose waiver allows the copy to overwrite a cluster without a mark, as its evidence names it."""
_RECOVERY = ("standby.signal", "recovery.signal", "recovery.conf", "backup_label", "tablespace_map")
_STANDBY = ("standby.signal", "recovery.conf")
_RECOVERING = ("in archive recovery", "shut down in recovery", "in recovery")


@check(
    "cluster-exists",
    "Old cluster",
    blocking=True,
    compares="data directory on the old server",
    page="creating-cluster",
    uses=(need.CLUSTER,),
)
def check_cluster_exists(context: CheckContext) -> Finding:
    """Check that the data directory on the old server contains a cluster."""
    cluster = context.cluster
    if cluster is not None:
        running = "running" if cluster.running else "stopped"
        return passed(
            f"{cluster.data_directory} ({running})",
            NOTHING,
            f"The data directory contains a cluster of PostgreSQL {cluster.series}.",
        )
    found = ", ".join(each.data_directory for each in context.old.clusters) or "no cluster"
    why = explain_gap(context.old, PLACE.name, IDENTITY.name, of=context.move.cluster)
    return blocker(
        found,
        NOTHING,
        f"{context.move.cluster} on the server {context.old.server} contains no cluster ({why}).",
        f"Name the data directory as `pghaul facts {quoted(context.old.server)}` shows it, with links resolved.",
    )


@check(
    TARGET_IDENTITY,
    "Contents of the target",
    blocking=True,
    compares="system identifiers, and the mark of a copy",
    page="backup-file",
    uses=(need.CLUSTER, need.CONTROL, need.OLD_SYSTEM, need.NEW_SYSTEM),
)
def check_target_identity(context: CheckContext) -> Finding:
    """Check that every target is empty or contains an earlier copy of this cluster."""
    found = _data_directory(context)
    return found if found.status is Status.BLOCKER else _foreign_contents(context) or found


def _foreign_contents(context: CheckContext) -> Finding | None:
    """Return a finding if the target of a tablespace or link contains what is not part of a copy of it."""
    cluster = context.cluster
    if cluster is None:
        return None
    for root in data_roots(context.move, cluster)[1:]:
        entries = context.new.target_entries.get(root.target)
        if entries is None:
            return unknown(
                root.source,
                root.target,
                f"The contents of {root.target} on the server {context.new.server}, the target of {root.source}, are "
                "not known.",
                f"Look with `{for_hint('ls', '-la', root.target)}`. The target must be empty or must not exist.",
            )
        names = root_name_pattern(root, cluster.series)
        marked = context.target is not None or _has_copy_begun(context)
        if root.parts:  # other names in this folder are left alone
            foreign = next((name for name in entries if not marked and name in root.parts), None)
        else:
            foreign = next((name for name in entries if not marked or not re.fullmatch(names, name)), None)
        if foreign is not None:
            return blocker(
                root.source,
                f"{root.target}: {foreign}",
                f"{root.target} on the server {context.new.server} contains {foreign}, which is not part of a "
                f"copy of {root.source}. The copy would remove it.",
                "Empty the directory if nobody needs its contents, or choose another target: `pghaul "
                f"move add --replace … --tablespace {quoted(root.source)}=FOLDER`.",
            )
    return None


def _data_directory(context: CheckContext) -> Finding:
    target, cluster, path = context.target, context.cluster, context.move.target
    identifier = cluster.control.system_identifier if cluster is not None and cluster.control is not None else None
    shown = f"system identifier {identifier}" if identifier is not None else NOTHING
    if target is None:
        gap = context.new.gap(PLACE.name, IDENTITY.name, of=path)
        if gap is not None and gap.absent:
            return passed(shown, f"{path}: {gap.reason}", "The target is empty or does not exist.")
        return unknown(
            shown,
            f"{path}: {gap.reason}" if gap is not None else NOTHING,
            f"The contents of {path} on the server {context.new.server} are not known.",
            f"Look with `{for_hint('ls', '-la', path)}`. The target must be empty or must not exist.",
        )
    if target.copy_of is not None:
        return _marked_copy(context, target.copy_of, identifier, shown)
    if target.control is None or identifier is None:
        return unknown(
            shown,
            path,
            f"{path} contains a cluster whose system identifier could not be compared.",
            "Move it away, or choose another target.",
        )
    there = f"system identifier {target.control.system_identifier}"
    if target.control.system_identifier == identifier:
        doubt = check_distinct_places.run(context)
        if doubt.status is not Status.PASS:
            return Finding(doubt.status, shown, there, f"{path} may not be a copy. {doubt.message}", doubt.hint)
        return _unmarked_cluster(context, target)
    return blocker(
        shown,
        there,
        f"{path} on the server {context.new.server} contains another cluster.",
        "Choose another target. Or, if nobody needs that cluster, remove it yourself (Debian: `pg_dropcluster`).",
    )


def _has_copy_begun(context: CheckContext) -> bool:
    """Return whether a copy by pghaul has begun in the target, which so far contains only its mark."""
    gap = context.new.gap(IDENTITY.name, of=context.move.target)
    return gap is not None and gap.copy_begun


def _marked_copy(context: CheckContext, copy_of: str, identifier: str | None, shown: str) -> Finding:
    """Return the finding for a copy by pghaul before its cutover, of this cluster or of another one.

    Args:
        context: the move and the facts of both servers.
        copy_of: the system identifier in the mark of the copy.
        identifier: the system identifier of the old cluster; None if it is not known.
        shown: the evidence of the old server.
    """
    path, there = context.move.target, "a copy of this cluster"
    if copy_of != identifier:
        there = f"a copy of the cluster {copy_of}"
        message = f"{path} on the server {context.new.server} contains a copy of another cluster, before its cutover."
        return blocker(
            shown, there, message, "Choose another target. Or, if nobody needs that copy, remove it yourself."
        )
    doubt = check_distinct_places.run(context)
    if doubt.status is not Status.PASS:
        return Finding(doubt.status, shown, there, f"{path} may not be a copy. {doubt.message}", doubt.hint)
    return passed(shown, there, f"{path} contains an earlier copy of this cluster. The move will update it.")


def _unmarked_cluster(context: CheckContext, target: Cluster) -> Finding:
    """Return the finding for the same cluster without the mark of a copy: only a person can tell whether it is needed.

    If it is ahead of the old cluster, which is stopped, it is most likely the one in use.
    """
    control, cluster = target.control, context.cluster
    here = cluster.control.checkpoint_location if cluster is not None and cluster.control is not None else NOTHING
    there = control.checkpoint_location if control is not None else NOTHING
    evidence = f"latest checkpoint {here}", f"latest checkpoint {there}, {_describe_target(target)}"
    message = (
        f"{target.data_directory} on the server {context.new.server} contains {_describe_target(target)}. "
        "The copy would destroy it."
    )
    before, after = _parse_wal_location(here), _parse_wal_location(there)
    if cluster is not None and not cluster.running and before is not None and after is not None and after > before:
        ahead = f"{message} Its latest checkpoint is ahead of the old cluster, which is stopped."
        return blocker(
            *evidence, ahead, "If it is the cluster in use, keep it. If nobody needs it, remove it yourself."
        )
    return warning(
        *evidence,
        message,
        "Choose another target. Or, if the copy may destroy it, waive this check and give the reason.",
    )


def _describe_target(target: Cluster) -> str:
    """Say what a cluster with the old cluster's identifier and without the mark of a copy may be."""
    state = target.control.state if target.control is not None else ""
    found = next((name for name in target.leftovers if name in _RECOVERY), None)
    if found is not None:
        return f"a standby or a restored backup of this cluster ({found})"
    if state in _RECOVERING:
        return f"a standby of this cluster ({state})"
    if target.fenced:
        return "this cluster, fenced by an earlier move"
    return "a clone of this cluster, or a copy of it after its cutover"


def _parse_wal_location(location: str) -> tuple[int, int] | None:
    """Return `16/B374D848` as a pair of numbers that can be compared, or None for anything else."""
    found = re.fullmatch(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", location)
    return (int(found[1], 16), int(found[2], 16)) if found is not None else None


@check(
    "target-stopped",
    "State of the cluster in the target",
    blocking=True,
    compares="servers running on the new server",
    page="server-shutdown",
    uses=(need.NEW_SERVERS,),
)
def check_target_is_stopped(context: CheckContext) -> Finding:
    """Check that no server is running in the target."""
    target = context.target
    if target is None:
        servers = need.NEW_SERVERS.value_or_finding(context)
        if isinstance(servers, Finding):
            return servers
        return passed(NOTHING, "no cluster", "No cluster is known in the target.")
    if not target.running:
        return passed(NOTHING, "stopped", "PostgreSQL is not running in the target.")
    return blocker(
        NOTHING,
        f"running on port {target.port if target.port is not None else 'unknown'}",
        f"PostgreSQL is running in {context.move.target} on the server {context.new.server}. A copy would "
        "destroy its files and would itself be unusable.",
        "Stop that server, or choose another target.",
    )


@check(
    "old-stopped",
    "State of the old cluster",
    blocking=True,
    compares="state of the old cluster",
    page="server-shutdown",
    needs=(need.CLUSTER,),
    uses=(need.CONTROL,),
)
def check_old_cluster_state(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the old cluster is shut down cleanly, or is running and will be stopped by the plan."""
    state = cluster.control.state if cluster.control is not None else None
    if cluster.running:
        return passed(
            f"running, {state or 'state not readable'}",
            NOTHING,
            "The old cluster is running. The plan copies its files while it is running, then stops it, verifies the "
            "stop and copies the changes.",
        )
    if state is None:
        return need.CONTROL.unread(context, "stopped, state not readable")
    if cluster.fenced and state == "shut down":
        return warning(
            f"{state}, fenced",
            NOTHING,
            "An earlier move has stopped the old cluster and keeps it from starting. What clients "
            "have written since then is on the new server of that move.",
            "Move the cluster from there. Or, if it was not moved, run `pghaul execute MOVE --rollback` for that move.",
        )
    if state == "shut down":
        return passed(state, NOTHING, "The old cluster was shut down cleanly.")
    # A standby has replayed only what has reached it. How much the primary has beyond that cannot be told from its
    # files.
    if state == "shut down in recovery":
        return blocker(
            state,
            NOTHING,
            "The old cluster is a stopped standby. Its files do not contain everything that the primary has.",
            "Move the primary instead, or promote this server and shut it down.",
        )
    return blocker(
        f"stopped, but {state}",
        NOTHING,
        f"No server is running in {cluster.data_directory}, but its control file says "
        f"`{state}`. The server has crashed.",
        "Start the old cluster once, let it recover, and shut it down with `pg_ctl stop -m fast`.",
    )


@check(
    "primary",
    "Primary or standby",
    blocking=True,
    compares="state and signal files of the old cluster",
    page="warm-standby",
    needs=(need.CLUSTER,),
    uses=(need.CONTROL,),
)
def check_is_primary(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the old cluster is a primary; a standby would follow its primary when it starts."""
    state = cluster.control.state if cluster.control is not None else None
    files = [name for name in cluster.leftovers if name in _STANDBY]
    shown = ", ".join([*files, state or "state not readable"])
    if files or state in _RECOVERING:
        return blocker(
            shown,
            NOTHING,
            "The old cluster is a standby or in recovery. Its files do not contain everything that the primary has.",
            "Move the primary instead. If the primary is gone for good, promote this server (`pg_ctl promote`).",
        )
    if state is None:
        return need.CONTROL.unread(context, shown)
    return passed(shown, NOTHING, "The old cluster is a primary.")


@check(
    "leftovers",
    "Leftover files in the data directory",
    blocking=True,
    compares="signal, label and lock files of the old cluster",
    page="storage-file-layout",
    needs=(need.CLUSTER,),
    uses=(need.CONTENTS,),
)
def check_leftover_files(context: CheckContext, cluster: Cluster) -> Finding:
    """Check for files that change how the copy would start."""
    lying = [name for name in cluster.leftovers if not (name == "postmaster.pid" and cluster.running)]
    lying += cluster.irregular_files.examples.get("partial", ()) if cluster.irregular_files is not None else ()
    if not lying:
        found = need.CONTENTS.value_or_finding(context)
        if isinstance(found, Finding):
            return found
        return passed(
            "none",
            NOTHING,
            "The data directory contains no backup_label, recovery.signal, standby.signal, or other file that changes "
            "how the cluster starts.",
        )
    shown = ", ".join(lying)
    # A server that finds backup_label begins recovery at the checkpoint named there, and one that finds standby.signal
    # follows a primary (PostgreSQL's manual, chapter Continuous Archiving and Point-in-Time Recovery). In neither case
    # would the copy start as what the old cluster is.
    if any(name in _RECOVERY for name in lying):
        return blocker(
            shown,
            NOTHING,
            f"The data directory contains {shown}. The copy would start as a standby or a restored backup.",
            "Let the old cluster finish its recovery, or remove what an earlier backup has left. Then shut it down.",
        )
    hint = (
        "They are copied as they are. Check that the old cluster was shut down cleanly, and that "
        "no copy into it was interrupted."
    )
    return warning(shown, NOTHING, f"The data directory contains {shown}.", hint)


@check(
    "tablespaces-inside",
    "Tablespaces inside the data directory",
    compares="tablespace locations of the old cluster",
    page="manage-ag-tablespaces",
    needs=(need.CLUSTER,),
    uses=(need.LINKS,),
)
def check_tablespaces_inside(context: CheckContext, cluster: Cluster) -> Finding:
    """Check for tablespaces inside the data directory, which PostgreSQL warns against."""
    inside = [
        space.location for space in cluster.tablespaces if f"{space.location}/".startswith(f"{cluster.data_directory}/")
    ]
    if not inside:
        links = need.LINKS.value_or_finding(context)
        if isinstance(links, Finding):
            return links
        number = len(cluster.tablespaces)
        shown = f"{number} {'tablespace' if number == 1 else 'tablespaces'} outside"
        return passed(shown, NOTHING, "No tablespace is inside the data directory.")
    return warning(
        ", ".join(inside),
        NOTHING,
        "A tablespace is inside the data directory. It moves with it, and its link is set to the new path.",
        "After the start of the new cluster, check with \\db that the tablespace is inside the target.",
    )


@check(
    "tablespace-targets",
    "Paths of tablespaces and WAL on the new server",
    blocking=True,
    compares="tablespaces and other links of the old cluster, targets of the move",
    page="manage-ag-tablespaces",
    needs=(need.CLUSTER,),
    uses=(need.LINKS,),
)
def check_tablespace_targets(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that every directory with a target is a data root; the target would be ignored otherwise."""
    named = context.move.tablespace_targets
    movable = [root.source for root in source_data_roots(cluster)[1:]]
    wrong = sorted(set(named) - set(movable))
    targets = ", ".join(f"{here} -> {there}" for here, there in named.items())
    evidence = (
        ", ".join(movable) or "none",
        targets or ("same path" if len(movable) == 1 else "same paths" if movable else NOTHING),
    )
    links = need.LINKS.value_or_finding(context)
    if isinstance(links, Finding) and named:
        return links
    if not wrong:
        return passed(
            *evidence,
            "The old cluster has every directory for which the move names another path on the new server."
            if named
            else "Every directory outside the data directory (tablespace or WAL) keeps its path on the new server."
            if movable
            else "The cluster has no directory (tablespace or WAL) outside the data directory.",
        )
    return blocker(
        *evidence,
        f"The move names a path on the new server for {', '.join(wrong)}, but no tablespace and no link of the cluster "
        "leads there.",
        f"Name the locations as `pghaul facts {quoted(context.old.server)}` shows them. What is inside the "
        "data directory moves with it.",
    )


@check(
    "links",
    "Symbolic links",
    blocking=True,
    compares="tablespaces and other links in the old data directory",
    page="manage-ag-tablespaces",
    needs=(need.CLUSTER,),
    uses=(need.LINKS, need.BINARIES),
)
def check_links(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that no link leads nowhere, neither now nor after the copy."""
    dangling = [link for link in cluster.links if link.dangling]
    if dangling:
        return blocker(
            ", ".join(f"{link.path} -> {link.target}" for link in dangling),
            NOTHING,
            "Links of the data directory lead nowhere. Something is not mounted, or was removed.",
            "Mount what is missing, or have the links removed by the one who made them, before the copy.",
        )
    followed = ", ".join(
        [
            *(f"{space.link} -> {space.location}" for space in cluster.tablespaces),
            *(f"{link.path} -> {link.target}" for link in cluster.links),
        ]
    )
    if not followed:
        links = need.LINKS.value_or_finding(context)
        return links if isinstance(links, Finding) else passed("none", NOTHING, "The data directory contains no links.")
    return _links_to_files(context, cluster, followed) or passed(
        followed,
        NOTHING,
        "Every link leads to a file or directory. The plan copies the linked directories. If one has "
        "another path on the new server, its link is changed to that path.",
    )


def _links_to_files(context: CheckContext, cluster: Cluster, followed: str) -> Finding | None:
    """Return the finding for links to single files, which are copied unchanged and need the same targets."""
    wrong = links_leading_elsewhere(context.move, cluster)
    if wrong:
        return blocker(
            followed,
            format_list([f"{link} -> {there}" for link, there in wrong.items()]),
            f"Links to files would lead to another place on the new server: {format_list(list(wrong))}.",
            "Let each link name a path that is the same on both servers, or replace the link by the file itself.",
        )
    wanted = required_files(cluster)
    if not wanted:
        return None
    asked = need.BINARIES.value_or_finding(context, followed)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.paths)
    missing = [path for path in wanted if answers.get(path)]
    if missing:
        return blocker(
            followed,
            f"missing: {format_list(missing)}",
            "Links to files would lead nowhere on the new server: "
            f"{format_list([f'{wanted[path]} to {path}' for path in missing])}.",
            "Put the files there, readable for the database user, or remove the links.",
        )
    silent = [path for path in wanted if path not in answers]
    if silent:
        return need.unanswered(followed, silent)
    return None


_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "ceph", "fuse.ceph", "fuse.glusterfs", "glusterfs"})
"""Kinds of file systems whose `device` names a server: the same device is the same storage on every host."""


@check(
    "two-places",
    "Separate hosts or directories",
    blocking=True,
    compares="host names, boot IDs, addresses and directories of both servers",
    page="backup-file",
    needs=(need.CLUSTER,),
    uses=(need.OLD_SYSTEM, need.NEW_SYSTEM),
)
def check_distinct_places(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the servers are different hosts, or that no source directory overlaps a target."""
    sources = [root.source for root in source_data_roots(cluster)]
    targets = [root.target for root in data_roots(context.move, cluster)]
    pairs = [(source, target) for source in sources for target in targets]
    hosts = compare_hosts(context.old, context.new)
    shown = _shown(context, sources, targets, hosts)
    clash = next((pair for pair in pairs if _overlap(*pair)), None)
    storage = next((pair for pair in pairs if _same_storage(context, *pair)), None)
    if storage is not None:
        return blocker(
            *shown,
            f"{storage[1]} on the server {context.new.server} and {storage[0]} on the server {context.old.server} "
            "are on the same network storage and overlap. The copy would overwrite the files that it reads.",
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
            f"The servers {context.old.server} and {context.new.server} are the same host, and {where}.",
            "Correct the address of one of the profiles, or choose a target that does not overlap the cluster.",
        )
    return unknown(
        *shown,
        f"The servers {context.old.server} and {context.new.server} may be the same host, and {where}.",
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


def _shown(context: CheckContext, sources: list[str], targets: list[str], hosts: Hosts) -> tuple[str, str]:
    """Return the host and the directories of each side, with the IDs that tell two hosts apart."""
    systems = context.old.system, context.new.system
    boots = [each.boot_id if each is not None else None for each in systems]
    machines = [each.machine_id if each is not None else None for each in systems]
    title, values = "boot ID", boots
    if hosts is Hosts.TWO and (None in boots or boots[0] == boots[1]):
        # containers share the boot ID of their kernel, and clones the machine ID: then names and addresses differ
        apart = None not in machines and machines[0] != machines[1]
        title, values = "machine ID" if apart else "", machines
    # the first part of an ID tells two hosts apart
    shown = [f"{title} {(each or NOTHING).partition('-')[0][:8]}" if title else "" for each in values]
    return _place(context.old, shown[0], sources), _place(context.new, shown[1], targets)


def _place(facts: Facts, identity: str, folders: list[str]) -> str:
    name = (facts.system.hostname if facts.system is not None else None) or NOTHING
    known = [f"host {name}", identity, " ".join(facts.addresses) or NOTHING]
    return f"{', '.join(filter(None, known))}: {' '.join(folders)}"


CHECKS: tuple[Check, ...] = (
    check_cluster_exists,
    check_target_identity,
    check_target_is_stopped,
    check_old_cluster_state,
    check_leftover_files,
    check_tablespaces_inside,
    check_tablespace_targets,
    check_is_primary,
    check_links,
    check_distinct_places,
)
