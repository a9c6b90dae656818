"""Checks of the targets and their storage: directories, file systems, arrays, disks."""

from pathlib import PurePosixPath

from core import units
from core.facts.arrays import SECTION as ARRAYS
from core.facts.disks import HEALTH
from core.facts.model import Facts, FileSystem, Link
from core.facts.sizes import LINKS
from core.facts.system import SECTION as SYSTEM
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.data_roots import data_roots
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    explain_missing_file_system,
    no_cluster_finding,
    passed,
    unknown,
    unread_finding,
    warning,
)
from core.migration.findings.system_folders import is_system_folder
from core.servers.shell import for_hint

_LEAST_DEPTH = 2
_FLEETING = frozenset({"tmpfs", "ramfs", "overlay"})
_WAL = ("pg_wal", "pg_xlog")


def check_target_path(context: CheckContext) -> Finding:
    """Check that the targets are deep enough, no system directories, on a disk and writable."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    targets = [root.target for root in data_roots(context.move, cluster)]
    systems = {target: context.new.file_system_of(target) for target in targets}
    shown = ", ".join(f"{target} on {_describe_kind(systems[target])}" for target in targets)
    wrong = [f"{target}: {why}" for target in targets if (why := _why_unfit(target, systems[target])) is not None]
    if wrong:
        return blocker(
            context.move.cluster,
            shown,
            f"These targets are not suitable for a cluster: {'; '.join(wrong)}.",
            "Choose a target a few directories deep on a disk of the new server: `pghaul move add "
            "--replace`. For what a tablespace or a link leads to, add `--tablespace FOLDER=TARGET`.",
        )
    unknown_ones = [target for target, system in systems.items() if system is None]
    if unknown_ones:
        why = explain_missing_file_system(context.new)
        return unknown(
            context.move.cluster,
            shown,
            f"The file system of {', '.join(unknown_ones)} on {context.new.server} is not known ({why}).",
            f"Look on {context.new.server} with `{for_hint('df', unknown_ones[0])}`.",
        )
    mounts = [target for target, system in systems.items() if system is not None and system.mount_point == target]
    if mounts:
        return warning(
            context.move.cluster,
            shown,
            f"{', '.join(mounts)} is a mount point. If it is not mounted one day, the server would "
            "see an empty directory.",
            "Choose a directory below the mount point.",
        )
    return passed(context.move.cluster, shown, "The targets are suitable for a cluster.")


def check_copy_on_write(context: CheckContext) -> Finding:
    """Check for copy-on-write file systems on the new server."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    targets = [root.target for root in data_roots(context.move, cluster)]
    systems = [context.new.file_system_of(target) for target in targets]
    lacking = [target for target, system in zip(targets, systems, strict=True) if system is None]
    if lacking:
        return unknown(
            NOTHING,
            NOTHING,
            f"The file system of {', '.join(lacking)} is not known ({explain_missing_file_system(context.new)}).",
            f"Look on {context.new.server} with `findmnt -T {lacking[0]}`.",
        )
    known = {system.mount_point: system for system in systems if system is not None}
    here = context.old.file_system_of(context.move.cluster)
    shown = (
        _describe_kind(here),
        ", ".join(
            f"{point} {_describe_kind(system)}{_describe_options(context.new, system)}"
            for point, system in known.items()
        ),
    )
    copying = [system for system in known.values() if _copies_on_write(system)]
    if not copying:
        return passed(*shown, "The file systems of the targets write in place.")
    return warning(
        *shown,
        f"{copying[0].kind} writes a changed block to another place. Tables fragment over time, "
        "and estimates from the speed of the disk do not hold.",
        "btrfs: run `chattr +C` on the empty target before the copy. ZFS: set recordsize to 8K "
        "to 32K, and logbias and sync as you prefer; turn full_page_writes off only where blocks "
        "are written as a whole.",
    )


