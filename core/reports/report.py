"""The report as data: everything that the history holds of one move, at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from core import settings
from core.benchmarks.model import Outcome, Run, Side
from core.comparison.compare import compare
from core.comparison.diagnosis import diagnose
from core.comparison.model import Comparison, Diagnosis
from core.facts.model import Cluster, Facts
from core.history.store import Store
from core.migration.execution.record import Held, held
from core.migration.model.checks import CheckResult
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.servers.profiles import Profile


@dataclass(frozen=True, slots=True)
class Report:
    """One report. None or empty means that it was not read, measured, checked, estimated or planned yet."""

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
    record: tuple[Held, ...] = ()
    """Executions and rehearsals beside their estimates, stage by stage, newest first."""
    functions: str = ""
    """The text of the functions that the plan calls, where it was asked for."""

    @property
    def cluster(self) -> Cluster | None:
        """The cluster that moves, as the facts of old have it."""
        return None if self.old_facts is None else self.old_facts.cluster(self.move.cluster)

    @property
    def blockers(self) -> tuple[CheckResult, ...]:
        """The checks that stop the move: blockers, and what is unknown where it could be one."""
        return tuple(check for check in self.checks or () if check.stops)


def build(store: Store, move_name: str, *, functions: bool = False) -> Report:
    """Read everything about the move of that name, the functions of its plan if they are asked for.

    Raises:
        InputError: there is no such move.
    """
    found, estimates = first_page(store, move_name), store.estimates(move_name)
    return replace(
        found,
        volumes=_volumes(store.runs(move_name)),
        diagnoses=diagnoses(store, found.move),
        record=tuple(row for each in found.executions for row in held(each, estimates)),
        functions=found.plan.functions if functions and found.plan is not None else "",
    )


def first_page(store: Store, move_name: str) -> Report:
    """What the report's first page rests on, however many runs the history holds. Raises as `build` does."""
    move = store.move(move_name)
    runs = {side: store.runs(move_name, side=side, latest_only=True) for side in Side}
    return Report(
        move=move,
        old=store.profile(move.old),
        new=store.profile(move.new),
        made_at=datetime.now(UTC),
        program_version=settings.program_version(),
        old_facts=store.facts(move.old),
        new_facts=store.facts(move.new),
        runs=(*runs[Side.OLD], *runs[Side.NEW]),
        comparison=compare(runs[Side.OLD], runs[Side.NEW]) if any(runs.values()) else None,
        checks=store.checks(move_name),
        checks_taken_at=store.checks_taken_at(move_name),
        probes=store.probes(move_name),
        estimate=store.estimate(move_name),
        plan=store.plan(move_name),
        executions=store.executions(move_name),
    )


def diagnoses(store: Store, move: Move) -> tuple[Diagnosis, ...]:
    """What the last facts and the latest runs say of each volume; of a server without facts nothing."""
    sides = ((Side.OLD, move.old, move.old_volume), (Side.NEW, move.new, move.new_volume))
    return tuple(
        diagnose(facts, mount_point, store.runs(move.name, side=side, latest_only=True))
        for side, server, mount_point in sides
        if (facts := store.facts(server)) is not None
    )


def _volumes(runs: Sequence[Run]) -> Comparison | None:
    sets: dict[tuple[Side, str, str], list[Run]] = {}
    for run in runs:
        if run.outcome is Outcome.DONE:
            sets.setdefault((run.volume.side, run.volume.server, run.volume.mount_point), []).append(run)
    ordered = sorted(sets, key=lambda place: place[0] is Side.NEW)  # old's first, each side's in the order of time
    return compare(*(sets[place] for place in ordered)) if len(sets) > 2 else None
