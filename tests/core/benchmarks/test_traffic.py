"""Whose traffic it was, from the counters of a device and of all processes before and after a phase."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.folders import Folder
from core.benchmarks.model import MarkKind
from core.benchmarks.tool import Phase
from core.benchmarks.traffic import DiskWatch, Seen, disturbed, foreign, from_memory, taken_apart, watched
from core.benchmarks.volume_device import Device, Situation
from core.jobs import Job
from core.servers.connection import Server
from core.servers.shell import call

MIB = 2**20
GROUP, OTHER = 700, 800
NOTHING = (0, 0)


def look(read: int, written: int, *, flushes: int = 0, io: Mapping[int, tuple[int, int]], asked: int = 0) -> str:
    """What a look prints: 700 and 701 are the phase's, 900 is in its folder, 800 and 801 are another session's."""
    device = f"0 0 {read // 512} 0 0 0 {written // 512} 0 0 0 0 0 0 0 0 {flushes} 0"
    stat = [
        f"{number} ({name}) S 1 {group} {session} 0 -1 4194560"
        for number, name, group, session in (
            *((700, "sh", GROUP, GROUP), (701, "fio (a) b", GROUP, GROUP), (900, "postgres", 900, 900)),
            *((800, "sh", OTHER, OTHER), (801, "dd", OTHER, OTHER)),
        )
    ]
    fields = [
        line
        for number, (one_read, one_written) in io.items()
        for line in (
            *(f"/proc/{number}/io:read_bytes: {one_read}", f"/proc/{number}/io:write_bytes: {one_written}"),
            *(
                f"/proc/{number}/io:rchar: {max(asked, one_read)}",
                f"/proc/{number}/io:wchar: {max(asked, one_written)}",
            ),
        )
    ]
    return "\n".join(["", device, *stat, *fields, "/proc/900/cwd", ""])


def seen(before: str, after: str) -> Seen:
    output, found = taken_apart(f"the tool's own words\n==m=={after}==m==\n==m=={before}==m==\n{GROUP}\n", "==m==")
    assert output == "the tool's own words\n"
    assert found is not None
    return found


def moved(
    read: int, written: int, own: tuple[int, int], others: tuple[int, int] = NOTHING, *, flushes: int = 0
) -> Seen:
    """A phase in which the device and the processes moved so many bytes beside what they had before."""
    base = {700: (5 * MIB, 0), 801: (7 * MIB, 9 * MIB)}
    more = {701: own, 700: (5 * MIB, 0), 801: (7 * MIB + others[0], 9 * MIB + others[1])}
    return seen(look(MIB, MIB, io=base), look(MIB + read, MIB + written, flushes=flushes, io=more))


def test_traffic_of_its_own_is_no_disturbance() -> None:
    found = foreign([moved(500 * MIB, 200 * MIB, (500 * MIB, 199 * MIB))])
    assert (found.bytes, found.total, found.disturbs) == (0, 700 * MIB, False)


def test_a_second_writer_is_seen_with_its_bytes() -> None:
    found = foreign([moved(100 * MIB, 60 * MIB, (100 * MIB, 0), (0, 61 * MIB))])
    assert (found.bytes, found.disturbs) == (60 * MIB, True)
    mark = disturbed(found, "sda")
    assert mark.kind is MarkKind.DISTURBED
    assert re.search(r"\b60\.0 MiB \D*160\.0 MiB .*\bsda\b.*: dd \(\w+ 801, 61\.0 MiB\)$", mark.text)


def test_the_journal_is_no_second_writer() -> None:
    """Three times as much written as asked for, as an fsync after each write makes, and nobody else who wrote it."""
    assert not foreign([moved(0, 300 * MIB, (0, 100 * MIB), flushes=25_000)]).disturbs


def test_traffic_on_another_disk_is_none_here() -> None:
    assert not foreign([moved(100 * MIB, 0, (100 * MIB, 0), (900 * MIB, 900 * MIB))]).disturbs


def test_what_a_journal_may_explain_needs_another_proof() -> None:
    """The one case that bytes alone do not decide: who has files of the volume open is looked up."""
    found = foreign([moved(0, 300 * MIB, (0, 100 * MIB), (0, 500 * MIB), flushes=25_000)])
    assert found.disturbs
    assert found.explained >= found.bytes
    assert foreign([moved(0, 300 * MIB, (0, 100 * MIB), (0, 500 * MIB))]).explained == 0


def test_log_files_and_the_like_are_no_disturbance() -> None:
    assert not foreign([moved(0, 43 * MIB, (0, 40 * MIB), (0, 3 * MIB))]).disturbs
    assert not foreign([moved(0, 1030 * MIB, (0, 1000 * MIB), (0, 30 * MIB))]).disturbs
    assert foreign([moved(0, 1060 * MIB, (0, 1000 * MIB), (0, 60 * MIB))]).disturbs


def test_who_works_in_the_benchmarks_folder_belongs_to_it() -> None:
    before = look(0, 0, io={900: (0, 0)})
    after = look(0, 200 * MIB, io={900: (0, 200 * MIB)})
    assert not foreign([seen(before, after)]).disturbs


def test_steps_of_a_repetition_count_together() -> None:
    phases = [moved(0, 60 * MIB, (0, 50 * MIB), (0, 10 * MIB)), moved(60 * MIB, 0, (50 * MIB, 0), (10 * MIB, 0))]
    found = foreign(phases)
    assert (found.bytes, found.total) == (20 * MIB, 120 * MIB)
    assert [share.moved for share in found.others] == [20 * MIB]


@pytest.mark.parametrize(
    ("moved", "asked", "metrics", "kinds"),
    [
        ((100, 0), 100, {"read_bytes_per_second": 1.0}, []),
        ((1, 0), 100, {"read_bytes_per_second": 1.0}, [MarkKind.CACHE]),
        ((1, 0), 100, {"read_iops": 1.0}, [MarkKind.CACHE]),
        ((1, 0), 100, {"transactions_per_second": 1.0}, []),
        ((0, 1), 100, {"write_bytes_per_second": 1.0}, [MarkKind.MEMORY]),
        ((0, 90), 100, {"write_bytes_per_second": 1.0}, []),
        ((0, 1), 5, {"write_bytes_per_second": 1.0}, []),
    ],
)
def test_what_never_reached_the_device(
    moved: tuple[int, int], asked: int, metrics: dict[str, float], kinds: list[MarkKind]
) -> None:
    read, written = (number * MIB for number in moved)
    found = seen(look(0, 0, io={}), look(read, written, io={701: (read, written)}, asked=asked * MIB))
    assert [mark.kind for mark in from_memory([found], metrics)] == kinds


def test_an_output_that_was_cut_off_tells_nothing() -> None:
    assert taken_apart("half a li", "==m==") == ("half a li", None)
    assert taken_apart("out\n==m==\n1 2", "==m==") == ("out\n", None)


@given(st.text(max_size=300))
def test_no_output_breaks_it(text: str) -> None:
    assert taken_apart(text, "==m==") == (text, None)


def test_the_looks_of_this_very_machine(tmp_path: Path) -> None:
    """The real function on real counters: a child's writes are the phase's own, to the byte."""
    counters = tmp_path / "stat"
    counters.write_text("1 2 3 4 5 6 7 8 9 10 11\n")
    target = tmp_path / "written"
    command = ("sh", "-c", f"dd if=/dev/zero of={target} bs=1M count=8 2>/dev/null; echo done; exit 3")
    words, mark = watched(command, "true", str(counters), ("/nowhere/pghaul-bench-0123456789ab", "/nowhere"))
    shell = call("bench_run_watched", *words[1:])
    text = f"{shell.functions}\n{shell.text}"
    ended = subprocess.run(["setsid", "-w", "sh", "-c", text], capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    output, found = taken_apart(ended.stdout, mark)
    assert output.strip() == "done"
    assert found is not None
    own = [one for one in found.after.processes.values() if one.group == found.group]
    assert own
    assert sum(one.asked_to_write for one in own) >= 8 * MIB


# What a repetition is marked with where the device cannot be watched, and where a rate is beyond every disk.

SDA = Situation(Device("sda", "/sys/devices/sda"))


def watch(situation: Situation, *, user: str | None = "root", fastest: float | None = None) -> DiskWatch:
    """One that reaches no server: nothing here needs to look who else is there."""
    return DiskWatch(Folder(cast("Server", None), user, "/srv/pg", "pghaul-bench-0"), situation, "/srv/pg", fastest)


def test_a_volume_without_a_device_is_not_watched_and_never_disturbed() -> None:
    made = watch(Situation())
    words = ("fio", "--name=x")
    assert made.around(words, "fio", Phase(words, 1.0, 60.0)) == words
    assert made.tool_output("its own words\n") == "its own words\n"
    (mark,) = made.marks({"read_iops": 1e9}, Job())
    assert (mark.kind, mark.text.partition(" ")[0]) == (MarkKind.UNWATCHED, "/srv/pg")


def test_without_counters_nothing_is_said_of_others() -> None:
    (mark,) = watch(SDA).marks({}, Job())
    assert mark.kind is MarkKind.UNWATCHED


def test_what_was_driven_from_the_other_server_is_not_watched() -> None:
    made = watch(SDA)
    made.foreign_phases = 1
    (mark,) = made.marks({}, Job())
    assert mark.kind is MarkKind.UNWATCHED
    assert mark not in watch(SDA).marks({}, Job())


@pytest.mark.parametrize(("rate", "marked"), [(590e6, False), (610e6, True)])
def test_a_rate_beyond_every_disk_of_its_kind_is_the_caches(rate: float, marked: bool) -> None:
    """Also where nobody can watch: 5.3 GB/s of two disks was the page cache's (2011)."""
    marks = watch(Situation(), fastest=600e6).marks({"read_bytes_per_second": rate}, Job())
    assert (MarkKind.CACHE in [mark.kind for mark in marks]) == marked
    if marked:
        assert re.match(r"610 MB/s .* 600 MB/s$", marks[0].text)
