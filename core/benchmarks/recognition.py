"""Recognising which tools have printed a text: by its contents and, for the logs of fio, by the name of its file."""

from collections.abc import Sequence
from contextlib import suppress

from core.benchmarks.fio.log_output import parse_fio_log
from core.benchmarks.model import Output
from core.benchmarks.reading import unreadable
from core.benchmarks.tools import readers
from core.errors import ParseError
from core.text import first_line

_BINARY = "\ufffd"
_MOST_BINARY = 0.05
"""The largest share of binary characters at the beginning of a text. A crash may leave some in the output of a tool."""
_LOOKED_AT = 4096


def read_output(tool: str, text: str, file: str = "") -> Output:
    """Return the results in the output of the tool.

    Args:
        tool: the name of the tool.
        text: its output.
        file: the name of the file, because the logs of fio do not say themselves what they contain.

    Raises:
        ParseError: it contains no result of that tool.
    """
    if tool == "fio" and file.endswith(".log"):
        with suppress(ParseError):
            return parse_fio_log(text, file)
    return readers()[tool].parse(text)


def recognised(text: str, file: str = "") -> tuple[Output, ...]:
    """Return the results of each tool in the text. Mostly there is one tool; a forum post may show several.

    Raises:
        ParseError: it contains no result of any tool.
    """
    beginning = text[:_LOOKED_AT]
    if beginning.count(_BINARY) > _MOST_BINARY * len(beginning):
        raise ParseError("the input is not a text", "give the output of a benchmark tool, or a file written by it")
    found = []
    for tool in readers():
        try:
            found.append(read_output(tool, text, file))
        except ParseError:
            continue
    if not found:
        raise unreadable("the output", f"that of {_listed(tuple(readers()))}", first_line(text))
    return tuple(found)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
