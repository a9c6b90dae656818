"""What several subjects' parsers need: numbers and `name=value` lines out of text, and the error when they fail."""

import re
from collections.abc import Iterable

from core.errors import ParseError
from core.text import first_line

__all__ = ["assignments", "first_line", "unreadable", "whole"]

_SHOWN = 120


def unreadable(tool: str, expected: str, line: str) -> ParseError:
    """The error for an output that cannot be read; quotes the first such line, shortened."""
    shown = line.strip()
    shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
    return ParseError(f"{tool}: expected {expected}, but read {shown!r}" if shown else f"{tool}: expected {expected}")


def whole(text: str | None) -> int | None:
    """A whole number of plain ASCII digits, else None. Longer than any counter of a kernel is no number."""
    # int() also takes `1_000`, ` 5 ` and digits of other scripts
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,30}", text.strip()) else None


def assignments(lines: Iterable[str]) -> dict[str, str]:
    """The `name=value` lines as a dictionary; others are skipped, a later one wins, quotes around a value go."""
    found = {}
    for line in lines:
        name, equals, value = line.strip().partition("=")
        if equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            found[name] = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    return found
