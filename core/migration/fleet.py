"""Many moves side by side: which can be made now, which window each needs, and in which order they are listed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath

from core.facts.model import Facts
from core.migration.estimate.assumptions import WAY_BACK
from core.migration.estimate.night import WINDOWS
from core.migration.model.checks import CheckResult, tally
from core.migration.model.estimate import Estimate, Span
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.fleet import Completion, FleetMove, MoveState
from core.migration.model.move import Move


def make_fleet_move(
    move: Move,
    old: Facts | None,
    checks: Sequence[CheckResult] | None,
    estimate: Estimate | None,
    *,
    completed: Completion | None = None,
    unknown: str = "",
) -> FleetMove:
    """Return a move with what is known of it.

    Args:
        move: the move.
        old: the facts of the old server; None if there are none.
        checks: the results of its checks; None if they did not run.
        estimate: its estimate; None if there is none.
        completed: when it was carried out, and by whom; None if it was not.
        unknown: why it was not checked, if that is known.
    """
    cluster = old.cluster(move.cluster) if old is not None else None
    method = estimate.method(estimate.to_take) if estimate is not None else None
    if checks is None and not unknown:
        unknown = "it was not checked yet"
    return FleetMove(
        move=move,
        size_bytes=cluster.size_bytes if cluster is not None else None,
        stops=tuple(each.title for each in checks or () if each.stops),
        pending=tuple(each.title for each in checks or () if each.pending),
        warnings=tally(checks or ()).warnings,
        method=method.method if method is not None else "",
        downtime_seconds=method.downtime_seconds if method is not None else None,
        duration_seconds=method.duration_seconds if method is not None else None,
        window_seconds=smallest_window(method.downtime_seconds) if method is not None else None,
        unknown=unknown,
        moved_at=None if completed is None else completed.at,
        moved_by="" if completed is None else completed.by,
    )


def move_time(latest: Execution | None) -> datetime | None:
    """Return when a move was carried out, by its latest execution; None if it was not."""
    if latest is None or latest.kind is not Kind.REAL or latest.state is not State.DONE:
        return None
    return latest.ended_at or latest.started_at


def is_execution_of(execution: Execution, move: Move) -> bool:
    """Return whether the execution has the cluster and target of the move; its signature covers the servers."""
    return (execution.plan.data_directory, execution.plan.target) == (move.cluster, move.target)


def mark_conflicts(moves: Sequence[FleetMove], finished: Iterable[FleetMove] = ()) -> tuple[FleetMove, ...]:
    """Return the moves, each with the conflicting move whose target is the same folder, around it or inside it.

    Moves that were not checked are returned unchanged.

    Args:
        moves: the moves.
        finished: further moves that were carried out.
    """
    targets = _Targets()
    left = {MoveState.DONE, MoveState.UNKNOWN}
    for move in (*(each for each in moves if each.moved_at), *finished, *(each for each in moves if not each.moved_at)):
        targets.add(move.move, carried_out=move.moved_at is not None)
    return tuple(move if move.state in left else targets.mark_conflict(move) for move in moves)


class _Targets:
    """The targets of moves. Two moves for each folder are enough to find a conflict; finished ones are added first."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, PurePosixPath], list[str]] = {}
        self._inside: dict[tuple[str, PurePosixPath], str] = {}
        self._over: set[str] = set()

    def add(self, move: Move, *, carried_out: bool) -> None:
        target = PurePosixPath(move.target)
        names = self._at.setdefault((move.new, target), [])
        if len(names) < 2:
            names.append(move.name)
        for folder in target.parents:
            self._inside.setdefault((move.new, folder), move.name)
        if carried_out:
            self._over.add(move.name)

    def mark_conflict(self, fleet_move: FleetMove) -> FleetMove:
        """Return the move with the conflicting other move, if there is one."""
        move = fleet_move.move
        target = PurePosixPath(move.target)
        found = [("has the same target", name) for name in self._at.get((move.new, target), ()) if name != move.name]
        found += [
            ("has a target around this one", name)
            for folder in target.parents
            for name in self._at.get((move.new, folder), ())
        ]
        if (new_target := (move.new, target)) in self._inside:
            found.append(("has a target inside this one", self._inside[new_target]))
        if not found:
            return fleet_move
        relation, name = next((each for each in found if each[1] in self._over), found[0])
        conflict = f"the move {name} {relation}" + (", and was carried out" if name in self._over else "")
        return replace(fleet_move, stops=(*fleet_move.stops, conflict), in_the_way=name)


def smallest_window(downtime: Span) -> float | None:
    """Return the smallest of the usual windows, in seconds, for a downtime and a rollback in nine nights of ten.

    The 90th percentile of both together is at most the sum of their 90th percentiles.
    """
    needed = downtime.high + WAY_BACK[2]
    return next((seconds for seconds in WINDOWS if needed <= seconds), None)


def count_windows(moves: Iterable[FleetMove], seconds: float) -> int:
    """Return into how many windows of `seconds` the downtimes of the moves fit, one after another.

    They are placed by first fit, the longest first. Moves that fit into no window are left out.
    """
    free_seconds: list[float] = []
    needs = (each.downtime_seconds.high + WAY_BACK[2] for each in moves if each.downtime_seconds is not None)
    for need in sorted((need for need in needs if need <= seconds), reverse=True):
        place = next((number for number, room in enumerate(free_seconds) if need <= room), None)
        if place is None:
            free_seconds.append(seconds - need)
        else:
            free_seconds[place] -= need
    return len(free_seconds)


def rank_moves(moves: Iterable[FleetMove]) -> tuple[FleetMove, ...]:
    """Return the moves by their states: ready ones, then by the number of blockers, unchecked ones, and finished ones.

    Within a group they are ordered by size, and then by downtime.
    """
    return tuple(sorted(moves, key=_rank))


def _rank(move: FleetMove) -> tuple[int, int, float, float, str]:
    endless = float("inf")
    return (
        list(MoveState).index(move.state),
        len(move.stops),
        endless if move.size_bytes is None else move.size_bytes,
        endless if move.downtime_seconds is None else move.downtime_seconds.likely,
        move.move.name,
    )
