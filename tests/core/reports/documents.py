"""A document of any kind, made of one move's report and a comparison, for tests that go through all kinds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from core.benchmarks.model import Run, Workload
from core.comparison.compare import compare
from core.migration.fleet import make_fleet_move, move_time, rank_moves, smallest_window
from core.migration.model.estimate import Span
from core.migration.model.fleet import FleetMove
from core.reports.kinds.fleet import FleetReport, FleetServer
from core.reports.kinds.storage import StorageReport
from core.reports.make import Kind, of_fleet, of_move, of_storage
from core.reports.model import Document
from core.reports.options import Options
from core.reports.report import Report
from core.sides import Side
from tests.core.reports.hostile import MARKUP, NAME

FAILED_AT = datetime(2026, 3, 15, 6, 0, tzinfo=UTC)
TAKEN = "the move spring has the same target, and was carried out"
REASON = "gannon-3: 10.0.0.37 port 22 did not answer within 15 s"


def document_of(kind: Kind, report: Report, storages: StorageReport, options: Options) -> Document:
    """The document of that kind."""
    if kind is Kind.STORAGE:
        return of_storage(storages, options)
    return of_fleet(fleet(report), options) if kind is Kind.FLEET else of_move(kind, report, options)


def repeated(storages: StorageReport, times: int = 5) -> StorageReport:
    """The same measured again and again, with a bad day of the first volume, and a run with a log on each volume."""
    runs: list[Run] = []
    for run in storages.runs:
        for number in range(times):
            factor = 0.7 if number == 3 and run.volume.side is Side.OLD else 1.0 + 0.01 * number
            again = tuple(
                replace(one, metrics={name: factor * value for name, value in one.metrics.items()})
                for one in run.repetitions
            )
            at = run.started_at + timedelta(days=number)
            runs.append(replace(run, started_at=at, ended_at=at, repetitions=again))
    for run in (storages.runs[0], storages.runs[-1]):
        level = 80_000 if run.volume.side is Side.OLD else 400_000
        log = "".join(f"{at * 1000}, {level // (5 if 61 < at < 70 else 1)}, 1, 0, 0\n" for at in range(1, 301))
        metrics = {"write_bytes_per_second": 1024.0 * level}
        workload = Workload("wal", "WAL", "fio", "write_bytes_per_second")
        logged = replace(run.repetitions[0], raw=log, metrics=metrics)
        runs.append(replace(run, workload=workload, repetitions=(logged,)))
    sets = [[run for run in runs if run.volume.side is side] for side in Side]
    return replace(storages, compared=compare(*sets), runs=tuple(run for one in sets for run in one))


def fleet(report: Report) -> FleetReport:
    """The move of a report, and others like it: one to be made in each of two windows, one unread, one carried out."""
    own = make_fleet_move(report.move, report.old_facts, report.checks, report.estimate)
    latest = next(iter(report.executions), None)
    moves = [
        replace(own, moved_at=None),
        ready(own, "summer", Span(200.0, 300.0, 400.0)),
        ready(own, "autumn", Span(5000.0, 6000.0, 7000.0)),
        replace(_named(own, "winter"), stops=(), unknown=REASON, window_seconds=None),
        replace(_named(own, "last year"), unknown="", moved_at=move_time(latest) or FAILED_AT),
    ]
    third = replace(report.new, name="gannon-3", address="10.0.0.37")
    servers = (
        FleetServer(report.old, report.old_facts),
        FleetServer(report.new, report.new_facts),
        FleetServer(third, None, (FAILED_AT, REASON)),
    )
    return FleetReport(rank_moves(moves), servers, report.made_at, report.program_version)


def fleet_of_many(report: Report, count: int = 100) -> FleetReport:
    """So many servers, each with a move: of five two possible, one is stopped, one's target is taken, one unread."""
    own = make_fleet_move(report.move, report.old_facts, report.checks, report.estimate)
    moves, servers = [], [FleetServer(report.new, report.new_facts)]
    for number in range(count):
        profile = replace(report.old, name=f"db{number:03}.example.net", address=f"10.1.0.{number}")
        name, length = f"{profile.name}:/srv/pg/15/main", 90.0 * 1.08**number
        one = ready(own, name, Span(length / 2, length, 2 * length))
        failed = (FAILED_AT, f"{profile.name}: {profile.address} port 22 refuses the connection")
        kinds = (
            one,
            one,
            replace(one, stops=own.stops),
            replace(one, stops=(TAKEN,), in_the_way="spring"),
            replace(one, unknown=failed[1]),
        )
        found = kinds[number % 5]
        moves.append(replace(found, move=replace(found.move, old=profile.name), size_bytes=10**9 * (number + 1)))
        read = FleetServer(profile, None, failed) if found.unknown else FleetServer(profile, report.old_facts)
        servers.append(read)
    return FleetReport(rank_moves(moves), tuple(servers), report.made_at, report.program_version)


def hostile_fleet(report: Report) -> FleetReport:
    """One in which every text of others is as bad as it can be."""
    made = fleet(report)
    moves = tuple(
        replace(
            one,
            move=replace(one.move, name=MARKUP, old=NAME, new=MARKUP),
            stops=(*(MARKUP for _ in one.failed_checks), *([TAKEN] if one.stops else [])),
            in_the_way="spring" if one.stops else "",
            unknown=MARKUP if one.unknown else "",
        )
        for one in made.moves
    )
    servers = tuple(
        replace(each, profile=replace(each.profile, name=NAME), failed=(FAILED_AT, MARKUP)) for each in made.servers
    )
    return replace(made, moves=moves, servers=servers)


def ready(own: FleetMove, name: str, downtime: Span) -> FleetMove:
    """A move like another that nothing stops."""
    made = replace(_named(own, name), stops=(), unknown="", warnings=1, method="warm-copy", downtime_seconds=downtime)
    return replace(made, window_seconds=smallest_window(downtime))


def _named(one: FleetMove, name: str) -> FleetMove:
    return replace(one, move=replace(one.move, name=name))
