"""`pghaul history`: everything that pghaul has recorded."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import units
from core.benchmarks.model import Run
from core.cli import history_file, history_place
from core.cli.context import Choices, Context, add_common, parse_limit, print_document
from core.cli.terminal import say, show, table
from core.comparison.sets import is_place_on_server
from core.errors import InputError
from core.jobs import Note
from core.migration.model.checks import Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.sides import Side

if TYPE_CHECKING:
    from core.history.store import Detail, Filter

_NOTE_WIDTH = 60
"""Characters of a note in the list."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    history = nouns.add_parser("history", help="show and manage what pghaul has recorded")
    verbs = history.add_subparsers(dest="verb", metavar="VERB", required=True)

    listed = verbs.add_parser(
        "list",
        help="list all entries, newest first",
        description="List the entries of the history, newest first. The options can be combined. To read the next "
        "entries, repeat the command with --older-than and the last entry of the list.",
    )
    _limited(listed)
    listed.add_argument(
        "--kind", choices=Choices(_kinds), metavar="KIND", help="list only entries of this kind: %(choices)s"
    )
    listed.add_argument(
        "--older-than",
        nargs=2,
        action=_EntryAction,
        metavar=("KIND", "NUMBER"),
        help="list only entries that come below this entry of the list",
    )
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

    runs = verbs.add_parser("runs", help="list the benchmark runs of a move, of a server or of a volume")
    of = runs.add_mutually_exclusive_group(required=True)
    of.add_argument(
        "what",
        nargs="?",
        metavar="MOVE | SERVER:/PATH",
        help="name of the move; or a volume of any server, such as db1:/srv/pg",
    )
    of.add_argument(
        "--server", metavar="SERVER", help="list all runs on this server, whether or not they belong to a move"
    )
    runs.add_argument("--side", choices=tuple(Side), help="only runs on this server of the move")
    runs.add_argument("--limit", type=parse_limit, metavar="N", help="show only the newest N runs (default: all)")
    runs.add_argument(
        "--older-than", type=int, metavar="NUMBER", help="show only runs that began before the run of this number"
    )
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
    parser.add_argument("--server", metavar="SERVER", help="only entries of this server")
    parser.add_argument(
        "--since",
        type=history_file.parse_day,
        metavar="DAY",
        help="only entries from this day on, in UTC: 2026-01-31, or 30d for the last 30 days",
    )
    parser.add_argument(
        "--before", type=history_file.parse_day, metavar="DAY", help="only entries before this day, in UTC"
    )
    parser.add_argument(
        "--limit", type=parse_limit, default=50, metavar="N", help="show at most N entries (default: 50)"
    )
    add_common(parser)


def _kinds() -> Sequence[str]:
    from core.history.store import KINDS

    return KINDS


class _EntryAction(argparse.Action):
    """Takes the kind and the number of an entry."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        kind, number = tuple(values or ("", ""))
        if not number.isascii() or not number.isdigit():
            parser.error(f"argument {option_string}: {number!r} is not the number of an entry")
        setattr(namespace, self.dest, (kind, int(number)))


def _list(context: Context, options: argparse.Namespace) -> int:
    from core.history.store import Filter

    store = context.store
    which = Filter(
        move=options.move,
        kind=options.kind,
        server=options.server,
        since=options.since,
        before=options.before,
        tag=options.tag,
        below=None if options.older_than is None else store.place(*options.older_than),
    )
    found = store.entries(options.limit + 1, which)
    entries = found[: options.limit]
    if len(found) > len(entries):
        last = entries[-1]
        context.job.report(Note(f"there are older entries: --older-than {last.kind} {last.reference} lists them"))
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
    show(table(heads, rows, right=(2,)) if rows else _explain_empty(which))
    return 0


def _beginning(note: str) -> str:
    """Its first line, or as much of it as a list has room for."""
    line, *more = note.splitlines() or [""]
    return line if not more and len(line) <= _NOTE_WIDTH else f"{line[:_NOTE_WIDTH]}…"


def _explain_empty(which: "Filter") -> str:
    if which == replace(which, move=None, kind=None, server=None, since=None, before=None, below=None):
        if which.tag is None:
            return "the history has no entries yet"
        word = which.tag.lstrip("#")
        return f"no entry has the tag #{word}" if word else "no entry has a note"
    return "no entry matches these options"


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


def _runs_of_server(context: Context, options: argparse.Namespace) -> tuple[Run, ...]:
    if options.server is not None:
        return context.store.runs_on(options.server)
    from core.api.comparison import runs_on_volume

    return runs_on_volume(context.session, options.what)


def _begin(run: Run) -> tuple[datetime, int]:
    """Return by what runs are in order."""
    return run.started_at, run.id or 0


def _runs(context: Context, options: argparse.Namespace) -> int:
    from core.cli.benchmarks import text

    older_than = None if options.older_than is None else context.store.run(options.older_than)
    by_server = options.server is not None or is_place_on_server(options.what)
    if not by_server:
        context.refuse_server(options.what)
        runs = context.store.runs(
            options.what,
            side=options.side and Side(options.side),
            newest=options.limit,
            older_than=options.older_than,
            raw=options.json,  # the table shows none of it
        )
    elif options.side is not None:
        raise InputError("--side is for the runs of a move", "leave it out")
    else:
        runs = _runs_of_server(context, options)
        if older_than is not None:
            runs = tuple(run for run in runs if _begin(run) < _begin(older_than))
        runs = runs if options.limit is None else runs[-options.limit :]
    if options.json:
        print_document({"runs": runs})
    elif runs:
        show(text(runs, by_server=by_server))
    elif options.side is None and options.older_than is None:
        show(f"no benchmark of {options.server or options.what} has run yet")
    else:
        show(f"no benchmark run of {options.server or options.what} matches these options")
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
    commands = context.store.commands(
        options.move, options.limit, server=options.server, since=options.since, before=options.before
    )
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
