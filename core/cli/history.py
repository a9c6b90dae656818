"""`pghaul history`: everything that pghaul has recorded."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core import units
from core.benchmarks.model import Run
from core.cli import history_file, history_place
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import say, show, table
from core.migration.model.checks import Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe

if TYPE_CHECKING:
    from core.history.store import Detail

LARGEST_LIMIT = 1_000_000
_NOTE_WIDTH = 60
"""Characters of a note in the list."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    history = nouns.add_parser("history", help="show and manage what pghaul has recorded")
    verbs = history.add_subparsers(dest="verb", metavar="VERB", required=True)

    listed = verbs.add_parser("list", help="list all entries, newest first")
    _limited(listed)
    listed.add_argument(
        "--tag", metavar="WORD", help="list only entries with #WORD in their note; '': entries with any note"
    )
    listed.set_defaults(run=_list)

    note = verbs.add_parser(
        "note",
        help="write a note for an entry of the list",
        description="Write a note for an entry of the list; it replaces an earlier note. A word that begins with # is "
        "a tag, which pghaul history list --tag WORD finds. Without TEXT, the note is printed.",
    )
    _of_the_list(note)
    note.add_argument("text", nargs="?", metavar="TEXT", help="the note; '' removes it")
    add_common(note)
    note.set_defaults(run=_note)

    runs = verbs.add_parser("runs", help="list the benchmark runs of a move")
    runs.add_argument("move", metavar="MOVE", help="name of the move")
    add_common(runs)
    runs.set_defaults(run=_runs)

    show = verbs.add_parser("show", help="show an entry of the list in full, as it was recorded")
    _of_the_list(show)
    add_common(show)
    show.set_defaults(run=_show)

    run = verbs.add_parser("run", help="show a benchmark run with its raw output")
    run.add_argument("number", type=int, metavar="NUMBER", help="number of the run in pghaul history runs")
    add_common(run)
    run.set_defaults(run=_run)

    commands = verbs.add_parser("commands", help="show every command that ran on a server, in full")
    _limited(commands)
    commands.set_defaults(run=_commands)

    where = verbs.add_parser("where", help="show the file or the server of the history")
    add_common(where)
    where.set_defaults(run=_where)
    history_file.register(verbs)
    history_place.register(verbs)

    example = verbs.add_parser("example", help="create an example history of a move that was measured and carried out")
    example.add_argument(
        "folder", type=Path, metavar="FOLDER", help="folder for the example; it is created if it does not exist"
    )
    add_common(example)
    example.set_defaults(run=_example)


def _of_the_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="kind of the entry as in the list: checks, plan, …")
    parser.add_argument("number", type=int, metavar="NUMBER", help="number of the entry as in the list")


