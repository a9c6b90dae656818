"""What the files come to lie on: file systems that copy on write, arrays and disks that fail, the place itself."""

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
    Case,
    Finding,
    blocker,
    no_cluster,
    no_file_system,
    passed,
    reason,
    unknown,
    unread_of,
    warning,
)
from core.migration.findings.system_folders import is_system_folder
from core.servers.shell import for_hint

_LEAST_DEPTH = 2
_FLEETING = frozenset({"tmpfs", "ramfs", "overlay"})
_WAL = ("pg_wal", "pg_xlog")


def target_path(case: Case) -> Finding:
    """The targets are places for a data directory: deep enough, no system folder, on a disk, writable."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    targets = [root.target for root in data_roots(case.move, cluster)]
    systems = {target: case.new.file_system_of(target) for target in targets}
    shown = ", ".join(f"{target} on {_kind(systems[target])}" for target in targets)
    wrong = [f"{target}: {why}" for target in targets if (why := _unfit(target, systems[target])) is not None]
    if wrong:
        return blocker(
            case.move.cluster,
            shown,
            f"no place for a cluster: {'; '.join(wrong)}",
            "name a target some folders deep on a disk of new: pghaul move add --replace; for what a tablespace or a "
            "link leads to: --tablespace FOLDER=TARGET",
        )
    unknown_ones = [target for target, system in systems.items() if system is None]
    if unknown_ones:
        why = no_file_system(case.new)
        return unknown(
            case.move.cluster,
            shown,
            f"the file system of {', '.join(unknown_ones)} on {case.new.server} is not known: {why}",
            f"look on {case.new.server}: {for_hint('df', unknown_ones[0])}",
        )
    mounts = [target for target, system in systems.items() if system is not None and system.mount_point == target]
    if mounts:
        return warning(
            case.move.cluster,
            shown,
            f"{', '.join(mounts)} is a mount point: if it is not mounted one day, the server would see an empty folder",
            "name a folder below the mount point",
        )
    return passed(case.move.cluster, shown, "a place for a cluster")


def copy_on_write(case: Case) -> Finding:
    """New's file systems write in place, or are known to be tuned."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    targets = [root.target for root in data_roots(case.move, cluster)]
    systems = [case.new.file_system_of(target) for target in targets]
    lacking = [target for target, system in zip(targets, systems, strict=True) if system is None]
    if lacking:
        return unknown(
            NOTHING,
            NOTHING,
            f"the file system of {', '.join(lacking)} is not known: {no_file_system(case.new)}",
            f"look on {case.new.server}: findmnt -T {lacking[0]}",
        )
    known = {system.mount_point: system for system in systems if system is not None}
    here = case.old.file_system_of(case.move.cluster)
    shown = (
        _kind(here),
        ", ".join(f"{point} {_kind(system)}{_tuned(case.new, system)}" for point, system in known.items()),
    )
    copying = [system for system in known.values() if _copies_on_write(system)]
    if not copying:
        return passed(*shown, "files are written in place")
    return warning(
        *shown,
        f"{copying[0].kind} writes a changed block to another place: tables fragment, and sums of the disk do not hold",
        "btrfs: chattr +C on the empty target before the copy; zfs: recordsize=8K to 32K, logbias and sync as the "
        "DBA wants, full_page_writes off where blocks are whole",
    )


def arrays(case: Case) -> Finding:
    """No md array is degraded or being rebuilt."""
    for facts in (case.old, case.new):
        if facts.system is None or facts.gap(ARRAYS.name) is not None:
            return unknown(
                NOTHING,
                NOTHING,
                f"the md arrays of {facts.server} could not be read: {reason(facts, SYSTEM.name, ARRAYS.name)}",
                f"look on {facts.server}: cat /proc/mdstat",
            )
    shown = _arrays(case.old), _arrays(case.new)
    bad = [
        f"{array.name} of {facts.server}"
        for facts in (case.old, case.new)
        for array in facts.arrays
        if array.degraded or array.action is not None or array.state == "inactive"
    ]
    if not bad:
        return passed(*shown, "no array is degraded or being rebuilt")
    return warning(
        *shown,
        f"{', '.join(bad)}: a degraded array has no spare left for the strain of a copy, one at work is slow",
        "replace what failed and let it be rebuilt before; measure and copy when it is done",
    )


def disk_health(case: Case) -> Finding:
    """No disk says that it fails."""
    found = [facts.host_environment.disks for facts in (case.old, case.new)]
    here, there = found
    if here is None or there is None:
        missing = case.old if here is None else case.new
        tool = missing.tool("smartctl")
        absent = tool is not None and tool.path is None
        why = "smartctl is not installed" if absent else reason(missing, HEALTH.name)
        return unknown(
            NOTHING,
            NOTHING,
            f"the health of {missing.server}'s disks could not be read: {why}",
            f"install smartmontools on {missing.server}, or ask the controller of its disks",
        )
    shown = [
        ", ".join(f"{disk.device} {'good' if disk.healthy else disk.said}" for disk in disks) or "no disk that tells"
        for disks in (here, there)
    ]
    failing = [
        f"{disk.device} of {facts.server}"
        for facts, disks in ((case.old, here), (case.new, there))
        for disk in disks
        if disk.healthy is False
    ]
    if failing:
        return warning(
            shown[0], shown[1], f"{', '.join(failing)} says that it fails", "take a backup now; replace the disk"
        )
    if not any(disk.healthy for disk in here) or not any(disk.healthy for disk in there):
        return unknown(
            shown[0],
            shown[1],
            "not every host has a disk that tells its health: virtual disks and controllers keep it to themselves",
            "ask whoever runs the storage",
        )
    return passed(shown[0], shown[1], "no disk says that it fails")


