"""The Phoronix Test Suite: its composite.xml, what `result-file-to-json` makes of it, and what it prints.

Source: pts_result_file, and its graphs as text. A result has a scale. Only the scales of storage and databases are
read, so tests of processors are left out. The name and description of a test decide whether a rate is of reading or
writing. Each trial of a test (`RawString`, `raw_values`, the numbers above `Average:`) is a result with the name of the
test, so that they count as repetitions. If only the mean was kept, it is the only result. If a file contains several
systems, each result also has the name of its system.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.benchmarks.model import Output, Result
from core.benchmarks.reading import first_line, json_objects, lines, unreadable

_VERSION = re.compile(
    r"phoronix-test-suite/(?P<bare>\d[\w.]{0,12})|Phoronix Test Suite v(?P<version>\d[\w.]{0,12})", re.IGNORECASE
)
_TAG = re.compile(r"<(?P<tag>Identifier|Title|AppVersion|Description|Scale|Value|RawString)>(?P<text>[^<]*)</(?P=tag)>")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_BYTES = {"kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "kib/s": 2.0**10, "mib/s": 2.0**20, "gib/s": 2.0**30}
_TIMES = {"ms": 1e-3, "milliseconds": 1e-3, "us": 1e-6, "microseconds": 1e-6, "ns": 1e-9, "nanoseconds": 1e-9}
_RATES = {
    "tps": ("transactions_per_second", 1.0),
    "transactions per second": ("transactions_per_second", 1.0),
    "transactions per minute": ("transactions_per_second", 60.0),
    "new orders per minute": ("new_orders_per_second", 60.0),
    "requests per second": ("requests_per_second", 1.0),
    "files/s": ("requests_per_second", 1.0),
    "ops/sec": ("requests_per_second", 1.0),
    "operations per second": ("requests_per_second", 1.0),
}
_READS, _WRITES = re.compile(r"\bread(?:s|ing)?\b", re.IGNORECASE), re.compile(r"\bwrit(?:e|es|ing)\b", re.IGNORECASE)
_BETTER = re.compile(
    r"^\s*(?P<scale>[^<>\n]{1,40}?) [<>] (?:Higher|Lower|More|Fewer|Less) (?:Is|Are) Better\s*$", re.IGNORECASE
)
_BAR = re.compile(r"^\s*(?P<name>[^|\n]{1,99}?) \.{1,120} (?P<value>\d{1,15}(?:\.\d{1,9})?)\s*(?:\|=*\s*)?$")
_AVERAGE = re.compile(r"^\s*Average: (?P<value>\d{1,15}(?:\.\d{1,9})?) (?P<scale>\S.{0,40}?)\s*$")
_HEADING = re.compile(r"^\s*(?P<text>\S.{0,200}):\s*$")


@dataclass(frozen=True, slots=True)
class _Measured:
    """One test on one system: what was measured, its scale, and the value of each trial."""

    title: str
    description: str
    scale: str
    system: str
    values: tuple[float, ...]


def parse_phoronix(text: str) -> Output:
    """Return the results for storage and databases, one per trial, named by test and options.

    Raises:
        ParseError: no result, or none in a scale that a storage or a database has.
    """
    text = "".join(lines(text))
    measured = [*_of_xml(text), *_of_json(text)] or [*_of_trials(text)] or [*_of_graphs(text)]
    named = len({one.system for one in measured if one.system}) > 1
    results = [Result(_name(one, named), metric) for one in measured for metric in _metrics(one)]
    if not results:
        scales = ", ".join(dict.fromkeys(one.scale for one in measured))
        expected = "a result in MB/s, IOPS, transactions or requests a second, or a latency"
        raise unreadable("phoronix", expected, scales or first_line(text))
    version = _VERSION.search(text)
    return Output("phoronix", (version["bare"] or version["version"]) if version else None, tuple(results))


def _name(one: _Measured, named: bool) -> str:
    what = ", ".join(part for part in (one.title, one.description) if part)
    return f"{what} ({one.system})" if named and one.system else what


def _metrics(one: _Measured) -> Iterator[dict[str, float]]:
    found = _metric(one)
    if found is not None:
        yield from ({found[0]: value * found[1]} for value in one.values)


def _metric(one: _Measured) -> tuple[str, float] | None:
    """Return the metric's name and the factor to its base unit; None if it is not about storage or databases."""
    scale = one.scale.strip().lower()
    about = f"{one.title} {one.description}"
    reads, writes = bool(_READS.search(about)), bool(_WRITES.search(about))
    side = "" if reads == writes else "read_" if reads else "write_"
    if scale in _BYTES:
        return f"{side}bytes_per_second", _BYTES[scale]
    if scale == "iops":
        return (f"{side}iops" if side else "requests_per_second"), 1.0
    if scale in _TIMES:
        return "latency_mean_seconds", _TIMES[scale]
    if scale in _RATES:
        name, seconds = _RATES[scale]
        return name, 1 / seconds
    return None


