"""Import a list of servers and moves, and survey many servers: read their facts, check and estimate their moves.

A survey asks no question. The facts of each server are saved as soon as they are read. So a survey that was interrupted
continues with the missing servers when it is run again. A server that fails becomes a row with its error.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from core import units
from core.api.facts import collect_and_save
from core.api.migration import check_and_estimate
from core.api.moves import rank_fleet
from core.api.session import Session, record_commands
from core.comparison.sets import is_place_on_server
from core.errors import Cancelled, HistoryError, InputError, PghaulError, ServerError
from core.facts.clusters import IDENTITY, PLACE
from core.facts.model import Facts
from core.history.recorded_profiles import checked_name
from core.inputs import read_input
from core.jobs import Job, Note, Progress, ServerState
from core.migration.findings.data_roots import data_roots
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.findings.volumes import volume_path
from core.migration.fleet import make_fleet_move
from core.migration.model.fleet import FleetMove, MoveState
from core.migration.model.move import Move
from core.servers.connection import connect
from core.servers.lists.formats import read_list
from core.servers.lists.model import Listed, Refused, ServerList, WantedMove, name_of_move, refuse_same_server
from core.servers.profiles import Asker, Profile
from core.servers.ssh_config import config_file

__all__ = [
    "AT_ONCE",
    "FRESH_SECONDS",
    "MOST_AT_ONCE",
    "Refused",
    "ServerList",
    "Survey",
    "SurveyedCluster",
    "SurveyedServer",
    "Taken",
    "import_list",
    "import_moves",
    "import_servers",
    "load_list",
    "run_survey",
]

AT_ONCE = 8
"""How many servers are read at once: sshd, or a jump host, drops some of more than ten logins (MaxStartups)."""
MOST_AT_ONCE = 64
"""How many may be read at once at most."""
FRESH_SECONDS = 3600.0
"""Facts that are less than an hour old are not read again, for example those of an interrupted survey."""


@dataclass(frozen=True, slots=True)
class SurveyedCluster:
    """A cluster that was found."""

    data_directory: str
    version: str
    running: bool
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class SurveyedServer:
    """The result of surveying a server.

    Attributes:
        server: the name of the server.
        address: its address.
        taken_at: when its facts were read; None if they were not.
        asked: whether it was reached in this survey; otherwise its facts were recent.
        seconds: how long that took, in seconds.
        clusters: the clusters that were found.
        failure: why its facts could not be read; empty if they were.
        hint: what to do about it; empty if they were read.
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
    """The result of a survey.

    Attributes:
        servers: the servers, in the order in which they were named.
        moves: the moves, ready ones first.
        refused: entries of the list that were not imported.
        began_at: when the survey began.
        seconds: how long it took, in seconds.
    """

    servers: tuple[SurveyedServer, ...]
    moves: tuple[FleetMove, ...]
    refused: tuple[Refused, ...]
    began_at: datetime
    seconds: float

    @property
    def clean(self) -> bool:
        """Return whether every server answered and nothing is known to prevent a move."""
        return not (
            self.refused
            or any(each.failure for each in self.servers)
            or any(each.state in {MoveState.BLOCKED, MoveState.UNKNOWN} for each in self.moves)
        )


