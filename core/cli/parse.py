"""`pghaul parse TOOL [FILE]`: read an output that somebody else produced."""

import argparse
from collections.abc import Callable

from core import units
from core.benchmarks.model import Output
from core.cli.context import Context, add_common, print_document
from core.cli.migration import read_input
from core.cli.terminal import table


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    parse = nouns.add_parser("parse", help="read a tool's output that somebody else produced")
    parse.add_argument("tool", choices=sorted(_parsers()))
    parse.add_argument("file", nargs="?", default="-", help="the output; - or nothing for stdin")
    add_common(parse)
    parse.set_defaults(run=_run)


def _parsers() -> dict[str, Callable[[str], object]]:
    from core.benchmarks.dd import parse_dd
    from core.benchmarks.fio import parse_fio

    return {"dd": parse_dd, "fio": parse_fio}


def _run(context: Context, options: argparse.Namespace) -> int:  # noqa: ARG001  every subcommand has this shape
    parsed = _parsers()[options.tool](read_input(options.file))
    if options.json:
        print_document(parsed)
    elif isinstance(parsed, Output):
        for result in parsed.results:
            rows = [(name, units.metric(name, value)) for name, value in result.metrics.items()]
            print(f"{parsed.tool} {parsed.version or ''} {result.name}\n{table(('metric', 'value'), rows, right=(1,))}")
    return 0
