"""The parser of the last lines that a probe prints: bytes and nanoseconds."""

import re
from dataclasses import dataclass

from core.errors import ParseError
from core.text import lines_of

_LINE = re.compile(r"^(bytes|nanoseconds|connect|flush) (\d{1,19})$", re.MULTILINE)
_LITERAL = re.compile(r"^Literal data: ([\d,]{1,24}) bytes", re.MULTILINE)
_CUT_OFF = re.compile(r"^cut off$", re.MULTILINE)
_SENT = re.compile(r"^Total bytes sent: ([\d,]{1,24})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Timing:
    """The bytes that were transferred, and the time for that.

    Attributes:
        connect_nanoseconds: of a sample, the time for a pass over nothing.
        flush_nanoseconds: of a sample, the time for a flush that has nothing to do.
    """

    bytes: int
    seconds: float
    connect_nanoseconds: int = 0
    flush_nanoseconds: int = 0


def parse_timing(text: str) -> Timing:
    """Return the values of the lines `bytes N` and `nanoseconds M`. Other lines are ignored.

    Raises:
        ParseError: one of the lines is missing, or its value is 0.
    """
    found = {name: int(number) for name, number in _LINE.findall(text)}
    if not found.get("bytes") or not found.get("nanoseconds"):
        raise ParseError(
            f"a probe returned no measurement: {_first(text)!r}", "see its command in the log and run it by hand"
        )
    return Timing(found["bytes"], found["nanoseconds"] / 1e9, found.get("connect", 0), found.get("flush", 0))


def ratio_of(text: str) -> float | None:
    """Return the bytes of files per byte that was sent, over all streams whose `--stats` the text contains.

    Returns None if it contains none, or if a pass was ended early: only the others have printed theirs.
    """
    if _CUT_OFF.search(text):
        return None
    literal = sum(int(found.replace(",", "")) for found in _LITERAL.findall(text))
    sent = sum(int(found.replace(",", "")) for found in _SENT.findall(text))
    return literal / sent if literal and sent else None


def _first(text: str) -> str:
    line = next((line for line in lines_of(text) if line.strip()), "")
    return line if len(line) <= 120 else line[:117] + "..."
