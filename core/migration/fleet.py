"""Many moves side by side: which can be made now, which window each needs, and in which order to look at them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from core.facts.model import Facts
from core.migration.estimate.assumptions import WAY_BACK
from core.migration.estimate.night import WINDOWS
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate, Span
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.move import Move


@dataclass(frozen=True, slots=True)
class FleetMove:
    """A move among others, by what is known of it.

    Attributes:
        stops: the titles of the checks that stop it, and last the move that is in its way; `warnings`: how many others
            warn.
        method: the one to take; empty: none can be, or nothing was estimated.
        downtime_seconds, duration_seconds: of that method.
        window_seconds: the least of the usual windows that it fits into in nine nights of ten, with time for the way
            back; None: none of them.
        unknown: why it could not be checked; empty where it was.
        moved_at: when it was carried out; None: it was not.
        in_the_way: the move that leads to the same folder, to one around it or to one inside; empty: none does.
    """

    move: Move
    size_bytes: int | None = None
    stops: tuple[str, ...] = ()
    warnings: int = 0
    method: str = ""
    downtime_seconds: Span | None = None
    duration_seconds: Span | None = None
    window_seconds: float | None = None
    unknown: str = ""
    moved_at: datetime | None = None
    in_the_way: str = ""

    @property
    def ready(self) -> bool:
        """Whether nothing stops it."""
        return not (self.stops or self.unknown or self.moved_at)

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """The titles of the checks that stop it."""
        return self.stops[:-1] if self.in_the_way else self.stops


def fleet_move(
    move: Move,
    old: Facts | None,
    checks: Sequence[CheckResult] | None,
    estimate: Estimate | None,
    moved_at: datetime | None = None,
    unknown: str = "",
) -> FleetMove:
    """A move by what was found of it. `unknown`: why it was not checked, where somebody knows."""
    cluster = old.cluster(move.cluster) if old is not None else None
    taken = estimate.method(estimate.to_take) if estimate is not None else None
    if checks is None and not unknown:
        unknown = "it was not checked yet"
    return FleetMove(
        move=move,
        size_bytes=cluster.size_bytes if cluster is not None else None,
        stops=tuple(each.title for each in checks or () if each.stops),
        warnings=sum(each.status is Status.WARNING for each in checks or ()),
        method=taken.method if taken is not None else "",
        downtime_seconds=taken.downtime_seconds if taken is not None else None,
        duration_seconds=taken.duration_seconds if taken is not None else None,
        window_seconds=window(taken.downtime_seconds) if taken is not None else None,
        unknown=unknown,
        moved_at=moved_at,
    )


def moved_at(latest: Execution | None) -> datetime | None:
    """When a move was carried out, by the latest execution of it as it is now; None: it was not."""
    if latest is None or latest.kind is not Kind.REAL or latest.state is not State.DONE:
        return None
    return latest.ended_at or latest.started_at


def is_of(execution: Execution, move: Move) -> bool:
    """Whether it leads where the move leads now; which servers those are its seal says."""
    return (execution.plan.data_directory, execution.plan.target) == (move.cluster, move.target)


def kept_apart(moves: Sequence[FleetMove], over: Iterable[FleetMove] = ()) -> tuple[FleetMove, ...]:
    """The same moves, stopped where another leads to the same folder of new, to one around it or to one inside.

    Those that were not checked stay so. `over`: moves that were carried out, and are none of these.
    """
    ends = _Ends()
    for one in (*(each for each in moves if each.moved_at), *over, *(each for each in moves if not each.moved_at)):
        ends.add(one.move, carried_out=one.moved_at is not None)
    return tuple(one if one.moved_at or one.unknown else ends.apart(one) for one in moves)


class _Ends:
    """Where moves lead; of each folder the first two are enough to name another one, those carried out first."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, PurePosixPath], list[str]] = {}
        self._inside: dict[tuple[str, PurePosixPath], str] = {}
        self._over: set[str] = set()

    def add(self, move: Move, *, carried_out: bool) -> None:
        target = PurePosixPath(move.target)
        here = self._at.setdefault((move.new, target), [])
        if len(here) < 2:
            here.append(move.name)
        for folder in target.parents:
            self._inside.setdefault((move.new, folder), move.name)
        if carried_out:
            self._over.add(move.name)

    def apart(self, one: FleetMove) -> FleetMove:
        """The same move, stopped by the other one that is in its way, if any is."""
        move = one.move
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
            return one
        how, name = next((each for each in found if each[1] in self._over), found[0])
        said = f"the move {name} {how}" + (", and was carried out" if name in self._over else "")
        return replace(one, stops=(*one.stops, said), in_the_way=name)


def window(downtime: Span) -> float | None:
    """The least of the usual windows, in seconds, that holds a downtime in nine nights of ten, and the way back.

    The 90th percentile of both together is no more than the sum of theirs.
    """
    needed = downtime.high + WAY_BACK[2]
    return next((seconds for seconds in WINDOWS if needed <= seconds), None)


def nights(moves: Iterable[FleetMove], seconds: float) -> int:
    """Into how many windows of that length the downtimes of moves fit, one after another in each.

    By first fit, the longest first; those that none holds are left out.
    """
    left: list[float] = []
    needs = (each.downtime_seconds.high + WAY_BACK[2] for each in moves if each.downtime_seconds is not None)
    for need in sorted((need for need in needs if need <= seconds), reverse=True):
        place = next((number for number, room in enumerate(left) if need <= room), None)
        if place is None:
            left.append(seconds - need)
        else:
            left[place] -= need
    return len(left)


def ranked(moves: Iterable[FleetMove]) -> tuple[FleetMove, ...]:
    """Those that nothing stops first, then by how much does, those nobody could check, and last those that are over.

    Among these the small before the large, and then by their downtime.
    """
    return tuple(sorted(moves, key=_rank))


def _rank(one: FleetMove) -> tuple[bool, bool, int, float, float, str]:
    endless = float("inf")
    return (
        one.moved_at is not None,
        bool(one.unknown),
        len(one.stops),
        endless if one.size_bytes is None else one.size_bytes,
        endless if one.downtime_seconds is None else one.downtime_seconds.likely,
        one.move.name,
    )