def wal_directory(case: Case) -> Finding:
    """Where the WAL lies on a place of its own, it gets one on new too."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    link = next((link for link in cluster.links if link.path in _WAL), None)
    if link is None:
        unread = unread_of(case, LINKS.name)
        return unread or passed("inside the data directory", NOTHING, "the WAL lies inside the data directory")
    target = case.move.tablespace_targets.get(link.target, link.target)
    shown = f"{link.path} -> {link.target}{_size(link)}", target
    data, wal = case.new.file_system_of(case.move.target), case.new.file_system_of(target)
    if data is None or wal is None:
        why = no_file_system(case.new)
        return unknown(*shown, f"the file system of {target} on {case.new.server} is not known: {why}", f"df {target}")
    if data.mount_point != wal.mount_point:
        return passed(*shown, f"the WAL gets a place of its own: {wal.mount_point}")
    return warning(
        *shown,
        f"the WAL lies apart on old, but would share {wal.mount_point} with the data on new",
        f"name a target on another file system: pghaul move add --replace … --tablespace {link.target}=FOLDER",
    )


def inner_mounts(case: Case) -> Finding:
    """What is a file system of its own inside a data root on old is one on new too: else it shares that of the rest."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if not case.old.file_systems:
        why = no_file_system(case.old)
        return unknown(
            NOTHING, NOTHING, f"what is mounted on {case.old.server} is not known: {why}", "look with: findmnt"
        )
    inside = [
        (system, root, str(PurePosixPath(system.mount_point).relative_to(root.source)))
        for root in data_roots(case.move, cluster)
        for system in case.old.file_systems
        if root.holds(system.mount_point)
    ]
    if not inside:
        return passed("none", NOTHING, "no file system is mounted inside the data directory or a tablespace")
    places = {system.mount_point: f"{root.target}/{path}" for system, root, path in inside}
    there = {place: case.new.file_system_of(place) for place in places.values()}
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
        return passed(*shown, "each of them is a file system of its own on new, too")
    named = "; ".join(f"{system.mount_point} ({system.device}) comes to lie in {place}" for system, place in shared)
    return warning(
        *shown,
        "file systems are mounted inside the data directory or a tablespace on the old server, and on the new one "
        f"their files share the file system of the rest: {named}",
        "leave it so if there is room and the disk is fast enough; or rehearse once, move what the copy holds there to "
        "a file system of its own, and mount that in its place, for the owner of the cluster alone (chmod 700)",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration("target-path", "target directory", True, "targets and file systems of new", "creating-cluster"),
        target_path,
    ),
    (
        Declaration(
            "wal-directory", "WAL directory", False, "link of pg_wal on old, its target on new", "wal-internals"
        ),
        wal_directory,
    ),
    (
        Declaration(
            "inner-mounts",
            "file systems inside the data directory",
            False,
            "what is mounted inside the data roots on old and on new",
            "creating-cluster",
        ),
        inner_mounts,
    ),
    (
        Declaration(
            "copy-on-write", "copy-on-write file systems", False, "file systems of the targets", "creating-cluster"
        ),
        copy_on_write,
    ),
    (Declaration("arrays", "RAID arrays", False, "md arrays of both hosts", "backup"), arrays),
    (Declaration("disk-health", "disk health", False, "SMART of both hosts' disks", "backup"), disk_health),
)


def _unfit(target: str, system: FileSystem | None) -> str | None:
    path = PurePosixPath(target)
    if len(path.parts) - 1 < _LEAST_DEPTH:
        return "too near to the root, where a slip costs the host"
    if is_system_folder(target):
        return "a folder of the system"
    if system is not None and system.kind in _FLEETING:
        return f"on {system.kind}, which is gone after a restart"
    if system is not None and "ro" in system.options:
        return f"{system.mount_point} is mounted read-only"
    return None


def _kind(system: FileSystem | None) -> str:
    return system.kind if system is not None else "an unknown file system"


def _copies_on_write(system: FileSystem) -> bool:
    return system.kind in ("zfs", "bcachefs") or (system.kind == "btrfs" and "nodatacow" not in system.options)


def _tuned(facts: Facts, system: FileSystem) -> str:
    """What matters of its options: compression, record size."""
    datasets = facts.host_environment.datasets or ()
    dataset = next((each for each in datasets if each.mount_point == system.mount_point), None)
    said = [f"{name}={value}" for name, value in dataset.properties.items()] if dataset is not None else []
    said += [option for option in system.options if option.startswith(("compress", "nodatacow"))]
    return f" ({', '.join(said)})" if said else ""


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
