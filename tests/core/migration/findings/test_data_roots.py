import re
from dataclasses import replace

import pytest

from core.facts.model import Link
from core.migration.findings.data_roots import data_roots, relinked_roots, required_files, root_name_pattern
from core.migration.transports.passes import part_argument
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
    assert [root.link for root in relinked_roots(move(tablespace_targets={"/space": "/srv/pg/space"}), made)] == [
        "pg_tblspc/16400"
    ]


def test_what_lies_inside_travels_along_and_is_linked_anew() -> None:
    made = cluster(tablespaces=(space(f"{DATA}/inner"), space("/space", 16401), space("/space/nested", 16402)))
    moved = move(tablespace_targets={"/space": "/new/space"})
    assert [root.label for root in data_roots(moved, made)] == ["data", "16401"]
    assert {root.link: root.target for root in relinked_roots(moved, made)} == {
        "pg_tblspc/16400": f"{TARGET}/inner",
        "pg_tblspc/16401": "/new/space",
        "pg_tblspc/16402": "/new/space/nested",
    }


OWN = "PG_15_202209061"


def test_of_a_tablespace_the_folder_of_its_own_version_is_copied() -> None:
    """And what lies beside it to which another link of the cluster leads."""
    made = cluster(tablespaces=(space("/space"), space("/other", 16401), space("/other/it's/nested", 16402)))
    _, first, second = data_roots(move(), made)
    assert (first.parts, first.contents) == ((OWN,), (f"/space/./{OWN}",))
    assert (second.parts, second.contents) == ((OWN, "it's"), (f"/other/./{OWN}", "/other/./it's"))
    assert part_argument(first) == part_argument(first, idle_known=False) == OWN
    assert part_argument(second) == f"{OWN}/it's"
    odd = replace(second, parts=(OWN, "a *[b]? \\"))
    assert part_argument(odd) == rf"{OWN}/a[[:space:]][*][[]b][?][[:space:]][\\]"
    assert second.holds("/other/it's/nested/1")
    assert not second.holds("/other/PG_13_202007201")
    unknown = data_roots(move(), replace(made, control=None))[1]
    assert unknown.parts == ()
    assert re.fullmatch(root_name_pattern(unknown, made.series), OWN)
    assert not re.fullmatch(root_name_pattern(unknown, made.series), "PG_13_202007201")


@pytest.mark.parametrize(
    ("target", "parts"),
    [("/space/hba", (OWN, "hba")), (f"/space/{OWN}/hba", (OWN,)), ("/spacer/hba", (OWN,))],
)
def test_a_file_beside_it_to_which_a_link_leads_is_copied(target: str, parts: tuple[str, ...]) -> None:
    link = Link("pg_hba.conf", target, dangling=False, to_file=True)
    made = cluster(tablespaces=(space("/space"),), links=(link,))
    assert data_roots(move(), made)[1].parts == parts
    assert (target in required_files(made)) is (target == "/spacer/hba")


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
    assert [root.target for root in relinked_roots(move(target=target), made)] == ["/fast/wal"] * anew


def test_a_link_to_a_file_is_no_place() -> None:
    assert len(data_roots(move(), cluster(links=(replace(WAL, path="server.crt", to_file=True),)))) == 1


def test_a_dangling_link_is_no_place() -> None:
    assert len(data_roots(move(), cluster(links=(Link("pg_wal", "/gone", dangling=True),)))) == 1
