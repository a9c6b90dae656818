"""Many moves side by side: those that are finished or running, those that could not be checked, and the others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from core.api.session import Session
from core.facts.model import Facts
from core.migration.execution.unfinished import unfinished
from core.migration.findings.cluster import explain_missing_cluster
from core.migration.fleet import FleetMove, is_execution_of, make_fleet_move, mark_conflicts, move_time, rank_moves
from core.migration.model.execution import Execution
from core.migration.model.move import Move

Look = Callable[[Move, Facts, Facts], FleetMove]
"""Assesses a move by the facts of both servers."""


def rank_fleet(
    session: Session,
    moves: Iterable[Move],
    facts: Mapping[str, Facts | None],
    failures: Mapping[str, str],
    look: Look,
) -> tuple[FleetMove, ...]:
    """Return the moves in the order of `rank_moves`; a move with the target of another one is not ready.

    Args:
        session: the history and the connections.
        moves: the moves.
        facts: the facts of each server, by name.
        failures: why a server could not be read, by name.
        look: assesses a move that is neither finished nor running, and whose servers and cluster are known.
    """
    found = [_assess_move(session, move, facts, failures, look) for move in moves]
    return rank_moves(mark_conflicts(found, _other_completed_moves(session, found)))


def _assess_move(
    session: Session, move: Move, facts: Mapping[str, Facts | None], failures: Mapping[str, str], look: Look
) -> FleetMove:
    """Return a move with what is known of it. The arguments are those of `rank_fleet`, for one move."""
    old, new = facts[move.old], facts[move.new]
    if (completed_at := completion_time(session, move)) is not None:
        return make_fleet_move(move, old, (), None, completed_at)
    latest = session.store.latest_execution(move.name)
    if latest is not None and (progress := _describe_unfinished(session, latest)):
        return make_fleet_move(move, old, None, None, unknown=progress)
    unread = failures.get(move.old) or failures.get(move.new) or ""
    if unread or old is None or new is None:
        return make_fleet_move(move, old, None, None, unknown=unread)
    if old.cluster(move.cluster) is None:
        return make_fleet_move(move, old, None, None, unknown=explain_missing_cluster(old, move.cluster)[0])
    return look(move, old, new)


def completion_time(session: Session, move: Move) -> datetime | None:
    """Return when the move, as it is configured now, was carried out from this workstation; None if it was not.

    Executions that were recorded elsewhere do not count, because anything could be in them. The signature of an
    execution covers only the servers of that time.
    """
    own = sorted(session.store.own_executions(move.name), reverse=True)
    of_it = (found for number in own if is_execution_of(found := session.store.execution(number), move))
    return move_time(next(of_it, None))


def _other_completed_moves(session: Session, found: Sequence[FleetMove]) -> list[FleetMove]:
    """Return completed moves to the same servers that are not among these."""
    examined, servers = {each.move.name for each in found}, {each.move.new for each in found}
    others = [move for move in session.store.moves() if move.new in servers and move.name not in examined]
    return [FleetMove(move, moved_at=at) for move in others if (at := completion_time(session, move)) is not None]


def _describe_unfinished(session: Session, latest: Execution) -> str:
    """Return the state of an unfinished execution; empty if it is finished or the old cluster serves as before."""
    execution = unfinished(latest, datetime.now(UTC), alive=session.store.carried_out(latest.id))
    return "" if execution is None else f"Under way: execution {execution.id} is {execution.state}. {execution.stands}"