def run_survey(
    session: Session,
    found: ServerList | None,
    asker: Asker,
    job: Job,
    *,
    at_once: int = AT_ONCE,
    refresh: bool = False,
    since: datetime | None = None,
    replacing: bool = False,
) -> Survey:
    """Read every server of a list, or of the history, and check the moves between them.

    Args:
        session: the history; its connections are not used, because each connection is closed after its server was read.
        found: the list, which is imported into the history; None for every server of the history.
        asker: answers the questions of the connections without asking anybody.
        job: the job that reports each server; after a cancel, the facts that were read stay in the history.
        at_once: how many servers are read at the same time.
        refresh: read also servers whose facts are recent.
        since: when the survey began that this one continues: servers that were read since then are not read again.
        replacing: whether the list overrides servers and moves in the history.

    Raises:
        InputError: there is no server.
        Cancelled: the job was cancelled.
    """
    began_at, start = datetime.now(UTC), time.monotonic()
    taken = None if found is None else import_servers(session, found, replacing=replacing)
    profiles = {profile.name: profile for profile in session.store.profiles()}
    names = tuple(profiles) if taken is None else taken.servers
    if not names:
        raise _no_server_error(() if taken is None else taken.refused)
    moves = _moves_to_survey(session, found, names, replacing=replacing)
    reading = _SurveyReader(session, asker, job, profiles, moves, refresh=refresh, since=since)
    rows = reading.read_all(names, at_once)
    if found is not None and taken is not None:
        taken = import_moves(session, found, taken, replacing=replacing, job=job)
    return Survey(
        servers=tuple(rows.values()),
        moves=_check_moves(session, rows, job),
        refused=() if taken is None else taken.refused,
        began_at=began_at,
        seconds=time.monotonic() - start,
    )


def _no_server_error(refused: Sequence[Refused]) -> InputError:
    """Return the error that there is no server to read, with the first reason from the list."""
    if not refused:
        return InputError("there is no server to read", "add servers with a list: pghaul survey LIST")
    first = refused[0]
    return InputError(f"there is no server to read: {first.place}: {first.reason}", first.hint)


def _moves_to_survey(
    session: Session, found: ServerList | None, names: Sequence[str], *, replacing: bool
) -> list[Move]:
    """Return the moves from these servers, of the history and of the list."""
    known = _KnownMoves(session.store.moves())
    moves = {move.name: move for move in known.moves}
    for each in found.listed if found is not None else ():
        if (wanted := each.move) is not None:
            before = known.find(each.profile.name, wanted)
            if replacing or before is None:
                ends = _ends(each.profile.name, wanted)
                name = wanted.name if before is None else before.name
                moves[name] = Move(name, *ends, old_volume="", new_volume="")
    read = set(names)
    return [move for move in moves.values() if move.old in read]


