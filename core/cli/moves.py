"""`pghaul move`: set up moves, each of one cluster from an old to a new server."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core import units
from core.cli.context import Context, add_common, add_former_name, parse_limit, print_document
from core.cli.own_settings import add_from_setting
from core.cli.terminal import confirm_removal, say, show, table
from core.errors import InputError
from core.migration.model.asked import Asked, seconds_text, window_text
from core.migration.model.estimate import Estimate, method_title
from core.migration.model.execution import Execution, Kind
from core.migration.model.move import WORKSTATION, EditedSettings, Hook, HookCommand, HookSide, Move
from core.sides import Side
from core.text import lines_of


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    move = nouns.add_parser("move", help="set up, list and show moves")
    verbs = move.add_subparsers(dest="verb", metavar="VERB", required=True)

    add = verbs.add_parser("add", help="set up a move, or change it with --replace")
    add.add_argument("name", metavar="NAME", help="a name of your choice for the move")
    add.add_argument("--old", required=True, metavar="SERVER", help="the old server, as pghaul server list names it")
    add.add_argument("--new", required=True, metavar="SERVER", help="the new server, as pghaul server list names it")
    add.add_argument("--cluster", required=True, metavar="FOLDER", help="data directory of the old cluster")
    add.add_argument("--target", metavar="FOLDER", help="data directory of the new cluster (default: the same path)")
    add.add_argument(
        "--old-volume",
        metavar="FOLDER",
        help="volume to measure on the old server (default: the mount point of the data directory)",
    )
    add.add_argument(
        "--new-volume",
        metavar="FOLDER",
        help="volume to measure on the new server (default: the mount point of the data directory)",
    )
    add.add_argument(
        "--tablespace",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="location of a tablespace on the old and on the new server, if they differ; may be repeated",
    )
    unencrypted = add.add_argument(
        "--allow-unencrypted",
        dest="plain_text",
        action="store_true",
        help="allow copying over the network without encryption, by NFS or an rsync daemon, if that is faster "
        "(default: copy through ssh only)",
    )
    add_former_name(add, "--plain-text", unencrypted)
    add.add_argument(
        "--edited",
        choices=[each.value for each in EditedSettings],
        help="values to use where configuration files of the old cluster were edited but not loaded: in-force: the "
        "values that it is running with; file: the values in its files (see pghaul move edited)",
    )
    add_from_setting(
        add,
        "move.precopy_limit",
        "--precopy-limit",
        type=_megabytes,
        metavar="MB",
        help="most that a pre-copy pass sends while the old cluster is running, in MB/s, or none. The final sync "
        "during the downtime has no limit",
        default="none",
        convert=_bytes,
    )
    add.add_argument("--replace", action="store_true", help="change an existing move of that name")
    add_common(add)
    add.set_defaults(run=_add)

    listed = verbs.add_parser("list", help="list the moves by name")
    listed.add_argument("--limit", type=parse_limit, metavar="N", help="list at most N moves (default: all)")
    listed.add_argument("--after", metavar="MOVE", help="list only moves whose names come after this one")
    add_common(listed)
    listed.set_defaults(run=_list)

    show = verbs.add_parser("show", help="show a move, its progress and its history")
    show.add_argument("name", metavar="MOVE", help="name of the move")
    add_common(show)
    show.set_defaults(run=_show)

    hook = verbs.add_parser("hook", help="set your own command for a manual step of the plan")
    hook.add_argument("name", metavar="MOVE", help="name of the move")
    hook.add_argument(
        "hook",
        nargs="?",
        choices=[each.value for each in Hook],
        help="the manual step (default: show the hooks that are set)",
    )
    hook.add_argument("--side", choices=(*Side, WORKSTATION), help="where the command runs")
    hook.add_argument("--command", metavar="COMMAND", help="the command line, for the shell there")
    hook.add_argument(
        "--as", dest="user", metavar="USER", help="user that runs it on the server (default: the login user)"
    )
    hook.add_argument("--none", action="store_true", help="remove the hook: the step is manual again")
    add_common(hook)
    hook.set_defaults(run=_hook)

    edited = verbs.add_parser(
        "edited", help="choose the values of settings that were edited but not loaded on the old cluster"
    )
    edited.add_argument("name", metavar="MOVE", help="name of the move")
    edited.add_argument(
        "values",
        nargs="?",
        choices=[each.value for each in EditedSettings],
        help="in-force: the values that the old cluster is running with; file: the values in its files (default: show "
        "the choice)",
    )
    edited.add_argument("--none", action="store_true", help="remove the choice")
    add_common(edited)
    edited.set_defaults(run=_edited)

    remove = verbs.add_parser("remove", help="remove a move and everything that was recorded for it")
    remove.add_argument("name", metavar="MOVE", help="name of the move")
    remove.add_argument("--yes", action="store_true", help="remove without asking")
    add_common(remove)
    remove.set_defaults(run=_remove)


_UNLIMITED = 0


def _megabytes(text: str) -> int:
    """Return a rate in MB/s as bytes/s. Raises ArgumentTypeError if it is none."""
    if text == "none":
        return _UNLIMITED
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of MB/s, which must be 1 or more, nor none")
    return _bytes(int(text))


def _bytes(megabytes: int | None) -> int:
    return _UNLIMITED if megabytes is None else megabytes * 1_000_000


def _add(context: Context, options: argparse.Namespace) -> int:
    from core.api.moves import explain_missing_cluster

    cluster = _folder(options.cluster, "--cluster")
    target = _folder(options.target or options.cluster, "--target")
    move = Move(
        name=options.name,
        old=options.old,
        new=options.new,
        cluster=cluster,
        target=target,
        old_volume=_volume(context, options.old, cluster, options.old_volume, "--old-volume"),
        new_volume=_volume(context, options.new, target, options.new_volume, "--new-volume"),
        tablespace_targets=dict(_pair(text) for text in options.tablespace),
        plain_text=options.plain_text,
        edited=None if options.edited is None else EditedSettings(options.edited),
        precopy_limit=options.precopy_limit or None,
    )
    if not options.replace and any(known.name == move.name for known in context.store.moves()):
        raise InputError(
            f"the move {move.name!r} exists already", "choose another name, or change the existing move with --replace"
        )
    (context.store.put_move if options.replace else context.store.add_move)(move)
    facts = context.store.facts(move.old)
    if facts is not None and facts.cluster(cluster) is None:
        say("warning: " + "; ".join(explain_missing_cluster(facts, cluster)))
    if options.json:
        print_document(move)
    else:
        show(f"{move.name}: {move.old}:{move.cluster} -> {move.new}:{move.target}")
    return 0


def _list(context: Context, options: argparse.Namespace) -> int:
    moves = context.store.moves(options.limit, options.after)
    strange = context.store.all_from_elsewhere([move.name for move in moves])
    if options.json:
        print_document({"moves": moves, "from_elsewhere": strange})
    elif not moves and options.after is not None:
        show(f"no move comes after {options.after}")
    elif not moves:
        show("there are no moves yet; set one up with: pghaul move add NAME --old SERVER --new SERVER --cluster FOLDER")
    else:
        rows = [(m.name, m.old, m.cluster, m.new, m.target, _note(len(strange[m.name]))) for m in moves]
        show(table(("name", "old server", "cluster", "new server", "target", ""), rows))
    return 0


def _show(context: Context, options: argparse.Namespace) -> int:
    from core.api.moves import format_jobs_of_both_servers, get_standing
    from core.history.store import Filter

    move = context.store.move(options.name)
    entries = context.store.entries(50, Filter(move=move.name))
    stands = get_standing(context.session, move.name)
    strange, asked = context.store.from_elsewhere(move.name), context.store.asked(move.name)
    if options.json:
        found = {"milestones": stands.marks, "next": stands.next, "entries": entries, "from_elsewhere": strange}
        found["asked"] = asked
        print_document({"move": move, **found})
        return 0
    show("\n".join((text(move), *_asked_text(asked, context.store.estimate(move.name)))))
    if strange:
        show(f"  not recorded by you; it is shown, but not run or counted: {', '.join(strange)}")
    rows = [
        (one.milestone, one.condition, one.said, f"{one.at:%Y-%m-%d %H:%M}" if one.at else "") for one in stands.marks
    ]
    show(table(("milestone", "state", "details", "time"), rows))
    show(f"next: {stands.next.words[:1].lower()}{stands.next.words[1:]}")
    facts = [context.store.facts(each) for each in (move.old, move.new)]
    jobs = format_jobs_of_both_servers(facts[0], facts[1]) if facts[0] is not None and facts[1] is not None else ""
    if jobs:
        show("\n".join(["scheduled jobs:", *(f"  {line}" for line in lines_of(jobs))]))
    if entries:
        show(table(("time", "kind", "summary"), [(f"{e.at:%Y-%m-%d %H:%M}", e.kind, e.title) for e in entries]))
    return 0


def _note(strange: int) -> str:
    return f"records that are not yours: {strange} (see pghaul move show)" if strange else ""


_HOLDS = {
    EditedSettings.IN_FORCE: "the values that the old cluster is running with are used",
    EditedSettings.FILE: "the values in the files are used",
}


def text(move: Move) -> str:
    """A move for people."""
    lines = [
        f"{move.name}: {move.old}:{move.cluster} -> {move.new}:{move.target}",
        f"  volumes to measure: {move.old_volume} on {move.old}, {move.new_volume} on {move.new}",
        *(f"  tablespace {here} -> {there}" for here, there in move.tablespace_targets.items()),
        *(["  copying without encryption is allowed"] if move.plain_text else []),
        *([f"  settings that were edited but not loaded: {_HOLDS[move.edited]}"] if move.edited else []),
        *([f"  pre-copy passes send at most {units.rate(move.precopy_limit)}"] if move.precopy_limit else []),
    ]
    return "\n".join(lines)


def limits_text(asked: Asked) -> str:
    """Return the window and the downtime that a move has to fit into, for people; empty if there are none."""
    limits = [] if asked.window is None else [f"window {window_text(asked.window)} (clock of the old server)"]
    if asked.downtime_seconds is not None:
        limits.append(f"longest downtime {seconds_text(asked.downtime_seconds)}")
    return ", ".join(limits)


def _asked_text(asked: Asked, estimate: Estimate | None) -> Iterable[str]:
    """Yield the window and the downtime that a move has to fit into, and how likely it does by the latest estimate."""
    limits = limits_text(asked)
    fit = None if estimate is None or estimate.asked != asked else estimate.fit(estimate.to_take)
    likely = "" if fit is None else f"; likelihood {units.share(fit.likelihood)} ({method_title(fit.method)})"
    if limits:
        yield f"  has to fit into: {limits}{likely}"


def _edited(context: Context, options: argparse.Namespace) -> int:
    move = context.store.move(options.name)
    if options.values is not None or options.none:
        if options.values is not None and options.none:
            raise InputError("--none cannot be combined with a choice", "leave out one of them")
        move = replace(move, edited=None if options.none else EditedSettings(options.values))
        context.store.put_move(move)
    if options.json:
        print_document(move)
    else:
        show(f"{move.name}: {_HOLDS[move.edited] if move.edited is not None else 'no choice was made'}")
    return 0


def _hook(context: Context, options: argparse.Namespace) -> int:
    if options.hook is not None:
        _set_hook(context, options)
    hooks = context.store.hooks(options.name)
    if options.json:
        print_document({"hooks": hooks})
    elif not hooks:
        show(f"{options.name} has no hooks: all manual steps are done by the operator")
    else:
        rows = [(each.hook, each.side, each.user or "–", each.command, _origin(each)) for each in hooks]
        show(table(("hook", "side", "user", "command", ""), rows))
    return 0


def _origin(hook: HookCommand) -> str:
    return "not recorded by you, so it is not run" if hook.from_elsewhere else ""


def _set_hook(context: Context, options: argparse.Namespace) -> None:
    from core.api.moves import make_hook

    hook = Hook(options.hook)
    if options.none:
        context.store.remove_hook(options.name, hook)
        return
    side: HookSide | None = options.side
    if side is not None and side != WORKSTATION:
        side = Side(side)
    context.store.save_hook(options.name, make_hook(hook, side, options.command or "", options.user))


def _remove(context: Context, options: argparse.Namespace) -> int:
    executions = context.store.removable_executions(options.name)
    if executions and not options.yes:
        confirm_removal(f"the move {options.name}", _describe_removed(executions))
    context.store.remove_move(options.name)
    if options.json:
        print_document({"removed": options.name})
    else:
        show(f"removed the move {options.name}")
    return 0


def _describe_removed(executions: Sequence[Execution]) -> str:
    """Return the sentences that say what is removed with a move that was executed."""
    number, latest = len(executions), executions[0]
    kind = "rehearsal" if latest.kind is Kind.REHEARSAL else "move"
    recorded = f"{number} executions, the latest of them a {kind}" if number > 1 else f"1 execution, a {kind}"
    return (
        f"The record of what was done on the servers is removed with the move: {recorded} that began "
        f"{latest.started_at:%Y-%m-%d %H:%M} UTC ({latest.state.value}). Its benchmark runs, checks, estimates and "
        "plans are removed, too."
    )


def _folder(text: str, option: str) -> str:
    if not text.startswith("/"):
        raise InputError(
            f"{option} {text!r} is not an absolute path", "give the full path on the server, beginning with /"
        )
    return text.rstrip("/") or "/"


def _volume(context: Context, server: str, folder: str, named: str | None, option: str) -> str:
    """What is measured: what the DBA names, else what the facts say."""
    from core.api.moves import volume_path

    return _folder(named, option) if named else volume_path(context.store.facts(server), folder)


def _pair(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals:
        raise InputError(
            f"--tablespace {text!r} is not of the form OLD=NEW",
            "give both locations, for example /space/old=/space/new",
        )
    return _folder(old, "--tablespace"), _folder(new, "--tablespace")
