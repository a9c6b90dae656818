"""Diagnosis on the lab's own file systems: what is mounted badly is found, and mounted well, it is gone."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from core.benchmarks.model import Outcome, Parameter, Repetition, Run, Suite, Volume, Workload
from core.benchmarks.runs import run_suite
from core.comparison.diagnosis import diagnose
from core.comparison.model import Diagnosis
from core.facts.collect import collect
from core.facts.model import FileSystem
from core.jobs import Job
from core.servers.connection import Server
from core.sides import Side
from tests.lab.lab import Lab

pytestmark = pytest.mark.lab

TRIAL = "/mnt/diagnosis"


def diagnosed(server: Server, mount_point: str, *runs: Run) -> Diagnosis:
    return diagnose(collect(server, Job()), mount_point, runs)


def names(diagnosis: Diagnosis) -> set[str]:
    return {finding.name for finding in diagnosis.findings}


def a_write(mount_point: str) -> Run:
    now = datetime.now(UTC)
    metrics = {"write_bytes_per_second": 30e6}
    return Run(
        move="m",
        volume=Volume(Side.OLD, "old", mount_point, mount_point),
        workload=Workload("dd", "dd", "dd", "write_bytes_per_second"),
        started_at=now,
        outcome=Outcome.DONE,
        repetitions=(Repetition(1, now, 1.0, Outcome.DONE, metrics, "dd", ""),),
    )


@pytest.mark.parametrize("name", ["old", pytest.param("new", marks=pytest.mark.long)])
def test_times_of_access(lab: Lab, old_server: Server, new_server: Server, name: str) -> None:
    host, server = lab.host(name), old_server if name == "old" else new_server
    assert "access-times" not in names(diagnosed(server, "/srv/pg"))
    host.exec("mount", "-o", "remount,strictatime", "/srv/pg")
    try:
        (finding,) = [one for one in diagnosed(server, "/srv/pg").findings if one.name == "access-times"]
        assert finding.evidence[0].startswith(f"/srv/pg ({'ext4' if name == 'old' else 'xfs'}) is mounted with rw")
        host.exec("sh", "-c", finding.advice[0].split("`")[1])
        assert "access-times" not in names(diagnosed(server, "/srv/pg"))
    finally:
        host.exec("mount", "-o", "remount,relatime", "/srv/pg")


@pytest.fixture
def trial(lab: Lab) -> Iterator[None]:
    """A folder on old to mount a trial file system on, from an image beside it."""
    lab.old.exec("mkdir", TRIAL)
    yield
    lab.old.exec("sh", "-c", f"umount {TRIAL}; rmdir {TRIAL}; rm -f {TRIAL}.img", check=False)


def mounted(lab: Lab, make: str, options: str) -> None:
    """An image with a new file system, mounted on old; what was mounted there before is gone."""
    lab.old.exec("sh", "-c", f"umount {TRIAL} 2>/dev/null; rm -f {TRIAL}.img; truncate -s 2G {TRIAL}.img")
    lab.old.exec("sh", "-c", f"{make} {TRIAL}.img && mount -o loop,{options} {TRIAL}.img {TRIAL}")


@pytest.mark.long
def test_data_in_the_journal(lab: Lab, old_server: Server, clean_hosts: None, trial: None) -> None:  # noqa: ARG001
    mounted(lab, "mkfs.ext4 -q", "data=journal")
    diagnosis = diagnosed(old_server, TRIAL, a_write(TRIAL))
    (finding,) = [one for one in diagnosis.findings if one.name == "data-journal"]
    assert "data=journal" in finding.evidence[0]
    assert finding.evidence[1] == "Sequential writes reach 30.0 MB/s (dd)."
    lab.old.exec("umount", TRIAL)
    lab.old.exec("mount", "-o", "loop,data=ordered", f"{TRIAL}.img", TRIAL)
    assert "data-journal" not in names(diagnosed(old_server, TRIAL, a_write(TRIAL)))


def system_at(server: Server, mount_point: str) -> FileSystem:
    found = collect(server, Job()).file_system_of(mount_point)
    assert found is not None
    assert found.mount_point == mount_point
    return found


@pytest.mark.long
def test_the_geometry_of_file_systems(lab: Lab, old_server: Server, clean_hosts: None, trial: None) -> None:  # noqa: ARG001
    mounted(lab, "mkfs.ext4 -q -b 4096 -E stride=16,stripe_width=64", "relatime")
    system = system_at(old_server, TRIAL)
    assert (system.block_bytes, system.stripe_unit_bytes, system.stripe_width_bytes) == (4096, 65536, 262144)
    assert "extent" in system.features
    mounted(lab, "mkfs.ext3 -q", "relatime")
    assert "extent" not in system_at(old_server, TRIAL).features
    mounted(lab, "mkfs.xfs -q -d su=64k,sw=4", "relatime")
    system = system_at(old_server, TRIAL)
    assert (system.block_bytes, system.stripe_unit_bytes, system.stripe_width_bytes) == (4096, 65536, 262144)


def test_the_block_layer_of_the_data_disk(lab: Lab, old_server: Server) -> None:
    name = lab.old.device.removeprefix("/dev/")
    device = next(one for one in collect(old_server, Job()).block_devices if one.name == name)

    def says(file: str) -> str:
        return lab.old.exec("cat", f"/sys/block/{name}/{file}").stdout.strip()

    assert device.write_cache == says("queue/write_cache")
    assert device.physical_block_bytes == int(says("queue/physical_block_size"))
    assert device.minimum_io_bytes == int(says("queue/minimum_io_size"))
    assert device.alignment_offset_bytes == int(says("alignment_offset"))


class NoJournal:
    """Keeps nothing."""

    def run_started(self, run: Run) -> int:
        return run.id or 1

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        pass

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        pass


@pytest.mark.long
def test_a_run_tells_how_long_its_files_took_to_be_laid_out(old_server: Server, clean_hosts: None) -> None:  # noqa: ARG001
    size = 16 * 2**20
    parameters: dict[str, Parameter] = {"pattern": "randread", "direct": True, "size_bytes": size, "runtime_seconds": 1}
    workload = Workload("read", "read", "fio", "read_iops", parameters)
    volume = Volume(Side.OLD, "old", "/srv/pg", "/srv/pg")
    suite = Suite("layout", "layout", 2, (workload,))
    (run,) = run_suite(old_server, volume, suite, collect(old_server, Job()), NoJournal(), Job(), move="m")
    first, second, *_ = run.repetitions
    assert first.metrics["layout_bytes"] == size
    assert 0 < first.metrics["layout_seconds"] < 60
    assert "layout_seconds" not in second.metrics
    assert "array_thread_cores" not in first.metrics
