"""Write reports of the history, in any of their kinds and formats."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from core import settings
from core.api.comparison import FoundSets, find_sets, find_sides
from core.api.model import Overview
from core.api.moves import get_standing, rank_fleet
from core.api.session import Session
from core.comparison.diagnosis import diagnose
from core.errors import InputError
from core.facts.model import Facts
from core.migration.fleet import make_fleet_move
from core.migration.model.fleet import FleetMove
from core.migration.model.move import Move
from core.reports import summary
from core.reports.kinds.fleet import FleetReport, FleetServer
from core.reports.kinds.storage import StorageReport
from core.reports.make import Format, Kind, check_place, of_fleet, of_move, of_storage, write
from core.reports.model import Document, Paper
from core.reports.options import Options, read_logo
from core.reports.report import build, first_page
from core.servers.profiles import Profile

__all__ = [
    "FleetReport",
    "Format",
    "Kind",
    "Options",
    "Overview",
    "Paper",
    "make_document",
    "make_fleet_report",
    "make_storage_report",
    "read_logo",
    "read_overview",
    "write_report",
]

_DEFAULT = Options()
_OF_MANY = frozenset({Kind.STORAGE, Kind.FLEET})
"""Kinds of reports that are not about a single move."""


def write_report(
    session: Session,
    kind: Kind,
    words: Sequence[str],
    path: Path,
    shape: Format = Format.PDF,
    options: Options = _DEFAULT,
    *,
    replacing: bool = False,
) -> Path:
    """Write a report to a file and return its path.

    Args:
        session: the history and the connections.
        kind: the kind of the report.
        words: the name of the move; for a comparison of storage see `make_storage_report`; for a fleet the names of its
            moves, or none for all.
        path: the file.
        shape: the format of the file.
        options: the options of the report.
        replacing: whether the file may exist already.

    Raises:
        InputError: there is no such move or run, or the file exists and must not be replaced, or it cannot be written.
    """
    check_place(shape, path, replacing=replacing)
    write(make_document(session, kind, words, options), options, shape, path, replacing=replacing)
    if kind not in _OF_MANY:
        session.store.record_report(words[0], path)
    return path


def read_overview(session: Session, move: str) -> Overview:
    """Return the answers of the first page of a move's report, and what they rest on."""
    report = first_page(session.store, move)
    marks = get_standing(session, move).marks
    answers = (*summary.answers(report), *summary.fits(report))
    return Overview(answers, report.comparison, report.estimate, marks)


def make_document(session: Session, kind: Kind, words: Sequence[str], options: Options) -> Document:
    """Return the report as data, independent of the format of the file."""
    at = options.at or datetime.now(UTC)
    if kind is Kind.STORAGE:
        return of_storage(make_storage_report(session, words, at), options)
    if kind is Kind.FLEET:
        return of_fleet(make_fleet_report(session, words, at), options)
    if len(words) != 1:
        raise InputError(f"a report on {kind.value} needs exactly one move", "list the moves with: pghaul move list")
    return of_move(kind, build(session.store, words[0], at), options)


def make_fleet_report(session: Session, words: Sequence[str], at: datetime) -> FleetReport:
    """Return the data of a report on many moves: those with these names, or all. No server is reached.

    Raises:
        InputError: there is no such move, or no server at all.
    """
    store = session.store
    moves = [store.move(name) for name in dict.fromkeys(words)] or store.moves()
    profiles = {profile.name: profile for profile in store.profiles()}
    ends = dict.fromkeys(name for move in moves for name in (move.old, move.new))
    names = tuple(ends) if words else tuple(profiles)
    if not names:
        raise InputError("there is no server to report on", "add servers first, for example with: pghaul survey LIST")
    unread = store.unread()
    servers = tuple(_fleet_server(profiles[name], store.facts(name), unread.get(name)) for name in names)

    def look(move: Move, old: Facts, _new: Facts) -> FleetMove:
        return make_fleet_move(move, old, store.checks(move.name), store.estimate(move.name))

    facts = {each.profile.name: each.facts for each in servers}
    failures = {each.profile.name: each.failed[1] for each in servers if each.failed is not None}
    ranked = rank_fleet(session, moves, facts, failures, look)
    others = tuple(profile for name, profile in profiles.items() if name not in names)
    return FleetReport(ranked, servers, at, settings.program_version(), others)


def _fleet_server(profile: Profile, facts: Facts | None, failed: tuple[datetime, str] | None) -> FleetServer:
    since = failed is not None and (facts is None or facts.taken_at < failed[0])
    return FleetServer(profile, facts, failed if since else None)


def make_storage_report(session: Session, words: Sequence[str], at: datetime) -> StorageReport:
    """Return the data of a comparison of storage.

    Args:
        session: the history and the connections.
        words: the name of a move, for its two volumes; or the words of sets of runs, see `find_sets`.
        at: when the report is made.

    Raises:
        InputError: a word names nothing that was measured.
    """
    if len(words) == 1 and words[0] in {move.name for move in session.store.moves()}:
        return _storage_report(session, find_sides(session, words[0]), at)
    return _storage_report(session, find_sets(session, words), at)


def _storage_report(session: Session, found: FoundSets, at: datetime) -> StorageReport:
    store, machines = session.store, found.machines
    # a machine need not have its name any more
    facts = {
        (server, machine): read
        for server, machine in dict.fromkeys((run.volume.server, machines.of(run)) for run in found.runs)
        if (read := store.facts_of_machine(server, machine)) is not None
    }
    compared = dict.fromkeys(
        (run.volume.server, machines.of(run), run.volume.mount_point) for one in found.sets for run in one
    )
    return StorageReport(
        compared=found.compared,
        runs=found.runs,
        made_at=at,
        program_version=settings.program_version(),
        diagnoses=tuple(
            diagnose(facts[server, machine], path, found.runs, machines, machine)
            for server, machine, path in compared
            if (server, machine) in facts
        ),
        profiles=tuple(store.profiles()),
        facts=tuple(facts.values()),
        machines=machines,
    )
