"""The end of rsync's output: the two lines of every run with -v or --stats, and the block of --stats.

Sources: rsync's NEWS and main.c. Since 3.1 numbers are grouped by the locale's comma or point, and the other one is the
decimal sign. With -h numbers from 1000 are scaled by 1000 to two decimals and a letter. With -hh they are scaled by
1024, which the output does not show: it is read as 1000. `--info=progress2` counts against the total size, so that a
finished run may end far from 100 %: its lines are not read.
"""

import re
from dataclasses import dataclass

from core.errors import ParseError
from core.text import lines_of

_SHOWN = 120
_SCALE = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_INTEGER = r"\d{1,3}(?:[.,'\u2019\u00a0\u202f]\d{3}){1,6}|\d{1,20}"
_SCALED = r"\d{1,4}[.,]\d\d[KMGTP]"
_NUMBER = rf"(?:{_SCALED}|{_INTEGER})"
_REAL = rf"(?:{_SCALED}|(?:{_INTEGER})[.,]\d\d)"

_SENT = re.compile(
    rf"""
    ^(?:sent|wrote)\s(?P<bytes_sent>{_NUMBER})\sbytes
    \s+(?:received|read)\s(?P<bytes_received>{_NUMBER})\sbytes
    \s+(?P<bytes_per_second>{_REAL})\sbytes/sec
    """,
    re.VERBOSE | re.MULTILINE,
)
_TOTAL = re.compile(
    rf"""
    ^total\ssize\sis\s(?P<total_size_bytes>{_NUMBER})
    \s+speedup\sis\s(?P<speedup>{_REAL})(?!\d)
    (?P<dry_run>\s\(DRY\sRUN\))?
    """,
    re.VERBOSE | re.MULTILINE,
)
_STATS = {
    "files": r"Number of files",
    "files_transferred": r"Number of (?:regular )?files transferred",
    "total_size_bytes": r"Total file size",
    "transferred_size_bytes": r"Total transferred file size",
    "literal_bytes": r"Literal data",
    "matched_bytes": r"Matched data",
    "bytes_sent": r"Total bytes sent",
    "bytes_received": r"Total bytes received",
}
_BLOCK = re.compile(r"^Number of files:", re.MULTILINE)
_REALS = {"bytes_per_second", "speedup"}


@dataclass(frozen=True, slots=True)
class RsyncSummary:
    """What one run of rsync transferred; None if the output does not contain it."""

    bytes_sent: int | None = None
    bytes_received: int | None = None
    total_size_bytes: int | None = None
    transferred_size_bytes: int | None = None
    files: int | None = None
    files_transferred: int | None = None
    literal_bytes: int | None = None
    matched_bytes: int | None = None
    bytes_per_second: float | None = None
    speedup: float | None = None
    dry_run: bool | None = None


def parse_rsync(text: str) -> RsyncSummary:
    """Return the summary of an rsync run; of the last run if the text contains several.

    Raises:
        ParseError: there is neither a summary nor a block of --stats, for example after an interrupted run.
    """
    sent, total = _last_match(_SENT, text), _last_match(_TOTAL, text)
    if sent is not None and total is not None and _decimal_sign(sent) != _decimal_sign(total):
        total = None  # the text was cut off within a number: 692,56 of 692,562.79
    found: dict[str, str] = _parse_stats(text, sent)
    for match in (sent, total):
        found |= {name: value for name, value in match.groupdict().items() if value} if match is not None else {}
    dry_run = found.pop("dry_run", None) is not None if total is not None else None
    if not found:
        first = next((line.strip() for line in lines_of(text) if line.strip()), "")
        found_text = f"found: {' '.join(first[:_SHOWN].split())}" if first else "found nothing"
        raise ParseError(f"rsync: expected its summary, a line such as 'sent … bytes  received … bytes', {found_text}")
    numbers = {name: _parse_number(value, real=name in _REALS) for name, value in found.items()}
    counts = {name: round(value) for name, value in numbers.items() if name not in _REALS}
    return RsyncSummary(
        **counts, bytes_per_second=numbers.get("bytes_per_second"), speedup=numbers.get("speedup"), dry_run=dry_run
    )


def _last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007  the last match is returned
        pass
    return found


def _decimal_sign(found: re.Match[str]) -> str:
    """Return the character before the two decimals of a summary line's real number, which may be scaled."""
    return (found["bytes_per_second"] if found.re is _SENT else found["speedup"]).rstrip("KMGTP")[-3]


def _parse_stats(text: str, sent: re.Match[str] | None) -> dict[str, str]:
    """Return the block of --stats that belongs to the summary, or nothing if another summary follows it."""
    block = _last_match(_BLOCK, text)
    if block is None or (sent is not None and _SENT.search(text[block.start() : sent.start()])):
        return {}
    part = text[block.start() :]
    patterns = {name: re.compile(rf"^{label}: ({_NUMBER})(?=\s)", re.MULTILINE) for name, label in _STATS.items()}
    return {name: found[1] for name, pattern in patterns.items() if (found := pattern.search(part)) is not None}


def _parse_number(text: str, *, real: bool) -> float:
    """Return `376.381.250`, `89.74M` or `976.345,77` as a number; a real number ends in two decimals."""
    scale = _SCALE.get(text[-1])
    digits = re.sub(r"\D", "", text)
    if scale is not None:
        return int(digits) / 100 * scale
    return int(digits) / 100 if real else float(int(digits))
