"""`pghaul history backup | restore | check | prune`: the file that holds it all, kept by whoever owns it; and
`export | import`: a move that goes to another workstation.
"""

import argparse
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Choices, Context, add_common, add_replace, print_document
from core.cli.sizes import size
from core.cli.terminal import confirm_removal, show, table
from core.comparison.sets import is_place_on_server
from core.errors import InputError
from core.history.places import folder

if TYPE_CHECKING:
    from core.history.damage import Condition, Rescued

COPIES = "copy"
_DAYS = re.compile(r"(\d{1,5})d", re.ASCII)
_BEGUN = (
    "executions are recorded as they were at that time: check them with pghaul execute MOVE --status before you resume "
    "one"
)


def register(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verbs."""
    backup = verbs.add_parser("backup", help="back up the history, even while it is in use")
    backup.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="file for the backup (default: a new file beside the history)"
    )
    add_replace(backup)
    add_common(backup)
    backup.set_defaults(run=_backup)

    restore = verbs.add_parser("restore", help="replace the history with a backup; the replaced file is kept beside it")
    restore.add_argument(
        "copy", type=Path, metavar="FILE", help="a backup, or the copy that an upgrade of pghaul has made"
    )
    add_common(restore)
    restore.set_defaults(run=_restore)

    check = verbs.add_parser("check", help="check the history for damage")
    check.add_argument(
        "--rescue",
        action="store_true",
        help="if the history is damaged, create a new one from what can be read; the damaged file is kept",
    )
    add_common(check)
    check.set_defaults(run=_check)

    export = verbs.add_parser(
        "export",
        help="export a move, or benchmarks of no move, as an archive for another workstation",
        description="Export a move with all that belongs to it, or the benchmarks on volumes of servers that belong to "
        "no move, as an archive for another workstation.",
    )
    export.add_argument(
        "what",
        nargs="+",
        metavar="MOVE | SERVER:/PATH...",
        help="name of the move; or volumes such as db1:/srv/pg that were measured without a move",
    )
    export.add_argument(
        "-o", "--output", required=True, type=Path, metavar="FILE", help="the archive, for example spring.pghaul"
    )
    add_replace(export)
    add_common(export)
    export.set_defaults(run=_export)

    imported = verbs.add_parser("import", help="import a move, or benchmarks of no move, from an archive")
    imported.add_argument("archive", type=Path, metavar="FILE", help="archive that pghaul history export has written")
    imported.add_argument("--name", metavar="MOVE", help="name of the move here (default: its name in the archive)")
    add_common(imported)
    imported.set_defaults(run=_import)

    prune = verbs.add_parser(
        "prune",
        help="remove old entries",
        description="Remove entries that are older than a given day. pghaul never removes old entries by itself. The "
        "latest entry of each kind is kept. Servers, moves, waivers, hooks and unfinished executions are kept, too.",
    )
    prune.add_argument(
        "--before",
        required=True,
        type=parse_day,
        metavar="DAY",
        help="remove entries before this day, in UTC: 2026-01-31, or 365d for 365 days ago",
    )
    prune.add_argument(
        "--kind",
        action="append",
        choices=Choices(_kinds),
        metavar="KIND",
        help="remove only entries of this kind: %(choices)s (default: all except copy); may be repeated",
    )
    prune.add_argument("--move", metavar="MOVE", help="remove only entries of this move")
    prune.add_argument(
        "--dry-run", action="store_true", help="show how many entries would be removed, without removing them"
    )
    prune.add_argument("--yes", action="store_true", help="remove without asking")
    add_common(prune)
    prune.set_defaults(run=_prune)


def _kinds() -> list[str]:
    from core.history.removal import KINDS

    return [*KINDS, COPIES]


def parse_day(text: str) -> datetime:
    """Return the beginning of a day in UTC, or the time so many days ago. Raises ArgumentTypeError if it is neither."""
    days = _DAYS.fullmatch(text)
    try:
        return (
            datetime.now(UTC) - timedelta(days=int(days[1]))
            if days
            else datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        )
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day: write it as 2026-01-31, or as 365d") from error


def _backup(_: Context, options: argparse.Namespace) -> int:
    from core.history.backup import backup

    copy = backup(folder(), options.output, replacing=options.replace)
    if options.json:
        print_document({"copy": copy})
    else:
        show(str(copy))
    return 0


def _restore(_: Context, options: argparse.Namespace) -> int:
    from core.history.backup import restore

    restored = restore(folder(), options.copy)
    if options.json:
        print_document(restored)
        return 0
    show(f"the history {restored.history} was restored from {options.copy}")
    if restored.kept is not None:
        show(f"the replaced history was kept as {restored.kept}")
    show(_BEGUN)
    return 0


def _check(_: Context, options: argparse.Namespace) -> int:
    from core.history.backup import existing
    from core.history.damage import check

    found = check(existing(folder()))
    if found.damage and options.rescue:
        from core.history.damage import rescue

        rescued = rescue(found.history)
        if options.json:
            print_document(rescued)
        else:
            show(rescued_text(rescued))
        return 0
    if options.json:
        print_document(found)
    else:
        show(condition_text(found))
    return 1 if found.damage else 0


def condition_text(found: "Condition") -> str:
    """Return the condition of the history for display."""
    lines = [f"{found.history}, {size(found.bytes)}, {'damaged' if found.damage else 'not damaged'}"]
    if found.schema is not None:
        lines.append(f"schema version {found.schema}")
    lines += [f"  {each}" for each in found.damage]
    if found.rows:
        lines += ["", _rows_text(found.rows)]
    if found.copies:
        lines += ["", "copies beside the history, newest last:", *(f"  {each}" for each in found.copies)]
    if found.damage:
        lines += [
            "",
            "to restore a copy: pghaul history restore FILE",
            "to create a new history from what can be read: pghaul history check --rescue",
        ]
    return "\n".join(lines)


def rescued_text(rescued: "Rescued") -> str:
    """Return the result of rescuing a damaged history for display."""
    lines = [
        f"{rescued.history} now contains what could be read",
        f"the damaged file was kept as {rescued.damaged}",
        "",
    ]
    lines.append(_rows_text(rescued.rows))
    lines += ["", "lost:", *(f"  {each}" for each in rescued.lost)] if rescued.lost else []
    return "\n".join([*lines, "", _BEGUN])


def _rows_text(rows: dict[str, int]) -> str:
    return table(
        ("table", "rows"), [(name.replace("_", " "), units.count(number)) for name, number in rows.items()], right=(1,)
    )


def _export(context: Context, options: argparse.Namespace) -> int:
    from core.api import archives as actions

    removed: tuple[str, ...] = ()
    if is_place_on_server(options.what[0]):
        exported = actions.export_runs(context.store, options.what, options.output, replacing=options.replace)
        path, removed = exported.path, exported.removed_servers
    elif len(options.what) > 1:
        raise InputError("only one move can be exported at a time", "name one move, or volumes such as db1:/srv/pg")
    else:
        context.refuse_server(options.what[0])
        path = actions.export_move(context.store, options.what[0], options.output, replacing=options.replace)
    if options.json:
        print_document({"archive": path, "removed_servers": removed})
    else:
        show(str(path))
        for server in removed:
            show(f"{server} (removed): the archive has its name, but not its address and its facts")
    return 0


def _import(context: Context, options: argparse.Namespace) -> int:
    from core.api import archives as actions

    imported = actions.import_move(context.store, options.archive, options.name)
    name, removed = imported.move, imported.removed_servers
    elsewhere = () if name is None else context.store.from_elsewhere(name)
    if options.json:
        print_document({"move": name, "from_elsewhere": elsewhere, "removed_servers": removed})
        return 0
    if name is None:
        show("imported the benchmarks of the archive and their servers")
        for server in removed:
            show(f"{server} (removed): it was not imported, because only its name was recorded with its benchmarks")
        return 0
    show(f"imported the move {name} and its servers")
    if elsewhere:
        show(
            f"untrusted, because another user or workstation has recorded it; it is shown, but not run or counted: "
            f"{', '.join(elsewhere)}"
        )
    return 0


def _prune(context: Context, options: argparse.Namespace) -> int:
    from core.history.copies import copies_of
    from core.history.removal import KINDS

    chosen = options.kind or KINDS
    kinds = [kind for kind in KINDS if kind in chosen]
    store, before = context.store, options.before
    found = store.prunable(before, kinds, options.move)
    copies = [each for each in copies_of(store.path) if _made_at(each) < before] if COPIES in chosen else []
    removing = not options.dry_run and (sum(found.values()) > 0 or bool(copies))
    if removing:
        text = _prunable_text(before, found, copies)
        if not options.yes:
            confirm_removal("entries", f"Entries {text}")
        found = store.prune(before, kinds, options.move)
        for each in copies:
            each.unlink(missing_ok=True)
        store.shrink()
    if options.json:
        print_document({"before": before, "rows": found, "copies": copies, "removed": removing})
    else:
        show(("removed " if removing else "") + _prunable_text(before, found, copies))
    return 0


def _prunable_text(before: datetime, found: dict[str, int], copies: list[Path]) -> str:
    words = [f"{kind}: {units.count(number)}" for kind, number in found.items() if number]
    words += [f"copies of the history: {len(copies)}"] if copies else []
    return f"older than {before:%Y-%m-%d %H:%M} UTC: {', '.join(words) or 'nothing to remove'}"


def _made_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