@dataclass
class _SurveyReader:
    """One pass over all servers.

    Attributes:
        session: the history.
        asker: answers the questions of the connections.
        job: the job that reports progress.
        profiles: every known server, by name.
        moves: the moves from the servers that are read.
        refresh: read also servers whose facts are recent.
        since: facts that were read since then are recent in any case.
        facts: the facts of each server, read or recent.
    """

    session: Session
    asker: Asker
    job: Job
    profiles: dict[str, Profile]
    moves: list[Move]
    refresh: bool
    since: datetime | None
    facts: dict[str, Facts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._leaving: dict[str, list[Move]] = {}  # by the old server: there may be thousands of both
        self._coming: dict[str, list[Move]] = {}  # by the new server
        for move in self.moves:
            self._leaving.setdefault(move.old, []).append(move)
            self._coming.setdefault(move.new, []).append(move)

    def read_all(self, names: Sequence[str], at_once: int) -> dict[str, SurveyedServer]:
        """Return the result of each server, in order, followed by the targets of their moves.

        New servers are read last, because the facts of the old servers say what must be looked for on them.
        """
        ends = dict.fromkeys(move.new for move in self.moves if move.new in self.profiles)
        wanted = list(dict.fromkeys((*names, *ends)))
        rows: dict[str, SurveyedServer] = {}
        for name in wanted:
            self.job.report(ServerState(name, "waiting"))
        with ThreadPoolExecutor(at_once, thread_name_prefix="survey") as pool:
            try:
                for part in ([name for name in wanted if name not in ends], list(ends)):
                    self._read_part(pool, part, rows, len(wanted))
            except BaseException:  # also when cancelled: waiting reads do not start
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return {name: rows[name] for name in wanted}

    def _read_part(
        self, pool: ThreadPoolExecutor, names: Sequence[str], rows: dict[str, SurveyedServer], total: int
    ) -> None:
        silent = record_commands(
            self.session.store, self.job.relay(lambda _: None)
        )  # the job's listener has one thread
        told: SimpleQueue[str | Future[SurveyedServer]] = SimpleQueue()
        for name in names:
            pool.submit(self._row, self.profiles[name], silent, partial(told.put, name)).add_done_callback(told.put)
        ended = 0
        while ended < len(names):
            each = told.get()
            if isinstance(each, str):
                self.job.report(ServerState(each, "running"))
                continue
            row = each.result()
            ended += 1
            rows[row.server] = row
            self.job.report(ServerState(row.server, "done", row))
            self.job.report(Note(_describe_row(row), "warning" if row.failure else "info"))
            whole = f"{len(rows)} of {total} servers are done"
            self.job.report(Progress("survey", "Read the servers", len(rows), total, whole=whole))
            self.job.check()  # nothing else does where the facts of all servers are recent

    def _row(self, profile: Profile, job: Job, begin: Callable[[], None]) -> SurveyedServer:
        begin()
        begun = time.monotonic()
        try:
            return self._surveyed(profile, job, begun)
        except Cancelled:
            raise
        except PghaulError as error:
            job.check()  # a connection that a cancel has ended is not a failure of the server
            failure = error
        # A worker's outer edge: behind it is only the future, whose result is a row. A bug that one server brings to
        # light must not hide what hundreds of others have answered.
        except Exception as error:  # noqa: BLE001
            job.check()
            _report_bug(error)
            kind = type(error).__name__
            failure = ServerError(
                f"{profile.name}: this server could not be surveyed because of a bug in pghaul ({kind})",
                "report the bug with its traceback; the other servers are surveyed all the same",
            )
        # Where not even this can be recorded, the history is lost, and the survey ends with it.
        self.session.store.record_unread(profile, failure.message)
        return SurveyedServer(
            profile.name,
            profile.address,
            None,
            asked=True,
            seconds=time.monotonic() - begun,
            failure=failure.message,
            hint=failure.hint,
        )

    def _surveyed(self, profile: Profile, job: Job, begun: float) -> SurveyedServer:
        known = self.session.store.facts(profile.name)
        if known is not None and self._recent(profile.name, known):
            self.facts[profile.name] = known
            return _row(profile, known, time.monotonic() - begun, asked=False)
        read = self._read(profile, known, job)
        self.facts[profile.name] = read
        return _row(profile, read, time.monotonic() - begun, asked=True)

    def _recent(self, name: str, known: Facts) -> bool:
        """Return whether the facts of a server need not be read again."""
        if self.refresh and (self.since is None or known.taken_at < self.since):
            return False
        age = (datetime.now(UTC) - known.taken_at).total_seconds()
        return (
            age < FRESH_SECONDS
            and all(known.cluster(each.cluster) for each in self._leaving.get(name, ()))
            and all(self._knows_target(each, known) for each in self._coming.get(name, ()))
        )

    def _knows_target(self, move: Move, new: Facts) -> bool:
        """Return whether facts of the new server contain what lies in the targets of the move."""
        target = new.cluster(move.target) or new.gap(PLACE.name, IDENTITY.name, of=move.target)
        return target is not None and all(folder in new.target_entries for folder in self._tablespaces(move))

    def _read(self, profile: Profile, known: Facts | None, job: Job) -> Facts:
        here = [move.cluster for move in self._leaving.get(profile.name, ())]
        coming = self._coming.get(profile.name, ())
        folders = list(dict.fromkeys((*here, *(move.target for move in coming))))
        places = [place for move in coming for place in self._tablespaces(move)]
        with connect(profile, self.asker, job) as server:
            return collect_and_save(self.session.store, server, job, known, folders=folders, targets=places)

    def _tablespaces(self, move: Move) -> list[str]:
        """Return the folders of the tablespaces on the new server."""
        old = self.facts.get(move.old)
        cluster = old.cluster(move.cluster) if old is not None else None
        return [] if cluster is None else [root.target for root in data_roots(move, cluster)[1:]]


def _report_bug(error: Exception) -> None:
    """Hand an exception to what takes those that no thread has caught: there its traceback is shown and kept."""
    threading.excepthook(
        threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
    )


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


def _check_moves(session: Session, rows: dict[str, SurveyedServer], job: Job) -> tuple[FleetMove, ...]:
    """Return the moves between these servers, each checked and estimated; no server is reached."""

    def look(move: Move, old: Facts, new: Facts) -> FleetMove:
        try:
            return make_fleet_move(move, old, *check_and_estimate(session, move, old, new))
        except InputError as error:
            return make_fleet_move(move, old, None, None, unknown=error.message)

    def moves_with_progress() -> Iterator[Move]:
        for number, move in enumerate(moves):
            job.check()
            job.report(Progress("checks", "Check the moves", number, len(moves)))
            yield move

    moves = [move for move in session.store.moves() if move.old in rows and move.new in rows]
    facts = {name: _last_facts(session, name) for name in {name for move in moves for name in (move.old, move.new)}}
    failures = {name: row.failure for name, row in rows.items() if row.failure}
    return rank_fleet(session, moves_with_progress(), facts, failures, look)


def _last_facts(session: Session, server: str) -> Facts | None:
    """Return the latest facts of a server; None if there are none, or none that can be read. Its row says why."""
    try:
        return session.store.facts(server)
    except HistoryError:
        return None


def load_list(path: Path | None) -> ServerList:
    """Return the servers and moves of a file with a list, or of `~/.ssh/config`; nothing is imported.

    Args:
        path: the file; None: the ssh configuration that ssh uses.

    Raises:
        InputError: the file cannot be read, or there is no server in it; or ssh uses no configuration.
    """
    file = config_file() if path is None else path
    if file is None:
        raise InputError("ssh uses no configuration of your own", "choose a file with a list of servers")
    return read_list(str(file), read_input(str(file)))


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of importing a list.

    Attributes:
        added: the names of servers that were added.
        changed: the names of servers whose description was changed.
        kept: the names of servers that are known with the same description.
        moves: the names of all moves of the list that exist now.
        refused: the entries that were not imported, each with the reason.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    kept: tuple[str, ...]
    moves: tuple[str, ...]
    refused: tuple[Refused, ...]

    @property
    def servers(self) -> tuple[str, ...]:
        """Return the names of all imported servers."""
        return (*self.added, *self.changed, *self.kept)


def import_list(session: Session, found: ServerList, *, replacing: bool = False) -> Taken:
    """Import the servers and moves of a list; with `replacing` also those that are known with another description."""
    taken = import_servers(session, found, replacing=replacing)
    return import_moves(session, found, taken, replacing=replacing)


def import_servers(session: Session, found: ServerList, *, replacing: bool) -> Taken:
    """Import the servers of a list, all valid ones at once, because there may be thousands."""
    known = {profile.name: profile for profile in session.store.profiles()}
    sorting = _ServerSorter(known, replacing=replacing)
    for each in {each.profile.name: each for each in found.listed}.values():
        with sorting.collecting_refusals(each):
            sorting.sort(each.profile)
    session.store.put_profiles([*sorting.added, *sorting.changed])
    added, changed, kept = (
        tuple(each.name for each in part) for part in (sorting.added, sorting.changed, sorting.kept)
    )
    return Taken(added, changed, kept, moves=(), refused=(*found.refused, *sorting.refused))


def import_moves(
    session: Session, found: ServerList, taken: Taken, *, replacing: bool, job: Job | None = None
) -> Taken:
    """Import the moves of the imported servers; their volumes come from the facts of the servers, if any.

    Raises:
        Cancelled: the job was cancelled; the moves until then stay in the history.
    """
    sorting = _ServerSorter({}, replacing=replacing)
    known = _KnownMoves(session.store.moves())
    servers = set(taken.servers)
    names = []
    for each in found.listed:
        if each.move is not None and each.profile.name in servers:
            if job is not None:
                job.check()
            with sorting.collecting_refusals(each):
                before = known.find(each.profile.name, each.move)
                names.append(_import_move(session, each.profile.name, each.move, before, replacing=replacing))
    return replace(taken, moves=tuple(names), refused=(*taken.refused, *sorting.refused))


class _KnownMoves:
    """The moves of the history, as the entries of a list find them."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self.moves = moves
        self._by_name = {move.name: move for move in moves}
        self._by_cluster: dict[tuple[str, str], list[Move]] = {}  # there may be thousands of both
        for move in moves:
            self._by_cluster.setdefault((move.old, move.cluster), []).append(move)

    def find(self, old: str, wanted: WantedMove) -> Move | None:
        """Return the move that an entry of a list means; None if there is none yet.

        An entry without a name means the move of its cluster, whatever that is called: with the same servers and
        folders, or one that an older pghaul has called like a volume, such as `db1:/srv/pg`.
        """
        named = self._by_name.get(wanted.name)
        if named is not None or wanted.name != name_of_move(old, wanted.cluster):
            return named
        of_cluster = self._by_cluster.get((old, wanted.cluster), [])
        same = (move for move in of_cluster if (move.old, move.new, move.cluster, move.target) == _ends(old, wanted))
        called_before = (move for move in of_cluster if is_place_on_server(move.name))
        return next(same, None) or next(called_before, None)


def _ends(old: str, wanted: WantedMove) -> tuple[str, str, str, str]:
    """Return the servers and folders of a move, in the order of `Move`."""
    return old, wanted.new, wanted.cluster, wanted.target


def _import_move(session: Session, old: str, wanted: WantedMove, known: Move | None, *, replacing: bool) -> str:
    """Import a move that may be known, and return its name in the history."""
    if known is not None:
        if (known.old, known.new, known.cluster, known.target) == _ends(old, wanted):
            return known.name
        if not replacing:
            raise InputError(
                f"the move {known.name!r} exists already with other servers or folders", "change it with --replace"
            )
        _refuse_loss(known, old, wanted)
    here, there = session.store.profile(old), session.store.profile(wanted.new)
    facts, new_facts = _last_facts(session, old), _last_facts(session, wanted.new)
    known_as_one = facts is not None and new_facts is not None and compare_hosts(facts, new_facts) is Hosts.ONE
    refuse_same_server(wanted, here, there, same_machine=known_as_one)
    move = Move(
        name=wanted.name,
        old=old,
        new=wanted.new,
        cluster=wanted.cluster,
        target=wanted.target,
        old_volume=volume_path(facts, wanted.cluster),
        new_volume=volume_path(new_facts, wanted.target),
        tablespace_targets={} if known is None else known.tablespace_targets,
        plain_text=known is not None and known.plain_text,
        precopy_limit=None if known is None else known.precopy_limit,
        edited=known.edited if known is not None and (known.old, known.cluster) == (old, wanted.cluster) else None,
    )
    if known is None:
        session.store.put_move(move)
    else:
        session.store.update_move(move, known.name)
    return move.name


def _refuse_loss(known: Move, old: str, wanted: WantedMove) -> None:
    """Raise InputError if the list would change the meaning of tablespace targets or of a permission."""
    if known.tablespace_targets and (known.old, known.cluster) != (old, wanted.cluster):
        lost = "tablespace locations for another cluster"
    elif known.plain_text and (known.old, known.new) != (old, wanted.new):
        lost = "permission to copy without encryption between other servers"
    else:
        return
    raise InputError(f"the move {known.name!r} has {lost}", "set up the move again yourself: pghaul move add --replace")


@dataclass
class _ServerSorter:
    """Sorts the servers of a list by what is done with them."""

    known: dict[str, Profile]
    replacing: bool
    added: list[Profile] = field(default_factory=list)
    changed: list[Profile] = field(default_factory=list)
    kept: list[Profile] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def sort(self, profile: Profile) -> None:
        before = self.known.get(checked_name("server", profile.name))
        if before is None:
            self.added.append(profile)
        elif before == profile:
            self.kept.append(profile)
        elif self.replacing:
            self.changed.append(profile)
        else:
            raise InputError(
                f"the server {profile.name!r} exists already with another description", "change it with --replace"
            )

    @contextmanager
    def collecting_refusals(self, entry: Listed) -> Iterator[None]:
        """Collect the error of an entry that cannot be imported, and let the others go on."""
        try:
            yield
        except InputError as error:
            self.refused.append(Refused(entry.place, entry.profile.name, error.message, error.hint))
