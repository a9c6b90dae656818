"""The parser of iperf3's output: its JSON (also as a stream of events, since 3.17), or its plain-text report.

Source: iperf_api.c of iperf3. The rate of the receiver is the rate of the network. Some of the data that were sent may
still be in the socket's buffer of the sender. With UDP before 3.2 there is only the sum of the sender. If both
directions are tested (`--bidir`), the direction from the client counts. The report rounds to three digits; its
prefixes mean powers of 1000 for bits, and of 1024 for bytes. Several streams have a line `[SUM]`.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core import units
from core.benchmarks.reading import json_objects
from core.errors import ParseError
from core.text import lines_of

_SHOWN = 120
_MOST = 1e30
"""More than any network can transfer. Excludes infinity and NaN too."""
_LINE = re.compile(
    r"""
    ^\[\s*(?P<stream>SUM|\d+)\]
    (?P<direction>\[[TR]X-[CS]\])?                  # --bidir names direction and side
    \s+[\d.]+-\s*[\d.]+\s+sec
    \s+[\d.]+\s+[KMGT]?Bytes
    \s+(?P<rate>\d{1,12}(?:\.\d{1,6})?)\s(?P<prefix>[KMGT]?)(?P<unit>bits|Bytes)/sec
    (?P<rest>[^\r\n]{0,80}?)\s+(?P<role>sender|receiver)\b
    """,
    re.VERBOSE | re.MULTILINE,
)
_STREAM = re.compile(r"^\[\s*(?P<stream>\d+)\](?!\[RX-C\])(?:\[[TR]X-[CS]\])?\s+[\d.]+-", re.MULTILINE)
_INTERVAL = re.compile(
    r"""
    ^\[\s*(?P<stream>SUM|\d+)\]
    (?P<direction>\[[TR]X-[CS]\])?
    \s+(?P<begin>\d{1,9}\.\d{1,3})-\s*(?P<end>\d{1,9}\.\d{1,3})\s+sec
    \s+[\d.]+\s+[KMGT]?Bytes
    \s+(?P<rate>\d{1,12}(?:\.\d{1,6})?)\s(?P<prefix>[KMGT]?)(?P<unit>bits|Bytes)/sec\b
    """,
    re.VERBOSE | re.MULTILINE,
)
_END = re.compile(r'"end"\s*:\s*\{')
_SUM = re.compile(r'"sum"\s*:\s*(\{[^{}]{1,2000}\})')
_LONGEST = 1e9
"""Seconds that a test takes."""
_RETRANSMITS = re.compile(r"\s+(\d{1,12})")
_ERROR = re.compile(r"^iperf3: error - (?P<said>[^\r\n]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Iperf3Summary:
    """The rates of a test in bits per second, and the number of retransmits; None if the output does not contain it."""

    sent_bits_per_second: float | None = None
    received_bits_per_second: float | None = None
    retransmits: int | None = None


def parse_iperf3_summary(text: str) -> Iperf3Summary:
    """Return the rates of sender and receiver in the last test of the text.

    Raises:
        ParseError: there is no result, iperf3 reported an error, which is quoted, or no data arrived.
    """
    ends = list(_ends(text))
    if not ends and (found := _ERROR.search(text)) is not None:
        raise ParseError(f"iperf3: expected a result, found its error: {found['said'].strip()}")
    summary = _of_json(ends[-1]) if ends else _of_report(text)
    if summary is None:
        if not ends and (error := _cut_off(text)) is not None:
            raise error
        first = next((line.strip() for line in lines_of(text) if line.strip()), "")
        said = f"found: {' '.join(first[:_SHOWN].split())}" if first else "found nothing"
        raise ParseError(f"iperf3: expected its JSON or its report with the sums of sender and receiver, {said}")
    return summary


def _cut_off(text: str) -> ParseError | None:
    """Return the error for an output that begins as iperf3's, but has no end: it says what there is of the test."""
    told = list(_intervals_of_json(text)) or list(_intervals_of_report(text))
    if told:
        seconds = sum(each for each, _ in told)
        mean = units.bits(sum(each * rate for each, rate in told) / seconds)
        return ParseError(
            "iperf3: the output is cut off before the sums of sender and receiver. Its intervals cover "
            f"{units.duration(seconds)}, with {mean} on average"
        )
    if '"start"' in text and '"connected"' in text:
        return ParseError("iperf3: the output is cut off before its first interval, so that it has no result")
    return None