def check_arrays(context: CheckContext) -> Finding:
    """Check that no md array is degraded or being rebuilt."""
    for facts in (context.old, context.new):
        if facts.system is None or facts.gap(ARRAYS.name) is not None:
            return unknown(
                NOTHING,
                NOTHING,
                f"The md arrays of {facts.server} could not be read ({explain_gap(facts, SYSTEM.name, ARRAYS.name)}).",
                f"Look on {facts.server} with `cat /proc/mdstat`.",
            )
    shown = _arrays(context.old), _arrays(context.new)
    bad = [
        f"{array.name} of {facts.server}"
        for facts in (context.old, context.new)
        for array in facts.arrays
        if array.degraded or array.action is not None or array.state == "inactive"
    ]
    if not bad:
        return passed(*shown, "No md array is degraded or being rebuilt.")
    return warning(
        *shown,
        f"These arrays are degraded or busy: {', '.join(bad)}. A degraded array has no reserve "
        "for the load of a copy. One that is being rebuilt is slow.",
        "Replace the failed disks and wait for the rebuild before you measure and copy.",
    )


def check_disk_health(context: CheckContext) -> Finding:
    """Check that no disk reports a failure."""
    found = [facts.host_environment.disks for facts in (context.old, context.new)]
    here, there = found
    if here is None or there is None:
        missing = context.old if here is None else context.new
        tool = missing.tool("smartctl")
        absent = tool is not None and tool.path is None
        why = "smartctl is not installed" if absent else explain_gap(missing, HEALTH.name)
        return unknown(
            NOTHING,
            NOTHING,
            f"The health of the disks of {missing.server} could not be read ({why}).",
            f"Install smartmontools on {missing.server}, or read the health with the tool of the disk controller.",
        )
    shown = [
        ", ".join(f"{disk.device} {'good' if disk.healthy else disk.said}" for disk in disks)
        or "no disk reports its health"
        for disks in (here, there)
    ]
    failing = [
        f"{disk.device} of {facts.server}"
        for facts, disks in ((context.old, here), (context.new, there))
        for disk in disks
        if disk.healthy is False
    ]
    if failing:
        return warning(
            shown[0],
            shown[1],
            f"SMART reports a failing disk: {', '.join(failing)}.",
            "Take a backup now, and replace the disk.",
        )
    if not any(disk.healthy for disk in here) or not any(disk.healthy for disk in there):
        return unknown(
            shown[0],
            shown[1],
            "Not every server has a disk that reports its health. Virtual disks and RAID controllers hide it.",
            "Ask the people who run the storage.",
        )
    return passed(shown[0], shown[1], "No disk reports a failure.")


