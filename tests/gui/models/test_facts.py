from dataclasses import replace

from core.facts.host_environment import Limits, Process
from core.facts.model import Array, Facts, Gap, Memory
from core.language import spoken
from core.tones import Tone
from gui.models.execution import BUTTONS, Doing
from gui.models.facts import (
    FACT_COLUMNS,
    OLD_COLUMN,
    FactRow,
    GapRow,
    cluster_details,
    clusters,
    gaps,
    is_head,
    side_by_side,
    with_heads,
)
from tests.figures import figures
from tests.gui import samples


def _row(rows: tuple[FactRow, ...], name: str) -> FactRow:
    return next(row for row in rows if row.name == name)


def test_both_sides_and_what_differs() -> None:
    rows = side_by_side(samples.facts("a"), samples.facts("b", new=True))
    assert _row(rows, "Operating system") == FactRow(
        "System", "Operating system", "Debian GNU/Linux 12", "Debian GNU/Linux 13", differs=True
    )
    assert not _row(rows, "Kernel").differs
    assert not _row(rows, "Host name").differs
    assert _row(rows, "Total").old == "32.0 GiB"
    volume = _row(rows, "/srv/pg").new
    assert figures(volume) == ["1.0 TiB", "2.0 TiB"]  # free, of all
    assert all(value in volume for value in ("xfs", "/dev/sdb1", "rw,relatime"))
    assert _row(rows, "iperf3").old == "not installed"


def test_a_control_group_that_limits_the_memory_is_named() -> None:
    old, new = samples.facts("a"), samples.facts("b", new=True)
    limited = replace(old, memory=Memory(64 << 30, 60 << 30, 0, limit_bytes=8 << 30))
    assert _row(side_by_side(limited, new), "Total").old == "8.0 GiB of 64.0 GiB, limited by its control group"
    with spoken("de"):
        total = _row(side_by_side(limited, new), "Gesamt").old
    assert "GiB" in total
    assert "Kontrollgruppe" in total


def test_the_memory_limit_of_a_running_cluster_is_a_detail() -> None:
    one = samples.cluster()
    process = Process(Limits(1024, 65536), "init", "postgresql@15-main.service", memory_limit_bytes=4 << 30)
    details = {detail.name: detail.value for detail in cluster_details(replace(one, process=process))}
    assert details["Memory limit of its control group"] == "4.0 GiB"
    assert "Memory limit of its control group" not in {detail.name for detail in cluster_details(one)}


def test_what_one_side_lacks_is_absent_and_no_difference() -> None:
    new = samples.facts("b", new=True)
    rows = side_by_side(samples.facts("a"), replace(new, system=None, file_systems=()))
    assert _row(rows, "Kernel").new == "–"
    assert not _row(rows, "Kernel").differs
    assert _row(rows, "/srv/pg").new == "–"


def test_what_the_move_uses_comes_first_and_pseudo_file_systems_last() -> None:
    old = samples.facts("a")
    pseudo = replace(old.file_systems[0], mount_point="/dev/shm", kind="tmpfs")
    rows = side_by_side(replace(old, file_systems=(pseudo, *old.file_systems)), None)
    subjects = list(dict.fromkeys(row.subject for row in rows))
    assert subjects[:4] == ["Cluster", "File system", "Memory", "Processor"]
    assert (rows[-1].subject, rows[-1].name) == ("Other file systems", "/dev/shm")


def test_each_subject_has_one_head() -> None:
    rows = side_by_side(samples.facts("a"), samples.facts("b", new=True))
    headed = with_heads(rows)
    assert tuple(row for row in headed if not is_head(row)) == rows
    heads = [row.subject for row in headed if is_head(row)]
    assert heads == list(dict.fromkeys(row.subject for row in rows))
    assert is_head(headed[0])
    assert with_heads(()) == ()


def test_what_is_equal_recedes_and_what_matters_is_marked() -> None:
    tone = FACT_COLUMNS[OLD_COLUMN].tone
    assert tone is not None
    equal, other = FactRow("s", "n", "1", "1"), FactRow("s", "n", "1", "2")
    assert [tone(row) for row in (equal, other, replace(other, differs=True))] == [Tone.MUTED, None, Tone.WARNING]


