"""What a repetition is marked with where the device cannot be watched, and where a rate is beyond every disk."""

import re
from typing import cast

import pytest

from core.benchmarks.folders import Folder
from core.benchmarks.model import MarkKind
from core.benchmarks.tool import Phase
from core.benchmarks.traffic import DiskWatch
from core.benchmarks.volume_device import Device, Situation
from core.jobs import Job
from core.servers.connection import Server

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