def check_wal_directory(context: CheckContext) -> Finding:
    """Check that a WAL directory on a file system of its own gets one on the new server too."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    link = next((link for link in cluster.links if link.path in _WAL), None)
    if link is None:
        unread = unread_finding(context, LINKS.name)
        return unread or passed("inside the data directory", NOTHING, "The WAL directory is inside the data directory.")
    target = context.move.tablespace_targets.get(link.target, link.target)
    shown = f"{link.path} -> {link.target}{_size(link)}", target
    data, wal = context.new.file_system_of(context.move.target), context.new.file_system_of(target)
    if data is None or wal is None:
        why = explain_missing_file_system(context.new)
        return unknown(
            *shown,
            f"The file system of {target} on {context.new.server} is not known ({why}).",
            f"Look with `df {target}`.",
        )
    if data.mount_point != wal.mount_point:
        return passed(*shown, f"The WAL has a file system of its own on the new server: {wal.mount_point}.")
    return warning(
        *shown,
        "The WAL has a directory of its own on the old server. On the new server it would share "
        f"{wal.mount_point} with the data.",
        f"Choose a target on another file system: `pghaul move add --replace … --tablespace {link.target}=FOLDER`.",
    )


def check_inner_mounts(context: CheckContext) -> Finding:
    """Check for file systems mounted inside a data root, which share a file system on the new server."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    if not context.old.file_systems:
        why = explain_missing_file_system(context.old)
        return unknown(
            NOTHING,
            NOTHING,
            f"The mounted file systems of {context.old.server} are not known ({why}).",
            "Look with `findmnt`.",
        )
    inside = [
        (system, root, str(PurePosixPath(system.mount_point).relative_to(root.source)))
        for root in data_roots(context.move, cluster)
        for system in context.old.file_systems
        if root.holds(system.mount_point)
    ]
    if not inside:
        return passed("none", NOTHING, "No file system is mounted inside the data directory or a tablespace.")
    places = {system.mount_point: f"{root.target}/{path}" for system, root, path in inside}
    there = {place: context.new.file_system_of(place) for place in places.values()}
    shown = (
        "; ".join(f"{system.mount_point} is {system.device}" for system, _, _ in inside),
        "; ".join(f"{place} is on {NOTHING if found is None else found.device}" for place, found in there.items()),
    )
    shared = [
        (system, places[system.mount_point])
        for system, _, _ in inside
        if (found := there[places[system.mount_point]]) is None or found.mount_point != places[system.mount_point]
    ]
    if not shared:
        return passed(*shown, "Each of them is a file system of its own on the new server, too.")
    named = "; ".join(
        f"the contents of {system.mount_point} ({system.device}) will be in {place}" for system, place in shared
    )
    return warning(
        *shown,
        "File systems are mounted inside the data directory or a tablespace on the old server. "
        f"On the new server their files share one file system with the rest: {named}.",
        "Accept this if there is enough space and the disk is fast enough. Otherwise rehearse "
        "once, move what the copy has there to a file system of its own, and mount it in that "
        "place, accessible only to the owner of the cluster (`chmod 700`).",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "target-path", "Target directories", True, "targets and file systems of the new server", "creating-cluster"
        ),
        check_target_path,
    ),
    (
        Declaration(
            "wal-directory",
            "WAL directory",
            False,
            "link of pg_wal on the old server, its target on the new server",
            "wal-internals",
        ),
        check_wal_directory,
    ),
    (
        Declaration(
            "inner-mounts",
            "File systems inside the data directory",
            False,
            "what is mounted inside the data roots on both servers",
            "creating-cluster",
        ),
        check_inner_mounts,
    ),
    (
        Declaration(
            "copy-on-write", "Copy-on-write file systems", False, "file systems of the targets", "creating-cluster"
        ),
        check_copy_on_write,
    ),
    (Declaration("arrays", "RAID arrays", False, "md arrays of both servers", "backup"), check_arrays),
    (
        Declaration("disk-health", "Disk health", False, "SMART status of both servers' disks", "backup"),
        check_disk_health,
    ),
)


def _why_unfit(target: str, system: FileSystem | None) -> str | None:
    path = PurePosixPath(target)
    if len(path.parts) - 1 < _LEAST_DEPTH:
        return "it is too close to the root directory, where a mistake can destroy the host"
    if is_system_folder(target):
        return "it is a system directory"
    if system is not None and system.kind in _FLEETING:
        return f"it is on {system.kind}, which is empty after a reboot"
    if system is not None and "ro" in system.options:
        return f"{system.mount_point} is mounted read-only"
    return None


def _describe_kind(system: FileSystem | None) -> str:
    return system.kind if system is not None else "an unknown file system"


def _copies_on_write(system: FileSystem) -> bool:
    return system.kind in ("zfs", "bcachefs") or (system.kind == "btrfs" and "nodatacow" not in system.options)


def _describe_options(facts: Facts, system: FileSystem) -> str:
    """Return the options of the file system that matter: compression and record size."""
    datasets = facts.host_environment.datasets or ()
    dataset = next((each for each in datasets if each.mount_point == system.mount_point), None)
    options = [f"{name}={value}" for name, value in dataset.properties.items()] if dataset is not None else []
    options += [option for option in system.options if option.startswith(("compress", "nodatacow"))]
    return f" ({', '.join(options)})" if options else ""


def _arrays(facts: Facts) -> str:
    return (
        ", ".join(
            f"{array.name} {array.level or ''} {'degraded' if array.degraded else array.state}".replace("  ", " ")
            + (f", {array.action}" if array.action is not None else "")
            for array in facts.arrays
        )
        or "no md array"
    )


def _size(link: Link) -> str:
    return f" ({units.size(link.size_bytes)})" if link.size_bytes is not None else ""
