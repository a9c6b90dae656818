"""The parser for ioping: the statistics that it prints at its end, of 0.5 to 1.3.

Source: ioping.c. Up to 0.6 the rate has no direction, and the four times share one unit. Since 0.8 each time has its
own unit, and counts from a thousand have a letter: `1.42 k iops`. Bytes are powers of 1024 in every version, also
where 0.6 prints `mb/s`. A result is named after what was pinged. Times of 0.0 are below what 0.6 resolves.
"""

import re

from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import lines, no_result

_TARGET = re.compile(r"--- (?P<target>\S.{0,200}?) ioping statistics ---")
_NUMBER = r"\d{1,9}(?:\.\d{1,3})?"
_RATE = re.compile(
    rf"""
    \b{_NUMBER}(?:[ ][kMG])?[ ]requests[ ]completed[ ]in[ ]{_NUMBER}[ ]\w{{1,5}},[ ]
    (?:{_NUMBER}[ ](?:[KMGT]iB|B)[ ](?P<side>read|written),[ ])?
    (?P<iops>{_NUMBER})[ ](?P<iops_unit>[kMG][ ])?iops,[ ]
    (?P<rate>{_NUMBER})[ ](?P<rate_unit>[KMGTkmgt]?)i?[Bb]/s
    """,
    re.VERBOSE,
)
_TIMES = re.compile(
    rf"min/avg/max/mdev = {_NUMBER}(?: (?P<min_unit>[nmu]?s|min))? ?/ ?"
    rf"(?P<mean>{_NUMBER})(?: (?P<mean_unit>[nmu]?s|min))? ?/ ?"
    rf"(?P<max>{_NUMBER})(?: (?P<max_unit>[nmu]?s|min))? ?/ ?"
    rf"(?P<stddev>{_NUMBER}) (?P<stddev_unit>[nmu]?s|min)\b"
)
_THOUSANDS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_BYTES = {"": 1.0, "k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_SIDES = {"read": "read_", "written": "write_"}


def parse_ioping(text: str) -> Output:
    """Return one result for each block of statistics, named after the folder, file or device.

    Raises:
        ParseError: no line contains requests a second.
    """
    results: list[Result] = []
    target = side = ""
    for line in lines(text):
        if (named := _TARGET.search(line)) is not None:
            target = named["target"]
        if (found := _RATE.search(line)) is not None:
            side = _SIDES.get(found["side"] or "", "")
            results.append(Result(target or None, _rates(found, side)))
            target = ""
        elif (times := _TIMES.search(line)) is not None and results:
            results[-1].metrics.update(_latencies(times, side))
    if not results:
        raise no_result("ioping", "a line such as '9 requests completed in 6.33 ms, … iops'", text)
    return Output("ioping", None, tuple(results))


def _rates(found: re.Match[str], side: str) -> Metrics:
    iops = float(found["iops"]) * _THOUSANDS[(found["iops_unit"] or "").strip()]
    # there is no name for the I/Os of an unknown direction
    return {
        f"{side}iops" if side else "requests_per_second": iops,
        f"{side}bytes_per_second": float(found["rate"]) * _BYTES[found["rate_unit"].lower()],
    }


def _latencies(times: re.Match[str], side: str) -> Metrics:
    if float(times["mean"]) == 0:
        return {}
    units = {name: _SECONDS[times[f"{name}_unit"] or times["stddev_unit"]] for name in ("mean", "stddev", "max")}
    return {f"{side}latency_{name}_seconds": float(times[name]) * unit for name, unit in units.items()}
