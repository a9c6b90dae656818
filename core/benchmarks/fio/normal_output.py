"""fio's normal output, 1.x to 3.x: the report that it prints for people, and what its rounded numbers can stand for.

Read off stat.c, tag by tag. Up to 2.16 a direction is `io=…, bw=…, iops=…, runt=…` with K = 1024 whatever the unit
says; since 2.17 it is `IOPS=…, BW=… (…)(io/runtime)` with IEC and SI units, which `Mi` and `M` alone mean too (the sum
of all clients). Time units change from line to line, and each table of percentiles has its own. Only completion
latencies are read: not those of submission, of fsync, or of one priority. A mean of zero is no measurement. Lines of
several clients begin with `<host>`; mails quote with `>`, and any text may be indented. Where the line with the job's
name was left out, its results have none. Where only the sums of the groups were kept, they are the results.
"""

import re
from dataclasses import dataclass, field

from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import first_line, lines, unreadable

# The rounded numbers of fio's normal output, and what they can stand for.
#
# fio prints a rate three times: as bytes a second in two units, and as bytes and run time to divide (stat.c). Up to
# 3.25 its `num2str` loses a carry: a fraction that rounds up to one is printed as `.0` without adding to the whole, so
# that 11.99 appears as 11.0 (fixed in 3.26, lib/num2str.c). A number that ends in zeros has two meanings there; the
# others tell which. Best of all is what was counted: I/Os issued, times the block size where it is fixed, by the run
# time.

_CARRY_FIXED = (3, 26)
_AGREE = 0.01
_QUANTITY = re.compile(
    r"""
    (?P<number>\d+(?:\.(?P<decimals>\d+))?)
    \s?                                       # 1.x puts a blank before a bare unit: "521296 B/s"
    (?P<prefix>[kKMGTPE])?(?P<binary>i)?
    (?:B|bits?|b)?(?:/s)?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Counted:
    """What is exact about one direction of a job.

    Attributes:
        ios: the number of I/Os; None if the line with it is missing.
        block_bytes: the block size; None if it is not known or not fixed.
    """

    milliseconds: int
    ios: int | None
    block_bytes: int | None


def loses_carry(version: str | None) -> bool:
    """Return whether this version of fio prints 11.99 as 11.0. An unknown version may."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return found is None or (int(found[1]), int(found[2])) < _CARRY_FIXED


def meanings(text: str, *, binary: bool = False, carry: bool = False) -> tuple[float, ...]:
    """Return the possible meanings of a number with its unit, in base units; a bit is an eighth of a byte.

    Args:
        text: such as `16.4k`, `64.0MiB/s`, `31.2Gibit/s`, `8435.2KB/s`.
        binary: K is 1024 also without an i, as in 1.x and 2.x.
        carry: a fraction of zeros may stand for one more.
    """
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        return ()
    # KiB is 1024 always, K only up to 2.16
    base = 1024 if binary or found["binary"] else 1000
    scale = float(base ** (" KMGTPE".index(found["prefix"].upper()) if found["prefix"] else 0))
    if "bit" in text:
        scale /= 8
    value = float(found["number"])
    # 11.0 may be 11.0 or a 11.99 that lost its carry
    ambiguous = carry and found["decimals"] is not None and not found["decimals"].strip("0")
    return (value * scale, (value + 1) * scale) if ambiguous else (value * scale,)


def rate(printed: tuple[float, ...], others: list[tuple[float, ...]], counted: Counted) -> float | None:
    """Return bytes per second: by the counters if they fit the printed rate, else the meaning that fits the others."""
    if not printed:
        return None
    # what the other ways of printing the same rate leave open
    candidates = [values for values in others if values]
    chosen = min(printed, key=lambda value: sum(_distance(value, values) for values in candidates))
    if counted.ios and counted.block_bytes:
        exact = counted.ios * counted.block_bytes * 1000 / counted.milliseconds
        # counts that do not agree are of another job, or of a part of the time
        if _distance(exact, (chosen,)) <= _AGREE:
            return exact
    return chosen


def iops(printed: tuple[float, ...], bytes_per_second: float | None, counted: Counted) -> float | None:
    """Return IOPS: by the counters, or as printed if that has one meaning, or one that agrees with the byte rate."""
    if counted.ios is not None:
        return counted.ios * 1000 / counted.milliseconds
    if len(printed) == 1:
        return printed[0]
    if bytes_per_second is None or counted.block_bytes is None:
        return None
    derived = bytes_per_second / counted.block_bytes
    return next((value for value in printed if _distance(value, (derived,)) <= _AGREE), None)


def _distance(value: float, others: tuple[float, ...]) -> float:
    """Return the relative distance to the nearest of the others."""
    return min(abs(value / other - 1) if other else float(value != other) for other in others)


# fio's normal output, 1.x to 3.x: the report that it prints for people, with whatever stands around it.

PERCENTILES = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p999", 99.99: "p9999"}
"""The percentiles that are kept, in each format of fio's output, and their ids."""
_SECONDS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}
_INTERRUPTED = "terminating on signal"
_ROW = "|"

