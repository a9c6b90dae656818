"""Checks of space, inodes and memory on the new server."""

import re
from collections.abc import Callable

from core import units
from core.facts.memory import SECTION as MEMORY
from core.facts.model import Cluster, Facts, FileSystem
from core.facts.sizes import LINKS, SIZE
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.data_roots import DataRoot, data_roots, source_data_roots
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    explain_missing_file_system,
    explain_missing_settings,
    no_cluster_finding,
    passed,
    unknown,
    warning,
)
from core.migration.transports.copy_channel import LISTS

_MARGIN = 1.05
"""A copy on another file system takes a little more room than it had; and WAL is written from the first start on."""

_MEMORY_UNITS = {"": 8192, "B": 1, "kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
"""PostgreSQL's units; a bare number of shared_buffers counts blocks of 8 kB."""


def space(context: CheckContext) -> Finding:
    """Check that each file system of the new server has space for its data roots."""
    return _compare(context, lambda root: root.size_bytes, lambda system: system.available_bytes, units.size, "space")


def inodes(context: CheckContext) -> Finding:
    """Check that each file system of the new server has inodes for its data roots."""

    def free(system: FileSystem) -> int | None:
        return system.inodes_free

    return _compare(context, lambda root: root.files, free, lambda number: f"{units.count(number)} inodes", "inodes")


def lists(context: CheckContext) -> Finding:
    """Check that /tmp of each server has space for the lists of files; a full one may stop the old server."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    files = [root.files for root in data_roots(context.move, cluster)]
    on_old, on_new = (facts.file_system_of(LISTS) for facts in (context.old, context.new))
    if on_old is None or on_new is None or None in files:
        gaps = [
            explain_missing_file_system(facts)
            for facts, one in ((context.old, on_old), (context.new, on_new))
            if one is None
        ]
        why = gaps[0] if gaps else explain_gap(context.old, SIZE.name, LINKS.name, of=context.move.cluster)
        return unknown(
            NOTHING, NOTHING, f"It is not known whether {LISTS} has room for the lists of files ({why}).", _LOOK
        )
    need = _LISTED_BYTES * sum(number or 0 for number in files)
    shown = [f"{one.mount_point} has {units.size(one.available_bytes)}" for one in (on_old, on_new)]
    short = []
    for facts, one in ((context.old, on_old), (context.new, on_new)):
        # as space_to_keep_free of low_priority.sh has it
        if one.available_bytes - need < min(one.size_bytes // 20, 1 << 30, one.available_bytes // 2):
            beside = (
                ", which also holds the running old cluster"
                if facts is context.old and _holds(one, cluster, facts)
                else ""
            )
            short.append(f"{one.mount_point} on {facts.server} has {units.size(one.available_bytes)} free{beside}")
    if short:
        return blocker(
            shown[0],
            shown[1],
            f"The lists of the cluster's files in {LISTS} may need {units.size(need)}. They must "
            f"not fill the file system: {'; '.join(short)}.",
            f"Free space there, or mount another file system at {LISTS}.",
        )
    return passed(
        shown[0], shown[1], f"{LISTS} has room on both servers for the lists of files (at most {units.size(need)})."
    )


def _holds(one: FileSystem, cluster: Cluster, facts: Facts) -> bool:
    """Whether a data root lies on the device of that file system, which may be mounted several times."""
    found = [facts.file_system_of(root.source) for root in source_data_roots(cluster)]
    return any(each is not None and each.device == one.device for each in found)


_LISTED_BYTES = 1024
"""What the lists of a copy take of a file, at the most; some 600 are usual."""

_LOOK = f"Compare by hand: allow 1 kB for each file, and run `df {LISTS}` on both servers."


def memory(context: CheckContext) -> Finding:
    """Check that shared_buffers fits into the memory of the new server."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    setting, total = cluster.settings.get("shared_buffers"), context.new.memory
    buffers = memory_bytes(setting) if setting is not None else None
    if buffers is None or total is None:
        why = (
            f"shared_buffers: {explain_missing_settings(context)}"
            if buffers is None
            else f"memory: {explain_gap(context.new, MEMORY.name)}"
        )
        shown = setting or NOTHING, units.size(total.total_bytes) if total is not None else NOTHING
        return unknown(
            *shown,
            f"The memory of the new server could not be compared with shared_buffers ({why}).",
            "Compare them by hand.",
        )
    shown = f"shared_buffers {units.size(buffers)}", f"memory {units.size(total.total_bytes)}"
    if buffers > 0.8 * total.total_bytes:
        return warning(
            *shown,
            "shared_buffers takes more than 80 % of the new server's memory. The server may not start.",
            "Lower shared_buffers for the new server.",
        )
    if buffers > 0.4 * total.total_bytes:
        return warning(
            *shown,
            "shared_buffers takes more than 40 % of the new server's memory.",
            "Lower shared_buffers for the new server. 25 % of the memory is usual.",
        )
    return passed(*shown, "shared_buffers fits into the memory of the new server.")


def memory_bytes(setting: str) -> int | None:
    """A memory setting in bytes: `128MB`, or `16384` blocks of 8 kB; None where it is neither."""
    found = re.fullmatch(r"\s*(\d+)\s*([kMGT]?B)?\s*", setting)
    return int(found[1]) * _MEMORY_UNITS[found[2] or ""] if found is not None else None


def _compare(
    context: CheckContext,
    wanted_of: Callable[[DataRoot], int | None],
    free_of: Callable[[FileSystem], int | None],
    shown: Callable[[float | None], str],
    what: str,
) -> Finding:
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    wanted: dict[str, int] = {}
    for root in data_roots(context.move, cluster):
        system, need = context.new.file_system_of(root.target), wanted_of(root)
        if system is None or need is None:
            return _unreadable(context, root, system, what)
        wanted[system.mount_point] = wanted.get(system.mount_point, 0) + need
    there = _already_there(context.target, cluster, context.new, wanted_of)
    needs, has, short, tight = [], [], [], []
    for mount_point, need in sorted(wanted.items()):
        free = next(free_of(system) for system in context.new.file_systems if system.mount_point == mount_point)
        if free is None:
            # file systems that make inodes as they go (btrfs) cannot run out of them
            continue
        free += there.get(mount_point, 0)
        needs.append(f"{mount_point} needs {shown(need)}")
        has.append(f"{mount_point} has {shown(free)}")
        short += [f"{mount_point} needs {shown(need)} and has {shown(free)}"] if need > free else []
        tight += [mount_point] if need <= free < need * _MARGIN else []
    evidence = "; ".join(needs) or "no limit", "; ".join(has) or "no limit"
    if short:
        return blocker(
            *evidence,
            f"{context.new.server} does not have enough {what}: {'; '.join(short)}.",
            "Delete what is not needed there, enlarge the file system, or choose another target.",
        )
    if tight:
        return warning(
            *evidence,
            f"The copy will use up nearly all {what} on {', '.join(tight)}.",
            "Leave at least 5 % for WAL and growth.",
        )
    return passed(*evidence, f"Each file system of the new server has enough {what}.")


def _unreadable(context: CheckContext, root: DataRoot, system: FileSystem | None, what: str) -> Finding:
    if system is None:
        gap = explain_missing_file_system(context.new)
        why = f"The file system of {root.target} on {context.new.server} is not known ({gap})."
    else:
        gap = explain_gap(context.old, SIZE.name, LINKS.name, of=context.move.cluster)
        why = f"The amount of {what} that {root.source} on {context.old.server} takes is not known ({gap})."
    return unknown(NOTHING, NOTHING, why, f"Compare by hand: run `du` on {root.source} and `df` on {root.target}.")


def _already_there(
    target: Cluster | None, cluster: Cluster, new: Facts, wanted_of: Callable[[DataRoot], int | None]
) -> dict[str, int]:
    """What an earlier copy of this cluster takes already, by mount point: it is overwritten, not added."""
    if target is None or target.control is None or cluster.control is None:
        return {}
    if target.control.system_identifier != cluster.control.system_identifier:
        return {}
    found: dict[str, int] = {}
    for root in source_data_roots(target):
        system, need = new.file_system_of(root.source), wanted_of(root)
        if system is not None and need is not None:
            found[system.mount_point] = found.get(system.mount_point, 0) + need
    return found


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "space",
            "Free space on the new server",
            True,
            "sizes on the old server, free space of each file system of the new server",
            "backup-file",
        ),
        space,
    ),
    (
        Declaration(
            "inodes",
            "Free inodes on the new server",
            True,
            "number of files on the old server, free inodes of each file system of the new server",
            "backup-file",
        ),
        inodes,
    ),
    (
        Declaration(
            "lists",
            "Space for lists of files in /tmp",
            True,
            "number of files on the old server, free space of /tmp on both servers",
            "backup-file",
        ),
        lists,
    ),
    (
        Declaration(
            "memory",
            "Memory for shared_buffers on the new server",
            False,
            "shared_buffers of the old cluster, memory of the new server",
            "runtime-config-resource",
        ),
        memory,
    ),
)
