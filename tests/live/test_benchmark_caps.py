"""Every tool reads the caps of both disks back: fio within 3 %, dd, bonnie++ and sysbench within 10 %."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime

import pytest

from core.benchmarks.model import Outcome, Parameter, Repetition, Run, Side, Suite, Volume, Workload
from core.benchmarks.runs import run_suite
from core.jobs import Job
from core.servers.connection import Server
from tests.lab.lab import Lab
from tests.live.test_benchmarks import FACTS

pytestmark = pytest.mark.lab

MIB = 2**20
DISK = "/srv/pg"
CAPS = (
    # bytes a second read and written, requests a second read and written
    (30e6, 20e6, 500, 400),
    (35e6, 25e6, 800, 650),
    (40e6, 30e6, 1100, 900),
    (50e6, 36e6, 1500, 1200),
    (60e6, 42e6, 2000, 1600),
)
TOLERANCES = {
    ("fio-read", "read_bytes_per_second"): 0.03,
    ("fio-write", "write_bytes_per_second"): 0.03,
    ("fio-randread", "read_iops"): 0.03,
    ("fio-randwrite", "write_iops"): 0.03,
    ("dd", "read_bytes_per_second"): 0.10,
    ("dd", "write_bytes_per_second"): 0.10,
    ("bonnie", "read_bytes_per_second"): 0.10,
    ("bonnie", "write_bytes_per_second"): 0.10,
    ("sysbench", "read_iops"): 0.10,
}
Found = dict[tuple[str, str], float]


class Nobody:
    """A journal that nobody reads."""

    def run_started(self, run: Run) -> int:  # noqa: ARG002
        return 1

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None: ...

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None: ...


def fio(name: str, headline: str, **parameters: Parameter) -> Workload:
    return Workload(name, name, "fio", headline, {"direct": True, "runtime_seconds": 2, **parameters})


def rates(write: float) -> tuple[Workload, ...]:
    """What is bound by bytes a second; dd and bonnie++ write for about two seconds."""
    size = int(2 * write) // MIB * MIB
    bonnie: dict[str, Parameter] = {"size_bytes": size, "drop_caches": True, "seeks": 100}
    return (
        fio("fio-read", "read_bytes_per_second", pattern="read", block_bytes=MIB, size_bytes=16 * MIB),
        fio("fio-write", "write_bytes_per_second", pattern="write", block_bytes=MIB, size_bytes=256 * MIB),
        Workload("dd", "dd", "dd", "write_bytes_per_second", {"size_bytes": size}),
        Workload("bonnie", "bonnie", "bonnie", "write_bytes_per_second", bonnie),
    )


SEEKS: dict[str, Parameter] = {
    "pattern": "rndrd",
    "files": 16,
    "size_bytes": 32 * MIB,
    "runtime_seconds": 2,
    "threads": 4,
}
REQUESTS = (
    fio("fio-randread", "read_iops", pattern="randread", size_bytes=32 * MIB, depth=4),
    fio("fio-randwrite", "write_iops", pattern="randwrite", size_bytes=32 * MIB, depth=4),
    Workload("sysbench", "sysbench", "sysbench", "read_iops", SEEKS),
)


def measure(server: Server, workloads: tuple[Workload, ...]) -> Found:
    """Every metric of one repetition of each workload."""
    volume = Volume(Side(server.name), server.name, DISK, DISK)
    suite = Suite("caps", "caps", 1, workloads)
    facts = replace(FACTS, server=server.name)
    runs = run_suite(server, volume, suite, facts, Nobody(), Job(), move="caps")
    assert [run.workload for run in runs] == list(workloads)
    for run in runs:
        assert run.outcome is Outcome.DONE, run.repetitions[-1]
    return {(run.workload.name, name): value for run in runs for name, value in run.repetitions[0].metrics.items()}


def off(found: Found, caps: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """What is further from its cap than it may be, as fractions of the cap."""
    fractions = {key: found.get(key, 0.0) / cap for key, cap in caps.items()}
    return {key: part for key, part in fractions.items() if abs(part - 1) > TOLERANCES[key]}


def read_back(lab: Lab, server: Server, caps: tuple[float, float, int, int]) -> dict[tuple[str, str], float]:
    """What missed its cap twice: what else this machine does may disturb a single repetition of two seconds."""
    read, write, read_iops, write_iops = caps
    missed: dict[tuple[str, str], float] = {}
    for limits, workloads in (
        ((int(read), int(write), 0, 0), rates(write)),
        ((0, 0, read_iops, write_iops), REQUESTS),
    ):
        lab.cap_disk(server.name, *limits)
        wanted = {
            (workload.name, metric): {"read_iops": read_iops, "write_iops": write_iops}.get(
                metric, read if metric.startswith("read") else write
            )
            for workload in workloads
            for tool, metric in TOLERANCES
            if tool == workload.name
        }
        first = off(measure(server, workloads), wanted)
        if first:
            again = tuple(workload for workload in workloads if workload.name in {tool for tool, _ in first})
            missed |= off(measure(server, again), {key: wanted[key] for key in first})
    return missed


@pytest.mark.parametrize("caps", CAPS, ids=lambda caps: f"{caps[0] / 1e6:.0f}-MBps-{caps[2]}-iops")
def test_every_tool_reads_the_caps_of_both_disks_back(
    lab: Lab, old_server: Server, new_server: Server, caps: tuple[float, float, int, int]
) -> None:
    with ThreadPoolExecutor(2) as both:
        old, new = both.map(lambda server: read_back(lab, server, caps), (old_server, new_server))
    assert (old, new) == ({}, {})
