"""WAL that no pass of a copy brings."""

from dataclasses import replace

import pytest

from core.facts.catalog import ClusterWide, Setting
from core.facts.model import Cluster, Link
from core.migration.findings.data_roots import idle_wal_bytes, source_data_roots
from tests.core.migration.builders import cluster, database

MIB, GIB = 2**20, 2**30


def of(size: int, idle: int | None, *, limit: int = 1024) -> Cluster:
    """A cluster with a database of 1 GB, so many bytes of idle segments, and max_wal_size in MiB."""
    settings = (Setting("max_wal_size", str(limit), "configuration file"),)
    wide = ClusterWide(settings=settings, kept_wal_bytes=0, idle_wal_bytes=idle)
    return replace(cluster(), size_bytes=size, databases=(database(size_bytes=10**9),), wide=wide)


def test_it_is_what_the_server_keeps_beyond_the_segment_in_use() -> None:
    assert idle_wal_bytes(of(1_300_000_000, 256 * MIB)) == 256 * MIB


def test_what_was_written_since_the_checkpoint_is_copied() -> None:
    """10 GiB lie beside the databases and below max_wal_size, none of it beyond the segment in use."""
    busy = of(10**9 + 10 * GIB, 0, limit=16 * 1024)
    assert idle_wal_bytes(busy) == 0
    assert [root.copied_bytes for root in source_data_roots(busy)] == [10**9 + 10 * GIB]


@pytest.mark.parametrize(
    "unknown",
    [
        replace(of(2_000_000_000, MIB), wide=None),
        of(2_000_000_000, None),
        replace(of(2_000_000_000, MIB), wide=ClusterWide(idle_wal_bytes=MIB, in_recovery=True)),
    ],
)
def test_where_the_facts_do_not_tell_all_of_it_is_copied(unknown: Cluster) -> None:
    assert idle_wal_bytes(unknown) == 0


def test_it_lies_in_the_data_root_that_holds_the_wal() -> None:
    inside = of(1_300_000_000, 256 * MIB)
    assert [(root.label, root.copied_bytes) for root in source_data_roots(inside)] == [
        ("data", 1_300_000_000 - 256 * MIB)
    ]
    elsewhere = replace(inside, links=(Link("pg_wal", "/wal", dangling=False, size_bytes=290_000_000, files=20),))
    data, wal = source_data_roots(elsewhere)
    assert (data.copied_bytes, wal.copied_bytes) == (1_010_000_000, 290_000_000 - 256 * MIB)
    assert [root.idle_bytes for root in source_data_roots(replace(inside, series="9.2"))] == [0]
