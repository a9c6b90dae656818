"""Checks of the targets and their storage: directories, file systems, arrays, disks."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from core import units
from core.facts.host_environment import DiskHealth
from core.facts.model import Array, Cluster, Facts, FileSystem, Link
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.findings.data_roots import data_roots
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_missing_file_system,
    passed,
    unknown,
    warning,
)
from core.migration.findings.layout import is_system_folder
from core.servers.shell import for_hint, quoted

_LEAST_DEPTH = 2
_FLEETING = frozenset({"tmpfs", "ramfs", "overlay"})
_WAL = ("pg_wal", "pg_xlog")


@check(
    "target-path",
    "Target directories",
    blocking=True,
    compares="targets and file systems of the new server",
    page="creating-cluster",
    needs=(need.CLUSTER,),
)
def check_target_path(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the targets are deep enough, no system directories, on a disk and writable."""
    targets = [root.target for root in data_roots(context.move, cluster)]
    systems = {target: context.new.file_system_of(target) for target in targets}
    shown = ", ".join(f"{target} ({_describe_kind(systems[target])})" for target in targets)
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
            f"The file system of {', '.join(unknown_ones)} on the server {context.new.server} is not known ({why}).",
            f"Look on the server {context.new.server} with `{for_hint('df', unknown_ones[0])}`.",
        )
    # PostgreSQL's manual advises the same (chapter Creating a Database Cluster, section Use of Secondary File Systems):
    # with a directory below the mount point, a start without the file system fails instead of finding an empty
    # directory.
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


@check(
    "copy-on-write",
    "Copy-on-write file systems",
    compares="file systems of the targets",
    page="creating-cluster",
    needs=(need.CLUSTER, need.TARGET_FILE_SYSTEMS),
    uses=(need.NEW_DATASETS,),
)
def check_copy_on_write(context: CheckContext, _cluster: Cluster, systems: list[FileSystem]) -> Finding:
    """Check for copy-on-write file systems on the new server."""
    known = {system.mount_point: system for system in systems}
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


@check(
    "arrays",
    "RAID arrays",
    compares="md arrays of both servers",
    page="backup",
    needs=(need.OLD_ARRAYS, need.NEW_ARRAYS),
)
def check_arrays(context: CheckContext, here: tuple[Array, ...], there: tuple[Array, ...]) -> Finding:
    """Check that no md array is degraded or being rebuilt."""
    shown = _describe_arrays(here), _describe_arrays(there)
    bad = [
        f"{array.name} (server {facts.server})"
        for facts, arrays in ((context.old, here), (context.new, there))
        for array in arrays
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


@check(
    "disk-health",
    "Disk health",
    compares="SMART status of both servers' disks",
    page="backup",
    needs=(need.OLD_DISKS, need.NEW_DISKS),
)
def check_disk_health(context: CheckContext, here: tuple[DiskHealth, ...], there: tuple[DiskHealth, ...]) -> Finding:
    """Check that no disk reports a failure."""
    shown = [
        ", ".join(f"{disk.device} {'good' if disk.healthy else disk.said}" for disk in disks)
        or "no disk reports its health"
        for disks in (here, there)
    ]
    failing = [
        f"{disk.device} (server {facts.server})"
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


@check(
    "wal-directory",
    "WAL directory",
    compares="link of pg_wal on the old server, its target on the new server",
    page="wal-internals",
    needs=(need.CLUSTER,),
    uses=(need.LINKS,),
)
def check_wal_directory(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that a WAL directory on a file system of its own gets one on the new server too."""
    link = next((link for link in cluster.links if link.path in _WAL), None)
    if link is None:
        links = need.LINKS.value_or_finding(context)
        if isinstance(links, Finding):
            return links
        return passed("inside the data directory", NOTHING, "The WAL directory is inside the data directory.")
    target = context.move.tablespace_targets.get(link.target, link.target)
    shown = f"{link.path} -> {link.target}{_size(link)}", target
    data, wal = context.new.file_system_of(context.move.target), context.new.file_system_of(target)
    if data is None or wal is None:
        why = explain_missing_file_system(context.new)
        return unknown(
            *shown,
            f"The file system of {target} on the server {context.new.server} is not known ({why}).",
            f"Look with `df {target}`.",
        )
    if data.mount_point != wal.mount_point:
        return passed(*shown, f"The WAL has a file system of its own on the new server: {wal.mount_point}.")
    return warning(
        *shown,
        "The WAL has a directory of its own on the old server. On the new server it would share "
        f"{wal.mount_point} with the data.",
        "Choose a target on another file system: `pghaul move add --replace … --tablespace "
        f"{quoted(link.target)}=FOLDER`.",
    )


@check(
    "inner-mounts",
    "File systems inside the data directory",
    compares="what is mounted inside the data roots on both servers",
    page="creating-cluster",
    needs=(need.CLUSTER, need.OLD_FILE_SYSTEMS),
)
def check_inner_mounts(context: CheckContext, cluster: Cluster, systems: tuple[FileSystem, ...]) -> Finding:
    """Check for file systems mounted inside a data root, which share a file system on the new server."""
    # rsync crosses into file systems that are mounted inside a data root, so their files are copied. Only the disk of
    # their own is lost.
    inside = [
        (system, root, str(PurePosixPath(system.mount_point).relative_to(root.source)))
        for root in data_roots(context.move, cluster)
        for system in systems
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


def _describe_arrays(arrays: Sequence[Array]) -> str:
    return (
        ", ".join(
            f"{array.name} {array.level or ''} {'degraded' if array.degraded else array.state}".replace("  ", " ")
            + (f", {array.action}" if array.action is not None else "")
            for array in arrays
        )
        or "no md array"
    )


def _size(link: Link) -> str:
    return f" ({units.size(link.size_bytes)})" if link.size_bytes is not None else ""


CHECKS: tuple[Check, ...] = (
    check_target_path,
    check_wal_directory,
    check_inner_mounts,
    check_copy_on_write,
    check_arrays,
    check_disk_health,
)
