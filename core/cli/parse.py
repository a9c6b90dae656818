"""`pghaul parse TOOL [FILE]`: read an output that somebody else produced."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Choices, Context, add_common, print_document
from core.cli.terminal import show, table
from core.errors import ParseError
from core.inputs import read_input
from core.pasted import plain
from core.text import printable

if TYPE_CHECKING:
    from core.benchmarks.model import Output, Result

Document = dict[str, object]
_ARRAY = ("name", "level", "state", "devices", "degraded", "action", "progress", "finish_seconds")
"""The documented fields of an array; `devices` is printed as their number."""
_COMPLETE = "give the complete output of the program, unchanged"
_MARKS = ("interrupted", "aborted", "errors")
"""What a result may carry where its output is not whole or not clean."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a tool's output says: the document for programs, and tables for people, each with its title."""

    document: Document
    tables: tuple[tuple[str, tuple[str, ...], list[tuple[str, ...]]], ...]


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    parse = nouns.add_parser(
        "parse", help="show the results in the output of a benchmark tool or another known program"
    )
    parse.add_argument(
        "tool", choices=Choices(_tools), metavar="TOOL", help="the program that wrote the output: %(choices)s"
    )
    parse.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="file with the output (default: standard input, -)"
    )
    add_common(parse)
    parse.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:  # noqa: ARG001  every subcommand has this shape
    text = read_input(options.file)
    try:
        parsed = _parsed(options.tool, text, options.file)
    except ParseError as error:
        # one line, which quotes what could not be read
        raise ParseError(printable(error.message), error.hint or _COMPLETE) from error
    if options.json:
        print_document(parsed.document)
        return 0
    for title, head, rows in parsed.tables:
        show(f"{printable(title)}\n{table(head, rows, right=range(1, len(head)))}\n")
    return 0


def _results(output: "Output") -> Parsed:
    """The results; a mark of any of them stands at the top too, for programs that look no further."""
    results = [_result(result) for result in output.results]
    marks = {name: result[name] for result in results for name in _MARKS if name in result}
    document: Document = {"tool": output.tool, "version": output.version, "results": results} | marks
    tool = f"{output.tool} {output.version or ''}".strip()
    tables = []
    for result in output.results:
        rows: list[tuple[str, ...]] = [(name, units.metric(name, value)) for name, value in result.metrics.items()]
        tables.append((f"{tool}: {result.name or 'unnamed'}{_marks(result)}", ("metric", "value"), rows))
    return Parsed(document, tuple(tables))


def _result(result: "Result") -> Document:
    """A result for programs; marks are there only where they are set."""
    marks = {name: getattr(result, name) for name in _MARKS}
    return {"name": result.name, "metrics": result.metrics} | {name: mark for name, mark in marks.items() if mark}


def _marks(result: "Result") -> str:
    marks = [
        *(["interrupted"] if result.interrupted else []),
        *(["aborted"] if result.aborted else []),
        *([f"error {result.errors}"] if result.errors else []),
    ]
    return f" ({', '.join(marks)})" if marks else ""


def _fields(title: str, fields: Mapping[str, object]) -> Parsed:
    rows: list[tuple[str, ...]] = [(name, _shown(name, value)) for name, value in fields.items()]
    return Parsed({"fields": dict(fields)}, ((title, ("field", "value"), rows),))


def _shown(name: str, value: object) -> str:
    if value is None:
        return units.ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    return units.metric(name, value) if isinstance(value, float) else str(value)


def _control_data(text: str) -> Parsed:
    from core.api.outputs import read_control_data

    return _fields("pg_controldata", read_control_data(text))


def _version(text: str) -> Parsed:
    from core.api.outputs import parse_version

    return _fields("version", asdict(parse_version(text)))


def _rsync(text: str) -> Parsed:
    from core.api.outputs import parse_rsync

    return _fields("rsync", _known(asdict(parse_rsync(text))))


def _iperf3(text: str) -> Parsed:
    from core.api.outputs import parse_iperf3_summary

    return _fields("iperf3", _known(asdict(parse_iperf3_summary(text))))


def _known(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that the output tells."""
    return {name: value for name, value in fields.items() if value is not None}


def _mdstat(text: str) -> Parsed:
    from core.api.outputs import parse_arrays

    if not text.strip():
        raise ParseError("mdstat: the input is empty", "give the contents of /proc/mdstat")
    arrays: list[Document] = [
        {name: getattr(array, name) for name in _ARRAY} | {"devices": len(array.devices)}
        for array in parse_arrays(text)
    ]
    head = ("array", "level", "state", "devices", "degraded", "action", "progress", "finish")
    rows: list[tuple[str, ...]] = []
    for array in parse_arrays(text):
        known = (array.name, array.level or units.ABSENT, array.state, str(len(array.devices)))
        action = (array.action or units.ABSENT, units.percent(array.progress), units.duration(array.finish_seconds))
        rows.append((*known, "yes" if array.degraded else "no", *action))
    return Parsed({"arrays": arrays}, (("mdstat", head, rows),))


_OTHERS: Mapping[str, Callable[[str], Parsed]] = {
    "controldata": _control_data,
    "version": _version,
    "rsync": _rsync,
    "iperf3": _iperf3,
    "mdstat": _mdstat,
}
"""What is read besides the outputs of the benchmark tools."""


def _tools() -> list[str]:
    from core.api.outputs import parsers

    return sorted([*parsers(), *_OTHERS])


def _parsed(tool: str, text: str, file: str) -> Parsed:
    from core.api.outputs import read_output

    return _OTHERS[tool](plain(text)) if tool in _OTHERS else _results(read_output(tool, text, file))
