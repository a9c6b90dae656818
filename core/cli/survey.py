"""`pghaul survey`: many servers at once, and which of the moves between them can be made."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show, table
from core.errors import InputError

if TYPE_CHECKING:
    from core.actions.survey import Survey, SurveyedServer
    from core.migration.fleet import FleetMove

_MOST_AT_ONCE = 64
_SHOWN_STOPS = 2


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    survey = nouns.add_parser(
        "survey",
        help="read many servers side by side, and rank the moves between them",
        description="Read the facts of every server of a list, as pghaul server import takes it, or of every server "
        "that is known; then check and estimate the moves between them, and rank these by what stops them, size and "
        "downtime. Nothing is written on the servers. Nobody is asked: an unknown host key is refused unless "
        "--host-key names it, and so is who needs a password that is in no keyring. Begun again, a survey goes on with "
        "the servers that were not read within the hour. Exit code 1 where a server was not read or a move is stopped.",
    )
    survey.add_argument("list", nargs="?", metavar="LIST", help="a file; - reads standard input; without: all servers")
    survey.add_argument("--jobs", type=int, metavar="N", help="how many servers at once (default: 8)")
    survey.add_argument("--anew", action="store_true", help="read those again too that were read within the hour")
    survey.add_argument("--replace", action="store_true", help="describe known servers and moves anew by the list")
    add_common(survey, server=True)
    survey.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.actions import survey as actions
    from core.cli.inputs import read_input
    from core.servers.lists.reading import read_list
    from core.servers.unattended import Unattended

    if options.jobs is not None and not 0 < options.jobs <= _MOST_AT_ONCE:
        raise InputError(f"--jobs {options.jobs}: so many servers cannot be read at once", f"1 to {_MOST_AT_ONCE}")
    found = None if options.list is None else read_list(options.list, read_input(options.list))
    made = actions.survey(
        context.session,
        found,
        Unattended(frozenset(options.host_key or ())),
        context.job,
        at_once=options.jobs or actions.AT_ONCE,
        anew=options.anew,
        replacing=options.replace,
    )
    if options.json:
        print_document(made)
    else:
        show(text(made))
    return 0 if made.clean else 1


def text(made: "Survey") -> str:
    """A survey for people: the moves as they are ranked, then what was not read, then clusters without a move."""
    failed = [each for each in made.servers if each.failure]
    blocks = [_summary(made, failed)]
    if made.moves:
        rows = [_move_row(number, one) for number, one in enumerate(made.moves, 1)]
        head = ("", "move", "from", "to", "size", "downtime", "window", "what stops it")
        blocks.append(table(head, rows, right=(0, 4)))
    if failed:
        rows_failed = [(each.server, each.address, each.failure, each.hint) for each in failed]
        blocks.append(table(("not read", "address", "why", "hint"), rows_failed))
    if made.refused:
        rows_refused = [(each.place, each.name, each.reason, each.hint) for each in made.refused]
        blocks.append(table(("not taken", "server", "why", "hint"), rows_refused))
    left = _without_move(made)
    if left:
        blocks.append(table(("no move is set up for", "server", "PostgreSQL", "", "size"), left, right=(4,)))
    return "\n\n".join(blocks)


def _summary(made: "Survey", failed: Sequence["SurveyedServer"]) -> str:
    fresh = sum(not each.asked for each in made.servers)
    lines = [
        f"servers: {units.count(len(made.servers))}, {units.count(len(failed))} of them not read"
        + (f", {units.count(fresh)} read within the hour before" if fresh else "")
        + f"; in {units.duration(made.seconds)}"
    ]
    if made.moves:
        ready = sum(one.ready for one in made.moves)
        stopped = sum(bool(one.stops) for one in made.moves)
        unknown = sum(bool(one.unknown) for one in made.moves)
        over = sum(one.moved_at is not None for one in made.moves)
        counts = ((ready, "can be made"), (stopped, "stopped"), (unknown, "not checked"), (over, "over"))
        said = ", ".join(f"{units.count(number)} {words}" for number, words in counts if number)
        lines.append(f"moves: {units.count(len(made.moves))}; {said}")
    return "\n".join(lines)


def _move_row(number: int, one: "FleetMove") -> tuple[str, ...]:
    downtime = one.downtime_seconds
    return (
        str(number),
        one.move.name,
        one.move.old,
        one.move.new,
        units.size(one.size_bytes),
        units.ABSENT if downtime is None else f"{units.duration(downtime.likely)} to {units.duration(downtime.high)}",
        units.ABSENT if one.window_seconds is None else units.duration(one.window_seconds),
        _what_stops(one),
    )


def _what_stops(one: "FleetMove") -> str:
    if one.moved_at is not None:
        return f"it was carried out on {one.moved_at:%Y-%m-%d}"
    if one.unknown:
        return f"not checked: {one.unknown}"
    warnings = units.counted(one.warnings, "warning")
    if not one.stops:
        return f"nothing; {warnings}" if one.warnings else "nothing"
    more = len(one.stops) - _SHOWN_STOPS
    return "; ".join([*one.stops[:_SHOWN_STOPS], *([f"{more} more"] if more > 0 else [])])


def _without_move(made: "Survey") -> list[tuple[str, ...]]:
    taken = {(one.move.old, one.move.cluster) for one in made.moves}
    taken |= {(one.move.new, one.move.target) for one in made.moves}
    return [
        (
            cluster.data_directory,
            each.server,
            cluster.version,
            "running" if cluster.running else "stopped",
            units.size(cluster.size_bytes),
        )
        for each in made.servers
        for cluster in each.clusters
        if (each.server, cluster.data_directory) not in taken
    ]
