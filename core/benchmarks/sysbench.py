"""sysbench's tests of file I/O and of SQL: its report of 0.4, 0.5, 1.0 and 1.1, and the commands of a workload.

0.4 and 0.5 print totals, from which rates are computed with the total time: bytes as b, Kb, Mb or Gb, all with 1024
(a small b, but bytes). 1.0 prints rates a second and MiB/s; 1.1 one line a direction. What 0.4 and 0.5 call "Other" is
fsync and more, so that it gives no rate of fsyncs. A rate printed as zero was counted as zero; a latency of zero lies
below what was resolved and is left out. Lines of `--report-interval` are no results. The report of an SQL test does
not name its script: the name comes from the command, if the text contains it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from core.benchmarks.model import Metrics, Output, Result, Workload
from core.benchmarks.reading import lines, no_result
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

_MODES = {
    "sequential write (creation)": "seqwr",
    "sequential rewrite": "seqrewr",
    "sequential read": "seqrd",
    "random read": "rndrd",
    "random write": "rndwr",
    "random r/w": "rndrw",
}
_SCALE = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_PERCENTILES = {"50": "p50", "95": "p95", "99": "p99"}
_SECONDS = {"ms": 1e-3, "s": 1.0}

_BANNER = re.compile(r"sysbench v?(?P<version>\d\S*?)(?:[:,]|\s)")
_MODE = re.compile(r"Doing (?P<mode>.+?) test\s")
_BEGINS = re.compile(
    r"(?P<heading>Operations performed|File operations|Throughput|SQL statistics|OLTP test statistics):"
)
_OF_SQL = ("SQL statistics", "OLTP test statistics")
_COMMAND = re.compile(r"\b(?P<script>oltp_\w{1,40}|tpcc|select_random_\w{1,40}|bulk_insert)(?:\.lua)?\b.*\brun\b")
_THREADS = re.compile(r"Number of threads: (?P<threads>\d{1,6})\s")
_TRANSACTIONS = re.compile(r"transactions:\s+(?P<count>\d{1,15})\s+\((?P<rate>\d{1,12}\.\d\d) per sec\.\)")
_BEGINS_OTHER = re.compile(r"Running the test with following options")
_TOTALS = re.compile(r"Operations performed:\s+(?P<read>\d+) reads?, (?P<write>\d+) writes?,", re.IGNORECASE)
_SIZE = r"(?P<{0}>\d+(?:\.\d+)?)(?P<{0}_unit>[KMGT]?)b"
_BYTES = re.compile(
    rf"Read\s+{_SIZE.format('read')}\s+Written\s+{_SIZE.format('write')}\s+Total.*?\({_SIZE.format('all')}/sec\)"
)
_REQUESTS = re.compile(r"(?P<rate>\d+\.\d+) Requests/sec executed")
_OPERATIONS = re.compile(r"(?P<name>read|write|fsync)s/s:\s+(?P<rate>\d+\.\d\d)(?!\d)")
_THROUGHPUT = re.compile(r"(?P<name>read|written), MiB/s:\s+(?P<rate>\d+\.\d\d)(?!\d)")
_LINE_1_1 = re.compile(
    r"""
    (?P<name>read|write|fsync):\s+IOPS=(?P<iops>\d+\.\d\d)(?!\d)
    (?:\s(?P<mebibytes>\d+\.\d\d)\sMiB/s)?
    """,
    re.VERBOSE,
)
_TIME = re.compile(r"(?:total time|time elapsed):\s+(?P<seconds>\d+\.\d+)s")
_LATENCY = re.compile(
    r"""
    (?:(?P<name>avg|max)|(?:approx\.\s+)?(?P<percent>\d+)(?:th)?\s+percentile):\s+
    (?P<value>\d+\.\d\d+)(?P<unit>ms|s)?\s                # 1.0: milliseconds, as its heading says
    """,
    re.VERBOSE,
)
_COUNTERS = {"read": "read_iops", "write": "write_iops", "fsync": "fsyncs_per_second"}
_RATES = {"read": "read_bytes_per_second", "write": "write_bytes_per_second", "written": "write_bytes_per_second"}


@dataclass(slots=True)
class _Run:
    """One test, as far as its report has been read."""

    mode: str | None
    metrics: Metrics = field(default_factory=dict)
    totals: Metrics = field(default_factory=dict)
    """The totals of 0.4 and 0.5, which become rates when the total time is known."""


def parse_sysbench(text: str) -> Output:
    """Return one result per run of file I/O or SQL, named by its mode or script; None if the text does not contain it.

    Raises:
        ParseError: no such run, or none that did anything.
    """
    version: str | None = None
    mode: str | None = None
    script: str | None = None
    threads: float | None = None
    runs: list[_Run] = []
    run: _Run | None = None
    for raw in lines(text):
        # quoted by a mail, or indented by whoever showed it
        line = raw.lstrip("> \t")
        if (found := _BANNER.match(line)) is not None:
            version = version or found["version"]
        elif _BEGINS_OTHER.match(line):
            # its options come first, and with them another run
            run = mode = threads = None
        elif (found := _THREADS.match(line)) is not None:
            threads = float(found["threads"])
        elif (found := _MODE.match(line)) is not None:
            # a test that is not of file I/O has no name here, and no result
            run, mode = None, _MODES.get(found["mode"])
        elif (found := _BEGINS.match(line)) is not None and _is_another(run, found["heading"]):
            of_sql = found["heading"] in _OF_SQL
            run = _Run(script if of_sql else mode)
            run.metrics |= {"clients" if of_sql else "threads": threads} if threads else {}
            runs.append(run)
        elif (found := _COMMAND.search(line)) is not None:
            script = found["script"]
        if run is not None:
            _read(run, line)
    results = tuple(Result(run.mode, metrics) for run in runs if (metrics := _metrics(run)))
    if not results:
        expected = "the report of a run of file I/O or SQL with operations or transactions a second"
        raise no_result("sysbench", expected, text)
    return Output("sysbench", version, results)


def _is_another(run: _Run | None, heading: str) -> bool:
    """Return whether the heading begins another run. 1.0 has one heading for operations and one for throughput."""
    return run is None or heading != "Throughput" or any("bytes" in name for name in run.metrics)


def _read(run: _Run, line: str) -> None:
    metrics = run.metrics
    if (found := _TOTALS.match(line)) is not None:
        # totals: they become rates once the time is known, some lines further down
        run.totals |= {"read_iops": float(found["read"]), "write_iops": float(found["write"])}
    elif (found := _BYTES.match(line)) is not None:
        sizes = {name: float(found[name]) * _SCALE[found[f"{name}_unit"]] for name in ("read", "write", "all")}
        run.totals |= {"read_bytes_per_second": sizes["read"], "write_bytes_per_second": sizes["write"]}
        metrics["bytes_per_second"] = sizes["all"]
    elif (found := _REQUESTS.match(line)) is not None:
        metrics["requests_per_second"] = float(found["rate"])
    elif (found := _OPERATIONS.match(line)) is not None:
        metrics[_COUNTERS[found["name"]]] = float(found["rate"])
    elif (found := _THROUGHPUT.match(line)) is not None:
        metrics[_RATES[found["name"]]] = float(found["rate"]) * _SCALE["M"]
    elif (found := _LINE_1_1.match(line)) is not None:
        metrics[_COUNTERS[found["name"]]] = float(found["iops"])
        if found["mebibytes"] is not None:
            metrics[_RATES[found["name"]]] = float(found["mebibytes"]) * _SCALE["M"]
    elif (found := _TRANSACTIONS.match(line)) is not None:
        metrics |= {"transactions": float(found["count"]), "transactions_per_second": float(found["rate"])}
    elif (found := _TIME.match(line)) is not None:
        metrics["duration_seconds"] = float(found["seconds"])
    elif (found := _LATENCY.match(line)) is not None:
        _latency(metrics, found)


def _latency(metrics: Metrics, found: re.Match[str]) -> None:
    name = {"avg": "mean", "max": "max"}.get(found["name"] or "") or _PERCENTILES.get(found["percent"] or "")
    # 1.0 names the unit in the heading alone
    value = float(found["value"]) * _SECONDS[found["unit"] or "ms"]
    if name is not None and value > 0:
        metrics[f"latency_{name}_seconds"] = value


def _metrics(run: _Run) -> Metrics:
    """Return the metrics of the run; none if nothing was read, written or synced."""
    metrics = dict(run.metrics)
    seconds = metrics.get("duration_seconds", 0.0)
    if seconds > 0:
        metrics |= {name: total / seconds for name, total in run.totals.items()}
    sides = [metrics[name] for name in ("read_bytes_per_second", "write_bytes_per_second") if name in metrics]
    if len(sides) == 2:
        metrics.setdefault("bytes_per_second", sum(sides))
    # a run that did nothing has no result: zeros would be a dead disk's
    rates = (*_COUNTERS.values(), *_RATES.values(), "requests_per_second", "transactions_per_second")
    worked = any(metrics.get(name, 0) > 0 for name in rates)
    return metrics if worked else {}


# sysbench's test of file I/O: the commands of a workload, as 0.4 and 0.5 want them and as 1.0 does.
#
# Two patterns, after Bleything, "PostgreSQL Server Benchmarks" (2011): `rndrd` seeks, reading blocks anywhere in many
# files; `rndwr` with an fsync after every write is the rate of commits. sysbench makes its files before (`prepare`), in
# a folder of their own, as it names them itself; they go with the folder of the run. Reads are direct unless that is
# switched off: then the files need not be larger than the memory.

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

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

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
                raise ParameterError(
                    [name], f"the parameter {name} is {getattr(self, name)}", f"set {name} to 1 or more"
                )
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
        phases=(
            Phase(
                _run(parameters, before_1_0=before_1_0),
                seconds,
                deadline(seconds, 0),
                live=None if before_1_0 else _live(parameters),
            ),
        ),
        read=_read_seeks if reads else _read_syncs,
        prepare=Phase(_prepare(parameters, before_1_0=before_1_0), writing, deadline(writing, parameters.size_bytes)),
        laid_out={parameters.folder: parameters.size_bytes},
    )


_NUMBER = r"\d{1,9}\.\d\d"
_INTERVAL = re.compile(
    rf"\[ \d{{1,9}}s \] reads: (?P<read>{_NUMBER}) MiB/s writes: (?P<write>{_NUMBER}) MiB/s "
    rf"fsyncs: (?P<fsync>{_NUMBER})/s latency \(ms,\d{{1,3}}%\): \d{{1,9}}\.\d{{1,3}}"
)
"""What sysbench says every second since 1.0 (sb_fileio.c, file_report_intermediate)."""


def _live(parameters: Parameters) -> LiveOutput:
    """Return how sysbench says its rates while it runs: megabytes, from which the number of blocks follows."""
    options = ("--report-interval=1",)
    return LiveOutput("sysbench", options, _INTERVAL, lambda line: _rates(line, parameters), "[ ")


def _rates(line: re.Match[str], parameters: Parameters) -> Metrics:
    side = "read" if parameters.pattern == "rndrd" else "write"
    moved = float(line[side]) * _SCALE["M"]
    metrics: dict[str, float] = {f"{side}_bytes_per_second": moved, f"{side}_iops": moved / parameters.block_bytes}
    if side == "write":
        metrics["fsyncs_per_second"] = float(line["fsync"])
    return metrics


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
