"""Where each move stands, from the history, and many moves side by side in their order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.api.model import Standing
from core.api.session import Session
from core.errors import InputError
from core.facts.model import Facts
from core.migration.execution.status import Unfinished, explain_fixed_move, facts_hold, unfinished
from core.migration.execution.status import sentence as describe_unfinished
from core.migration.findings.cluster import explain_missing_cluster
from core.migration.findings.schedules import format_jobs_of_both_servers
from core.migration.findings.volumes import volume_path
from core.migration.fleet import is_execution_of, make_fleet_move, mark_conflicts, move_time, rank_moves
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.fleet import Completion, FleetMove
from core.migration.model.move import WORKSTATION, Hook, HookCommand, HookSide, Move
from core.migration.standing import KnownState, find_next, list_marks
from core.sides import Side
from core.this_workstation import whoami

if TYPE_CHECKING:
    from core.history.store import Store

__all__ = [
    "Begun",
    "FleetMove",
    "Look",
    "Standing",
    "Unfinished",
    "completion",
    "describe_unfinished",
    "explain_missing_cluster",
    "format_jobs_of_both_servers",
    "get_standing",
    "list_standings",
    "make_hook",
    "rank_fleet",
    "read_unfinished",
    "save_hooks",
    "save_move",
    "unfinished_executions",
    "used_clusters",
    "volume_path",
]


def save_move(session: Session, move: Move, name: str | None) -> None:
    """Save a new move, or with a `name` the changed move that was called so.

    Raises:
        InputError: a move has this name already, or there is none that was called `name`, or a server does not exist,
            or the move is finished, interrupted or running, and its servers or paths would change.
    """
    if name is None:
        session.store.add_move(move)
    else:
        session.store.update_move(move, name)


def make_hook(hook: Hook, side: HookSide | None, command: str, user: str | None) -> HookCommand:
    """Return the command for a hook, as the user has stated it.

    Raises:
        InputError: there is no side or no command, or a user for a command on the workstation.
    """
    if side is None or not command.strip():
        raise InputError(f"the hook {hook} needs a side and a command", "state both, or remove the hook")
    if side == WORKSTATION and user is not None:
        raise InputError("a hook on the workstation runs as yourself", "state no user for it")
    return HookCommand(hook, side, command, user)


def save_hooks(session: Session, move: str, hooks: Mapping[Hook, HookCommand | None]) -> None:
    """Save these hooks of a move; None: remove the hook, so that a person does the step.

    Raises:
        InputError: there is no such move, or a command contains a secret; the hooks before it are saved then.
    """
    for hook, command in hooks.items():
        if command is None:
            session.store.remove_hook(move, hook)
        else:
            session.store.save_hook(move, command)


def list_standings(session: Session, most: int) -> tuple[tuple[Standing, ...], int]:
    """Return where the moves stand that were changed last, at most `most`, and the number of all moves."""
    store = session.store
    with store.reading():
        moves = store.moves_newest_first(most)
        return tuple(get_standing(session, move.name) for move in moves), store.count_moves()


def get_standing(session: Session, move: str) -> Standing:
    """Return where a move stands; raise InputError if there is no such move."""
    with session.store.reading():
        return _read_standing(session.store, move)


def _read_standing(store: "Store", move: str) -> Standing:
    found = store.move(move)
    old, new = store.facts(found.old), store.facts(found.new)
    measured = store.measured_at(move)
    executions = store.executions(move)
    known = KnownState(
        facts_at=(None if old is None else old.taken_at, None if new is None else new.taken_at),
        measured_at=(measured.get(Side.OLD), measured.get(Side.NEW)),
        checks=store.checks(move),
        checked_at=store.checks_taken_at(move),
        probes=store.probes(move),
        estimate=store.estimate(move),
        plan=store.plan(move),
        executions=executions,
        alive=bool(executions) and store.carried_out(executions[0].id),
    )
    made = list_marks(known, datetime.now(UTC))
    last = max((mark.at for mark in made if mark.at is not None), default=None)
    real = next((one for one in executions if one.kind is Kind.REAL), None)
    return Standing(
        found,
        made,
        find_next(made),
        cluster=None if old is None else old.cluster(found.cluster),
        last_at=last,
        over=real if real is not None and real.state in {State.DONE, State.ROLLED_BACK} else None,
        facts_hold=old is None or real is None or facts_hold(real, old.taken_at),
    )


def explain_fixed(session: Session, move: str) -> str:
    """Return why the servers and paths of a move cannot be changed; empty where they can."""
    return explain_fixed_move(session.store.executions(move))


Begun = tuple[tuple[Execution, bool], ...]
"""Executions that have not ended, each with whether a program of this workstation carries it out."""


def read_unfinished(session: Session) -> Begun:
    """Return the latest execution of each move, where it has not ended."""
    store = session.store
    return tuple((one, store.carried_out(one.id)) for one in store.unfinished_executions())


def unfinished_executions(begun: Begun, now: datetime) -> tuple[Unfinished, ...]:
    """Return how they stand at that time, by what was read of them, the most urgent first."""
    found = (unfinished(one, now, alive=alive) for one, alive in begun)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.urgency))


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


def used_clusters(moves: Iterable[FleetMove]) -> set[tuple[str, str]]:
    """Return the server and the data directory of each cluster that a move takes or makes."""
    return {place for one in moves for place in ((one.move.old, one.move.cluster), (one.move.new, one.move.target))}


def _assess_move(
    session: Session, move: Move, facts: Mapping[str, Facts | None], failures: Mapping[str, str], look: Look
) -> FleetMove:
    """Return a move with what is known of it. The arguments are those of `rank_fleet`, for one move."""
    old, new = facts[move.old], facts[move.new]
    if (completed := completion(session, move)) is not None:
        return make_fleet_move(move, old, (), None, completed=completed)
    latest = session.store.latest_execution(move.name)
    if latest is not None and (progress := _describe_unfinished(session, latest)):
        return make_fleet_move(move, old, None, None, unknown=progress)
    unread = failures.get(move.old) or failures.get(move.new) or ""
    if unread or old is None or new is None:
        return make_fleet_move(move, old, None, None, unknown=unread)
    if old.cluster(move.cluster) is None:
        return make_fleet_move(move, old, None, None, unknown=explain_missing_cluster(old, move.cluster)[0])
    return look(move, old, new)


def completion(session: Session, move: Move) -> Completion | None:
    """Return when the move, as it is configured now, was carried out, and by whom; None if it was not.

    Its newest execution counts, whoever has recorded it: a later rollback undoes a move that was carried out. The
    signature of the user's own executions covers the servers of that time. One of somebody else is shown as done here
    too, as on all pages, with the name of who has recorded it, unless a server names another machine since. What bears
    the user's name or none, and no signature of theirs, does not count.
    """
    of_it = (each for each in session.store.executions(move.name) if is_execution_of(each, move))
    latest = next(of_it, None)
    if latest is None or (at := move_time(latest)) is None:
        return None
    if latest.id in session.store.own_executions(move.name):
        return Completion(at)
    is_unknown = latest.owner.strip() in {"", whoami()}
    if is_unknown or latest.id not in session.store.executions_on_machines_of_now(move.name):
        return None
    return Completion(at, latest.owner)


def _other_completed_moves(session: Session, found: Sequence[FleetMove]) -> list[FleetMove]:
    """Return completed moves to the same servers that are not among these."""
    examined, servers = {each.move.name for each in found}, {each.move.new for each in found}
    others = [move for move in session.store.moves() if move.new in servers and move.name not in examined]
    return [FleetMove(move, moved_at=done.at) for move in others if (done := completion(session, move)) is not None]


def _describe_unfinished(session: Session, latest: Execution) -> str:
    """Return the state of an unfinished execution; empty if it is finished or the old cluster serves as before."""
    execution = unfinished(latest, datetime.now(UTC), alive=session.store.carried_out(latest.id))
    return "" if execution is None else f"Under way: execution {execution.id} is {execution.state}. {execution.stands}"
