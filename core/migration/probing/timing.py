"""What a probe's script prints at its end, and how it is read: bytes and nanoseconds."""

import json
import re
from dataclasses import dataclass

from core.errors import ParseError

_LINE = re.compile(r"^(bytes|nanoseconds|connect) (\d{1,19})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Timing:
    """What was moved in which time; `connect_seconds` is what one ssh connection takes by itself."""

    bytes: int
    seconds: float
    connect_seconds: float = 0.0


def parse_timing(text: str) -> Timing:
    """Read `bytes N` and `nanoseconds M`, among other lines.

    Raises:
        ParseError: one of them is missing, or nothing was moved in no time.
    """
    found = {name: int(number) for name, number in _LINE.findall(text)}
    if not found.get("bytes") or not found.get("nanoseconds"):
        raise ParseError(f"a probe measured nothing: {_first(text)!r}", "see its command in the log and run it by hand")
    return Timing(found["bytes"], found["nanoseconds"] / 1e9, found.get("connect", 0) / 1e9)


def parse_iperf3(text: str) -> Timing:
    """What the receiver of `iperf3 --json` got; source: iperf3's own JSON, `end.sum_received`.

    Raises:
        ParseError: no JSON, or iperf3's own error, which is quoted.
    """
    start = text.find("{")
    try:
        document = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError) as error:
        raise ParseError(f"iperf3 printed no JSON: {_first(text)!r}") from error
    if not isinstance(document, dict):
        raise ParseError(f"iperf3 printed no JSON: {_first(text)!r}")
    if document.get("error"):
        raise ParseError(f"iperf3: {document['error']}", "a firewall between the servers may refuse the port")
    end = document.get("end")
    received = end.get("sum_received") or end.get("sum") if isinstance(end, dict) else None
    try:
        timing = Timing(int(received["bytes"]), float(received["seconds"])) if received else None
    except (KeyError, TypeError, ValueError):
        timing = None
    if timing is None or timing.bytes <= 0 or timing.seconds <= 0:
        raise ParseError(f"iperf3's JSON holds no received bytes: {_first(text)!r}")
    return timing


def _first(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 120 else line[:117] + "..."
