"""`pghaul diagnose`: what explains poor results of a storage, and what to try."""

import argparse

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show
from core.comparison.model import Diagnosis, Finding
from core.comparison.sets import is_place_on_server
from core.errors import InputError
from core.text import printable

_DESCRIPTION = """\
Explain poor benchmark results of both servers, or of the volumes that you name, and point out settings that will cause
them. Without a move, name volumes of any servers: pghaul diagnose db1:/srv/pg. Each finding shows the values that it is
based on and what to try."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    diagnose = nouns.add_parser(
        "diagnose", help="explain poor benchmark results and suggest what to try", description=_DESCRIPTION
    )
    diagnose.add_argument(
        "move",
        metavar="MOVE | SERVER:/PATH",
        help="name of the move; or a volume of any server, such as db1:/srv/pg, without a move",
    )
    diagnose.add_argument(
        "places",
        nargs="*",
        metavar="SIDE:PATH | SERVER:/PATH",
        help="examine these volumes instead of the move's two volumes, for example old:/mnt/a; or further volumes of "
        "any servers",
    )
    diagnose.add_argument("--side", choices=("old", "new"), help="examine only this server (default: both)")
    diagnose.add_argument(
        "--last", action="store_true", help="use the facts that were read last; connect only to a server without any"
    )
    add_common(diagnose, server=True)
    diagnose.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.api import comparison as actions
    from core.sides import Side

    sides = [Side(options.side)] if options.side else list(Side)
    if options.side and options.places:
        raise InputError("--side cannot be combined with volumes", "leave out one of them")
    refresh = not options.last
    if is_place_on_server(options.move):
        if options.side:
            raise InputError("--side needs a move", "leave it out")
        places = [options.move, *options.places]
        found = actions.diagnose_volumes(context.session, places, context.job, refresh=refresh)
    else:
        context.refuse_server(options.move)
        found = actions.diagnose(
            context.session, options.move, context.job, sides, places=options.places, refresh=refresh
        )
    if options.json:
        print_document(found)
    else:
        show("\n\n".join(text(diagnosis) for diagnosis in found))
    return 0


def text(diagnosis: Diagnosis) -> str:
    """A diagnosis for people."""
    of = printable(diagnosis.measured.name)
    looked = f"based on facts of {diagnosis.facts_taken_at:%Y-%m-%d %H:%M} UTC, {_figures(diagnosis.figures)}"
    unused = [_unused(diagnosis.unused)] if diagnosis.unused else []
    if not diagnosis.findings:
        return "\n".join([f"{of}: no findings ({looked})", *unused])
    return "\n".join([f"{of} ({looked})", *unused, *(_finding(finding) for finding in diagnosis.findings)])


def _unused(number: int) -> str:
    do = "does" if number == 1 else "do"
    runs = units.counted(number, "run")
    return f"  {runs} on this volume {do} not count, because another machine had the same name then"


def _figures(number: int) -> str:
    return units.counted(number, "measured value") if number else "no measurements yet"


def _finding(finding: Finding) -> str:
    evidence = "\n".join(f"    {printable(sentence)}" for sentence in finding.evidence)
    tries = "\n".join(f"    try: {printable(sentence)}" for sentence in finding.advice)
    return f"\n  {finding.title}\n{evidence}\n{tries}"
