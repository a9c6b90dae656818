"""`pghaul functions`: the shell functions that pghaul runs on the servers, as it sends them."""

import argparse
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show
from core.errors import InputError

if TYPE_CHECKING:
    from core.servers.functions import Function


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    shown = nouns.add_parser("functions", help="show the shell functions that pghaul runs on the servers")
    shown.add_argument(
        "name",
        nargs="*",
        metavar="NAME",
        help="show this function in full, as plans and logs name it (default: list all functions)",
    )
    add_common(shown)
    shown.set_defaults(run=_run)


def _run(_context: Context, options: argparse.Namespace) -> int:
    found = _named(options.name)
    if options.json:
        print_document({"functions": found})
    elif options.name:
        show("\n".join(each.text for each in found).rstrip("\n"))
    else:
        show("\n".join(f"{each.subject:20} {_first_sentence(each)}" for each in found))
    return 0


def _first_sentence(function: "Function") -> str:
    """Its words and what it does, as its comment begins."""
    first, *further = (line.removeprefix("#").strip() for line in function.comment.splitlines() or [function.name])
    words, _, begun = first.partition("   ")
    said = " ".join((begun, *further)).strip()
    return f"{words}   {re.split(r'(?<=[.]) ', said, maxsplit=1)[0]}"


def _named(names: list[str]) -> "tuple[Function, ...]":
    """These functions, or all, subject by subject; raises InputError where there is none of a name."""
    from core.servers.functions import functions

    known = functions()
    unknown = [name for name in names if name not in known]
    if unknown:
        near = get_close_matches(unknown[0], known, n=3)
        hint = f"did you mean {', '.join(near)}? " if near else ""
        raise InputError(f"there is no function {unknown[0]}", f"{hint}list all functions with: pghaul functions")
    return tuple(known[name] for name in names) or tuple(known.values())
