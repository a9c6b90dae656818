"""Folders of a cluster that are copied side by side: tablespaces on disks of their own are lanes beside each other.

A plan copies each data root by an rsync of its own, several at a time (`SIDE_BY_SIDE`). Each disk then works for its
own folders alone, each rsync has its own ssh; the network they share. With so many bytes on the disk that has most of
them, all of the cluster is read at `size / those bytes` times that disk's rate: the fullest lane is the last to end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.facts.block_devices import disks_of
from core.facts.model import Cluster, Facts
from core.migration.findings.data_roots import DataRoot, data_roots
from core.migration.model.move import Move
from core.migration.model.plan import SIDE_BY_SIDE


@dataclass(frozen=True, slots=True)
class Lanes:
    """Bytes of the fullest lane: of the old server's disks, of the new server's, of the folders; None where there is
    but one, or nobody knows."""

    on_old: float | None = None
    on_new: float | None = None
    folder: float | None = None


def lanes_of(move: Move, cluster: Cluster, old: Facts, new: Facts | None) -> Lanes:
    """The lanes of a move; none where a folder's size is not known. WAL that no pass brings is in none."""
    roots = [root for root in data_roots(move, cluster) if not root.inside]
    if len(roots) < 2 or any(root.copied_bytes is None for root in roots):
        return Lanes()
    return Lanes(
        on_old=_fullest(old, [(root.source, root) for root in roots]),
        on_new=_fullest(new, [(root.target, root) for root in roots]) if new is not None else None,
        folder=float(max(root.copied_bytes or 0 for root in roots)),
    )


def _fullest(facts: Facts, folders: Sequence[tuple[str, DataRoot]]) -> float | None:
    """Bytes on the disks that hold most; None where it is not known of each folder which disks it lies on."""
    groups: list[tuple[set[str], int]] = []
    for folder, root in folders:
        disks = {disk.name for disk in disks_of(facts, facts.file_system_of(folder))}
        size = root.copied_bytes or 0
        if not disks:
            return None
        shared = [group for group in groups if group[0] & disks]
        groups = [group for group in groups if not group[0] & disks]
        groups.append((disks.union(*(names for names, _ in shared)), size + sum(bytes_ for _, bytes_ in shared)))
    return float(max(size for _, size in groups))


def times(size: float, fullest: float | None) -> float:
    """How many times as fast as one lane all of them go together; 1 where there is one."""
    return max(1.0, min(SIDE_BY_SIDE, size / fullest)) if fullest else 1.0


def of_all(sample: float, links: Sequence[tuple[float, float]]) -> float:
    """Bytes a second of all lanes, from a sample on one of them: it makes the same use of the slowest link of all.

    `links`: what each carried, and how many times that it carries for all of them.
    """
    return sample * min(rate * lanes for rate, lanes in links) / min(rate for rate, _ in links) if links else sample
