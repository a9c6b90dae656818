"""dd: its command and its parser. One large file is written at once and read back.

Unless a size is given, the file is twice as large as the memory (after Smith, "Testing your disks for PostgreSQL",
2007). It is written in blocks of 8 kB and flushed before dd stops its clock (`conv=fsync`). It is read after the caches
were dropped. The processor time is that of dd itself, by the shell's `times`. The time of the kernel's own threads,
which write the data back, is not included. dd writes zeros, so a volume that compresses is faster than its disks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from core.benchmarks.model import Metrics, Output, Result, Workload
from core.benchmarks.reading import no_result
from core.benchmarks.tool import (
    ASSUMED_BYTES_PER_SECOND,
    STRICT,
    Machine,
    ParameterError,
    Phase,
    Procedure,
    Reading,
    Tool,
    deadline,
    strictly,
)
from core.errors import InputError

MEMORY_MULTIPLE = 2
FILE = "dd.data"

_SUMMARY = re.compile(
    r"""
    ^\s*(?P<bytes>\d{1,20})\s*[^\W\d].*?          # the exact bytes, sizes for people, "copied": any language
    # GNU and busybox: a comma, but none within a number such as 1,048.5; BSD, macOS and old GNU: "in"
    (?:(?<!\d)[,，、]\s*|[,，、]\s+|\sin\s+)
    (?P<seconds>\d{1,12}(?:[.,]\d{1,12})?(?:e[-+]?\d\d)?)
    \s*(?:s|secs?|seconds?|Sek|с|秒|초)(?!\w)
    """,
    re.VERBOSE,
)
# `262144+0 records in`, in any language; Chinese has a word before the numbers
_RECORDS = re.compile(r"\s*[^\W\d]{0,12}\s?\d+\+\d+\s*\w")
_RECORDS_OUT = re.compile(r"\s*(?P<whole>\d{1,18})\+(?P<part>\d+)\s+records out\b")
_COMMAND = re.compile(r"\bdd\s+(?:\S+\s+)*?(?:bs|obs)=(?P<number>\d{1,12})(?P<unit>[a-zA-Z]*)")
_UNITS = {
    "": 1,
    "c": 1,
    "w": 2,
    "b": 512,
    "k": 1 << 10,
    "M": 1 << 20,
    "G": 1 << 30,
    "kB": 1000,
    "MB": 10**6,
    "GB": 10**9,
}
_UNITS |= {"K": 1 << 10, "m": 1 << 20, "g": 1 << 30, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# bash prints `real 0m1.234s`, dash and POSIX's -p `real 1.23`
_TIME = re.compile(r"\s*(?P<kind>real|user|sys)\s+(?:(?P<minutes>\d{1,7})m)?(?P<seconds>\d{1,9}[.,]\d{1,9})s?\s*")
_TIMES = re.compile(r"^(\d+)m(\d+(?:\.\d+)?)s (\d+)m(\d+(?:\.\d+)?)s$", re.MULTILINE)
_ERROR = re.compile(r"^dd: .*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a workload. If `size_bytes` is None, the file is twice as large as the machine's memory."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    size_bytes: int | None = None
    block_bytes: int = 8192

    def __post_init__(self) -> None:
        # dd would create an empty file and report an infinite rate.
        if self.block_bytes < 1 or (self.size_bytes is not None and self.size_bytes < self.block_bytes):
            raise ParameterError(
                ["block_bytes", "size_bytes"],
                "block_bytes is less than 1, or size_bytes is less than block_bytes",
                "set block_bytes to 1 or more, and size_bytes to at least block_bytes",
            )


def procedure(workload: Workload, machine: Machine) -> Procedure:
    """Return what runs for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong type or out of range, or no size is given and the machine's
            memory is not known.
    """
    parameters = strictly(Parameters, workload.parameters)
    size = parameters.size_bytes
    if size is None:
        if machine.memory_bytes is None:
            raise InputError(
                f"{workload.name} writes twice the size of the memory, but the server's memory size could not be read",
                "set size_bytes in your own suite file",
            )
        size = MEMORY_MULTIPLE * machine.memory_bytes
    # dd counts whole blocks.
    blocks = size // parameters.block_bytes
    total = blocks * parameters.block_bytes
    seconds = total / ASSUMED_BYTES_PER_SECOND
    limit = deadline(seconds, total)
    block = f"bs={parameters.block_bytes}"
    writing = ("dd", "if=/dev/zero", f"of={FILE}", block, f"count={blocks}", "conv=fsync")
    reading = ("dd", f"if={FILE}", "of=/dev/null", block)
    return Procedure(
        program="dd",
        headlines=("write_bytes_per_second", "read_bytes_per_second"),
        phases=(
            Phase(("bench_run_timed", *writing), seconds, limit),
            Phase(("bench_run_and_remove", FILE, *reading), seconds, limit),
        ),
        read=lambda outputs: _reading(outputs, total, machine.threads),
        fresh_bytes=total,
        writes_zeros=True,
    )


def parse_dd(text: str) -> Output:
    """Return one result for each summary line of dd: GNU in any locale, old GNU, busybox, BSD, macOS.

    The rate is computed from bytes and seconds, which dd prints exactly. The rate that dd prints is rounded. A summary
    follows the counts of records. If there is no summary, the last progress line of `status=progress` counts. A dd from
    before 2005 prints only counts of records. In this case the bytes come from the block size in its command, and the
    seconds and busy cores from the shell's `time` after it.

    Raises:
        ParseError: no line contains the number of bytes and the time.
    """
    summaries: list[Metrics] = []
    progress: list[Metrics] = []
    before = ""
    timed = _Timed()
    # Progress lines overwrite each other by carriage returns.
    for line in re.split(r"[\r\n]+", text):
        if (found := _SUMMARY.match(line)) is not None:
            # Only a summary follows the counts of records.
            (summaries if _RECORDS.match(before) else progress).append(_metrics(found))
            timed.bytes = None
        elif (metrics := timed.line(line)) is not None:
            summaries.append(metrics)
        before = line if line.strip() else before
    results = tuple(Result("dd", metrics) for metrics in summaries or progress[-1:])
    if not results:
        raise no_result("dd", "a line with the bytes copied and the seconds", text)
    return Output("dd", None, results)


@dataclass(slots=True)
class _Timed:
    """The lines around a dd on a terminal: its command, its counts of records, and the shell's `time`."""

    block_bytes: list[int] = field(default_factory=list)
    """The block sizes of the commands whose output has not appeared yet."""
    bytes: int | None = None
    """None if it is not known, or if a summary contains it more exactly."""
    times: dict[str, float] = field(default_factory=dict)

    def line(self, line: str) -> Metrics | None:
        """Return the metrics that are complete with this line, of a dd that printed no summary."""
        if (records := _RECORDS_OUT.match(line)) is not None:
            whole = self.block_bytes.pop(0) if self.block_bytes else None
            # The length of a partial block is not known.
            self.bytes = None if whole is None or int(records["part"]) else whole * int(records["whole"])
            self.times = {}
        elif (found := _TIME.fullmatch(line)) is not None:
            seconds = float(found["seconds"].replace(",", "."))
            self.times[found["kind"]] = 60 * int(found["minutes"] or 0) + seconds
            # real, user and sys can be in any order.
            return self._whole() if len(self.times) == 3 else None
        # Several commands may be typed before the first output. The outputs come in the same order.
        elif (typed := _COMMAND.search(line)) is not None and typed["unit"] in _UNITS:
            self.block_bytes.append(int(typed["number"]) * _UNITS[typed["unit"]])
        return None

    def _whole(self) -> Metrics | None:
        real = self.times["real"]
        if not self.bytes or real <= 0:
            return None
        metrics = {"bytes": float(self.bytes), "duration_seconds": real, "bytes_per_second": self.bytes / real}
        metrics["cpu_cores"] = (self.times["user"] + self.times["sys"]) / real
        self.bytes = None
        return metrics


