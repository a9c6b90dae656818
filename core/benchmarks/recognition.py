"""Whose output a text is: every tool that can read it, by what stands in it and, for fio's logs, by its file's name."""

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
"""Of a text's beginning: what a crash has left in it, not what no program has printed for people."""
_LOOKED_AT = 4096


def read_output(tool: str, text: str, file: str = "") -> Output:
    """What the tool's output says. `file`: its name, as fio's logs do not say by themselves what they hold.

    Raises:
        ParseError: it holds no result of that tool.
    """
    if tool == "fio" and file.endswith(".log"):
        with suppress(ParseError):
            return parse_fio_log(text, file)
    return readers()[tool].parse(text)


def recognised(text: str, file: str = "") -> tuple[Output, ...]:
    """What each tool has printed into the text: mostly one, of a post that shows several all of them.

    Raises:
        ParseError: no tool's result is in it.
    """
    beginning = text[:_LOOKED_AT]
    if beginning.count(_BINARY) > _MOST_BINARY * len(beginning):
        raise ParseError("it is no text", "give what a tool has printed, or a file that it has written")
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
