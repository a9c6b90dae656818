"""Where each move stands, from the history."""

from dataclasses import dataclass
from datetime import UTC, datetime

from core.api.session import Session
from core.benchmarks.model import Side
from core.facts.model import Cluster
from core.history.store import Store
from core.migration.execution.unfinished import Unfinished, unfinished
from core.migration.model.move import Move
from core.migration.model.standing import Mark, Next
from core.migration.standing import KnownState, find_next, list_marks


@dataclass(frozen=True, slots=True)
class Standing:
    """A move with its milestones.

    Attributes:
        move: the move.
        marks: the state of each milestone.
        next: what comes next.
        cluster: the cluster by the latest facts of the old server; None if there are none.
        last_at: when anything was last done for the move; None if never.
    """

    move: Move
    marks: tuple[Mark, ...]
    next: Next
    cluster: Cluster | None
    last_at: datetime | None


def get_standing(session: Session, move: str) -> Standing:
    """Return where a move stands; raise InputError if there is no such move."""
    store = session.store
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
    return Standing(found, made, find_next(made), None if old is None else old.cluster(found.cluster), last)


def unfinished_executions(store: Store) -> tuple[Unfinished, ...]:
    """Return the unfinished execution of each move, the most urgent first."""
    now = datetime.now(UTC)
    found = (unfinished(one, now, alive=store.carried_out(one.id)) for one in store.unfinished_executions())
    return tuple(sorted((one for one in found if one is not None), key=lambda one: not one.grave))
