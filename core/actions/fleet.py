"""Many moves side by side: those that are over or under way, those that nobody could look at, and what checks tell."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from core.actions.session import Session
from core.facts.model import Facts
from core.migration.execution.unfinished import unfinished
from core.migration.findings.cluster import explain_missing_cluster
from core.migration.fleet import FleetMove, is_execution_of, make_fleet_move, mark_conflicts, move_time, rank_moves
from core.migration.model.execution import Execution
from core.migration.model.move import Move

Look = Callable[[Move, Facts, Facts], FleetMove]
"""What checks tell of a move, by the facts of both servers."""


def by_rank(
    session: Session,
    moves: Iterable[Move],
    facts: Mapping[str, Facts | None],
    failures: Mapping[str, str],
    look: Look,
) -> tuple[FleetMove, ...]:
    """Moves as they are ranked, those stopped whose target another one has.

    Args:
        facts: of their servers, by name.
        failures: why a server could not be read, by its name.
        look: asked for those that were not carried out, are not under way, and whose servers and cluster are known.
    """
    found = [_one(session, move, facts, failures, look) for move in moves]
    return rank_moves(mark_conflicts(found, _others_over(session, found)))


def _one(
    session: Session, move: Move, facts: Mapping[str, Facts | None], failures: Mapping[str, str], look: Look
) -> FleetMove:
    old, new = facts[move.old], facts[move.new]
    if (over := move_over(session, move)) is not None:
        return make_fleet_move(move, old, (), None, over)
    latest = session.store.latest_execution(move.name)
    if latest is not None and (going := _under_way(session, latest)):
        return make_fleet_move(move, old, None, None, unknown=going)
    unread = failures.get(move.old) or failures.get(move.new) or ""
    if unread or old is None or new is None:
        return make_fleet_move(move, old, None, None, unknown=unread)
    if old.cluster(move.cluster) is None:
        return make_fleet_move(move, old, None, None, unknown=explain_missing_cluster(old, move.cluster)[0])
    return look(move, old, new)


def move_over(session: Session, move: Move) -> datetime | None:
    """When it was carried out from here, as it is set up now; None: it was not.

    What was recorded elsewhere may tell anything, and an execution's seal holds for the servers of then alone.
    """
    own = sorted(session.store.own_executions(move.name), reverse=True)
    of_it = (found for number in own if is_execution_of(found := session.store.execution(number), move))
    return move_time(next(of_it, None))


def _others_over(session: Session, found: Sequence[FleetMove]) -> list[FleetMove]:
    """Moves to the same servers that were carried out, and are none of these."""
    looked_at, ends = {one.move.name for one in found}, {one.move.new for one in found}
    others = [move for move in session.store.moves() if move.new in ends and move.name not in looked_at]
    return [FleetMove(move, moved_at=at) for move in others if (at := move_over(session, move)) is not None]


def _under_way(session: Session, latest: Execution) -> str:
    """How an execution stands that is not at its end; empty where it is, or where old serves as before."""
    going = unfinished(latest, datetime.now(UTC), alive=session.store.carried_out(latest.id))
    return "" if going is None else f"Under way: execution {going.id} is {going.state}. {going.stands}"
