"""`pghaul survey`: many servers at once, and which of the moves between them are possible."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, add_former_name, print_document
from core.cli.own_settings import add_from_setting
from core.cli.sizes import size
from core.cli.terminal import show, table
from core.errors import InputError
from core.migration.model.fleet import FleetMove, MoveState

if TYPE_CHECKING:
    from core.api.survey import Survey, SurveyedServer

_SHOWN_STOPS = 2


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    survey = nouns.add_parser(
        "survey",
        help="read the facts of many servers in parallel, and rank the moves between them",
        description="Read the facts of all servers of a list (see pghaul server import), or of all servers that you "
        "have added. Then check and estimate the moves between them, and rank the moves by blockers, size and "
        "downtime. pghaul writes nothing on the servers and asks no questions. It refuses an unknown host key unless "
        "--host-key names it, and a login that needs a password which is not in the keyring. A repeated survey reads "
        "only servers that were not read within the last hour. Some checks need a temporary cluster on the new server, "
        "which only pghaul check creates: the survey says how many are left to run. The exit code is 1 if a server "
        "could not be read or a move has a blocker.",
    )
    survey.add_argument(
        "list",
        nargs="?",
        metavar="LIST",
        help="file with the list; - reads standard input (default: all servers that you have added)",
    )
    add_from_setting(
        survey, "survey.jobs", "--jobs", type=int, metavar="N", help="number of servers to read in parallel"
    )
    refresh = survey.add_argument(
        "--refresh", action="store_true", help="also read servers again that were read within the last hour"
    )
    add_former_name(survey, "--anew", refresh)
    survey.add_argument("--replace", action="store_true", help="change existing servers and moves as the list says")
    add_common(survey, server=True)
    survey.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.api import survey as actions
    from core.inputs import read_input
    from core.servers.host_keys import Unattended
    from core.servers.lists.formats import read_list

    most = actions.MOST_AT_ONCE
    if not 0 < options.jobs <= most:
        raise InputError(f"--jobs {options.jobs} is out of range", f"give a number from 1 to {most}")
    found = None if options.list is None else read_list(options.list, read_input(options.list))
    made = actions.run_survey(
        context.session,
        found,
        Unattended(frozenset(options.host_key or ())),
        context.job,
        at_once=options.jobs,
        refresh=options.refresh,
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
        head = ("", "move", "from", "to", "size", "downtime", "window", "blockers")
        blocks.append(table(head, rows, right=(0, 4)))
    if failed:
        rows_failed = [(each.server, each.address, each.failure, each.hint) for each in failed]
        blocks.append(table(("could not be read", "address", "reason", "hint"), rows_failed))
    if made.refused:
        rows_refused = [(each.place, each.name, each.reason, each.hint) for each in made.refused]
        blocks.append(table(("refused", "server", "reason", "hint"), rows_refused))
    left = _without_move(made)
    if left:
        blocks.append(table(("cluster without a move", "server", "PostgreSQL", "state", "size"), left, right=(4,)))
    return "\n\n".join(blocks)


_STATES = {
    MoveState.READY: "possible",
    MoveState.BLOCKED: "with blockers",
    MoveState.UNKNOWN: "not checked",
    MoveState.DONE: "carried out",
}


def _summary(made: "Survey", failed: Sequence["SurveyedServer"]) -> str:
    fresh = sum(not each.asked for each in made.servers)
    lines = [
        f"servers: {units.count(len(made.servers))}, {units.count(len(failed))} of them could not be read"
        + (f", {units.count(fresh)} were read earlier within the last hour" if fresh else "")
        + f"; in {units.duration(made.seconds)}"
    ]
    if made.moves:
        found = Counter(one.state for one in made.moves)
        summary = ", ".join(f"{units.count(found[state])} {words}" for state, words in _STATES.items() if found[state])
        lines.append(f"moves: {units.count(len(made.moves))}; {summary}")
    if pending := sum(one.state is MoveState.READY and bool(one.pending) for one in made.moves):
        lines.append(
            f"{units.count(pending)} of the possible moves must be checked first, with a temporary cluster on the new "
            "server: pghaul check MOVE"
        )
    return "\n".join(lines)


def _move_row(number: int, one: FleetMove) -> tuple[str, ...]:
    downtime = one.downtime_seconds
    return (
        str(number),
        one.move.name,
        one.move.old,
        one.move.new,
        size(one.size_bytes),
        units.ABSENT if downtime is None else f"{units.duration(downtime.likely)} to {units.duration(downtime.high)}",
        units.ABSENT if one.window_seconds is None else units.duration(one.window_seconds),
        _what_stops(one),
    )


def _what_stops(one: FleetMove) -> str:
    if one.moved_at is not None:
        by = f", recorded by {one.moved_by}" if one.moved_by else ""
        return f"carried out on {one.moved_at:%Y-%m-%d}{by}"
    if one.state is MoveState.UNKNOWN:
        return f"not checked: {one.unknown}"
    if one.state is MoveState.BLOCKED:
        more = len(one.stops) - _SHOWN_STOPS
        return "; ".join([*one.stops[:_SHOWN_STOPS], *([f"{more} more"] if more > 0 else [])])
    noted = [units.counted(one.warnings, "warning")] if one.warnings else []
    if one.pending:
        noted.append(f"{units.counted(len(one.pending), 'check')} to run first")
    return "; ".join(["none", *noted])


def _without_move(made: "Survey") -> list[tuple[str, ...]]:
    from core.api.moves import used_clusters

    used = used_clusters(made.moves)
    return [
        (
            cluster.data_directory,
            each.server,
            cluster.version,
            "running" if cluster.running else "stopped",
            size(cluster.size_bytes),
        )
        for each in made.servers
        for cluster in each.clusters
        if (each.server, cluster.data_directory) not in used
    ]