_AROUND = re.compile(
    r"""
    (?:>[ ]?)*                        # a mail
    (?:<(?P<host>[^<>\s]+)>[ ])?      # a client
    (?:Jobs:[ ].*\[eta[ ][^\]]*\])?   # progress that a terminal would have overwritten
    \s*
    """,
    re.VERBOSE,
)
_BANNER = re.compile(r"(?:hostname=.*, fio=)?fio[- ](?P<version>\d[^\s,]*)[\s,]")
_DEFINITION = re.compile(
    r"""
    (?P<name>.+?):[ ]\(g=(?P<group>\d+)\):[ ]rw=.*?\bbs=
    (?:\(R\)[ ])?(?P<read>[\d.]+\w*)-(?P<read_most>[\d.]+\w*)          # 4K-4K or (R) 4096B-4096B
    (?:/|,[ ]\(W\)[ ])(?P<write>[\d.]+\w*)-(?P<write_most>[\d.]+\w*)   # the same of writes
    [,/\s]
    """,
    re.VERBOSE,
)
_JOB = re.compile(
    r"""
    (?P<name>.*?):?[ ]
    \(g(?:roupid)?=(?P<group>\d+)(?:,[ ]jobs=\d+)?\):[ ]
    err=\s*(?P<error>\d+)[ ]?[:(]           # err=28 (file:…, error=…): pid=…
    (?:.*?:?[ ]pid=(?P<pid>\d+))?
    """,
    re.VERBOSE,
)
_DIRECTION = re.compile(r"(?P<direction>read|write|trim|mixed)\s*:\s*(?P<rest>.*)", re.DOTALL)
_UNTIL_2_16 = re.compile(
    r"""
    io=\s*(?P<io>[\d.]+\s?\w+?)\s*,\s*
    bw=\s*(?P<bw>[\d.]+\s?\w+?/s)\s*,\s*
    (?:iops=\s*(?P<iops>[\d.]+\w?)\s*,\s*)?  # since 1.14
    runt=\s*(?P<milliseconds>\d+)\s?msec
    """,
    re.VERBOSE,
)
_SINCE_2_17 = re.compile(
    r"""
    IOPS=(?P<iops>[\d.]+\w?),\s
    BW=(?P<bw>[\d.]+\w*(?:/s)?)\s           # 64.0MiB/s, or 116Mi of all clients together
    \((?P<other>[\d.]+\w*(?:/s)?)\)\s?
    \((?P<io>[\d.]+\w*)/(?P<milliseconds>\d+)msec\)
    """,
    re.VERBOSE,
)
_LATENCY = re.compile(
    r"""
    clat\s\((?P<unit>[num]?sec)\)\s*:\s
    min=\s*[\d.]+\w?\s*,\s*
    max=\s*(?P<max>[\d.]+\w?)\s*,\s*        # 10425k: thousands, in any version
    avg=\s*(?P<mean>\d+\.\d\d)\s*
    (?:,\s*(?:st)?dev=\s*(?P<stddev>\d+\.\d\d))?
    """,
    re.VERBOSE,
)
_TABLE = re.compile(r"clat percentiles \((?P<unit>[num]?sec)\)\s*:")
_PERCENTILE = re.compile(r"(?P<percent>\d+\.\d+)th=\[\s*(?P<value>\d+)\]")
_GROUP = re.compile(r"Run status group (?P<number>\d{1,6})\b")
_SUM = re.compile(
    r"""
    (?P<direction>READ|WRITE|MIXED):[ ]
    (?:
        bw=(?P<bw>[\d.]+\w*(?:/s)?)[ ]\((?P<other>[\d.]+\w*(?:/s)?)\),[ ].{1,200}?   # since 2.17
        \bio=(?P<io>[\d.]+\w*)[ ]\([\d.]+\w*\),[ ]run=\d+-(?P<milliseconds>\d+)msec
    |
        io=(?P<old_io>[\d.]+\s?\w*),[ ]aggrb=(?P<old_bw>[\d.]+\s?\w*/s),[ ].{1,200}?\bmaxt=[ ]*(?P<longest>\d+)\s?msec
    )
    """,
    re.VERBOSE,
)
_BEGINS_SUM = re.compile(r"(?:READ|WRITE|MIXED): (?:bw|io)=")
_ISSUED = re.compile(
    r"issued\b[^=]*total=(?:r=)?(?P<read>\d+)[/,](?:w=)?(?P<write>\d+)[/,\s]"  # the layout changed five times
)
_ENDS_DIRECTION = re.compile(r"fsync/fdatasync|cpu\s*:|IO depths\s*:")

