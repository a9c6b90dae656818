"""What several parsers need: numbers and `name=value` lines, and the error for text that cannot be read."""

import re
from collections.abc import Iterable

from core.errors import ParseError
from core.text import first_line, lines_of

__all__ = ["first_line", "lines_of", "parse_assignments", "parse_whole_number", "unreadable_error"]

_SHOWN = 120


def unreadable_error(tool: str, expected: str, line: str) -> ParseError:
    """Return the error for output that cannot be read.

    Args:
        tool: the tool that has written it.
        expected: what was expected.
        line: the first line that cannot be read; it is shortened and quoted.
    """
    shown = line.strip()
    shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
    return ParseError(f"{tool}: expected {expected}, but read {shown!r}" if shown else f"{tool}: expected {expected}")


def parse_whole_number(text: str | None) -> int | None:
    """Return a number of at most 30 ASCII digits, or None for anything else."""
    # int() also accepts `1_000`, ` 5 ` and digits of other scripts
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,30}", text.strip()) else None


def parse_assignments(lines: Iterable[str]) -> dict[str, str]:
    """Return the `name=value` lines as a dictionary without quotes around values; a later line wins."""
    found = {}
    for line in lines:
        name, equals, value = line.strip().partition("=")
        if equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            found[name] = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    return found