def _limited(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--move", metavar="MOVE", help="only entries of this move")
    parser.add_argument("--limit", type=_limit, default=50, metavar="N", help="show at most N entries (default: 50)")
    add_common(parser)


def _limit(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    if not 0 < number <= LARGEST_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {LARGEST_LIMIT}")
    return number


def _list(context: Context, options: argparse.Namespace) -> int:
    entries = context.store.entries(limit=options.limit, move=options.move, tag=options.tag)
    if options.json:
        print_document({"entries": entries})
        return 0
    noted = any(entry.note for entry in entries)
    heads = ("time (UTC)", "kind", "number", "move", "summary", *(["note"] if noted else []))
    rows = [
        (
            f"{e.at:%Y-%m-%d %H:%M:%S}",
            e.kind,
            str(e.reference),
            e.move or "",
            e.title,
            *([_beginning(e.note)] if noted else []),
        )
        for e in entries
    ]
    nothing = _nothing(options.tag)
    show(table(heads, rows, right=(2,)) if rows else nothing)
    return 0


def _beginning(note: str) -> str:
    """Its first line, or as much of it as a list has room for."""
    line, *more = note.splitlines() or [""]
    return line if not more and len(line) <= _NOTE_WIDTH else f"{line[:_NOTE_WIDTH]}…"


def _nothing(tag: str | None) -> str:
    if tag is None:
        return "the history has no entries yet"
    word = tag.lstrip("#")
    return f"no entry has the tag #{word}" if word else "no entry has a note"


def _note(context: Context, options: argparse.Namespace) -> int:
    from core.history.log import tags_of

    store, kind, number = context.store, options.kind, options.number
    if options.text is not None:
        store.set_note(kind, number, options.text)
        _say_masked(options.text)
    note = store.note(kind, number)
    if options.json:
        print_document({"kind": kind, "number": number, "note": note, "tags": tags_of(note)})
    else:
        _print_lines(note or f"{kind} {number} has no note")
    return 0


def _say_masked(typed: str) -> None:
    from core.redaction import MASK, secret_words

    if words := secret_words(typed):
        say(f"pghaul: secrets are not recorded: {MASK} replaces the value of {', '.join(words)}")


def _runs(context: Context, options: argparse.Namespace) -> int:
    from core.cli.benchmarks import text

    runs = context.store.runs(options.move)
    if options.json:
        print_document({"runs": runs})
    else:
        show(text(runs) if runs else f"no benchmark of {options.move} has run yet")
    return 0


def _run(context: Context, options: argparse.Namespace) -> int:
    run = context.store.run(options.number)
    if options.json:
        print_document(run)
    else:
        _print_lines(run_text(run))
    return 0


def run_text(run: Run) -> str:
    """A run for people, with the raw output of each repetition."""
    from core.comparison.compare import remarks

    where = f"{run.volume.server}:{run.volume.mount_point}"
    lines = [f"run {run.id}: {run.workload.title} on {where}, {run.outcome or 'not finished'}"]
    lines += [run.stopped] if run.stopped else []
    remarks_by_number = remarks(run.workload.headline, run)
    for one in run.repetitions:
        words = ", ".join([str(one.outcome), *(word for word in remarks_by_number[one.number] if word != one.outcome)])
        lines += [
            f"\nrepetition {one.number}, {one.started_at:%Y-%m-%d %H:%M:%S} UTC, {words}",
            *(f"{mark.kind}: {mark.text}" for mark in one.marks),
            f"$ {one.command}",
            *(f"  {name} = {units.metric(name, value)}" for name, value in one.metrics.items()),
            *([f"  {one.message}"] if one.message else []),
            one.raw,
        ]
    return "\n".join(lines)


def _show(context: Context, options: argparse.Namespace) -> int:
    detail = context.store.detail(options.kind, options.number)
    if options.json:
        print_document({options.kind: detail})
    else:
        _print_lines(_detail_text(detail))
    return 0


def _print_lines(text: str) -> None:
    """Raw outputs of servers among it: none can steer the terminal."""
    show(text.expandtabs())


def _detail_text(detail: "Detail") -> str:
    from core.cli import estimate, execution, facts, migration, moves, probing
    from core.facts.model import Facts

    match detail:
        case Run():
            return run_text(detail)
        case Facts():
            return facts.text(detail)
        case Probe():
            return f"{probing.probes_text((detail,))}\n\n$ {detail.command}\n{detail.raw}"
        case Estimate():
            return estimate.estimate_text(detail)
        case Plan():
            return migration.plan_text(detail)
        case Execution():
            return execution.text(detail)
        case Move():
            return moves.text(detail)
        case Path():
            return str(detail)
        case Waiver():
            return migration.waiver_text(detail)
        case checks:
            return migration.checks_text(checks, passed=True)


def _commands(context: Context, options: argparse.Namespace) -> int:
    commands = context.store.commands(options.move, limit=options.limit)
    if options.json:
        print_document({"commands": commands})
        return 0
    for command in commands:
        ended = "no exit status" if command.exit_status is None else f"exit status {command.exit_status}"
        title = f"{command.title}, " if command.title else ""
        _print_lines(f"{command.at:%Y-%m-%d %H:%M:%S} {command.user}@{command.server} {title}{ended}")
        _print_lines(f"{command.command}\n")
    return 0


def _where(context: Context, options: argparse.Namespace) -> int:
    if options.json:
        print_document({"history": context.store.name})
    else:
        show(context.store.name)
    return 0


def _example(_context: Context, options: argparse.Namespace) -> int:
    from core.history import example

    path = example.lay(options.folder.absolute())
    if options.json:
        print_document({"history": path, "move": example.MOVE})
    else:
        show(
            f"{path}\nTo use the example, set PGHAUL_DATA to {path.parent}. Then pghaul opens the window with it, and "
            f"pghaul report {example.MOVE} -o {example.MOVE}.pdf writes a report."
        )
    return 0
