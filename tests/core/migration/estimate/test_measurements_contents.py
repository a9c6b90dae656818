"""What old's facts tell of the cluster that moves."""

from dataclasses import replace

from core.facts.catalog import Bloated, Catalogs, ClusterWide
from core.facts.model import Database, Memory
from core.migration.estimate.measurements import bloated, cluster_spec, spec_of
from tests.core.migration.builders import cluster, move, new, old


def database(name: str, catalogs: Catalogs | None) -> Database:
    return Database(name, 10**9, relations=903, index_bytes=10**8, largest_table_bytes=3 * 10**8, catalogs=catalogs)


SHOP = database(
    "shop", Catalogs(tables=40, indexes=60, large_objects=7, toast_tables=30, bloated=(Bloated("public.a", 500, 200),))
)
LOGS = database(
    "logs", Catalogs(tables=2, indexes=1, large_objects=0, toast_tables=1, bloated=(Bloated("public.b", 900, 800),))
)
TEMPLATE = Database("template1", 7_000_000, template=True)


def test_tables_indexes_and_large_objects_are_those_of_all_databases() -> None:
    of = replace(cluster(), size_bytes=10**10, databases=(SHOP, LOGS, TEMPLATE), wide=ClusterWide(kept_wal_bytes=2**24))
    spec = cluster_spec(of)
    assert (spec.tables, spec.indexes, spec.toast_tables, spec.large_objects) == (42, 61, 31, 7)
    assert (spec.wasted_bytes, spec.kept_wal_bytes) == (1000, 2**24)
    assert (spec.index_bytes, spec.largest_table_bytes) == (2e8, 3e8)
    assert spec.database_bytes == 2 * (10**9 - 7_500_000)
    assert [each.table for each in bloated(of)] == ["public.b", "public.a"]


def test_where_a_database_did_not_tell_its_relations_are_guessed_from() -> None:
    silent = database("silent", None)
    spec = cluster_spec(replace(cluster(), size_bytes=10**10, databases=(SHOP, silent), wide=None))
    assert (spec.tables, spec.indexes, spec.toast_tables, spec.large_objects) == (402, 402, None, None)
    assert (spec.wasted_bytes, spec.kept_wal_bytes) == (200, None)


def test_the_memory_of_a_server_is_what_control_groups_allow() -> None:
    whole, limited = Memory(32 << 30, 30 << 30, 0), Memory(64 << 30, 30 << 30, 0, limit_bytes=8 << 30)
    for memory, usable in ((whole, 32 << 30), (limited, 8 << 30)):
        spec = spec_of(move(), replace(old(), memory=memory), [], new=replace(new(), memory=memory))
        assert (spec.old.memory_bytes, spec.new.memory_bytes) == (usable, usable)
