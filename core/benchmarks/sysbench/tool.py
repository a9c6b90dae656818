"""sysbench's test of file I/O: the commands of a workload, as 0.4 and 0.5 want them and as 1.0 does.

Two patterns, after Bleything, "PostgreSQL Server Benchmarks" (2011): `rndrd` seeks, reading blocks anywhere in many
files; `rndwr` with an fsync after every write is the rate of commits. sysbench makes its files before (`prepare`), in
a folder of their own, as it names them itself; they go with the folder of the run. Reads are direct unless that is
switched off: then the files need not be larger than the memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from core.benchmarks.model import Workload
from core.benchmarks.sysbench.output import parse_sysbench
from core.benchmarks.tool import (
    ASSUMED_BYTES_PER_SECOND,
    STRICT,
    Machine,
    ParameterError,
    Phase,
    Procedure,
    Reading,
    Tool,
    Words,
    deadline,
    strictly,
)

START_SECONDS = 0.5
_LEFT_OUT_OF_SYNCS = "latency"
"""The metrics that are left out, because sysbench mixes the latencies of writes to memory with those of fsyncs."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters.

    Attributes:
        pattern: sysbench's file-test-mode; `rndwr` syncs after every write.
        size_bytes: the size of all files together.
        direct: reads bypass the caches; writes are always buffered and synced.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    pattern: Literal["rndrd", "rndwr"]
    size_bytes: int
    runtime_seconds: int = 60
    files: int = 1
    block_bytes: int = 8192
    threads: int = 1
    direct: bool = True

    def __post_init__(self) -> None:
        for name in ("size_bytes", "runtime_seconds", "files", "block_bytes", "threads"):
            if getattr(self, name) < 1:
                raise ParameterError([name], f"{name} is {getattr(self, name)}", f"set {name} to 1 or more")
        # --file-fsync-freq=1 goes through every open file each time
        if self.pattern == "rndwr" and self.files > 1:
            raise ParameterError(
                ["files", "pattern"], "sysbench would sync all files after each write to one of them", "set files = 1"
            )
        if self.size_bytes % (self.files * self.block_bytes):
            raise ParameterError(
                ["size_bytes", "files", "block_bytes"],
                f"size_bytes is {self.size_bytes}, which is not a multiple of files × block_bytes",
                f"set size_bytes to a multiple of {self.files * self.block_bytes}",
            )

    @property
    def folder(self) -> str:
        """The folder of the files. Workloads with the same layout share them."""
        return f"sysbench-{self.files}x{self.size_bytes // self.files}"

    @property
    def files_options(self) -> list[str]:
        return [f"--file-num={self.files}", f"--file-total-size={self.size_bytes}"]


def procedure(workload: Workload, machine: Machine) -> Procedure:
    """Return what runs for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong kind or out of bounds.
    """
    parameters = strictly(Parameters, workload.parameters)
    # 0.4 and 0.5 are still what old distributions have; one that does not say counts as new
    before_1_0 = machine.versions.get("sysbench", "1.0").startswith("0.")
    writing = parameters.size_bytes / ASSUMED_BYTES_PER_SECOND
    seconds = parameters.runtime_seconds + START_SECONDS
    reads = parameters.pattern == "rndrd"
    return Procedure(
        program="sysbench",
        headlines=("read_iops", "read_bytes_per_second") if reads else ("fsyncs_per_second", "write_iops"),
        phases=(Phase(_run(parameters, before_1_0=before_1_0), seconds, deadline(seconds, 0)),),
        read=_read_seeks if reads else _read_syncs,
        prepare=Phase(_prepare(parameters, before_1_0=before_1_0), writing, deadline(writing, parameters.size_bytes)),
        laid_out={parameters.folder: parameters.size_bytes},
    )


def _prepare(parameters: Parameters, *, before_1_0: bool) -> Words:
    return _sysbench(parameters, [*parameters.files_options, "prepare"], before_1_0=before_1_0)


def _run(parameters: Parameters, *, before_1_0: bool) -> Words:
    seconds, threads = parameters.runtime_seconds, parameters.threads
    reads = parameters.pattern == "rndrd"
    options: list[str] = [
        *parameters.files_options,
        f"--file-block-size={parameters.block_bytes}",
        f"--file-test-mode={parameters.pattern}",
        f"--file-fsync-freq={0 if reads else 1}",
        "--file-fsync-end=off",
        *(["--file-extra-flags=direct"] if reads and parameters.direct else []),
    ]
    if before_1_0:
        options += [f"--num-threads={threads}", f"--max-time={seconds}", "--max-requests=0"]
    else:
        options += [f"--threads={threads}", f"--time={seconds}", "--events=0"]
    return _sysbench(parameters, [*options, "run"], before_1_0=before_1_0)


def _sysbench(parameters: Parameters, words: Sequence[str], *, before_1_0: bool) -> Words:
    test = "--test=fileio" if before_1_0 else "fileio"
    return ("bench_run_inside", parameters.folder, "sysbench", test, *words)


def _read_seeks(outputs: Sequence[str]) -> Reading:
    output = parse_sysbench("\n".join(outputs))
    # a report of reads prints writes as zero
    metrics = {name: value for name, value in output.results[-1].metrics.items() if "write" not in name}
    metrics.pop("fsyncs_per_second", None)
    return Reading(metrics, output.version)


def _read_syncs(outputs: Sequence[str]) -> Reading:
    """Return the metrics with the syncs. 0.4 and 0.5 do not count them: they are as many as the writes."""
    output = parse_sysbench("\n".join(outputs))
    found = output.results[-1].metrics
    metrics = {name: value for name, value in found.items() if "read" not in name and _LEFT_OUT_OF_SYNCS not in name}
    if "write_iops" in metrics:
        metrics.setdefault("fsyncs_per_second", metrics["write_iops"])
    return Reading(metrics, output.version)


SYSBENCH = Tool(
    name="sysbench",
    program="sysbench",
    package="sysbench",
    procedure=procedure,
    parse=parse_sysbench,
    repeats=True,
    parameters="`pattern` (`rndrd`: seeks; `rndwr`: an fsync after every write), `size_bytes` of all files; `files` 1, "
    "`runtime_seconds` 60, `block_bytes` 8192, `threads` 1, `direct` true",
    headlines="`read_iops`; `fsyncs_per_second`",
)
