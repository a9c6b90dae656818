"""pg_test_fsync: the command of a workload, by the program of the server's own PostgreSQL.

One run times every method. The one that the workload names, which should be the cluster's wal_sync_method, is
`fsyncs_per_second`; the others stand beside it with their name ahead: `open_sync_fsyncs_per_second`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from core.benchmarks.model import Metrics, Workload
from core.benchmarks.pg_test_fsync import parse_pg_test_fsync
from core.benchmarks.work import STRICT, Machine, Reading, Step, Work, deadline, strictly
from core.errors import InputError
from core.servers.shell import command

TESTS = 18
"""Five methods with one and with two writes, five sizes of open_sync, two descriptors, one without a sync."""
FILE_BYTES = 16 << 20
"""A WAL segment."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    method: Literal["open_datasync", "fdatasync", "fsync", "fsync_writethrough", "open_sync"] = "fdatasync"
    seconds_per_test: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.seconds_per_test <= 600:
            raise InputError(f"seconds_per_test goes from 1 to 600, not {self.seconds_per_test}")


def work(workload: Workload, machine: Machine) -> Work:
    """What to run for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong kind or out of bounds; the server has no PostgreSQL.
    """
    parameters = strictly(Parameters, workload.parameters)
    if not machine.bin_directories:
        raise InputError(
            f"{workload.name} needs pg_test_fsync, and no PostgreSQL was found there",
            "it comes with the server or contrib package of PostgreSQL",
        )
    program = f"{machine.bin_directories[0]}/pg_test_fsync"
    run = command(program, "-s", parameters.seconds_per_test, "-f", "pg_test_fsync.out")
    seconds = float(TESTS * parameters.seconds_per_test)
    return Work(
        program=program,
        headlines=("fsyncs_per_second",),
        steps=(Step(run, seconds, deadline(seconds, FILE_BYTES)),),
        read=lambda outputs: _read(outputs, parameters.method, machine.versions.get("pg_test_fsync")),
        fresh_bytes=FILE_BYTES,
    )


def _read(outputs: Sequence[str], method: str, version: str | None) -> Reading:
    metrics: Metrics = {}
    for result in parse_pg_test_fsync("\n".join(outputs)).results:
        own = result.name == method
        metrics |= {name if own else f"{result.name}_{name}": value for name, value in result.metrics.items()}
    failure = "" if "fsyncs_per_second" in metrics else f"the server does not have the sync method {method}"
    return Reading(metrics, version, failure)
