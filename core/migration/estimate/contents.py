"""What is in the cluster, by the old server's facts, as a spec has it."""

from core.facts.catalog import Bloated
from core.facts.model import Cluster
from core.migration.estimate.spec import ClusterSpec


def cluster_spec(cluster: Cluster, reindex: int | None = None, idle: int = 0) -> ClusterSpec:
    """The cluster's part of a spec; `reindex`: bytes of indexes that must be built anew on new; `idle`: of WAL that no
    pass of a copy brings."""
    # templates are left alone by who reads facts; what indexes they have is small
    indexes = [database.index_bytes for database in cluster.databases if not database.template]
    tables = [
        database.largest_table_bytes for database in cluster.databases if database.largest_table_bytes is not None
    ]
    size = float(cluster.size_bytes or 0)
    own = [max(0, each.size_bytes - _CATALOG_BYTES) for each in cluster.databases if not each.template]
    known = [bytes_ for bytes_ in indexes if bytes_ is not None]
    kept = cluster.wide.kept_wal_bytes if cluster.wide is not None else None
    pages = cluster.control.data_checksums if cluster.control is not None else None
    relations = min(size, float(sum(each.size_bytes for each in cluster.databases))) or size
    return ClusterSpec(
        size_bytes=size,
        files=cluster.files,
        empty_files=_empty(cluster),
        index_bytes=min(size, float(sum(known))) if known and len(known) == len(indexes) else None,
        largest_table_bytes=min(size, float(max(tables))) if tables else None,
        reindex_bytes=min(size, float(reindex)) if reindex is not None else None,
        written_bytes=min(size, float(cluster.written_bytes)) if cluster.written_bytes is not None else None,
        checksummed_bytes=None if pages is None else relations if pages else 0.0,
        **_counted(cluster),
        databases=len(cluster.databases) or None,
        database_bytes=min(size, float(sum(own))) if own else None,
        wasted_bytes=min(size, float(sum(each.wasted_bytes for each in bloated(cluster)))) or None,
        kept_wal_bytes=min(size, float(kept)) if kept else None,
        idle_wal_bytes=float(idle),
    )


def _empty(cluster: Cluster) -> int | None:
    found = cluster.irregular_files.empty if cluster.irregular_files is not None else None
    return None if found is None or cluster.files is None else min(found, cluster.files)


def _counted(cluster: Cluster) -> dict[str, int | None]:
    """How many there are of each; None, or guessed, where one database did not tell."""
    catalogs = [database.catalogs for database in cluster.databases if not database.template]
    relations = [max(0, database.relations - _CATALOG) for database in cluster.databases if database.relations]
    guessed = sum(relations) // 3 if relations else None
    counts: dict[str, int | None] = {"tables": guessed, "indexes": guessed, "toast_tables": None, "large_objects": None}
    for name in counts:
        found: list[int | None] = [getattr(each, name, None) for each in catalogs]
        known = [each for each in found if each is not None]
        if known and len(known) == len(found):
            counts[name] = sum(known)
    return counts


def bloated(cluster: Cluster) -> list[Bloated]:
    """Large tables of which much is no row, the most wasted first."""
    catalogs = [database.catalogs for database in cluster.databases if database.catalogs is not None]
    found = [table for each in catalogs for table in each.bloated]
    return sorted(found, key=lambda each: -each.wasted_bytes)


_CATALOG_BYTES = 7_500_000
"""Of an empty database, in 12 to 17: pg_dump reads them, and dumps none."""

_CATALOG = 300
"""So many relations has an empty database; of the others about a third are tables, a third indexes, a third TOAST."""
