"""`pghaul report`: the PDF for whoever decides."""

import argparse
from pathlib import Path

from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show
from core.errors import InputError


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    report = nouns.add_parser("report", help="write what is known of a move as a PDF")
    report.add_argument("move")
    report.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.pdf")
    report.add_argument("--functions", action="store_true", help="append the functions that the plan's steps call")
    add_common(report)
    report.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core import actions

    if options.output.suffix.lower() != ".pdf":
        raise InputError(f"{options.output} is no name of a PDF", "give one that ends in .pdf")
    path = actions.report(context.session, options.move, options.output, functions=options.functions)
    if options.json:
        print_document({"report": path})
    else:
        show(str(path))
    return 0
