"""fio's JSON output, 2.0.10 to 3.x, with whatever text stands before, between and after.

Differences that matter (fio's HISTORY and stat.c, tag by tag): latencies are microseconds in `clat` up to 2.x and
nanoseconds in `clat_ns` since 3.0; `bw` is KiB/s always, `bw_bytes` is bytes/s since 3.2; percentile tables of 2.x hold
filler keys "0.00"; `job options` may repeat a key; client/server mode has `client_stats` in place of `jobs`.
"""

import re
from collections.abc import Iterator
from typing import Any

from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import first_line, json_objects, unreadable

_INTERRUPTED = "terminating on signal"
_MOST = 1e30
"""More than any counter. The comparison also excludes NaN."""
_PERCENTILES = {50.0: "p50", 95.0: "p95", 99.0: "p99", 99.9: "p999"}
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
        raise unreadable("fio", "a whole JSON document with jobs", first_line(text))
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
            metrics |= _direction(_table(entry, direction), prefix)
    error = int(_number(entry, "error")) if "error" in entry else 0
    return Result(name, metrics, interrupted=interrupted, errors=error or None)


def _direction(table: dict[str, Any], prefix: str) -> Metrics:
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
            name = _PERCENTILES.get(float(key))
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
