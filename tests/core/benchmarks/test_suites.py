"""Suite files: those that ship, and what is wrong with a DBA's own."""

from pathlib import Path

import pytest

from core.benchmarks.suites import load_suite, parse_suite, suites
from core.benchmarks.tools import how_to_install, work_of
from core.benchmarks.work import Machine, bytes_needed, expected_seconds
from core.errors import InputError

GIB = 2**30
GOOD = """
title = "mine"
repetitions = 3
[[workload]]
name = "w"
title = "w"
tool = "fio"
headline = "read_iops"
[workload.parameters]
pattern = "randread"
direct = true
size_bytes = 8192
runtime_seconds = 1
"""


def test_what_ships() -> None:
    assert suites() == ("quick", "standard")
    standard = {workload.name for workload in load_suite("standard").workloads}
    assert {"fio-random-write-direct", "fio-random-write-buffered", "fio-sequential-read-direct", "dd"} <= standard


@pytest.mark.parametrize("name", suites())
def test_every_workload_can_run(name: str) -> None:
    for workload in load_suite(name).workloads:
        work = work_of(workload, Machine(GIB, 2))
        assert work.steps
        assert all(step.deadline > step.seconds for step in work.steps)


def test_the_quick_suite_is_quick_and_small() -> None:
    quick = load_suite("quick")
    works = [work_of(workload, Machine(64 * GIB, 8)) for workload in quick.workloads]
    assert expected_seconds(works, quick.repetitions) < 40
    assert bytes_needed(works) < GIB


def test_workloads_share_what_was_laid_out() -> None:
    works = [work_of(workload, Machine(GIB, 2)) for workload in load_suite("quick").workloads]
    reading, _, random_read, random_write = works
    assert set(reading.laid_out) == set(random_read.laid_out) == set(random_write.laid_out)
    assert bytes_needed(works) == 5 * 64 * 2**20 + 512 * 2**20


def test_a_suite_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "it's $(mine).toml"
    path.write_text(GOOD)
    assert load_suite(str(path)).name == "it's $(mine)"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "mine"', "", "no valid suite file: title: it is missing"),
        ("repetitions = 3", 'repetitions = "3"', "repetitions: input should be a valid integer"),
        ("repetitions = 3", "repetitions = 0", "0 repetitions"),
        ('name = "w"', 'name = "w"\nsize = 3', "workload.0.size: unexpected"),
        ('tool = "fio"', 'tool = "iozone"', "no tool 'iozone'"),
        ('"read_iops"', '"write_iops"', "measures no 'write_iops'"),
        ('"randread"', '"trim"', "pattern: input should be 'read'"),
        ("size_bytes = 8192", "size_bytes = 8192\nblok = 3", "workload w: .*blok"),
        ("size_bytes = 8192", "size_bytes = 8191", "whole blocks"),
        ("size_bytes = 8192", "size_bytes = -8192", "size_bytes must be at least 1"),
        ("size_bytes = 8192", "size_bytes = 1970-01-01", "size_bytes"),
        ("direct = true", "direct = false", "measures the memory"),
        ("runtime_seconds = 1", "runtime_seconds = 1\njobs = 2\nfiles = 2", "not both"),
        ("[[workload]]", "[[workload", "is no TOML"),
    ],
)
def test_a_wrong_field_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_suite(GOOD.replace(old, new, 1), "mine")


def test_no_workload_and_two_of_one_name() -> None:
    with pytest.raises(InputError, match="no workload"):
        parse_suite('title = "x"\nrepetitions = 1\nworkload = []', "mine")
    with pytest.raises(InputError, match="two workloads named w"):
        parse_suite(GOOD + GOOD[GOOD.index("[[") :], "mine")


@pytest.mark.parametrize("name", ["no-such-suite", "/", "a\0b", "~nobody-here/x"])
def test_no_such_file(name: str) -> None:
    with pytest.raises(InputError) as caught:
        load_suite(name)
    assert "quick, standard" in caught.value.hint


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is no text"):
        load_suite(str(path))


def test_how_to_install() -> None:
    assert how_to_install("fio", "debian") == "install it with: apt-get install fio"
    assert how_to_install("dd", "rocky") == "install it with: dnf install coreutils"
    assert how_to_install("fio", None) == "install the package fio"


def test_a_file_without_end() -> None:
    with pytest.raises(InputError, match="too large"):
        load_suite("/dev/zero")
