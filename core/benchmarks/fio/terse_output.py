"""fio's terse output (`--minimal`), versions 2 to 5: one line a job, fields between semicolons.

After stat.c: a head, then reading, writing and (but in version 3) trimming in the same layout, then processor, queue
depths and latency distribution. Version 5 adds six fields to each direction. Rates are KiB/s, run times milliseconds,
latencies microseconds also in fio 3. Twenty places hold percentiles; unused ones are `0%=0`.
"""

import re

from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import first_line, lines, unreadable

_INTERRUPTED = "terminating on signal"
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
_PERCENTILES = slice(12, 32)
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)%=(\d+)")
_NAMES = {50.0: "p50", 95.0: "p95", 99.0: "p99", 99.9: "p999"}


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
        metrics = [_direction(side, prefix) for prefix, side in sides.items()]
    except ValueError:
        return None
    return head, metrics[0] | metrics[1]


def _direction(fields: list[str], prefix: str) -> Metrics:
    """Return the metrics of one direction; raise ValueError if a field has an unexpected value."""
    percentiles = [_PERCENTILE.fullmatch(place) for place in fields[_PERCENTILES]]
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
            if found is not None and (name := _NAMES.get(float(found[1]))):
                latencies[name] = int(found[2])
        values |= {f"latency_{name}_seconds": value * 1e-6 for name, value in latencies.items()}
    return {f"{prefix}{name}": value for name, value in values.items()}
