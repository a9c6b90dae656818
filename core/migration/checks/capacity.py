"""Checks of space, inodes and memory on the new server."""

from collections.abc import Callable

from core import units
from core.facts.data_files import LINKS, SIZE
from core.facts.model import Cluster, Facts, FileSystem, Memory
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.findings.data_roots import DataRoot, data_roots, source_data_roots
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    explain_missing_file_system,
    passed,
    unknown,
    warning,
)
from core.migration.findings.memory import huge_pages_of_size, memory_in_huge_pages, takes_huge_pages
from core.migration.transports.copy_channel import LISTS

_MARGIN = 1.05
"""A copy on another file system may need a little more space, and WAL is written from the first start on."""


@check(
    "space",
    "Free space on the new server",
    blocking=True,
    compares="sizes on the old server, free space of each file system of the new server",
    page="backup-file",
    needs=(need.CLUSTER,),
)
def check_space(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that each file system of the new server has space for its data roots."""
    return _compare_by_file_system(
        context, cluster, lambda root: root.size_bytes, lambda system: system.available_bytes, units.size, "space"
    )


@check(
    "inodes",
    "Free inodes on the new server",
    blocking=True,
    compares="number of files on the old server, free inodes of each file system of the new server",
    page="backup-file",
    needs=(need.CLUSTER,),
)
def check_inodes(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that each file system of the new server has inodes for its data roots."""

    def free(system: FileSystem) -> int | None:
        return system.inodes_free

    return _compare_by_file_system(context, cluster, lambda root: root.files, free, units.count, "inodes")


@check(
    "lists",
    "Space for lists of files in /tmp",
    blocking=True,
    compares="number of files on the old server, free space of /tmp on both servers",
    page="backup-file",
    needs=(need.CLUSTER, need.FILE_COUNT, need.OLD_LISTS, need.NEW_LISTS),
)
def check_space_for_lists(
    context: CheckContext, cluster: Cluster, files: int, here: FileSystem, there: FileSystem
) -> Finding:
    """Check that /tmp of each server has space for the lists of files; a full one may stop the old server."""
    need = _LISTED_BYTES * files
    free_space = [f"{system.mount_point} has {units.size(system.available_bytes)}" for system in (here, there)]
    short = []
    for facts, system in ((context.old, here), (context.new, there)):
        # the same rule as space_to_keep_free in low_priority.sh
        if system.available_bytes - need < min(system.size_bytes // 20, 1 << 30, system.available_bytes // 2):
            remark = (
                ", which also holds the running old cluster"
                if facts is context.old and _contains_data_root(system, cluster, facts)
                else ""
            )
            short.append(
                f"{system.mount_point} on the server {facts.server} has {units.size(system.available_bytes)} "
                f"free{remark}"
            )
    if short:
        return blocker(
            free_space[0],
            free_space[1],
            f"The lists of the cluster's files in {LISTS} may need {units.size(need)}. They must "
            f"not fill the file system: {'; '.join(short)}.",
            f"Free space there, or mount another file system at {LISTS}.",
        )
    return passed(
        free_space[0],
        free_space[1],
        f"{LISTS} has room on both servers for the lists of files (at most {units.size(need)}).",
    )


def _contains_data_root(system: FileSystem, cluster: Cluster, facts: Facts) -> bool:
    """Return whether a data root lies on the device of the file system, which may be mounted several times."""
    systems = [facts.file_system_of(root.source) for root in source_data_roots(cluster)]
    return any(each is not None and each.device == system.device for each in systems)


_LISTED_BYTES = 1024
"""The most bytes that the lists of a copy need for each file; about 600 are usual."""


@check(
    "memory",
    "Memory for shared_buffers on the new server",
    compares="shared_buffers and huge_pages of the old cluster, memory and huge pages of the new server",
    page="runtime-config-resource",
    needs=(need.SHARED_BUFFERS, need.NEW_MEMORY),
    uses=(need.HUGE_PAGES, need.HUGE_PAGE_SIZE, need.SHARED_MEMORY),
)
def check_memory(context: CheckContext, buffers: int, there: Memory) -> Finding:
    """Check that shared_buffers fits into the memory of the new server."""
    setting = need.HUGE_PAGES.read(context)
    huge = huge_pages_of_size(there, need.HUGE_PAGE_SIZE.read(context) or 0)
    # with huge_pages = on no other memory counts, see the check of huge pages
    shared = need.SHARED_MEMORY.read(context) or buffers
    in_huge_pages = setting == "on" or takes_huge_pages(setting, shared, huge)
    elsewhere = 0 if in_huge_pages else memory_in_huge_pages(there)
    total = max(0, there.total_bytes - elsewhere)
    note = f" (Without {units.size(elsewhere)} in huge pages, which the cluster does not use.)" if elsewhere else ""
    # huge pages do not count for it, see memory_hugetlb_accounting in Documentation/admin-guide/cgroup-v2.rst
    if there.limit_bytes is not None and there.limit_bytes < total and not in_huge_pages:
        note = (
            f" (The control group of pghaul on the new server can use {units.size(there.limit_bytes)} of "
            f"{units.size(there.total_bytes)}. A cluster that a service outside of this group starts can use more.)"
        )
        total = there.limit_bytes
    shown = f"shared_buffers {units.size(buffers)}", f"memory {units.size(total)}"
    if buffers > 0.8 * total:
        return warning(
            *shown,
            f"shared_buffers takes more than 80 % of the new server's memory. The server may not start.{note}",
            "Lower shared_buffers for the new server.",
        )
    if buffers > 0.4 * total:
        return warning(
            *shown,
            f"shared_buffers takes more than 40 % of the new server's memory.{note}",
            "Lower shared_buffers for the new server. 25 % of the memory is usual.",
        )
    return passed(*shown, f"shared_buffers fits into the memory of the new server.{note}")


def _compare_by_file_system(
    context: CheckContext,
    cluster: Cluster,
    need_of: Callable[[DataRoot], int | None],
    free_of: Callable[[FileSystem], int | None],
    format_number: Callable[[float | None], str],
    resource: str,
) -> Finding:
    """Compare what the data roots need with what each file system of the new server has free.

    Args:
        context: the move and the facts of both servers.
        cluster: the old cluster.
        need_of: returns how much a data root needs; None if that is not known.
        free_of: returns how much a file system has free; None if there is no limit.
        format_number: returns a number with its unit.
        resource: what is compared, for messages, such as `space`.
    """
    needed: dict[str, int] = {}
    for root in data_roots(context.move, cluster):
        system, need = context.new.file_system_of(root.target), need_of(root)
        if system is None or need is None:
            return _unknown_size(context, root, system, resource)
        needed[system.mount_point] = needed.get(system.mount_point, 0) + need
    reusable = _used_by_earlier_copy(context.target, cluster, context.new, need_of)
    shown, short, nearly_full = [], [], []
    for mount_point, need in sorted(needed.items()):
        free = next(free_of(system) for system in context.new.file_systems if system.mount_point == mount_point)
        if free is None:
            # file systems that create inodes on demand (btrfs) cannot run out of them
            continue
        free += reusable.get(mount_point, 0)
        shown.append(f"{mount_point} needs {format_number(need)}, has {format_number(free)}")
        short += [f"{mount_point} needs {format_number(need)} and has {format_number(free)}"] if need > free else []
        nearly_full += [mount_point] if need <= free < need * _MARGIN else []
    evidence = NOTHING, "; ".join(shown) or "no limit"
    if short:
        return blocker(
            *evidence,
            f"The server {context.new.server} does not have enough {resource}: {'; '.join(short)}.",
            "Delete what is not needed there, enlarge the file system, or choose another target.",
        )
    if nearly_full:
        return warning(
            *evidence,
            f"The copy will use up nearly all {resource} on {', '.join(nearly_full)}.",
            "Leave at least 5 % for WAL and growth.",
        )
    return passed(*evidence, f"Each file system of the new server has enough {resource}.")


def _unknown_size(context: CheckContext, root: DataRoot, system: FileSystem | None, resource: str) -> Finding:
    if system is None:
        gap = explain_missing_file_system(context.new)
        why = f"The file system of {root.target} on the server {context.new.server} is not known ({gap})."
    else:
        gap = explain_gap(context.old, SIZE.name, LINKS.name, of=context.move.cluster)
        why = (
            f"The amount of {resource} that {root.source} on the server {context.old.server} takes is not known "
            f"({gap})."
        )
    return unknown(NOTHING, NOTHING, why, f"Compare by hand: run `du` on {root.source} and `df` on {root.target}.")


def _used_by_earlier_copy(
    target: Cluster | None, cluster: Cluster, new: Facts, need_of: Callable[[DataRoot], int | None]
) -> dict[str, int]:
    """Return what an earlier copy of this cluster uses, by mount point: the copy overwrites it."""
    if target is None or target.control is None or cluster.control is None:
        return {}
    if target.control.system_identifier != cluster.control.system_identifier:
        return {}
    used: dict[str, int] = {}
    for root in source_data_roots(target):
        system, need = new.file_system_of(root.source), need_of(root)
        if system is not None and need is not None:
            used[system.mount_point] = used.get(system.mount_point, 0) + need
    return used


CHECKS: tuple[Check, ...] = (check_space, check_inodes, check_space_for_lists, check_memory)
