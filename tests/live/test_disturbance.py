"""A second writer on the disk is noticed and its repetition marked; a disk that is left alone never is."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from core.benchmarks import folders
from core.benchmarks.model import MarkKind, Repetition
from core.benchmarks.runs import forecast, run_suite
from core.benchmarks.tool import Phase
from core.benchmarks.traffic import DiskWatch
from core.benchmarks.volume_device import situation
from core.jobs import Job
from core.servers.connection import Server
from tests.lab.lab import Lab
from tests.live.test_benchmarks import DISK, FACTS, MIB, Journal, fio, suite, volume

pytestmark = pytest.mark.lab

READ = fio("read", "read_bytes_per_second", pattern="read", block_bytes=MIB, size_bytes=80 * MIB, runtime_seconds=1)
WRITE = fio(
    "write", "write_bytes_per_second", pattern="write", block_bytes=MIB, size_bytes=128 * MIB, runtime_seconds=1
)
SYNCED = fio("synced", "write_iops", pattern="randwrite", size_bytes=16 * MIB, runtime_seconds=1)
WRITER = f"while :; do dd if=/dev/zero of={DISK}/other bs=1M count=16 oflag=direct; done 2>/dev/null"


@contextmanager
def writer(lab: Lab) -> Iterator[None]:
    process = subprocess.Popen(lab.old.command("setsid", "sh", "-c", WRITER))
    try:
        yield
    finally:
        lab.old.exec("pkill", "-f", f"of={DISK}/other", check=False)
        process.wait(timeout=20)
        lab.old.exec("rm", "-f", f"{DISK}/other")


@pytest.fixture
def capped(lab: Lab) -> None:
    lab.cap_disk("old", int(90e6), int(70e6), 0, 0)


def repetitions(server: Server, *, times: int) -> list[Repetition]:
    """Of each workload so many, whatever they show."""
    wanted = replace(suite(READ, WRITE, SYNCED, repetitions=times), target_variation=0.9)
    runs = run_suite(server, volume(), wanted, FACTS, Journal(), Job(), move="m")
    return [repetition for run in runs for repetition in run.repetitions]


@pytest.mark.long
@pytest.mark.usefixtures("capped", "clean_hosts")
def test_a_disk_that_is_left_alone_is_never_marked(old_server: Server) -> None:
    """The cluster of the lab runs on it, idle, and the machine is busy with the tests themselves."""
    made = repetitions(old_server, times=2)
    assert [one.marks for one in made] == [()] * 6


@pytest.mark.long
@pytest.mark.usefixtures("capped", "clean_hosts")
def test_a_second_writer_is_marked_with_its_figures(lab: Lab, old_server: Server) -> None:
    with writer(lab):
        found = forecast(old_server, volume(), suite(READ), FACTS, Job())
        assert any(" /srv/pg on old: " in warning for warning in found.warnings)
        made = repetitions(old_server, times=2)
    marks = [mark for one in made for mark in one.marks]
    assert [mark.kind for mark in marks] == [MarkKind.DISTURBED] * 6
    assert all("other processes transferred" in mark.text and "loop" in mark.text for mark in marks)
    assert any("sh (process" in mark.text or "dd (process" in mark.text for mark in marks)


@pytest.mark.usefixtures("clean_hosts")
def test_what_stays_in_memory_is_marked(lab: Lab, old_server: Server) -> None:
    """A file that is read again without dropping the caches, and one that is written without a flush.

    To a slow disk, so that it stays in memory also while something else on the machine flushes all files.
    """
    seen = situation(old_server, DISK, "root", FACTS, Job())
    with folders.own_folder(old_server, DISK, "root", Job()) as folder:
        watch = DiskWatch(folder, seen, DISK, None)
        for command, measured, kinds in (
            (("dd", "if=/dev/zero", "of=file", "bs=1M", "count=40", "conv=fsync"), "write_bytes_per_second", []),
            (("dd", "if=file", "of=/dev/null", "bs=1M"), "read_bytes_per_second", [MarkKind.CACHE]),
            (("dd", "if=/dev/zero", "of=other", "bs=1M", "count=40"), "write_bytes_per_second", [MarkKind.MEMORY]),
        ):
            if MarkKind.MEMORY in kinds:
                lab.cap_disk("old", write_bps=2 * 2**20)
            watch.begin()
            ticking = ("bench_run_with_ticks", "", *command)
            shell = folder.inside(watch.around(ticking, "dd", Phase(command, 1.0, 60.0)))
            watch.tool_output(old_server.run(shell, Job(), user="root").stdout)
            assert [mark.kind for mark in watch.marks({measured: 1.0}, Job())] == kinds
