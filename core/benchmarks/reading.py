"""What the parsers of the benchmark tools share: how they say that a text cannot be read."""

from core.errors import ParseError

_SHOWN = 160


def unreadable(tool: str, expected: str, line: str) -> ParseError:
    """The error for a text or a value: one line with the tool, what was expected, and what stands there instead."""
    shown = " ".join(line.split())
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
    found = f"found: {shown}" if shown else "found nothing"
    return ParseError(f"{tool}: expected {expected}, {found}", "give the tool's whole output, as it printed it")


def first_line(text: str) -> str:
    """The first line that is not blank; empty where there is none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
