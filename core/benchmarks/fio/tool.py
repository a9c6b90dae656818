"""fio: the command of a workload.

What is measured, and what is not:

- Random patterns overwrite or read files that were laid out whole before; a sequential write makes its file anew in
  each repetition, as a copy does. Files that were only allocated would be read at the speed of memory.
- `direct` workloads run for the whole `runtime_seconds`, going round their files again where they reach the end.
- Buffered writes pass over their files once, for `runtime_seconds` at most, and then flush them (`end_fsync`). fio
  counts the flush into the run time from which it computes rates and IOPS (backend.c: the runtime is taken after
  do_io, which ends with the fsync), so that the rates are the disk's. The latencies of single buffered writes are the
  memory's, not the disk's: they are left out.
- A log (`sync`) writes blocks one after the other into files that are there and syncs each, as PostgreSQL does with
  its segments. Its latencies are those of the syncs, which fio tells since 3.x; the writes go to memory.
- There is no ramp time: a throttled device saves up what it was not allowed to do while fio starts to count.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from core.benchmarks.fio.output import failure_of, parse_fio, sync_latencies
from core.benchmarks.model import Metrics, Workload
from core.benchmarks.tool import (
    ASSUMED_BYTES_PER_SECOND,
    STRICT,
    LiveOutput,
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
from core.errors import InputError

START_SECONDS = 0.5
"""The time that fio needs to start its jobs and to collect their results."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters, in base units.

    Attributes:
        pattern: the pattern, as in fio's option rw.
        size_bytes: the size of each job.
        files: the number of files of a job, which are used one after the other.
        depth: the number of concurrent requests of a job; above 1 with libaio or io_uring, whichever the server has.
        read_fraction: the fraction of reads among the requests of `randrw`.
        sync: the call after every write of a log: fdatasync or fsync.
    """

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    pattern: Literal["read", "write", "randread", "randwrite", "randrw"]
    direct: bool
    size_bytes: int
    runtime_seconds: int
    block_bytes: int = 8192
    jobs: int = 1
    files: int = 1
    depth: int = 1
    read_fraction: float = 0.7
    sync: Literal["none", "fdatasync", "fsync"] = "none"

    def __post_init__(self) -> None:
        for name in ("size_bytes", "runtime_seconds", "block_bytes", "jobs", "files", "depth"):
            if getattr(self, name) < 1:
                raise ParameterError(
                    [name], f"the parameter {name} is {getattr(self, name)}", f"set {name} to 1 or more"
                )
        if self.jobs > 1 and self.files > 1:
            raise ParameterError(["jobs", "files"], "jobs and files are both above 1", "set jobs = 1 or files = 1")
        # fio would round each file down, and the last block of each would be missing
        if self.size_bytes % (self.files * self.block_bytes):
            raise ParameterError(
                ["size_bytes", "files", "block_bytes"],
                f"size_bytes is {self.size_bytes}, which is not a multiple of files × block_bytes",
                f"set size_bytes to a multiple of {self.files * self.block_bytes}",
            )
        if not 0 < self.read_fraction < 1:
            raise ParameterError(
                ["read_fraction"],
                f"read_fraction is {self.read_fraction}",
                "set read_fraction to a fraction between 0 and 1, such as 0.7",
            )
        # laying out has just put the files into memory
        if self.pattern in {"read", "randread", "randrw"} and not self.direct:
            raise ParameterError(
                ["direct", "pattern"],
                "reads without direct I/O measure the page cache, not the disk",
                "set direct = true",
            )
        # a buffered request is done when its submission returns: the queue would never fill
        if self.depth > 1 and not self.direct:
            raise ParameterError(
                ["depth", "direct"],
                "depth is above 1, which has no effect without direct I/O",
                "set direct = true or depth = 1",
            )
        if self.sync != "none" and (self.direct or self.pattern != "write"):
            raise ParameterError(
                ["sync", "pattern", "direct"],
                f'sync = "{self.sync}" measures a log, which is written in sequence and without direct I/O',
                'set pattern = "write" and direct = false',
            )

    @property
    def total_bytes(self) -> int:
        return self.jobs * self.size_bytes

    @property
    def file_bytes(self) -> int:
        return self.size_bytes // self.files

    @property
    def names(self) -> tuple[str, ...]:
        """The files of all jobs, named by size and position, so that workloads can share them."""
        # what is written anew must not be what others read
        kind = "write" if self.fresh else "data"
        return tuple(f"{kind}-{self.file_bytes}.{number}" for number in range(self.jobs * self.files))

    @property
    def fresh(self) -> bool:
        """Whether each repetition creates its files. A log uses existing ones, as PostgreSQL reuses WAL segments."""
        return self.pattern == "write" and not self.is_log

    @property
    def is_log(self) -> bool:
        """Whether it writes like a write-ahead log."""
        return self.sync != "none"

    @property
    def timed(self) -> bool:
        """Whether it runs for the whole time, and begins its files again at their end."""
        return self.direct or self.is_log

    @property
    def headlines(self) -> tuple[str, ...]:
        """The metrics that may represent it."""
        if self.is_log:
            return ("fsyncs_per_second",)
        sides = {"read": ("read",), "randread": ("read",), "randrw": ("read", "write")}.get(self.pattern, ("write",))
        return tuple(f"{side}_{what}" for side in sides for what in ("iops", "bytes_per_second"))


def procedure(workload: Workload, machine: Machine) -> Procedure:
    """Return what runs for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong kind or out of bounds; no asynchronous engine works there.
    """
    parameters = strictly(Parameters, workload.parameters)
    # pread and pwrite, as PostgreSQL does; asynchronous ones keep several under way
    engine = "psync" if parameters.depth == 1 else machine.fio_engine
    if engine is None:
        raise InputError(
            f"{workload.name} has depth = {parameters.depth}, but neither of fio's engines libaio and io_uring works",
            "install the package of an engine on the server (fio-engine-libaio on Red Hat), or set depth = 1",
        )
    writing = parameters.total_bytes / ASSUMED_BYTES_PER_SECOND
    # what is not timed flushes at its end, which takes as long as it takes
    expected = parameters.runtime_seconds + START_SECONDS + (0 if parameters.timed else writing)
    limit = deadline(expected, 0 if parameters.timed else parameters.total_bytes)
    files = _files(workload.name, parameters, engine)
    laying = Phase(_layout(files), writing, deadline(writing, parameters.total_bytes))
    return Procedure(
        program="fio",
        headlines=parameters.headlines,
        phases=(Phase(_measure(files, parameters), expected, limit, live=_live(parameters)),),
        read=lambda outputs: _read(outputs, parameters),
        fresh_bytes=parameters.total_bytes if parameters.fresh else 0,
        prepare=None if parameters.fresh else laying,
        laid_out={} if parameters.fresh else dict.fromkeys(parameters.names, parameters.file_bytes),
    )


_NUMBER = r"\d{1,7}(?:\.\d{1,3})?[kMG]?"
_ETA = re.compile(rf"Jobs: \d.*?(?:\[(?:r=(?P<read>{_NUMBER}))?,?(?:w=(?P<write>{_NUMBER}))? IOPS\].*)?")
"""What fio says every second; its first lines have no rates yet."""
_SCALE = {"k": 1e3, "M": 1e6, "G": 1e9}


def _live(parameters: Parameters) -> LiveOutput | None:
    """Return how fio says its rates while it runs (eta.c, display_thread_status); None: they are not the disk's.

    A buffered write that is flushed at its end goes to memory at first.
    """
    if not parameters.timed:
        return None
    options = ("--eta=always", "--output=/proc/self/fd/5")
    return LiveOutput("fio", options, _ETA, lambda line: _rates(line, parameters))


def _rates(line: re.Match[str], parameters: Parameters) -> Metrics:
    metrics: dict[str, float] = {}
    for side in ("read", "write"):
        if line[side] is None:
            continue
        number = line[side].rstrip("kMG")
        iops = float(number) * _SCALE.get(line[side][len(number) :], 1.0)
        # fio prints bytes in units that differ between its versions
        metrics |= {f"{side}_iops": iops, f"{side}_bytes_per_second": iops * parameters.block_bytes}
    if parameters.is_log and "write_iops" in metrics:  # one after every write
        metrics["fsyncs_per_second"] = metrics["write_iops"]
    return metrics


def _read(outputs: Sequence[str], parameters: Parameters) -> Reading:
    output = parse_fio("\n".join(outputs))
    result = output.results[0]
    metrics = result.metrics
    # they are those of a copy into memory
    if not parameters.direct:
        metrics = {name: value for name, value in metrics.items() if "latency" not in name}
    if parameters.is_log and "write_iops" in metrics:  # one after every write
        metrics |= {"fsyncs_per_second": metrics["write_iops"], **sync_latencies("\n".join(outputs))}
    return Reading(metrics, output.version, failure_of(outputs, result))


def _layout(files: list[str]) -> Words:
    return ("fio", *files, "--rw=read", "--create_only=1")


def _measure(files: list[str], parameters: Parameters) -> Words:
    options = [
        f"--rw={parameters.pattern}",
        f"--bs={parameters.block_bytes}",
        f"--direct={int(parameters.direct)}",
        f"--runtime={parameters.runtime_seconds}",
        # other places each time: a cache below, on the controller, must not learn them
        "--randrepeat=0",
        "--group_reporting",
        "--time_based" if parameters.timed else "--end_fsync=1",
    ]
    if parameters.depth > 1:
        options.append(f"--iodepth={parameters.depth}")
    if parameters.pattern == "randrw":
        options.append(f"--rwmixread={round(100 * parameters.read_fraction)}")
    if parameters.is_log:
        # overwrite: the blocks are there already, as those of a WAL segment that is used again
        options += [f"--{parameters.sync}=1", "--overwrite=1"]
    if parameters.fresh:
        options.append("--unlink=1")
    return ("fio", *files, *options, "--output-format=json")


def _files(name: str, parameters: Parameters, engine: str) -> list[str]:
    # fio numbers the files itself, from 0
    stem = parameters.names[0].removesuffix("0")
    return [
        f"--name={name}",
        f"--ioengine={engine}",
        "--directory=.",
        f"--filename_format={stem}{'$filenum' if parameters.files > 1 else '$jobnum'}",
        f"--numjobs={parameters.jobs}",
        f"--nrfiles={parameters.files}",
        "--file_service_type=sequential",
        f"--size={parameters.size_bytes}",
    ]


FIO = Tool(
    name="fio",
    program="fio",
    package="fio",
    procedure=procedure,
    parse=parse_fio,
    parameters="`pattern` (`read`, `write`, `randread`, `randwrite`, `randrw`), `direct`, `size_bytes` of each job, "
    "`runtime_seconds`; `block_bytes` 8192, `jobs` 1, `files` 1, `depth` 1 (above 1: libaio or io_uring, whichever "
    "works there), `read_fraction` 0.7, `sync` none (`fdatasync`, `fsync`: a log's writes)",
    headlines="`read_iops`, `read_bytes_per_second`, the same of `write`; with `sync`: `fsyncs_per_second`",
)
