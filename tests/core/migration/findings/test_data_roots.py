from dataclasses import replace

import pytest

from core.facts.model import Link
from core.migration.findings.data_roots import data_roots, relinked
from tests.core.migration.builders import DATA, TARGET, cluster, move, space

WAL = Link("pg_wal", "/fast/wal", dangling=False, size_bytes=1_000_000_000, files=64)


def test_the_data_directory_alone() -> None:
    (only,) = data_roots(move(), cluster())
    assert (only.source, only.target, only.size_bytes, only.files) == (DATA, TARGET, 10_000_000_000, 2000)


def test_tablespaces_and_links_are_copied_by_themselves_and_not_counted_twice() -> None:
    made = cluster(tablespaces=(space("/space"),), links=(WAL,))
    data, first, wal = data_roots(move(tablespace_targets={"/space": "/srv/pg/space"}), made)
    assert (data.size_bytes, data.files) == (5_000_000_000, 1836)
    assert (first.label, first.source, first.target) == ("16400", "/space", "/srv/pg/space")
    assert (wal.label, wal.target) == ("pg_wal", "/fast/wal")
    assert [root.wal for root in (data, first, wal)] == [None, None, ""]
    assert [root.link for root in relinked(move(tablespace_targets={"/space": "/srv/pg/space"}), made)] == [
        "pg_tblspc/16400"
    ]


def test_what_lies_inside_travels_along_and_is_linked_anew() -> None:
    made = cluster(tablespaces=(space(f"{DATA}/inner"), space("/space", 16401), space("/space/nested", 16402)))
    moved = move(tablespace_targets={"/space": "/new/space"})
    assert [root.label for root in data_roots(moved, made)] == ["data", "16401"]
    assert {root.link: root.target for root in relinked(moved, made)} == {
        "pg_tblspc/16400": f"{TARGET}/inner",
        "pg_tblspc/16401": "/new/space",
        "pg_tblspc/16402": "/new/space/nested",
    }


@pytest.mark.parametrize(
    ("written", "target", "anew"),
    [
        ("/fast/wal", TARGET, False),
        ("/second/link", TARGET, True),  # to a link that is not copied
        ("../../fast/wal", TARGET, True),  # from its folder on, which lies elsewhere
        ("../../../fast/wal", DATA, False),
        (None, TARGET, False),
    ],
)
def test_a_link_that_would_lead_elsewhere_is_set_anew(written: str | None, target: str, *, anew: bool) -> None:
    made = cluster(links=(replace(WAL, written=written),))
    assert [root.target for root in relinked(move(target=target), made)] == ["/fast/wal"] * anew


def test_a_link_to_a_file_is_no_place() -> None:
    assert len(data_roots(move(), cluster(links=(replace(WAL, path="server.crt", to_file=True),)))) == 1


def test_a_dangling_link_is_no_place() -> None:
    assert len(data_roots(move(), cluster(links=(Link("pg_wal", "/gone", dangling=True),)))) == 1
