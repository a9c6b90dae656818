"""fio's output, in whichever of its formats: JSON, logs over time, terse, or normal (`normal_output.py`)."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.benchmarks.fio.normal_output import PERCENTILES, parse_fio_text
from core.benchmarks.model import LONGEST_COURSE, Metrics, Output, Result, Series
from core.benchmarks.reading import first_line, json_objects, lines, no_result, unreadable
from core.benchmarks.statistics import latencies
from core.errors import ParseError

# fio's JSON output, 2.0.10 to 3.x, with whatever text stands before, between and after.
#
# Differences that matter (fio's HISTORY and stat.c, tag by tag): latencies are microseconds in `clat` up to 2.x and
# nanoseconds in `clat_ns` since 3.0; `bw` is KiB/s always, `bw_bytes` is bytes/s since 3.2; percentile tables of 2.x
# hold filler keys "0.00"; `job options` may repeat a key; client/server mode has `client_stats` in place of `jobs`.

_INTERRUPTED = "terminating on signal"
_MOST = 1e30
"""More than any counter. The comparison also excludes NaN."""
_DOCUMENT = re.compile(r"^[^\S\n]*\{", re.MULTILINE)


def looks_like_json(text: str) -> bool:
    """Return whether a JSON document of fio begins in a line of the text."""
    return _DOCUMENT.search(text) is not None and ('"jobs"' in text or '"fio version"' in text)


def parse_fio_json(text: str) -> Output:
    """Return the rates, IOPS and completion latencies (fio's clat) of each job, in SI base units.

    Of several documents that report the same jobs (`--status-interval`) the last one counts. A direction without I/O
    has no metrics, nor has a latency that was not recorded.

    Raises:
        ParseError: no whole JSON document of fio, a field of the wrong kind, or no job that did any I/O.
    """
    documents = list(_documents(text))
    if not documents:
        raise no_result("fio", "a whole JSON document with jobs", text)
    interrupted = _INTERRUPTED in text
    # each status report repeats all that came before: the last one of the same jobs is the whole
    latest: dict[tuple[str | None, ...], tuple[str | None, list[Result]]] = {}
    for document in documents:
        results = [_result(entry, interrupted) for entry in _entries(document)]
        latest[tuple(result.name for result in results)] = (_version(document), results)
    results = [result for _, found in latest.values() for result in found]
    if not any(result.metrics for result in results):
        errors = sorted({result.errors for result in results if result.errors})
        # a full disk gives a document with an error and no figures: say which error
        raise unreadable("fio", f"a job that did some I/O{_error_text(errors)}", first_line(text))
    return Output("fio", next(iter(latest.values()))[0], tuple(results))


def sync_latencies(text: str) -> Metrics:
    """Return the latencies of the syncs of the first job; empty if fio did not print them (before 3.x).

    Raises:
        ParseError: a field of the wrong kind.
    """
    for document in _documents(text):
        for entry in _entries(document)[:1]:
            if "sync" in entry and "lat_ns" in _table(entry, "sync"):
                return _latencies(_table(entry["sync"], "lat_ns"), 1e-9, "")
    return {}


def _documents(text: str) -> Iterator[dict[str, Any]]:
    return (found for found in json_objects(text) if "jobs" in found or "client_stats" in found)


def _entries(document: dict[str, Any]) -> list[dict[str, Any]]:
    # client/server mode has other keys, and a sum of all clients among them
    entries = document.get("jobs", document.get("client_stats"))
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise unreadable("fio", "a list of jobs", str(entries))
    return entries


def _version(document: dict[str, Any]) -> str | None:
    version = document.get("fio version")
    return version.removeprefix("fio-") if isinstance(version, str) else None


def _result(entry: dict[str, Any], interrupted: bool) -> Result:
    name = entry.get("jobname")
    if not isinstance(name, str):
        raise unreadable("fio", "a job with a name", str(entry))
    metrics: Metrics = {}
    for direction, prefix in (("read", "read_"), ("write", "write_"), ("mixed", "")):
        if direction in entry:
            metrics |= _json_direction(_table(entry, direction), prefix)
    error = int(_number(entry, "error")) if "error" in entry else 0
    return Result(name, metrics, interrupted=interrupted, errors=error or None)


def _json_direction(table: dict[str, Any], prefix: str) -> Metrics:
    # fio prints the direction that a job does not use too, all zero
    if _number(table, "io_bytes") == 0 or _number(table, "runtime") == 0:
        return {}
    rate = _number(table, "bw_bytes") if "bw_bytes" in table else _number(table, "bw") * 1024
    metrics = {f"{prefix}bytes_per_second": rate}
    if prefix:  # there is no name for the IOPS of both directions together
        metrics["read_iops" if prefix == "read_" else "write_iops"] = _number(table, "iops")
    # 3.0 went from microseconds to nanoseconds and renamed the key
    for key, unit in (("clat_ns", 1e-9), ("clat", 1e-6)):
        if key in table:
            metrics |= _latencies(_table(table, key), unit, prefix)
            break
    return metrics


def _latencies(table: dict[str, Any], unit: float, prefix: str) -> Metrics:
    if _number(table, "mean") == 0 or _number(table, "max") == 0:
        return {}  # clat was switched off
    found = {"mean": _number(table, "mean"), "stddev": _number(table, "stddev"), "max": _number(table, "max")}
    for key in (table.get("percentile") and _table(table, "percentile")) or ():
        try:
            # keys are texts such as "99.000000"
            name = PERCENTILES.get(float(key))
        except ValueError:
            raise unreadable("fio", "a percentile", key) from None
        if name is not None:
            found[name] = _number(table["percentile"], key)
    return {f"{prefix}latency_{name}_seconds": value * unit for name, value in found.items()}


def _table(parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent[key]
    if not isinstance(value, dict):
        raise unreadable("fio", f"an object as {key!r}", str(value))
    return value


def _number(parent: dict[str, Any], key: str) -> float:
    value = parent.get(key)
    # to Python True is a number, and JSON readers let NaN and 1e999 through
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise unreadable("fio", f"a number as {key!r}", str(value))
    return float(value)


def _error_text(errors: list[int]) -> str:
    return f" (fio says error {', '.join(map(str, errors))})" if errors else ""


# fio's logs over time: `write_bw_log`, `write_lat_log` and `write_iops_log`, a line an I/O or a line an interval.
#
# After iolog.c and the manual, `Log File Formats`: `time in msec, value, direction, block size`, then offset, priority
# and issue time where they were asked for. What the value is only the file's name says: `JOB_bw.1.log` is KiB/s,
# `_iops` I/Os a second, `_clat`, `_lat` and `_slat` latencies. With `log_avg_msec` a line is the mean of an interval,
# and its block size is 0: such a log knows neither percentiles nor what was longest.
#
# A latency is nanoseconds since fio 3.0 (2017) and was microseconds before. A log with a fifth field is of a later one;
# of others nanoseconds are assumed. Where each I/O is a line, they are held against the time: if less than one I/O in
# two hundred had been under way at any moment (Little's law), they are microseconds.

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
    directions = _entries_of_log(text)
    name = _NAME.search(file)
    kind = name["kind"] if name else ""
    metrics: Metrics = {}
    for direction, prefix in _DIRECTIONS.items():
        metrics |= _metrics(directions[direction], kind, prefix)
    if not metrics:
        expected = "a log of reads or writes under the name that fio gave it, such as job_bw.1.log"
        raise unreadable("fio", expected, first_line(text))
    return Output("fio", None, (Result(_title(name), metrics),))


def fio_log_series(text: str, metrics: Metrics) -> tuple[Series, ...]:
    """Return what a log tells of each of its intervals, or of each whole second.

    Args:
        text: the log.
        metrics: what `parse_fio_log` has read of it, because its text does not say what its values are.

    Raises:
        ParseError: another line than a log's.
    """
    found: list[Series] = []
    for direction, entries in _entries_of_log(text).items():
        if (prefix := _DIRECTIONS.get(direction)) is None:
            continue
        if any(entry.block == 0 for entry in entries):
            scales = {"bytes_per_second": 1024, "iops": 1, "latency_mean_seconds": 1e-9}
            told = [(f"{prefix}{name}", scale) for name, scale in scales.items() if f"{prefix}{name}" in metrics]
            found += [
                Series(name, tuple((entry.milliseconds / 1000, entry.value * scale) for entry in entries))
                for name, scale in told
            ]
        elif entries and entries[-1].milliseconds // 1000 <= LONGEST_COURSE:
            seconds = [0] * (entries[-1].milliseconds // 1000 + 1)  # in the last one the log ends
            for entry in entries:
                seconds[min(entry.milliseconds // 1000, len(seconds) - 1)] += entry.block
            points = tuple((float(number), float(size)) for number, size in enumerate(seconds[:-1], 1))
            found.append(Series(f"{prefix}bytes_per_second", points))
    return tuple(found)


def _entries_of_log(text: str) -> dict[int, list[_Entry]]:
    """Return the lines of a log by direction."""
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
    return directions


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


# fio's terse output (`--minimal`), versions 2 to 5: one line a job, fields between semicolons.
#
# After stat.c: a head, then reading, writing and (but in version 3) trimming in the same layout, then processor, queue
# depths and latency distribution. Version 5 adds six fields to each direction. Rates are KiB/s, run times milliseconds,
# latencies microseconds also in fio 3. Twenty places hold percentiles; unused ones are `0%=0`.

_HEAD = re.compile(
    r"""
    (?:<[^<>\s]+>[ ])?                             # a client's name
    (?:2|(?P<layout>[345]);fio-(?P<version>[^;]+))
    ;(?P<name>.*?)                                 # may hold semicolons: two numbers and many fields follow it
    ;(?P<group>\d+);(?P<error>\d+)
    (?=;\d+;\d+;\d+;\d+;\d+;\d+;[\d.]+;[\d.]+;)
    ;
    """,
    re.VERBOSE,
)
_DIRECTION_FIELDS = {"5": 47}
_OTHERWISE = 41
_AFTER = 34
"""The number of the fields for processor (5), queue depths (7) and latency distribution (10 and 12)."""
_CLAT = 8
_TERSE_PERCENTILES = slice(12, 32)
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)%=(\d+)")


def parse_fio_terse(text: str) -> Output:
    """Return the rates, IOPS and completion latencies in SI base units, one result per complete line.

    Raises:
        ParseError: no whole line, or no job that read or wrote.
    """
    read = [found for line in lines(text) if (found := _read(line)) is not None]
    interrupted = _INTERRUPTED in text
    results = tuple(
        Result(head["name"], metrics, interrupted=interrupted, errors=int(head["error"]) or None)
        for head, metrics in read
    )
    if not any(result.metrics for result in results):
        raise unreadable("fio", "a whole terse line of a job that read or wrote", first_line(text))
    return Output("fio", read[0][0]["version"], results)


def _read(line: str) -> tuple[re.Match[str], Metrics] | None:
    """Return the head and the metrics of a line; None if it is not a complete line of terse output."""
    head = _HEAD.match(line)
    if head is None:
        return None
    # the name may hold semicolons: the head ends behind it
    fields = line[head.end() :].strip().split(";")
    width = _DIRECTION_FIELDS.get(head["layout"] or "", _OTHERWISE)
    # version 3 has no trims
    directions = 2 if head["layout"] == "3" else 3
    # cut off: a number at its end may be half of one
    if len(fields) < directions * width + _AFTER:
        return None
    sides = {"read_": fields[:width], "write_": fields[width : 2 * width]}
    try:
        metrics = [_terse_direction(side, prefix) for prefix, side in sides.items()]
    except ValueError:
        return None
    return head, metrics[0] | metrics[1]


def _terse_direction(fields: list[str], prefix: str) -> Metrics:
    """Return the metrics of one direction; raise ValueError if a field has an unexpected value."""
    percentiles = [_PERCENTILE.fullmatch(place) for place in fields[_TERSE_PERCENTILES]]
    if not all(percentiles):
        raise ValueError
    kibibytes, rate, iops, milliseconds = (int(place) for place in fields[:4])
    # the direction was not used
    if kibibytes == 0 or milliseconds == 0:
        return {}
    most, mean, deviation = (float(place) for place in fields[_CLAT + 1 : _CLAT + 4])
    values = {"bytes_per_second": rate * 1024.0, "iops": float(iops)}
    if mean > 0 and most > 0:
        latencies = {"mean": mean, "stddev": deviation, "max": most}
        for found in percentiles:
            if found is not None and (name := PERCENTILES.get(float(found[1]))):
                latencies[name] = int(found[2])
        values |= {f"latency_{name}_seconds": value * 1e-6 for name, value in latencies.items()}
    return {f"{prefix}{name}": value for name, value in values.items()}


# fio's output, in whichever of its formats: JSON, normal or terse.

_ERROR = re.compile(r"error=([^(),:]+)")


def parse_fio(text: str) -> Output:
    """Return one result per job, from the JSON, normal or terse output of fio, or from a log.

    If the text contains several of them, the most detailed one counts: JSON, then the normal output.

    Raises:
        ParseError: the text holds no result.
    """
    # a text that holds JSON and more (--output-format=normal,json) says most by that
    if looks_like_json(text):
        try:
            return parse_fio_json(text)
        except ParseError as error:
            failure = error
    else:
        failure = no_result("fio", "JSON, normal or terse output with a job", text)
    # what JSON could not tell the others may, and if none can, the first complaint is the one to see
    for parse in (parse_fio_text, parse_fio_terse, parse_fio_log):
        with suppress(ParseError):
            return parse(text)
    raise failure


def failure_of(outputs: Sequence[str], result: Result) -> str:
    """Return the error that fio reported although it printed a result; empty if there is none."""
    if result.errors is not None:
        said = _ERROR.search("\n".join(outputs))
        return f"fio ended with error {result.errors}{': ' + said[1].strip() if said else ''}"
    return "fio was interrupted" if result.interrupted else ""
