"""`pghaul history`: what was done, and what was measured."""

import argparse

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import printable, table

LARGEST_LIMIT = 1_000_000


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    history = nouns.add_parser("history", help="what was done and measured")
    verbs = history.add_subparsers(dest="verb", metavar="VERB", required=True)

    listed = verbs.add_parser("list", help="everything, newest first")
    _limited(listed)
    listed.set_defaults(run=_list)

    runs = verbs.add_parser("runs", help="the runs of a move")
    runs.add_argument("move")
    add_common(runs)
    runs.set_defaults(run=_runs)

    run = verbs.add_parser("run", help="one run with its raw output")
    run.add_argument("number", type=int)
    add_common(run)
    run.set_defaults(run=_run)

    commands = verbs.add_parser("commands", help="every command that ran on a server, whole")
    _limited(commands)
    commands.set_defaults(run=_commands)

    where = verbs.add_parser("where", help="the file that holds it all")
    add_common(where)
    where.set_defaults(run=_where)


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
    entries = context.store.entries(limit=options.limit, move=options.move)
    if options.json:
        print_document({"entries": entries})
    else:
        rows = [(f"{e.at:%Y-%m-%d %H:%M:%S}", e.kind, e.move or "", printable(e.title)) for e in entries]
        print(table(("when (UTC)", "what", "move", ""), rows) if rows else "nothing yet")
    return 0


def _runs(context: Context, options: argparse.Namespace) -> int:
    from core.cli.benchmarks import text

    runs = context.store.runs(options.move)
    if options.json:
        print_document({"runs": runs})
    else:
        print(text(runs) if runs else f"nothing was measured for {options.move} yet")
    return 0


def _run(context: Context, options: argparse.Namespace) -> int:
    run = context.store.run(options.number)
    if options.json:
        print_document(run)
        return 0
    print(
        f"run {run.id}: {run.workload.title} on {run.volume.server}:{run.volume.mount_point}, "
        f"{run.outcome or 'not ended'}"
    )
    for repetition in run.repetitions:
        print(f"\nrepetition {repetition.number}, {repetition.started_at:%Y-%m-%d %H:%M:%S} UTC, {repetition.outcome}")
        print(f"$ {repetition.command}")
        for name, value in repetition.metrics.items():
            print(f"  {name} = {units.metric(name, value)}")
        if repetition.message:
            print(f"  {repetition.message}")
        print(repetition.raw)
    return 0


def _commands(context: Context, options: argparse.Namespace) -> int:
    commands = context.store.commands(options.move, limit=options.limit)
    if options.json:
        print_document({"commands": commands})
        return 0
    for command in commands:
        ended = "cut off" if command.exit_status is None else f"exit status {command.exit_status}"
        print(f"{command.at:%Y-%m-%d %H:%M:%S} {command.user}@{command.server} {ended}\n{command.command}\n")
    return 0


def _where(context: Context, options: argparse.Namespace) -> int:
    if options.json:
        print_document({"history": context.store.path})
    else:
        print(context.store.path)
    return 0
