"""`pghaul import MOVE [FILE|FOLDER...]`: outputs that somebody else produced, into the history."""

import argparse
from pathlib import Path

from core.cli.context import Choices, Context, add_common, print_document
from core.cli.inputs import read_input
from core.cli.terminal import show, table
from core.errors import InputError
from core.jobs import Note
from core.text import printable

_DESCRIPTION = """\
Take outputs that somebody else produced into the history, as runs of a volume on no server: elsewhere:/NAME.
Whose they are is recognised. Each file is a volume of its own; of a folder each file that can be read.
What was aborted or failed is kept and never counts. pghaul compare takes elsewhere:/NAME for a volume, and
holds a run of it by its number against any run of the same tool."""
MOST_FILES = 1000
PASTED = "pasted"


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    imported = nouns.add_parser("import", help="take outputs of others into the history", description=_DESCRIPTION)
    imported.add_argument("move", help="whose history they belong to")
    imported.add_argument(
        "files", nargs="*", default=["-"], metavar="FILE|FOLDER", help="the outputs; - or nothing for stdin"
    )
    imported.add_argument(
        "--name", metavar="NAME", help="one volume elsewhere:/NAME for all: results of one name are repetitions then"
    )
    imported.add_argument(
        "--tool",
        choices=Choices(_tools),
        metavar="TOOL",
        help="whose they are (default: it is recognised): %(choices)s",
    )
    add_common(imported)
    imported.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.actions.imports import import_outputs

    files = [named for word in options.files for named in _texts(context, word)]
    imported = import_outputs(context.session, options.move, files, options.name, options.tool)
    for one in imported.unread:
        context.job.report(Note(f"{one.file}: {one.why}: left out", "warning"))
    if options.json:
        print_document(imported)
        return 0
    head = ("run", "volume", "workload", "tool", "outcome")
    rows = [
        (
            str(run.id),
            f"{run.volume.server}:{run.volume.mount_point}",
            run.workload.title,
            run.program,
            str(run.outcome),
        )
        for run in imported.runs
    ]
    show(table(head, [tuple(map(printable, row)) for row in rows]))
    return 0


def _texts(context: Context, word: str) -> list[tuple[str, str]]:
    """Name and text of a file, or of each below a folder."""
    if word == "-":
        return [(PASTED, read_input("-"))]
    path = Path(word)
    if not path.is_dir():
        return [(path.name, read_input(word))]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    if len(files) > MOST_FILES:
        raise InputError(f"{word} holds {len(files)} files, and {MOST_FILES} are read at a time", "give a folder in it")
    found = []
    for file in files:
        try:
            found.append((str(file.relative_to(path)), read_input(str(file))))
        except InputError as error:
            context.job.report(Note(f"{error.message}: left out", "warning"))
    if not found:
        raise InputError(f"there is nothing to read in {word}", "name the folder in which the outputs are")
    return found


def _tools() -> list[str]:
    from core.benchmarks.tools import readers

    return sorted(readers())
