"""fio's logs over time: `write_bw_log`, `write_lat_log` and `write_iops_log`, a line an I/O or a line an interval.

After iolog.c and the manual, `Log File Formats`: `time in msec, value, direction, block size`, then offset, priority
and issue time where they were asked for. What the value is only the file's name says: `JOB_bw.1.log` is KiB/s, `_iops`
I/Os a second, `_clat`, `_lat` and `_slat` latencies. With `log_avg_msec` a line is the mean of an interval, and its
block size is 0: such a log knows neither percentiles nor what was longest.

A latency is nanoseconds since fio 3.0 (2017) and was microseconds before. A log with a fifth field is of a later one;
of others nanoseconds are assumed. Where each I/O is a line, they are held against the time: if less than one I/O in two
hundred had been under way at any moment (Little's law), they are microseconds.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

from core.benchmarks.latencies import latencies
from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import first_line, lines, unreadable

_LINE = re.compile(r"(\d{1,12}), ?(\d{1,18}), ?([0-4])(?:, ?(\d{1,12}))?(?:, ?(?:\d{1,20}|0x[0-9a-f]{1,8})){0,3}")
_NAME = re.compile(r"(?P<job>[^/\\]*?)_?(?P<kind>bw|iops|clat|slat|lat)(?:\.(?P<number>\d{1,6}))?\.log\Z")
_DIRECTIONS = {0: "read_", 1: "write_"}
_IDLE = 0.005


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line. `block`: bytes of the I/O; 0: the line stands for an interval. `late`: it is one of fio 3."""

    milliseconds: int
    value: int
    block: int
    late: bool


def parse_fio_log(text: str, file: str = "") -> Output:
    """The rates and latencies of the job that the log is of, named by its file.

    Args:
        file: the log's name; without it only a log with a line an I/O can be read, and of that no latency.

    Raises:
        ParseError: another line than a log's, no line of a read or a write, or intervals of nobody knows what.
    """
    directions: dict[int, list[_Entry]] = defaultdict(list)
    for raw in lines(text):
        line = raw.strip()
        found = _LINE.fullmatch(line)
        # the last line may have been cut off
        if raw.endswith(line):
            continue
        if found is not None:
            entry = _Entry(int(found[1]), int(found[2]), int(found[4] or 0), line.count(",") > 3)
            directions[int(found[3])].append(entry)
        elif line:
            raise unreadable("fio", "a log with lines such as '1000, 5081, 0, 4096'", line)
    name = _NAME.search(file)
    kind = name["kind"] if name else ""
    metrics: Metrics = {}
    for direction, prefix in _DIRECTIONS.items():
        metrics |= _metrics(directions[direction], kind, prefix)
    if not metrics:
        expected = "a log of reads or writes under the name that fio gave it, such as job_bw.1.log"
        raise unreadable("fio", expected, first_line(text))
    return Output("fio", None, (Result(_title(name), metrics),))


def _title(name: re.Match[str] | None) -> str | None:
    if name is None or not name["job"]:
        return None
    return f"{name['job']} {name['number']}" if name["number"] not in (None, "1") else name["job"]


def _metrics(entries: list[_Entry], kind: str, prefix: str) -> Metrics:
    if not entries or entries[-1].milliseconds == 0:
        return {}
    if any(entry.block == 0 for entry in entries):
        return _of_intervals(entries, kind, prefix)
    seconds = entries[-1].milliseconds / 1000
    metrics: Metrics = {
        f"{prefix}iops": len(entries) / seconds,
        f"{prefix}bytes_per_second": sum(entry.block for entry in entries) / seconds,
    }
    if kind in ("lat", "clat"):
        values = [entry.value for entry in entries]
        # under way at one time, on average, if these are nanoseconds
        nanoseconds = entries[0].late or sum(values) / 1e9 / seconds >= _IDLE
        metrics |= latencies(values, 1e-9 if nanoseconds else 1e-6, prefix)
    return metrics


def _of_intervals(entries: list[_Entry], kind: str, prefix: str) -> Metrics:
    """The mean over the time that each line stands for, which is since the line before."""
    weights = [max(0, entry.milliseconds - before) for before, entry in zip(_before(entries), entries, strict=True)]
    whole = sum(weights)
    if not whole or kind in ("", "slat"):
        return {}
    mean = sum(entry.value * weight for entry, weight in zip(entries, weights, strict=True)) / whole
    match kind:
        case "bw":
            return {f"{prefix}bytes_per_second": mean * 1024}
        case "iops":
            return {f"{prefix}iops": mean}
        case _:
            return {f"{prefix}latency_mean_seconds": mean * 1e-9}


def _before(entries: list[_Entry]) -> list[int]:
    return [0, *(entry.milliseconds for entry in entries[:-1])]
