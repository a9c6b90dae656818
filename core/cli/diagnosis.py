"""`pghaul diagnose`: what explains poor results of a storage, and what to try."""

import argparse

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show
from core.comparison.model import Diagnosis, Finding
from core.errors import InputError
from core.text import printable

_DESCRIPTION = """\
What explains, or will make, poor results of the storages, or of other volumes of the two servers: each finding with the
values that it rests on and with what to try."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    diagnose = nouns.add_parser(
        "diagnose", help="what explains poor results, and what to try", description=_DESCRIPTION
    )
    diagnose.add_argument("move")
    diagnose.add_argument(
        "places", nargs="*", metavar="SIDE:PATH", help="these volumes instead of the move's two: old:/mnt/a"
    )
    diagnose.add_argument("--side", choices=("old", "new"), help="that side alone")
    diagnose.add_argument("--last", action="store_true", help="by the last facts, without connecting")
    add_common(diagnose, server=True)
    diagnose.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.actions import diagnosis as actions
    from core.benchmarks.model import Side

    sides = [Side(options.side)] if options.side else list(Side)
    if options.side and options.places:
        raise InputError("diagnose takes --side or volumes, not both")
    found = actions.diagnose(
        context.session, options.move, context.job, sides, places=options.places, refresh=not options.last
    )
    if options.json:
        print_document(found)
    else:
        show("\n\n".join(text(diagnosis) for diagnosis in found))
    return 0


def text(diagnosis: Diagnosis) -> str:
    """A diagnosis for people."""
    of = printable(f"{diagnosis.server}:{diagnosis.volume}")
    looked = f"facts of {diagnosis.facts_taken_at:%Y-%m-%d %H:%M} UTC, {_figures(diagnosis.figures)}"
    if not diagnosis.findings:
        return f"{of}: nothing found ({looked})"
    return "\n".join([f"{of} ({looked})", *(_finding(finding) for finding in diagnosis.findings)])


def _figures(number: int) -> str:
    return f"{units.count(number)} figures" if number else "nothing measured yet"


def _finding(finding: Finding) -> str:
    evidence = "\n".join(f"    {printable(sentence)}" for sentence in finding.evidence)
    tries = "\n".join(f"    try: {printable(sentence)}" for sentence in finding.advice)
    return f"\n  {finding.title}\n{evidence}\n{tries}"