def _metrics(found: re.Match[str]) -> Metrics:
    size, seconds = float(found["bytes"]), float(found["seconds"].replace(",", "."))
    metrics = {"bytes": size, "duration_seconds": seconds}
    if seconds > 0:
        metrics["bytes_per_second"] = size / seconds
    return metrics


def _reading(outputs: Sequence[str], total: int, threads: int | None) -> Reading:
    written, read = (parse_dd(output).results[-1].metrics for output in outputs)
    failures = [found[0] for output in outputs if (found := _ERROR.search(output))]
    metrics: Metrics = {
        "bytes": float(total),
        "duration_seconds": written["duration_seconds"] + read["duration_seconds"],
    }
    for side, copied in (("write", written), ("read", read)):
        # After a full disk or a short read, the rate would be that of another number of bytes.
        if copied["bytes"] != total:
            failures.append(f"dd copied {copied['bytes']:.0f} of {total} bytes ({side})")
        if "bytes_per_second" in copied:
            metrics[f"{side}_bytes_per_second"] = copied["bytes_per_second"]
    # `times` runs after the write only.
    cores = _cores(outputs[0], written["duration_seconds"])
    if cores is not None:
        metrics["cpu_cores"] = cores
        if threads:
            metrics["cpu_fraction"] = cores / threads
    return Reading(metrics, failure=failures[0] if failures else "")


def _cores(output: str, seconds: float) -> float | None:
    """Return the busy cores while dd wrote. The second line of `times` is the user and system time of the children."""
    lines = _TIMES.findall(output)
    if len(lines) < 2 or seconds <= 0:
        return None
    minutes, rest, system_minutes, system_rest = (float(part) for part in lines[-1])
    return (60 * (minutes + system_minutes) + rest + system_rest) / seconds


DD = Tool(
    name="dd",
    program="dd",
    package="coreutils",
    procedure=procedure,
    parse=parse_dd,
    one_file=True,
    parameters="`size_bytes` (twice the memory), `block_bytes` 8192",
    headlines="`write_bytes_per_second`, `read_bytes_per_second`",
)