Blocks = dict[tuple[str, str], tuple[str, str]]
"""By name and group of a job, its block size for reads and for writes as printed; empty if it varies."""


@dataclass(slots=True)
class _Direction:
    """One direction of a job, as far as it has been read."""

    fields: dict[str, str | None]
    binary: bool
    latencies: Metrics = field(default_factory=dict)


@dataclass(slots=True)
class _Job:
    """The block of one job in the report, as far as it has been read."""

    key: tuple[str | None, ...]
    name: str | None
    group: str
    error: int
    interrupted: bool
    directions: dict[str, _Direction] = field(default_factory=dict)
    issued: dict[str, int] = field(default_factory=dict)

    def says_as_much_as(self, other: "_Job") -> bool:
        """Return whether this report has each direction of the other one, with as many latencies."""
        return all(
            name in self.directions and len(self.directions[name].latencies) >= len(direction.latencies)
            for name, direction in other.directions.items()
        )


class _Report:
    """Reads the lines one by one, because the meaning of a line depends on the lines before it."""

    def __init__(self) -> None:
        self.version: str | None = None
        self.blocks: Blocks = {}
        self.jobs: list[_Job] = []
        self.sums: list[_Job] = []
        self._interrupted = False
        self._job: _Job | None = None
        self._direction: _Direction | None = None
        self._unit: float | None = None
        self._part = ""
        """A sum that its line does not hold whole: a mail has wrapped it."""

    def take(self, line: str) -> None:
        # mails, clients' names and overwritten progress stand ahead of what is meant
        around = _AROUND.match(line)
        host = around["host"] if around else None
        line = line[around.end() :] if around else line
        part, self._part = self._part, ""
        if part and (found := _SUM.match(part + line)) is not None:
            self._add(found)
        elif (found := _JOB.match(line)) is not None:
            self._begin(found, host)
        elif (found := _DEFINITION.match(line)) is not None:
            self._define(found)
        elif (found := _BANNER.match(line)) is not None:
            self.version = self.version or found["version"]
            # a banner begins another run of fio: nothing of the last one holds
            self._interrupted = False
            self._job = self._direction = None
        elif _INTERRUPTED in line:
            self._interrupted = True
        # sums of groups follow: what stands there is no job's
        elif (found := _GROUP.match(line)) is not None:
            self._job = self._direction = None
            self.sums.append(self._sum(f"group {found['number']}"))
        elif (found := _SUM.match(line)) is not None:
            self._add(found)
        elif _BEGINS_SUM.match(line) is not None:
            self._part = f"{line.rstrip()} "
        else:
            self._inside(line)

    def _sum(self, name: str | None) -> _Job:
        return _Job((str(len(self.sums)), name), name, "", 0, self._interrupted)

    def _add(self, found: re.Match[str]) -> None:
        direction = found["direction"].lower()
        # the heading was left out: a direction that comes again is another group's
        if not self.sums or direction in self.sums[-1].directions:
            self.sums.append(self._sum(None))
        old = found["old_bw"] is not None
        fields = {"bw": found["old_bw"], "io": found["old_io"], "milliseconds": found["longest"]}
        self.sums[-1].directions[direction] = _Direction(fields if old else found.groupdict(), binary=old)

    def _begin(self, found: re.Match[str], host: str | None) -> None:
        # A sum of all clients has the number 0 each time; a job that is reported again keeps its own.
        number = found["pid"] if found["pid"] not in (None, "0") else f"-{len(self.jobs)}"
        key = (host, found["name"], found["group"], number)
        self._job = _Job(key, found["name"].strip(), found["group"], int(found["error"]), self._interrupted)
        self._direction = self._unit = None
        self.jobs.append(self._job)

    def _define(self, found: re.Match[str]) -> None:
        # `4096B-8192B` is a range: how much an I/O moved is not known then
        fixed = tuple(found[side] if found[side] == found[f"{side}_most"] else "" for side in ("read", "write"))
        sizes = (fixed[0], fixed[1])
        key = (found["name"].strip(), found["group"])
        # two jobs of one name and group with other sizes: neither can be trusted
        self.blocks[key] = sizes if self.blocks.get(key, sizes) == sizes else ("", "")

    def _inside(self, line: str) -> None:
        if (found := _DIRECTION.match(line)) is not None:
            self._direct(found["direction"], found["rest"])
        elif self._job is None:
            return
        elif (found := _ISSUED.match(line)) is not None:
            self._job.issued = {"read": int(found["read"]), "write": int(found["write"])}
        # latencies of fsync, processor and queue depths follow: none of them is the direction's
        elif _ENDS_DIRECTION.match(line):
            self._direction = None
        elif self._direction is not None:
            self._latency(self._direction.latencies, line)

    def _direct(self, direction: str, rest: str) -> None:
        old, new = _UNTIL_2_16.match(rest), _SINCE_2_17.match(rest)
        found = old or new
        self._direction = self._unit = None
        if found is None:
            return
        # trims are remembered so that their latencies are not taken for the writes'
        self._direction = _Direction(found.groupdict(), binary=old is not None)
        if direction == "trim":
            return
        # the line with the job's name was left out: a direction that comes again is another job's
        if self._job is None or (self._job.name is None and direction in self._job.directions):
            self._job = _Job((str(len(self.jobs)),), None, "", 0, self._interrupted)
            self.jobs.append(self._job)
        self._job.directions[direction] = self._direction

    def _latency(self, latencies: Metrics, line: str) -> None:
        if line.startswith(_ROW):
            # a row of another table, of submission or of one priority, has no unit here
            for found in _PERCENTILE.finditer(line) if self._unit is not None else ():
                name = PERCENTILES.get(float(found["percent"]))
                if name is not None:
                    latencies[name] = int(found["value"]) * (self._unit or 0)
            return
        # any other line ends the table
        table, found_latency = _TABLE.match(line), _LATENCY.match(line)
        self._unit = _SECONDS[table["unit"]] if table is not None else None
        if found_latency is not None:
            unit = _SECONDS[found_latency["unit"]]
            for name in ("mean", "stddev", "max"):
                value = meanings(found_latency[name] or "")
                latencies |= {name: value[0] * unit} if value else {}


