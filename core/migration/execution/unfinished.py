"""An execution that is not at its end: how it stands and what may be done, the same on every page and in every list."""

from dataclasses import dataclass
from datetime import datetime

from core import units
from core.migration.execution.account import Downtime, downtime
from core.migration.execution.progress import describe_position, status_of
from core.migration.execution.status import UNSEEN, describe_both_clusters, may_have_stopped_old, move_status
from core.migration.model.execution import Execution, Kind, State


@dataclass(frozen=True, slots=True)
class Possible:
    """What a person may do with the latest execution of a move."""

    begin: bool
    resume: bool
    end: bool
    roll_back: bool


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The latest execution of a move, where it is under way, or has ended where it must not stay.

    Attributes:
        alive: whether a program of this workstation carries it out.
        at: where it is: the step, and how long the commands to come may take.
        stands: old and new, in a sentence.
        stopped_at: since when clients have no cluster; None: they have one, or nobody knows.
        expected_seconds: what the plan's commands are to take from the stop to the opening.
    """

    move: str
    id: int
    kind: Kind
    state: State
    alive: bool
    at: str
    stands: str
    stopped_at: datetime | None
    expected_seconds: float | None
    possible: Possible

    @property
    def grave(self) -> bool:
        """Whether clients wait, or nobody is at what was begun."""
        return self.stopped_at is not None or not self.alive


def possible(execution: Execution | None, *, alive: bool) -> Possible:
    """By how the execution stands; what is refused all the same says why."""
    if execution is None:
        return Possible(begin=True, resume=False, end=False, roll_back=False)
    over = execution.state in {State.DONE, State.ROLLED_BACK}
    interrupted = execution.state in {State.RUNNING, State.INTERRUPTED}
    moved = execution.state is State.DONE and execution.past_return
    held = may_have_stopped_old(execution) and not over
    return Possible(
        begin=not alive and not interrupted and not held and not moved,
        resume=not alive and not over,
        end=interrupted and (alive or not held),
        roll_back=not alive and execution.kind is Kind.REAL and not over and not execution.past_return,
    )


def unfinished(execution: Execution, now: datetime, *, alive: bool) -> Unfinished | None:
    """None: it is at its end, or it ended on its way and old serves as before."""
    under_way = execution.state in {State.RUNNING, State.INTERRUPTED}
    ended = execution.state in {State.DONE, State.ROLLED_BACK}
    if ended or not (under_way or may_have_stopped_old(execution)):
        return None
    down = known_downtime(execution, now, alive=alive)
    return Unfinished(
        move=execution.move,
        id=execution.id,
        kind=execution.kind,
        state=execution.state,
        alive=alive,
        at=describe_position(status_of(execution, now)),
        stands=describe_both_clusters(execution),
        stopped_at=down.began_at if down is not None and down.ended_at is None else None,
        expected_seconds=down.expected_seconds if down is not None else None,
        possible=possible(execution, alive=alive),
    )


def known_downtime(execution: Execution, now: datetime, *, alive: bool) -> Downtime | None:
    """The time without the cluster; None also where nobody saw whether the new one is open, or the old one back."""
    return None if not alive and move_status(execution) in UNSEEN else downtime(execution, now)


def sentence(found: Unfinished, now: datetime) -> str:
    """`spring: The old cluster has been stopped since 06:49:47 (3 min 53 s).`, in the zone of this workstation."""
    what = "The rehearsal" if found.kind is Kind.REHEARSAL else "The move"
    if found.stopped_at is not None:
        since = units.clock((now - found.stopped_at).total_seconds())
        said = f"The old cluster has been stopped since {found.stopped_at.astimezone():%H:%M:%S} ({since})."
    elif found.alive:
        return f"{found.move}: {what} is under way. {found.stands}"
    else:
        said = found.stands
    return f"{found.move}: {said}" + ("" if found.alive else f" {what} was interrupted.")