def _values(raw: str, value: str) -> tuple[float, ...]:
    """Return the values of all trials, or only the mean."""
    trials = raw.split(":") if raw else []
    found = [one for one in trials if _NUMBER.fullmatch(one.strip())]
    return tuple(float(one) for one in (found if len(found) == len(trials) and found else _NUMBER.findall(value)[:1]))


def _of_xml(text: str) -> Iterator[_Measured]:
    # Only complete results count. A file that is cut off also contains others.
    for piece in text.split("<Result>")[1:]:
        result, end, _ = piece.partition("</Result>")
        head, data, entries = result.partition("<Data>")
        if not end or not data:
            continue
        tags = {found["tag"]: html.unescape(found["text"]).strip() for found in _TAG.finditer(head)}
        title = f"{tags.get('Title', '')} {tags.get('AppVersion', '')}".strip()
        for entry in entries.split("<Entry>")[1:]:
            of_entry = {found["tag"]: html.unescape(found["text"]).strip() for found in _TAG.finditer(entry)}
            values = _values(of_entry.get("RawString", ""), of_entry.get("Value", ""))
            yield _Measured(
                title, tags.get("Description", ""), tags.get("Scale", ""), of_entry.get("Identifier", ""), values
            )


def _of_json(text: str) -> Iterator[_Measured]:
    for document in json_objects(text):
        results = document.get("results")
        for result in results.values() if isinstance(results, dict) else ():
            systems = result.get("results") if isinstance(result, dict) else None
            if not isinstance(systems, dict):
                continue
            title = " ".join(filter(None, (_text(result, "title"), _text(result, "app_version"))))
            for system, entry in systems.items():
                values = _of_entry(entry)
                yield _Measured(title, _text(result, "description"), _text(result, "scale"), str(system), values)


def _of_entry(entry: Any) -> tuple[float, ...]:
    if not isinstance(entry, dict):
        return ()
    raw = entry.get("raw_values")
    trials = ":".join(map(json.dumps, raw)) if isinstance(raw, Sequence) and not isinstance(raw, str) else ""
    return _values(trials, str(entry.get("value", "")))


def _text(parent: dict[str, Any], key: str) -> str:
    value = parent.get(key)
    return value.strip() if isinstance(value, str) else ""


def _of_trials(text: str) -> Iterator[_Measured]:
    """Yield the tests in the output of a run: the name and options of a test, a value per trial, and their average."""
    title = description = ""
    trials: list[str] = []
    for line in text.splitlines():
        if (average := _AVERAGE.match(line)) is not None:
            yield _Measured(title, description, average["scale"], "", _values(":".join(trials), average["value"]))
            trials = []
        elif (heading := _HEADING.match(line)) is not None:
            # The name of a test is not indented. Its options follow below it.
            if line[:1].isspace():
                description = heading["text"]
            else:
                title, description = heading["text"], ""
            trials = []
        elif _NUMBER.fullmatch(line.strip()):
            trials.append(line.strip())


def _of_graphs(text: str) -> Iterator[_Measured]:
    """Yield the tests in graphs as text: two lines with the test and its options, the scale, and a bar per system."""
    above: list[str] = []
    scale: str | None = None
    for line in text.splitlines():
        if not line.strip():
            continue
        if (better := _BETTER.match(line)) is not None:
            scale = better["scale"]
        elif scale is not None and (bar := _BAR.match(line)) is not None:
            title, description = ([""] * 2 + above)[-2:]
            yield _Measured(title, description, scale, bar["name"].strip(), (float(bar["value"]),))
        elif scale is not None:
            above, scale = [line.strip()], None
        else:
            above.append(line.strip())
