"""What reports of a move rest on: everything that the history holds of it, at one moment.

Nothing else goes in, no other move and no number that only this history has given: a workstation that has imported the
move makes the same report. The names of other servers are there only for a mask.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from core import settings
from core.benchmarks.model import Outcome, Run
from core.comparison.compare import compare
from core.comparison.diagnosis import diagnose
from core.comparison.model import Comparison, Diagnosis, MeasuredVolume
from core.facts.model import Cluster, Facts
from core.history.store import Store
from core.migration.estimate import spec_of
from core.migration.estimate.growth import monthly_growth
from core.migration.estimate.spec import Spec
from core.migration.execution.rates import changed, copied
from core.migration.execution.record import EstimateComparison, history_of
from core.migration.findings.data_roots import data_roots
from core.migration.model.checks import CheckResult, Tally, tally
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.reports.estimate_record import record_of_report
from core.servers.profiles import Profile
from core.sides import Side


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of a move. None or empty: it was not read, measured, checked, estimated or planned yet."""

    move: Move
    old: Profile
    new: Profile
    made_at: datetime
    program_version: str
    old_facts: Facts | None = None
    new_facts: Facts | None = None
    runs: tuple[Run, ...] = ()
    """The latest of each workload and side, which the comparison stands on."""
    comparison: Comparison | None = None
    volumes: Comparison | None = None
    """Every volume that was measured for the move, each against the first; None where there are no more than two."""
    diagnoses: tuple[Diagnosis, ...] = ()
    """Of each volume whose server's facts were read."""
    checks: tuple[CheckResult, ...] | None = None
    checks_taken_at: datetime | None = None
    probes: tuple[Probe, ...] = ()
    estimate: Estimate | None = None
    plan: Plan | None = None
    executions: tuple[Execution, ...] = ()
    """Newest first."""
    record: tuple[EstimateComparison, ...] = ()
    """Executions and rehearsals beside their estimates, stage by stage, newest first."""
    record_of_all: tuple[EstimateComparison, ...] = ()
    """The same with those of every other move that this user's pghaul has recorded."""
    sizes: tuple[tuple[datetime, float], ...] = ()
    """The cluster's bytes as they were read, the oldest first."""
    others: tuple[Profile, ...] = ()
    """The other servers of the history: no report speaks of them, but a masked one must not name them either."""

    @property
    def cluster(self) -> Cluster | None:
        """The cluster that moves, as the facts of the old server have it."""
        return None if self.old_facts is None else self.old_facts.cluster(self.move.cluster)

    @property
    def moved_by(self) -> Execution | None:
        """The execution that has moved the cluster; None: it was not moved yet."""
        latest = next(iter(self.executions), None)
        if latest is None or latest.kind is not Kind.REAL or latest.state is not State.DONE:
            return None
        return latest

    @property
    def idle_wal_bytes(self) -> int:
        """The cluster's bytes of WAL that the old server keeps to write over it, and that no copy brings."""
        return 0 if self.cluster is None else sum(root.idle_bytes for root in data_roots(self.move, self.cluster))

    @property
    def blockers(self) -> tuple[CheckResult, ...]:
        """The checks that stop the move: blockers, and what is unknown where it could be one."""
        return tuple(check for check in self.checks or () if check.stops)

    @property
    def tally(self) -> Tally:
        """How many results of the checks there are of each kind."""
        return tally(self.checks or ())


def build(store: Store, move_name: str, at: datetime | None = None) -> Report:
    """Read everything about the move of that name, for a report of that moment or of now.

    Raises:
        InputError: there is no such move.
    """
    found = first_page(store, move_name)
    found = found if at is None else replace(found, made_at=at)
    record, of_all = record_of_report(store, move_name)
    return replace(
        found,
        volumes=_volumes(store, move_name),
        diagnoses=diagnoses(store, found.move),
        record=record,
        record_of_all=of_all,
        sizes=store.cluster_sizes(found.move.old, found.move.cluster, _MOST_SIZES),
    )


def first_page(store: Store, move_name: str) -> Report:
    """What the report's first page rests on, however many runs the history holds. Raises as `build` does."""
    move = store.move(move_name)
    latest = {side: store.runs(move_name, side=side, latest_only=True) for side in Side}
    # read after the runs: of a run that is recorded meanwhile the machine would not be known
    machines = store.machines((move.old, move.new), move=move_name)
    runs = {side: machines.newest(found) for side, found in latest.items()}
    return Report(
        move=move,
        old=store.profile(move.old),
        new=store.profile(move.new),
        made_at=datetime.now(UTC),
        program_version=settings.program_version(),
        old_facts=store.facts(move.old),
        new_facts=store.facts(move.new),
        runs=(*runs[Side.OLD], *runs[Side.NEW]),
        comparison=compare(runs[Side.OLD], runs[Side.NEW], machines=machines) if any(runs.values()) else None,
        checks=store.checks(move_name),
        checks_taken_at=store.checks_taken_at(move_name),
        probes=store.probes(move_name),
        estimate=store.estimate(move_name),
        plan=store.plan(move_name),
        executions=store.executions(move_name),
        others=tuple(each for each in store.profiles() if each.name not in {move.old, move.new}),
    )


def diagnoses(store: Store, move: Move) -> tuple[Diagnosis, ...]:
    """What the last facts and the latest runs say of each volume; of a server without facts nothing."""
    sides = ((Side.OLD, move.old, move.old_volume), (Side.NEW, move.new, move.new_volume))
    looked_at = [
        (facts, mount_point, store.runs(move.name, side=side, latest_only=True))
        for side, server, mount_point in sides
        if (facts := store.facts(server)) is not None
    ]
    machines = store.machines((move.old, move.new), move=move.name)
    return tuple(diagnose(facts, mount_point, runs, machines) for facts, mount_point, runs in looked_at)


def _volumes(store: Store, move: str) -> Comparison | None:
    runs = store.runs(move)
    machines = store.machines((run.volume.server for run in runs), move=move)
    sets: dict[tuple[Side | None, MeasuredVolume], list[Run]] = {}
    for run in runs:
        if run.outcome is Outcome.DONE:
            sets.setdefault((run.volume.side, machines.volume_of(run)), []).append(run)
    # those of the old server first, each side's in the order of time
    ordered = sorted(sets, key=lambda place: place[0] is Side.NEW)
    return compare(*(sets[place] for place in ordered), machines=machines) if len(sets) > 2 else None


_MOST_SIZES = 24


def spec(report: Report) -> Spec | None:
    """What its estimate is made from, by this move alone; None where its facts do not tell the size."""
    old = report.old_facts
    if old is None or report.cluster is None or not report.cluster.size_bytes:
        return None
    known = replace(history_of(report.executions, (), report.record), now=report.made_at)
    rates = copied(report.executions), changed(report.executions)
    made = spec_of(report.move, old, report.probes, report.runs, report.new_facts, *rates, known)
    grown = monthly_growth(report.sizes)
    return replace(made, cluster=replace(made.cluster, growth_bytes_per_month=grown if grown and grown > 0 else None))
