"""What the parsers of the benchmark tools share: lines, numbers' ends, and how they say that a text cannot be read."""

import json
import re
from collections.abc import Iterator
from typing import Any

from core.errors import ParseError
from core.text import first_line

__all__ = ["first_line", "json_objects", "lines", "unreadable"]

_SHOWN = 160
_LONGEST_LINE = 20_000
# no counter has as many digits
_OVERLONG_NUMBER = re.compile(r"\d{25}")
_OBJECT = re.compile(r"^[^\S\n]*\{", re.MULTILINE)
_FAILURES = 1000


def unreadable(tool: str, expected: str, line: str) -> ParseError:
    """The error for a text or a value: one line with the tool, what was expected, and what stands there instead."""
    # one line for a terminal, however many blanks or tabs it holds
    shown = " ".join(line[: 2 * _SHOWN].split())
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
    found = f"found: {shown}" if shown else "found nothing"
    return ParseError(f"{tool}: expected {expected}, {found}", "give the tool's whole output, as it printed it")


def lines(text: str) -> Iterator[str]:
    """The lines with their ends, so that a number cut off at the text's end can be told from a whole one.

    Carriage returns end lines too: progress is overwritten with them. No tool prints lines or numbers as long as those
    that are left out, which are damage or malice.
    """
    return (
        line
        for line in text.splitlines(keepends=True)
        if len(line) <= _LONGEST_LINE and _OVERLONG_NUMBER.search(line) is None
    )


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that begin a line of the text, one after the other, whatever stands around them.

    A text with very many braces that begin no object is given up on: trying each takes its time.
    """
    decoder = json.JSONDecoder()
    position = failures = 0
    # only at the beginning of a line: braces stand in many a log
    while failures < _FAILURES and (found := _OBJECT.search(text, position)) is not None:
        try:
            value, position = decoder.raw_decode(text, found.end() - 1)
        except (ValueError, RecursionError):
            position = found.end()
            failures += 1
        else:
            yield value
