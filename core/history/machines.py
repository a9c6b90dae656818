"""Which machines have had the name of a server, and which runs and facts are of each of them."""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from core.benchmarks.model import ELSEWHERE
from core.comparison.machines import Machines
from core.facts.model import Facts
from core.history.findings import facts_by_id
from core.history.models import FactsRow, ProfileRow, RunRow
from core.history.recorded_profiles import move_row


class _Name:
    """The name of a server over time.

    A machine is known by the machine ID in the facts that were read last until a time, else first after it. Facts from
    before the profile began to name another machine say nothing of later times, and the other way round. Without an ID
    in them, a time is only known to be before or after that change.
    """

    def __init__(self, session: Session, profile: ProfileRow) -> None:
        self._session = session
        self._changed = profile.changed_at
        mine = select(FactsRow.id, FactsRow.taken_at).where(FactsRow.profile_id == profile.id)
        self.read = [(number, at) for number, at in session.execute(mine.order_by(FactsRow.taken_at, FactsRow.id))]
        self._parts = {
            later: [each for each in self.read if self._is_later(each[1]) is later] for later in (False, True)
        }
        self._ids: dict[int, str | None] = {}  # by the number of the facts, each of which is a long document

    def machine(self, time: datetime) -> str:
        """Return what the machine is known by that had the name at this time."""
        alike = self._parts[self._is_later(time)]
        until = bisect_right(alike, time, key=lambda each: each[1])
        ordered = (alike[at] for at in (*range(until - 1, -1, -1), *range(until, len(alike))))
        told = (found for number, _ in ordered if (found := self._id(number)) is not None)
        return next(told, "") or ("later" if self._is_later(time) else "")

    def _is_later(self, at: datetime) -> bool:
        return self._changed is not None and at >= self._changed

    def _id(self, number: int) -> str | None:
        """Return the machine ID in these facts; None if the machine has none, or if nobody could read it."""
        if number not in self._ids:
            self._ids[number] = facts_by_id(self._session, number).machine_id
        return self._ids[number]


def machines(session: Session, servers: Iterable[str], move: str | None) -> Machines:
    """Return what is known of the machines of these servers, by all runs on them or by those of a move alone.

    A server that was removed has left no facts.
    """
    counting = true() if move is None else RunRow.move_id == move_row(session, move).id
    of_runs: dict[int, str] = {}
    began: dict[tuple[str, str], datetime] = {}
    now: dict[str, str] = {}
    removed: set[str] = set()
    for server in dict.fromkeys(servers):
        name = _name(session, server)
        if name is not None:
            now[server] = name.machine(datetime.now(UTC))
        elif server != ELSEWHERE:
            removed.add(server)
        runs = select(RunRow.id, RunRow.started_at).where(RunRow.server == server, counting)
        for number, at in session.execute(runs.order_by(RunRow.started_at, RunRow.id)):
            of_runs[number] = machine = "" if name is None else name.machine(at)
            began.setdefault((server, machine), at)
    return Machines(of_runs, began, now, frozenset(removed))


def facts_of_machine(session: Session, server: str, machine: str) -> Facts | None:
    """Return the latest facts of a machine that has or had the name of a server; None if there are none."""
    name = _name(session, server)
    if name is None:
        return None
    own = (number for number, at in reversed(name.read) if name.machine(at) == machine)
    number = next(own, None)
    return None if number is None else facts_by_id(session, number)


def _name(session: Session, server: str) -> _Name | None:
    profile = session.scalar(select(ProfileRow).where(ProfileRow.name == server))
    return None if profile is None else _Name(session, profile)