def _intervals_of_json(text: str) -> Iterator[tuple[float, float]]:
    """Yield seconds and rate of each whole interval before the end, in one document or in a stream of events."""
    if '"intervals"' in text or '"event"' in text:
        end = _END.search(text)
        for found in _SUM.finditer(text, 0, len(text) if end is None else end.start()):
            with suppress(ValueError):
                told = json.loads(found[1])
                seconds, rate = told.get("seconds"), _rate(told)
                if isinstance(seconds, float) and 0 < seconds < _LONGEST and rate and not told.get("omitted"):
                    yield seconds, rate


def _intervals_of_report(text: str) -> Iterator[tuple[float, float]]:
    lines = [line for line in _INTERVAL.finditer(text) if line["direction"] != "[RX-C]"]
    sums = [line for line in lines if line["stream"] == "SUM"]
    # streams at the same time cannot be put one behind the other; a report that has its end was not cut off
    if _LINE.search(text) is None and (sums or len({line["stream"] for line in lines}) == 1):
        for line in sums or lines:
            seconds, rate = float(line["end"]) - float(line["begin"]), _bits(line)
            if seconds > 0 and rate:
                yield seconds, rate


def _ends(text: str) -> Iterator[dict[str, Any]]:
    """Yield the object `end` of each test."""
    for found in json_objects(text):
        said = found.get("error") or (found.get("data") if found.get("event") == "error" else None)
        if said:
            raise ParseError(f"iperf3: expected a result, found its error: {json.dumps(said).strip(chr(34))}")
        end = found.get("data") if found.get("event") == "end" else found.get("end")
        if isinstance(end, dict):
            yield end


def _of_json(end: dict[str, Any]) -> Iperf3Summary | None:
    sent, received = _table(end, "sum_sent") or _table(end, "sum"), _table(end, "sum_received")
    if received and not _rate(received):
        return None  # no data arrived: what was sent only filled a socket's buffer
    summary = Iperf3Summary(_rate(sent), _rate(received), _count(sent.get("retransmits")))
    return summary if summary.sent_bits_per_second or summary.received_bits_per_second else None


def _table(end: dict[str, Any], name: str) -> dict[str, Any]:
    value = end.get(name)
    return value if isinstance(value, dict) else {}


def _rate(table: dict[str, Any]) -> float | None:
    value = table.get("bits_per_second")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _MOST:
        return None
    return float(value)


def _count(value: object) -> int | None:
    """Return a count; None if the platform does not report it, for which some versions print -1."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _bits(line: re.Match[str]) -> float:
    base = 1000 if line["unit"] == "bits" else 1024
    bits = float(line["rate"]) * float(base ** " KMGT".index(line["prefix"] or " "))
    return bits if base == 1000 else 8 * bits


def _of_report(text: str) -> Iperf3Summary | None:
    rates: dict[str, float] = {}
    retransmits: int | None = None
    found = [line for line in _LINE.finditer(text) if line["direction"] != "[RX-C]"]
    sums = [line for line in found if line["stream"] == "SUM"]
    if not sums and len({line["stream"] for line in _STREAM.finditer(text)}) > 1:
        return None  # the report ends before the sums
    for line in sums or found:
        rates[line["role"]] = _bits(line)
        if line["role"] == "sender" and (counted := _RETRANSMITS.fullmatch(line["rest"])) is not None:
            retransmits = int(counted[1])
    if not rates.get("receiver", rates.get("sender", 0)):
        return None
    return Iperf3Summary(rates.get("sender"), rates.get("receiver"), retransmits)
