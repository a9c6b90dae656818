"""Common parts of the parsers of the benchmark tools: lines, JSON objects, and the error for unreadable text."""

import json
import re
from collections.abc import Iterator
from typing import Any

from core.errors import ParseError
from core.text import first_line

__all__ = ["WithoutResultError", "first_line", "json_objects", "lines", "no_result", "unreadable"]

_SHOWN = 160
_LONGEST_LINE = 20_000
# No counter has that many digits.
_OVERLONG_NUMBER = re.compile(r"\d{25}")
_OBJECT = re.compile(r"^[^\S\n]*\{", re.MULTILINE)
_FAILURES = 1000


def unreadable(tool: str, expected: str, line: str) -> ParseError:
    """Return the error for a text or a value: one line with the tool, what was expected, and what was found."""
    # It must be one line on a terminal, however many spaces or tabs it contains.
    shown = " ".join(line[: 2 * _SHOWN].split())
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
    found = f"found: {shown}" if shown else "found nothing"
    return ParseError(f"{tool}: expected {expected}, {found}", "give the complete output of the tool, unchanged")


class WithoutResultError(ParseError):
    """The text is an output of the tool, but has no result, such as that of a run that was cut off."""


_BEGINNINGS = {
    "bonnie": re.compile(
        r"-{3}Sequential Output-{2}|^Writing (?:with putc|a byte at a time|intelligently)", re.MULTILINE
    ),
    "dd": re.compile(r"^\d{1,18}\+\d{1,18} \w", re.MULTILINE),
    "fio": re.compile(r'^fio-\d\.\d|: \(g=\d{1,9}\): rw=|"fio version"|^[3-5];fio-\d', re.MULTILINE),
    "hammerdb": re.compile(r"^Vuser \d{1,9}:", re.MULTILINE),
    "hdparm": re.compile(r"^ ?Timing (?:buffered|cached|O_DIRECT) ", re.MULTILINE),
    "ioping": re.compile(r"^\d{1,9}(?:\.\d{1,9})? \w{1,3} (?:<<<|>>>|from|to) \S", re.MULTILINE),
    "pg_test_fsync": re.compile(r"^Compare file sync methods using", re.MULTILINE),
    "pgbench": re.compile(r"^pgbench \(\d|^starting vacuum\.\.|^transaction type: |^progress: \d", re.MULTILINE),
    "sysbench": re.compile(r"^sysbench v?\d", re.MULTILINE),
}
"""By what an output of a tool is known before it has a result."""


def no_result(tool: str, expected: str, text: str) -> ParseError:
    """Return the error for a text without a result: WithoutResultError if it is an output of the tool all the same."""
    if _BEGINNINGS[tool].search(text) is None:
        return unreadable(tool, expected, first_line(text))
    last = next(line for line in reversed(text.splitlines()) if line.strip())
    return WithoutResultError(
        f"{tool}: this output was cut off, or its run has no result. Expected {expected}. The last line is: "
        f"{' '.join(last[:_SHOWN].split())}",
        "give the complete output of the tool, unchanged",
    )


def lines(text: str) -> Iterator[str]:
    """Return the lines with their line ends, by which a number that is cut off at the end of the text is recognised.

    Carriage returns end lines too, because progress is overwritten with them. Very long lines and numbers are left out.
    No tool prints them, so they are damaged or malicious.
    """
    return (
        line
        for line in text.splitlines(keepends=True)
        if len(line) <= _LONGEST_LINE and _OVERLONG_NUMBER.search(line) is None
    )


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that begin at the beginning of a line. Other text is ignored.

    If very many braces begin no object, the rest of the text is ignored, because each attempt takes time.
    """
    decoder = json.JSONDecoder()
    position = failures = 0
    # Only at the beginning of a line, because many logs contain braces.
    while failures < _FAILURES and (found := _OBJECT.search(text, position)) is not None:
        try:
            value, position = decoder.raw_decode(text, found.end() - 1)
        except (ValueError, RecursionError):
            position = found.end()
            failures += 1
        else:
            yield value
