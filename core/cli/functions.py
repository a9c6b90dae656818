"""`pghaul functions`: what runs on the servers, as it is sent there."""

import argparse
from typing import TYPE_CHECKING

from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show
from core.errors import InputError

if TYPE_CHECKING:
    from core.servers.functions import Function


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    shown = nouns.add_parser("functions", help="the shell functions that run on the servers, whole, to be read")
    shown.add_argument("name", nargs="*", metavar="NAME", help="these alone, as a call in a plan or a log names them")
    add_common(shown)
    shown.set_defaults(run=_run)


def _run(_context: Context, options: argparse.Namespace) -> int:
    found = _named(options.name)
    if options.json:
        print_document({"functions": found})
    else:
        show("\n".join(each.text for each in found).rstrip("\n"))
    return 0


def _named(names: list[str]) -> "tuple[Function, ...]":
    """These functions, or all, subject by subject; raises InputError where there is none of a name."""
    from core.servers.functions import functions

    known = functions()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"there is no function {unknown[0]}", "pghaul functions lists all of them")
    return tuple(known[name] for name in names) or tuple(known.values())
