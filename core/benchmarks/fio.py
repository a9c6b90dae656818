"""fio: the command of a workload, and its output in every format.

What is measured, and what is not:

- Random patterns overwrite or read files that were laid out whole before; a sequential write makes its file anew in
  each repetition, as a copy does. Files that were only allocated would be read at the speed of memory.
- `direct` workloads run for the whole `runtime_seconds`, going round their files again where they reach the end.
- Buffered writes pass over their files once, for `runtime_seconds` at most, and then flush them (`end_fsync`). fio
  counts the flush into the run time from which it computes rates and IOPS (backend.c: the runtime is taken after
  do_io, which ends with the fsync), so that the rates are the disk's. The latencies of single buffered writes are the
  memory's, not the disk's: they are left out.
- There is no ramp time: a throttled device saves up what it was not allowed to do while fio starts to count.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from core.benchmarks.fio_json import looks_like_json, parse_fio_json
from core.benchmarks.fio_terse import parse_fio_terse
from core.benchmarks.fio_text import parse_fio_text
from core.benchmarks.model import Output, Workload
from core.benchmarks.reading import first_line, unreadable
from core.benchmarks.work import ASSUMED_BYTES_PER_SECOND, STRICT, Machine, Reading, Step, Work, deadline, strictly
from core.errors import InputError, ParseError
from core.servers.shell import Shell, command

START_SECONDS = 0.5
"""What fio takes to start its jobs and to gather their figures."""
_ERROR = re.compile(r"error=([^(),:]+)")


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters, in base units.

    Attributes:
        pattern: as fio's rw.
        size_bytes: of each job.
        files: how many files a job spreads its size over, one after the other.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    pattern: Literal["read", "write", "randread", "randwrite"]
    direct: bool
    size_bytes: int
    runtime_seconds: int
    block_bytes: int = 8192
    jobs: int = 1
    files: int = 1

    def __post_init__(self) -> None:
        for name in ("size_bytes", "runtime_seconds", "block_bytes", "jobs", "files"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.jobs > 1 and self.files > 1:
            raise InputError("a workload has several jobs or several files, not both")
        if self.size_bytes % (self.files * self.block_bytes):
            raise InputError(f"size_bytes {self.size_bytes} does not divide into files of whole blocks")
        if self.pattern in {"read", "randread"} and not self.direct:
            raise InputError("a buffered random read measures the memory, not the disk", "set direct = true")

    @property
    def total_bytes(self) -> int:
        return self.jobs * self.size_bytes

    @property
    def file_bytes(self) -> int:
        return self.size_bytes // self.files

    @property
    def names(self) -> tuple[str, ...]:
        """The files of all jobs, named by size and position, so that workloads share what was laid out."""
        kind = "write" if self.fresh else "data"
        return tuple(f"{kind}-{self.file_bytes}.{number}" for number in range(self.jobs * self.files))

    @property
    def fresh(self) -> bool:
        """Whether each repetition makes its files anew."""
        return self.pattern == "write"


def work(workload: Workload, machine: Machine) -> Work:  # noqa: ARG001  every tool's module has this face
    """What to run for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong kind or out of bounds.
    """
    parameters = strictly(Parameters, workload.parameters)
    writing = parameters.total_bytes / ASSUMED_BYTES_PER_SECOND
    expected = parameters.runtime_seconds + START_SECONDS + (0 if parameters.direct else writing)
    limit = deadline(expected, 0 if parameters.direct else parameters.total_bytes)
    side = "read" if parameters.pattern.endswith("read") else "write"
    laying = Step(_layout(workload.name, parameters), writing, deadline(writing, parameters.total_bytes))
    return Work(
        program="fio",
        headlines=(f"{side}_iops", f"{side}_bytes_per_second"),
        steps=(Step(_measure(workload.name, parameters), expected, limit),),
        read=lambda outputs: _read(outputs, parameters),
        fresh_bytes=parameters.total_bytes if parameters.fresh else 0,
        prepare=None if parameters.fresh else laying,
        laid_out={} if parameters.fresh else dict.fromkeys(parameters.names, parameters.file_bytes),
    )


def parse_fio(text: str) -> Output:
    """What fio measured, one result a job: from its JSON, its normal or its terse output, whichever the text holds.

    Where it holds several of them, the one that says most counts: JSON, then the normal output.

    Raises:
        ParseError: the text holds no result.
    """
    if looks_like_json(text):
        try:
            return parse_fio_json(text)
        except ParseError as error:
            failure = error
    else:
        failure = unreadable("fio", "JSON, normal or terse output with a job", first_line(text))
    for parse in (parse_fio_text, parse_fio_terse):
        with suppress(ParseError):
            return parse(text)
    raise failure


def _read(outputs: Sequence[str], parameters: Parameters) -> Reading:
    output = parse_fio("\n".join(outputs))
    result = output.results[0]
    metrics = result.metrics
    if not parameters.direct:
        metrics = {name: value for name, value in metrics.items() if "latency" not in name}
    failure = ""
    if result.errors is not None:
        said = _ERROR.search("\n".join(outputs))
        failure = f"fio ended with error {result.errors}{': ' + said[1].strip() if said else ''}"
    elif result.interrupted:
        failure = "fio was interrupted"
    return Reading(metrics, output.version, failure)


def _layout(name: str, parameters: Parameters) -> Shell:
    return command("fio", *_files(name, parameters), "--rw=read", "--create_only=1")


def _measure(name: str, parameters: Parameters) -> Shell:
    options = [
        f"--rw={parameters.pattern}",
        f"--bs={parameters.block_bytes}",
        f"--direct={int(parameters.direct)}",
        f"--runtime={parameters.runtime_seconds}",
        "--randrepeat=0",
        "--group_reporting",
    ]
    options.append("--time_based" if parameters.direct else "--end_fsync=1")
    if parameters.fresh:
        options.append("--unlink=1")
    return command("fio", *_files(name, parameters), *options, "--output-format=json")


def _files(name: str, parameters: Parameters) -> list[str]:
    stem = parameters.names[0].removesuffix("0")
    return [
        f"--name={name}",
        "--ioengine=psync",
        "--directory=.",
        f"--filename_format={stem}{'$filenum' if parameters.files > 1 else '$jobnum'}",
        f"--numjobs={parameters.jobs}",
        f"--nrfiles={parameters.files}",
        "--file_service_type=sequential",
        f"--size={parameters.size_bytes}",
    ]
