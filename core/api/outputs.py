"""Read outputs that somebody else has produced: of benchmark tools, rsync, iperf3 and others. No history is needed."""

from collections.abc import Sequence

from core.benchmarks.model import Output
from core.benchmarks.tools import parsers, read_output, readers
from core.comparison.foreign_outputs import compare_outputs, incomplete
from core.comparison.model import Comparison
from core.errors import InputError, ParseError
from core.facts.block_devices import parse_arrays
from core.facts.control_data import read_control_data
from core.facts.versions import parse_version
from core.migration.probing.iperf3 import parse_iperf3_summary
from core.migration.transports.rsync_output import parse_rsync

__all__ = [
    "compare_outputs",
    "incomplete",
    "parse_arrays",
    "parse_iperf3_summary",
    "parse_rsync",
    "parse_version",
    "parsers",
    "read_control_data",
    "read_output",
    "read_outputs",
    "readers",
    "tools_with_outputs",
]


def tools_with_outputs() -> tuple[str, ...]:
    """Return the names of the tools whose outputs can be read, sorted."""
    return tuple(sorted(parsers()))


def read_outputs(named: Sequence[tuple[str, str]], tool: str | None = None) -> tuple[str, Comparison]:
    """Return the tool and a comparison of outputs of benchmark tools; a single output is shown alone.

    Args:
        named: the name and the text of each output.
        tool: the tool that wrote them; None for the first tool that can read them all.

    Raises:
        InputError: there is no output.
        ParseError: no tool, or not this one, can read all of them.
    """
    texts = [(name, text) for name, text in named if text.strip()]
    if not texts:
        raise InputError("there is no output to read", "open a file, or paste the output of a tool")
    tools = [tool] if tool is not None else list(readers())
    last_error: ParseError | None = None
    for name_of_tool in tools:
        try:
            read = [(name, _read(name_of_tool, name, text)) for name, text in texts]
        except ParseError as error:
            last_error = error
            continue
        placeholder = [("nothing else", Output(name_of_tool, None, ()))] if len(read) == 1 else []
        return name_of_tool, compare_outputs([*read, *placeholder])
    if tool is not None and last_error is not None:
        raise last_error
    raise ParseError(
        f"no known tool has written this output: {', '.join(name for name, _ in texts)}",
        f"pghaul can read {', '.join(tools)}; give the complete output, and outputs of only one tool",
    )


def _read(tool: str, name: str, text: str) -> Output:
    try:
        return read_output(tool, text, name)
    except ParseError as error:
        raise ParseError(f"{name}: {error.message}", error.hint) from error