def parse_fio_text(text: str) -> Output:
    """Return the rates, IOPS and completion latencies of each job, in SI base units.

    Of several reports of one job (`--status-interval`, or quoted again) the last that is not cut shorter counts. A
    direction without I/O has no metrics.

    Raises:
        ParseError: no job that read or wrote.
    """
    report = _Report()
    for line in lines(text):
        report.take(line)
    carry = loses_carry(report.version)
    jobs: dict[tuple[str | None, ...], _Job] = {}
    for job in report.jobs:
        # reported again, it is newer; but a report that was cut off says less
        if job.key not in jobs or job.says_as_much_as(jobs[job.key]):
            jobs[job.key] = job
    results = [_result(job, report.blocks, carry=carry) for job in jobs.values()]
    if not any(result.metrics for result in results):
        results = [_result(one, {}, carry=carry) for one in report.sums if one.directions]
    if not any(result.metrics for result in results):
        raise unreadable("fio", "a job's report with a line such as 'read: IOPS=…'", first_line(text))
    return Output("fio", report.version, tuple(results))


def _result(job: _Job, blocks: Blocks, *, carry: bool) -> Result:
    metrics: Metrics = {}
    sizes = blocks.get((job.name or "", job.group), ("", ""))
    for direction, read in job.directions.items():
        side = "write" if direction == "write" else "read"
        # read and write may have block sizes of their own
        block = meanings(sizes[side == "write"], binary=read.binary)
        prefix = "" if direction == "mixed" else f"{side}_"
        metrics |= _metrics(read, prefix, job.issued.get(side), int(block[0]) if block else None, carry=carry)
    return Result(job.name, metrics, interrupted=job.interrupted, errors=job.error or None)


def _metrics(read: _Direction, prefix: str, ios: int | None, block: int | None, *, carry: bool) -> Metrics:
    milliseconds = int(read.fields["milliseconds"] or 0)
    io = meanings(read.fields["io"] or "", binary=read.binary, carry=carry)
    if milliseconds == 0 or not io or io[0] == 0:
        return {}
    counted = Counted(milliseconds, ios, block)
    carry = carry and not read.binary
    printed, other = (
        meanings(read.fields.get(name) or "", binary=read.binary, carry=carry) for name in ("bw", "other")
    )
    bytes_per_second = rate(printed, [other, tuple(value * 1000 / milliseconds for value in io)], counted)
    values = {"bytes_per_second": bytes_per_second}
    if prefix:  # there is no name for the IOPS of both directions together
        values["iops"] = iops(meanings(read.fields.get("iops") or "", carry=carry), bytes_per_second, counted)
    if read.latencies.get("mean", 0) > 0:
        values |= {f"latency_{name}_seconds": value for name, value in read.latencies.items()}
    return {f"{prefix}{name}": value for name, value in values.items() if value is not None}
