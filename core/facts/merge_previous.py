"""What an earlier pass knows that this one could not read: the inside of a cluster that is stopped now.

A cluster that is stopped for its copy answers no SQL. What its catalogs said while it ran still holds, as long as it is
the same cluster and was not started since without being looked at; the time stands in `ClusterWide.taken_at`.
"""

from dataclasses import replace

from core.facts.model import Cluster, Facts


def merge_previous(facts: Facts, earlier: Facts | None) -> Facts:
    """Return the facts, completed by `earlier` facts of the same server for the same clusters and C library."""
    if earlier is None:
        return facts
    return replace(
        facts,
        clusters=tuple(_with_earlier_catalogs(cluster, earlier) for cluster in facts.clusters),
        # another libc sorts otherwise: its sums say nothing any more
        collation_order=(earlier.collation_order if _libc(earlier) == _libc(facts) else {}) | facts.collation_order,
    )


def _with_earlier_catalogs(cluster: Cluster, earlier: Facts) -> Cluster:
    known = earlier.cluster(cluster.data_directory)
    # a running cluster that refuses SQL is a gap: what it said yesterday must not hide that
    if (
        cluster.running
        or cluster.databases
        or known is None
        or known.wide is None
        or not _is_same_cluster(cluster, known)
    ):
        return cluster
    taken_at = known.wide.taken_at or earlier.taken_at
    return replace(
        cluster,
        databases=known.databases,
        wide=replace(known.wide, taken_at=taken_at),
        # what its files say now comes before what was in force then
        settings=known.settings | cluster.settings,
    )


def _is_same_cluster(cluster: Cluster, known: Cluster) -> bool:
    """Whether both are one cluster: no other has its system identifier, but a copy of it, which lies elsewhere."""
    return (
        cluster.control is not None
        and known.control is not None
        and cluster.control.system_identifier == known.control.system_identifier
    )


def _libc(facts: Facts) -> str | None:
    return facts.system.libc if facts.system is not None else None
