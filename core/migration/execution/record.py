"""What executions took beside what was estimated of them, stage by stage, and what the next estimate has of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp, log

from core.migration.estimate.evidence import Evidence
from core.migration.estimate.spec import History
from core.migration.execution.rates import covered
from core.migration.execution.timeline import downtime
from core.migration.model import step_ids
from core.migration.model.estimate import Estimate, Span
from core.migration.model.execution import Execution, Kind, State, execution_name
from core.migration.model.move import Verify
from core.migration.model.plan import Phase, Step

DOWNTIME = "downtime"
WHOLE = "whole"
_COPIES = frozenset({Phase.WARM, Phase.COPY})
"""Stages that send the whole of it: what went on with a part says nothing."""

_ALIKE = frozenset({Phase.PREPARE, Phase.BEFORE_STOP, Phase.STOP, Phase.CLOSE, Phase.START, Phase.OPEN, Phase.AFTER})
"""Stages that take as long in another move between such servers."""
_TIMED = (*_ALIKE, Phase.FINAL, Phase.VERIFY, Phase.CHECKSUMS, Phase.AMCHECK)

_NEWEST = 5


@dataclass(frozen=True, slots=True)
class EstimateComparison:
    """A stage of an execution, its downtime, or all of it, held against the estimate that was made last before it.

    Seconds. `counts`: this user's pghaul has recorded the execution; what came from elsewhere is only shown.
    `dressed`: it was a dress rehearsal.
    """

    execution: int
    move: str
    kind: Kind
    began_at: datetime
    stage: str
    estimated: Span
    seconds: float
    counts: bool = True
    dressed: bool = False

    @property
    def name(self) -> str:
        """What people call the execution, see `execution_name`."""
        return execution_name(self.kind, dressed=self.dressed)

    @property
    def inside(self) -> bool:
        """It took no less than low and no more than high, in tenths of a second: no figure is shown more exactly."""
        low, seconds, high = (round(each, 1) for each in (self.estimated.low, self.seconds, self.estimated.high))
        return low <= seconds <= high

    @property
    def factor(self) -> float:
        """How many times as long as likely it took."""
        return self.seconds / self.estimated.likely if self.estimated.likely > 0 else 1.0


@dataclass(frozen=True, slots=True)
class ByStage:
    """How good the estimates of a stage were: how many times it was held, how many lay between low and high, how many
    times as long as likely it took, by the geometric mean."""

    stage: str
    times: int
    inside: int
    bias: float | None


def by_stage(rows: Sequence[EstimateComparison]) -> tuple[ByStage, ...]:
    """The record of each stage, in the order of a plan; the downtime and the whole stand behind."""
    order = {name: place for place, name in enumerate((*map(str, Phase), DOWNTIME, WHOLE))}
    rows = select_counted(rows)
    names = sorted({row.stage for row in rows}, key=lambda name: order.get(name, len(order)))
    found = {name: [row for row in rows if row.stage == name] for name in names}
    return tuple(ByStage(name, len(each), sum(row.inside for row in each), bias(each)) for name, each in found.items())


def select_counted(rows: Sequence[EstimateComparison]) -> tuple[EstimateComparison, ...]:
    """Those that count in the record."""
    return tuple(row for row in rows if row.counts)


def hit_rate(rows: Sequence[EstimateComparison]) -> float | None:
    """Which part lies between low and high: of good estimates 8 of 10; None without any."""
    rows = select_counted(rows)
    return sum(row.inside for row in rows) / len(rows) if rows else None


def bias(rows: Sequence[EstimateComparison]) -> float | None:
    """How many times as long as likely they took, by the geometric mean; None without any."""
    factors = [log(row.factor) for row in select_counted(rows) if row.factor > 0]
    return exp(sum(factors) / len(factors)) if factors else None


def compare_with_estimate(
    execution: Execution, estimates: Iterable[Estimate], *, counts: bool = True
) -> tuple[EstimateComparison, ...]:
    """Each stage that was done whole, in the order of the plan, then the downtime, then all of it; empty where nothing
    was estimated.

    It is held against an estimate of what it proves: one that read every file against no other than such.
    """
    alike = [each for each in estimates if each.checking is execution.plan.verify]
    made = [each for each in alike if each.made_at is not None and each.made_at <= execution.started_at]
    latest = max(made, key=lambda each: each.made_at or execution.started_at, default=None)
    method = latest.method(execution.plan.method) if latest is not None else None
    if method is None:
        return ()
    took = stage_seconds(execution)
    spans = {stage.name: stage.seconds for stage in method.stages}
    if execution.plan.verify is not Verify.ALL and _read_all(execution):
        took.pop(Phase.VERIFY, None)
    elif execution.kind is Kind.REAL and execution.state is State.DONE:
        down = downtime(execution, execution.ended_at or execution.started_at)
        if down is not None:
            whole = {WHOLE: sum(took[name] for name in spans)} if spans.keys() <= took.keys() else {}
            took = {**took, DOWNTIME: down.command_seconds, **whole}
            spans = {**spans, DOWNTIME: method.downtime_seconds, WHOLE: method.duration_seconds}
    return tuple(
        EstimateComparison(
            execution.id,
            execution.move,
            execution.kind,
            execution.started_at,
            name,
            spans[name],
            seconds,
            counts,
            execution.dressed,
        )
        for name, seconds in took.items()
        if name in spans
    )


def stage_seconds(execution: Execution) -> dict[str, float]:
    """Seconds while a step of the stage ran, of each stage whose steps were all done; what people do is not counted.

    A rehearsal prepares all but what only the stop needs, and writes no checkpoint: that counts all the same.
    """
    stages: dict[str, list[Step]] = {}
    for step in execution.plan.steps:
        left_out = Phase.PREPARE in {step.phase, step.timing.stage} or step.id == step_ids.CHECKPOINT_BEFORE_LAST_PASS
        if step.remote is not None and not (left_out and step not in execution.steps_taken):
            stages.setdefault(step.timing.stage or step.phase, []).append(step)
    runs = {name: [execution.latest(step.number) for step in steps] for name, steps in stages.items()}
    return {
        str(name): covered([run for run in found if run is not None])
        for name, found in runs.items()
        if all(run is not None and run.done and (name not in _COPIES or run.attempt == 1) for run in found)
    }


def history_of(own: Sequence[Execution], alike: Sequence[Execution], rows: Sequence[EstimateComparison]) -> History:
    """What the next estimate has of executions, newest first: of this move, else of others between such servers.

    `rows`: the record of all, of which copies tell how far their estimates are off.
    """
    timed, sources = {}, {}
    only_rehearsed = all(each.kind is Kind.REHEARSAL for each in own)
    several = "in rehearsals of this move" if only_rehearsed else "in rehearsals and executions of this move"
    once = "in a rehearsal of this move" if only_rehearsed else "in a rehearsal or an execution of this move"
    for stage in _TIMED:
        mine, others = _timed(own, stage), _timed(alike, stage) if stage in _ALIKE else ()
        if mine or others:
            times = mine or others
            of_this_move = several if len(mine) > 1 else once
            words = of_this_move if mine else "in other moves between such servers"
            timed[str(stage)] = tuple(seconds for seconds, _ in times)
            sources[str(stage)] = Evidence(words, times[0][1])
    copies = tuple(row.factor for row in select_counted(rows) if row.stage in _COPIES)
    known = History(timed=timed, copies=copies, sources=sources)
    latest = next((each for each in own if any(run.bytes is not None and not run.back for run in each.steps)), None)
    return known if latest is None or latest.kind is not Kind.REHEARSAL else _with_copy(known, latest)


def _with_copy(known: History, rehearsal: Execution) -> History:
    """With the copy that a rehearsal has left on the new server, if it was done."""
    first = [step.number for step in rehearsal.plan.steps if step.precopy_pass == 1 and step.root]
    runs = [run for run in rehearsal.steps if run.number in first and run.done]
    if rehearsal.state is not State.DONE or {run.number for run in runs} != set(first) or not runs:
        return known
    read = [step.number for step in rehearsal.plan.steps if step.precopy_pass == 1 and _reads_ahead(step)]
    reading = [run for run in rehearsal.steps if run.number in read and run.done]
    return replace(
        known,
        copied_at=min(run.started_at for run in runs),
        copy_ended_at=rehearsal.ended_at,
        read_seconds=covered(reading) if {run.number for run in reading} == set(read) and reading else None,
    )


def _timed(executions: Sequence[Execution], stage: Phase) -> tuple[tuple[float, datetime], ...]:
    """Seconds of the stage in each, and when that was, newest first."""
    found = [
        (seconds[stage], each.started_at)
        for each in executions
        if stage in (seconds := stage_seconds(each)) and not (stage is Phase.VERIFY and _read_all(each))
    ]
    return tuple(found[:_NEWEST])


def _read_all(execution: Execution) -> bool:
    """It read every file in the stop, which is priced apart: by --verify all, or as what it passed warm was not read
    behind it."""
    if execution.plan.verify is Verify.ALL:
        return True
    warm = [step for step in execution.plan.steps if step.precopy_pass]
    return bool(warm) and not any(_reads_ahead(step) for step in warm)


def _reads_ahead(step: Step) -> bool:
    return step_ids.family_of(step.id, step_ids.CHECKSUM_IN_ADVANCE) is not None
