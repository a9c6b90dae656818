"""`pghaul import MOVE|--no-move [FILE|FOLDER...]`: import outputs of benchmark tools that were run without pghaul."""

import argparse
from pathlib import Path

from core.cli.context import Choices, Context, add_common, print_document
from core.cli.terminal import show, table
from core.errors import InputError
from core.inputs import read_input
from core.jobs import Note
from core.text import printable

_DESCRIPTION = """\
Import outputs of benchmark tools that were run without pghaul. They become runs of the volume elsewhere:/NAME, which
belongs to no server. pghaul recognises the tool. Each file becomes a volume of its own; of a folder, each file that can
be read. Results that were aborted or failed are recorded, but do not count. pghaul compare accepts elsewhere:/NAME as a
volume, and compares an imported run, by its number, with any run of the same tool. With --no-move the results belong to
no move; compare them with volumes of servers."""
MOST_FILES = 1000
PASTED = "pasted"


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    imported = nouns.add_parser(
        "import", help="import outputs of benchmark tools into the history", description=_DESCRIPTION
    )
    imported.add_argument(
        "move", nargs="?", metavar="MOVE", help="the move that the results belong to; none with --no-move"
    )
    imported.add_argument("files", nargs="*", metavar="FILE|FOLDER", help="the outputs (default: standard input, -)")
    imported.add_argument("--no-move", action="store_true", help="the results belong to no move")
    imported.add_argument(
        "--name",
        metavar="NAME",
        help="import everything as one volume elsewhere:/NAME; results of the same name become repetitions",
    )
    imported.add_argument(
        "--tool",
        choices=Choices(_tools),
        metavar="TOOL",
        help="the tool that wrote the outputs (default: recognised): %(choices)s",
    )
    add_common(imported)
    imported.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.api.imports import import_outputs

    named_first: list[str] = [] if options.move is None else [options.move]
    if not named_first and not options.no_move:
        raise InputError("no move is given", "name the move that the results belong to, or add --no-move")
    words = [*named_first, *options.files] if options.no_move else options.files
    move = None if options.no_move else options.move
    files = [named for word in words or ["-"] for named in _texts(context, word)]
    imported = import_outputs(context.session, move, files, options.name, options.tool)
    for one in imported.unread:
        context.job.report(Note(f"{one.file}: {one.why}; it is skipped", "warning"))
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
        raise InputError(f"{word} contains {len(files)} files; the limit is {MOST_FILES}", "give one of its subfolders")
    found = []
    for file in files:
        try:
            found.append((str(file.relative_to(path)), read_input(str(file))))
        except InputError as error:
            context.job.report(Note(f"{error.message}; it is skipped", "warning"))
    if not found:
        raise InputError(f"{word} contains no readable file", "name the folder that contains the outputs")
    return found


def _tools() -> list[str]:
    from core.api.outputs import readers

    return sorted(readers())