def test_one_side_alone() -> None:
    rows = side_by_side(None, samples.facts("b"))
    assert {row.old for row in rows} == {"–"}
    assert _row(rows, "Threads").new == "8"


def test_a_server_that_told_nothing() -> None:
    empty = Facts("a", samples.MORNING, 0.1, 1)
    assert all((row.old, row.new) == ("–", "–") for row in side_by_side(empty, empty))
    assert clusters(empty, None) == ()


def test_a_cluster_tells_everything() -> None:
    details = {detail.name: detail.value for detail in cluster_details(samples.cluster())}
    assert details["System identifier"] == "7300000000000000001"
    assert "8.0 KiB / 8.0 KiB / 16.0 MiB" in details.values()
    assert details["Tablespace 16400"] == "/srv/ts, 10.0 GiB"
    assert details["Data checksums"] == "off"
    assert "Unit" not in details


def test_gaps_name_their_server() -> None:
    found = gaps(samples.facts("a"), samples.facts("b", new=True))
    assert [(gap.server, gap.subject) for gap in found] == [("b", "block devices")]


def test_how_storage_is_laid_out() -> None:
    facts = samples.facts("a")
    disk, system = facts.block_devices[0], facts.file_systems[0]
    array = Array(
        "md0", "raid10", "active", ("sda", "sdb"), False, chunk_bytes=65536, layout="2 near-copies", raid_devices=2
    )
    laid_out = replace(
        facts,
        arrays=(array,),
        block_devices=(replace(disk, write_cache="write through"),),
        file_systems=(replace(system, stripe_unit_bytes=65536, stripe_width_bytes=262144),),
    )
    rows = side_by_side(facts, laid_out)
    assert _row(rows, "md0").new == "raid10, active, chunk 64.0 KiB, 2 near-copies, sda sdb"
    assert "write through" in _row(rows, disk.name).new
    assert _row(rows, disk.name).old.count(",") + 1 == _row(rows, disk.name).new.count(",")
    assert figures(_row(rows, system.mount_point).new)[2:] == ["64.0 KiB", "256.0 KiB"]  # stripe unit and width
    assert len(figures(_row(rows, system.mount_point).old)) == 2


def test_an_empty_target_is_no_gap() -> None:
    empty = Gap("identity", "version of /srv/new", "it is empty", "/srv/new", absent=True)
    assert gaps(replace(samples.facts("b"), gaps=(empty,)), target="/srv/new") == ()


def test_what_pghaul_keeps_from_starting_is_no_gap_and_says_how_that_ends() -> None:
    moved = replace(samples.cluster(), fenced=True, running=False)
    by_hand = "mv -- /srv/pg/data/pghaul-fence/global/pg_control /srv/pg/data/global/"
    (kept,) = (detail for detail in cluster_details(moved) if by_hand in detail.value)
    assert BUTTONS[Doing.BACK].replace("&", "") in kept.value
    copy = replace(moved, copy_of="7300000000000000001", control=None)
    said = {detail.name: detail.value for detail in cluster_details(copy)}[kept.name]
    assert BUTTONS[Doing.BACK].replace("&", "") not in said
    assert "mv -- " not in said  # a copy that is not opened has nothing to be put back
    lacks = Gap("control", "control data", "why", copy.data_directory, absent=True)
    facts = replace(samples.facts("b"), clusters=(copy,), gaps=(lacks,))
    assert gaps(facts) == ()
    assert gaps(replace(facts, clusters=())) == (GapRow("b", "control data", "why"),)
    row = _row(side_by_side(facts, None), copy.data_directory).old
    assert row.endswith(", 1.1 TiB")
    unfenced = replace(facts, clusters=(replace(copy, fenced=False),))
    assert row.count(",") == 1 + _row(side_by_side(unfenced, None), copy.data_directory).old.count(",")


def test_how_a_cluster_was_found_is_said_in_words() -> None:
    """The facts have words of their own for it, which core/facts/discovery.py and collect.py give."""
    words = ("pg_lsclusters", "systemd", "postmaster", "folder", "named")
    shown = [
        next(
            one.value for one in cluster_details(replace(samples.cluster(), found_by=(word,))) if one.name == "Found by"
        )
        for word in words
    ]
    assert shown[0] == "pg_lsclusters"
    assert all(" " in each for each in shown[1:])
    assert len(set(shown)) == len(words)
