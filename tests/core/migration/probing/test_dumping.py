"""What is asked of a dump & restore's own steps: how much, of which tables, and what may become SQL on new."""

import pytest

from core.facts.catalog import ClusterWide, Setting
from core.migration.model.table_sample import LoadableRows
from core.migration.probing.dumping import statements
from tests.core.migration.builders import cluster, database


def test_types_of_old_never_become_sql_on_new() -> None:
    table = LoadableRows(((1, "int4"), (2, "money"), (5, "evil_type"), (7, "varchar")), (5, 1, 7))
    said = statements(cluster(), database(collate="de_DE.UTF-8"), {3: table}, 2**20)
    assert (
        'create table t3 (c1 pg_catalog."int4", c2 pg_catalog."text", c5 pg_catalog."text", c7 pg_catalog."varchar")'
        in said
    )
    assert "create index i3 on t3 (c5 collate pghaul, c1, c7 collate pghaul)" in said
    assert said[1] == "create collation pghaul (locale = 'de_DE.UTF-8')"


@pytest.mark.parametrize(
    ("changes", "collation"),
    [
        ({"collate": "C"}, ""),
        ({"provider": "builtin", "locale": "C.UTF-8", "collate": "en_US.UTF-8"}, ""),
        (
            {"provider": "icu", "locale": "de-u-co-phonebk"},
            "create collation pghaul (provider = icu, locale = 'de-u-co-phonebk')",
        ),
        ({"collate": "x'); drop table t1; --"}, ""),
    ],
)
def test_text_is_sorted_as_on_old(changes: dict[str, str], collation: str) -> None:
    said = statements(cluster(), database(**changes), {1: LoadableRows(((1, "text"),), (1,))}, 2**20)
    assert [each for each in said if each.startswith("create collation")] == ([collation] if collation else [])
    assert ("create index i1 on t1 (c1 collate pghaul)" in said) is bool(collation)


def test_the_index_has_memory_in_proportion() -> None:
    """1 GB beside a table of 100 GB is as 10 MB beside a sample of 1 GB; at least what a server takes."""
    large = database(largest_table_bytes=100 * 2**30)
    given = cluster(
        databases=(large,), wide=ClusterWide(settings=(Setting("maintenance_work_mem", str(2**20), "file"),))
    )
    tables = {1: LoadableRows(((1, "int4"),), ())}
    assert statements(given, large, tables, 2**30)[0] == "10486kB"
    assert statements(given, large, tables, 2**20)[0] == "1024kB"
    assert statements(cluster(databases=()), large, tables, 2**20)[0] == "65536kB"
