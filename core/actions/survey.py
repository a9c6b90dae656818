"""Many servers at once: their facts, and checks and estimates of the moves between them. It reads, and asks nobody.

Each server's facts are in the history as soon as they are read, so that a survey that was broken off, begun again, goes
on with those that are missing. A server that fails is a row with its sentence.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core import units
from core.actions.facts import collected
from core.actions.fleet import by_rank
from core.actions.lists import take_moves, take_servers
from core.actions.migration import judge
from core.actions.session import Session, record_commands
from core.errors import InputError, ServerError
from core.facts.clusters import IDENTITY, PLACE
from core.facts.model import Facts
from core.jobs import Job, Note, Progress
from core.migration.findings.data_roots import data_roots
from core.migration.fleet import FleetMove, make_fleet_move
from core.migration.model.move import Move
from core.servers.connection import connect
from core.servers.lists.model import Refused, ServerList
from core.servers.profiles import Asker, Profile

AT_ONCE = 8
"""Connections: an sshd, or the jump host before all of them, drops some of more than ten that log in (MaxStartups)."""
FRESH_SECONDS = 3600.0
"""Facts of the last hour are not read again: they are of this survey, which was broken off, or as good."""


@dataclass(frozen=True, slots=True)
class SurveyedCluster:
    """A cluster that was found."""

    data_directory: str
    version: str
    running: bool
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class SurveyedServer:
    """What came of a server.

    Attributes:
        taken_at: when its facts were read; None: they were not.
        asked: it was reached for that; else its facts were fresh.
        failure, hint: why its facts could not be read, and what to do; empty where they were.
    """

    server: str
    address: str
    taken_at: datetime | None
    asked: bool
    seconds: float
    clusters: tuple[SurveyedCluster, ...] = ()
    failure: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey.

    Attributes:
        servers: in the order in which they were named.
        moves: those that can be made first.
        refused: entries of the list that were not taken.
    """

    servers: tuple[SurveyedServer, ...]
    moves: tuple[FleetMove, ...]
    refused: tuple[Refused, ...]
    began_at: datetime
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether every server answered and nothing stops a move."""
        return not (
            self.refused
            or any(each.failure for each in self.servers)
            or any(each.stops or each.unknown for each in self.moves)
        )


def survey(
    session: Session,
    found: ServerList | None,
    asker: Asker,
    job: Job,
    *,
    at_once: int = AT_ONCE,
    refresh: bool = False,
    replacing: bool = False,
) -> Survey:
    """Read every server of a list, or of the history, and check the moves between them.

    Args:
        session: its connections are not used: each server's is closed as soon as it is read.
        found: the list; it is taken into the history. None: every server of the history.
        asker: answers for whoever is not asked.
        job: told of each server that was read; a cancel leaves what was read in the history.
        at_once: how many servers are read side by side.
        refresh: also those whose facts are fresh.
        replacing: the list's word counts where the history has a server or a move otherwise.

    Raises:
        InputError: there is no server.
        Cancelled: the job was cancelled.
    """
    began_at, begun = datetime.now(UTC), time.monotonic()
    taken = None if found is None else take_servers(session, found, replacing=replacing)
    profiles = {profile.name: profile for profile in session.store.profiles()}
    names = tuple(profiles) if taken is None else taken.servers
    if not names:
        raise _nobody(() if taken is None else taken.refused)
    reading = _Reading(
        session, asker, job, profiles, _moves(session, found, names, replacing=replacing), refresh=refresh
    )
    rows = reading.all(names, at_once)
    if found is not None and taken is not None:
        taken = take_moves(session, found, taken, replacing=replacing)
    return Survey(
        servers=tuple(rows.values()),
        moves=_judged(session, rows, job),
        refused=() if taken is None else taken.refused,
        began_at=began_at,
        seconds=time.monotonic() - begun,
    )


def _nobody(refused: Sequence[Refused]) -> InputError:
    """That no server is there, and why the list gave none."""
    said = "there is no server to read"
    if not refused:
        return InputError(said, "add servers with a list: pghaul survey LIST")
    first = refused[0]
    return InputError(f"{said}: {first.place}: {first.reason}", first.hint or "correct the list")


def _moves(session: Session, found: ServerList | None, names: Sequence[str], *, replacing: bool) -> list[Move]:
    """Those that begin on these servers: of the history, and of the list, whose volumes are not known yet."""
    known = {move.name: move for move in session.store.moves()}
    for each in found.listed if found is not None else ():
        if (wanted := each.move) is not None:
            ends = each.profile.name, wanted.new, wanted.cluster, wanted.target
            if replacing or wanted.name not in known:
                known[wanted.name] = Move(wanted.name, *ends, old_volume="", new_volume="")
    return [move for move in known.values() if move.old in set(names)]


@dataclass
class _Reading:
    """One pass over all servers.

    Attributes:
        profiles: every server that is known; `moves`: those that begin on the servers that are read.
        facts: what was read, or fresh.
    """

    session: Session
    asker: Asker
    job: Job
    profiles: dict[str, Profile]
    moves: list[Move]
    refresh: bool
    facts: dict[str, Facts] = field(default_factory=dict)

    def all(self, names: Sequence[str], at_once: int) -> dict[str, SurveyedServer]:
        """What came of each, in their order, those behind them that moves lead to.

        New ones are read last: what is looked for there the facts of the old ones say.
        """
        ends = [move.new for move in self.moves if move.new in self.profiles]
        wanted = list(dict.fromkeys((*names, *ends)))
        rows: dict[str, SurveyedServer] = {}
        with ThreadPoolExecutor(at_once, thread_name_prefix="survey") as pool:
            try:
                for part in ([name for name in wanted if name not in ends], list(dict.fromkeys(ends))):
                    self._read_part(pool, part, rows, len(wanted))
            except BaseException:  # cancelled too: what waits is not begun
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return {name: rows[name] for name in wanted}

    def _read_part(
        self, pool: ThreadPoolExecutor, names: Sequence[str], rows: dict[str, SurveyedServer], total: int
    ) -> None:
        silent = record_commands(
            self.session.store, self.job.relay(lambda _: None)
        )  # the job's listener has one thread
        running = [pool.submit(self._row, self.profiles[name], silent) for name in names]
        for future in as_completed(running):
            row = future.result()
            rows[row.server] = row
            self.job.report(Note(_describe_row(row), "warning" if row.failure else "info"))
            self.job.report(Progress("survey", len(rows), total, whole=f"{len(rows)} of {total} servers"))

    def _row(self, profile: Profile, job: Job) -> SurveyedServer:
        begun = time.monotonic()
        known = self.session.store.facts(profile.name)
        if known is not None and not self.refresh and self._fresh(profile.name, known):
            self.facts[profile.name] = known
            return _row(profile, known, time.monotonic() - begun, asked=False)
        try:
            read = self._read(profile, known, job)
        except (ServerError, InputError) as error:
            job.check()  # a connection that ended because of a cancel is no failure of its server
            self.session.store.record_unread(profile, error.message)
            return SurveyedServer(
                profile.name,
                profile.address,
                None,
                asked=True,
                seconds=time.monotonic() - begun,
                failure=error.message,
                hint=error.hint,
            )
        self.facts[profile.name] = read
        return _row(profile, read, time.monotonic() - begun, asked=True)

    def _fresh(self, name: str, known: Facts) -> bool:
        age = (datetime.now(UTC) - known.taken_at).total_seconds()
        return (
            age < FRESH_SECONDS
            and all(known.cluster(each.cluster) for each in self.moves if each.old == name)
            and all(self._looked_at(each, known) for each in self.moves if each.new == name)
        )

    def _looked_at(self, move: Move, new: Facts) -> bool:
        """Whether facts of new say what lies where the move leads."""
        target = new.cluster(move.target) or new.gap(PLACE.name, IDENTITY.name, of=move.target)
        return target is not None and all(folder in new.target_entries for folder in self._tablespaces(move))

    def _read(self, profile: Profile, known: Facts | None, job: Job) -> Facts:
        here = [move.cluster for move in self.moves if move.old == profile.name]
        coming = [move for move in self.moves if move.new == profile.name]
        folders = list(dict.fromkeys((*here, *(move.target for move in coming))))
        places = [place for move in coming for place in self._tablespaces(move)]
        with connect(profile, self.asker, job) as server:
            return collected(self.session.store, server, job, known, folders=folders, targets=places)

    def _tablespaces(self, move: Move) -> list[str]:
        """Where they are to lie on the new server."""
        old = self.facts.get(move.old)
        cluster = old.cluster(move.cluster) if old is not None else None
        return [] if cluster is None else [root.target for root in data_roots(move, cluster)[1:]]


def _row(profile: Profile, facts: Facts, seconds: float, *, asked: bool) -> SurveyedServer:
    clusters = tuple(
        SurveyedCluster(each.data_directory, each.version or each.series, each.running, each.size_bytes)
        for each in facts.clusters
    )
    return SurveyedServer(profile.name, profile.address, facts.taken_at, asked, seconds, clusters)


def _describe_row(row: SurveyedServer) -> str:
    if row.failure:
        return row.failure
    read = f"read in {units.duration(row.seconds)}" if row.asked else "read earlier"
    return f"{row.server}: {units.counted(len(row.clusters), 'cluster')}, {read}"


def _judged(session: Session, rows: dict[str, SurveyedServer], job: Job) -> tuple[FleetMove, ...]:
    """The moves between these servers, each checked and estimated; nobody is reached any more."""

    def look(move: Move, old: Facts, new: Facts) -> FleetMove:
        try:
            return make_fleet_move(move, old, *judge(session, move, old, new))
        except InputError as error:
            return make_fleet_move(move, old, None, None, unknown=error.message)

    def told() -> Iterator[Move]:
        for number, move in enumerate(moves):
            job.check()
            job.report(Progress("checks", number, len(moves)))
            yield move

    moves = [move for move in session.store.moves() if move.old in rows and move.new in rows]
    facts = {name: session.store.facts(name) for name in {name for move in moves for name in (move.old, move.new)}}
    failures = {name: row.failure for name, row in rows.items() if row.failure}
    return by_rank(session, told(), facts, failures, look)
