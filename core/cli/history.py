"""`pghaul history`: what was done, and what was measured."""

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
    history = nouns.add_parser("history", help="what was done and measured")
    verbs = history.add_subparsers(dest="verb", metavar="VERB", required=True)

    listed = verbs.add_parser("list", help="everything, newest first")
    _limited(listed)
    listed.add_argument("--tag", metavar="WORD", help="only what has #WORD in its note; '': what has a note")
    listed.set_defaults(run=_list)

    note = verbs.add_parser(
        "note",
        help="note something to one line of the list",
        description="Note something to one line of the list, in the stead of what was noted before. A word behind # is "
        "a tag: pghaul history list --tag WORD. Without TEXT the note is printed.",
    )
    _of_the_list(note)
    note.add_argument("text", nargs="?", metavar="TEXT", help="what to note; '' takes the note away")
    add_common(note)
    note.set_defaults(run=_note)

    runs = verbs.add_parser("runs", help="the runs of a move")
    runs.add_argument("move")
    add_common(runs)
    runs.set_defaults(run=_runs)

    show = verbs.add_parser("show", help="what one line of the list is about, as it was then")
    _of_the_list(show)
    add_common(show)
    show.set_defaults(run=_show)

    run = verbs.add_parser("run", help="one run with its raw output")
    run.add_argument("number", type=int, help="as pghaul history runs has it")
    add_common(run)
    run.set_defaults(run=_run)

    commands = verbs.add_parser("commands", help="every command that ran on a server, whole")
    _limited(commands)
    commands.set_defaults(run=_commands)

    where = verbs.add_parser("where", help="the file that holds it all, or its server")
    add_common(where)
    where.set_defaults(run=_where)
    history_file.register(verbs)
    history_place.register(verbs)

    example = verbs.add_parser("example", help="a history to look at: of a move that was measured and carried out")
    example.add_argument("folder", type=Path, metavar="FOLDER", help="where it goes; made if need be")
    add_common(example)
    example.set_defaults(run=_example)


def _of_the_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="as the list has it: checks, plan, …")
    parser.add_argument("number", type=int, help="as the list has it")


def _limited(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--move", help="of one move alone")
    parser.add_argument("--limit", type=_limit, default=50, metavar="N", help="at most so many (default: 50)")
    add_common(parser)


def _limit(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    if not 0 < number <= LARGEST_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {LARGEST_LIMIT}")
    return number


def _list(context: Context, options: argparse.Namespace) -> int:
    entries = context.store.entries(limit=options.limit, move=options.move, tag=options.tag)
    if options.json:
        print_document({"entries": entries})
        return 0
    noted = any(entry.note for entry in entries)
    heads = ("when (UTC)", "kind", "number", "move", "", *(["note"] if noted else []))
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
        return "nothing yet"
    word = tag.lstrip("#")
    return f"nothing has the tag #{word}" if word else "nothing has a note"


def _note(context: Context, options: argparse.Namespace) -> int:
    from core.history.notes import tags_of

    store, kind, number = context.store, options.kind, options.number
    if options.text is not None:
        store.set_note(kind, number, options.text)
        _say_masked(options.text)
    note = store.note(kind, number)
    if options.json:
        print_document({"kind": kind, "number": number, "note": note, "tags": tags_of(note)})
    else:
        _print_lines(note or f"nothing is noted to {kind} {number}")
    return 0


def _say_masked(typed: str) -> None:
    from core.redaction import MASK, secret_words

    if words := secret_words(typed):
        say(f"pghaul: secrets are not kept: {MASK} stands for what was behind {', '.join(words)}")


def _runs(context: Context, options: argparse.Namespace) -> int:
    from core.cli.benchmarks import text

    runs = context.store.runs(options.move)
    if options.json:
        print_document({"runs": runs})
    else:
        show(text(runs) if runs else f"nothing was measured for {options.move} yet")
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
    from core.comparison.samples import remarks

    where = f"{run.volume.server}:{run.volume.mount_point}"
    lines = [f"run {run.id}: {run.workload.title} on {where}, {run.outcome or 'not ended'}"]
    lines += [run.stopped] if run.stopped else []
    said = remarks(run.workload.headline, run)
    for one in run.repetitions:
        words = ", ".join([str(one.outcome), *(word for word in said[one.number] if word != one.outcome)])
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
            return migration.checks_text(checks)


def _commands(context: Context, options: argparse.Namespace) -> int:
    commands = context.store.commands(options.move, limit=options.limit)
    if options.json:
        print_document({"commands": commands})
        return 0
    for command in commands:
        ended = "cut off" if command.exit_status is None else f"exit status {command.exit_status}"
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
            f"{path}\nTo look at it set PGHAUL_DATA to {path.parent}: then pghaul opens the window on it, and "
            f"pghaul report {example.MOVE} -o {example.MOVE}.pdf writes its report."
        )
    return 0
