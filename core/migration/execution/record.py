"""What executions took beside what was estimated of them, stage by stage, and what the next estimate has of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp, log

from core.migration.estimate.spec import History
from core.migration.execution.account import downtime
from core.migration.model.estimate import Estimate, Span
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.move import Verify
from core.migration.model.plan import Phase, Step

DOWNTIME = "downtime"
_COPIES = frozenset({Phase.WARM, Phase.COPY})
"""Stages that send the whole of it: what went on with a part says nothing."""

_TIMED = (Phase.PREPARE, Phase.STOP, Phase.FINAL, Phase.VERIFY, Phase.START)
_ALIKE = frozenset({Phase.PREPARE, Phase.STOP, Phase.START})
"""Stages that take as long in another move between such servers."""

_NEWEST = 5


@dataclass(frozen=True, slots=True)
class Held:
    """A stage of an execution, or its downtime, held against the estimate that was made last before it. Seconds."""

    execution: int
    move: str
    kind: Kind
    began_at: datetime
    stage: str
    estimated: Span
    seconds: float

    @property
    def inside(self) -> bool:
        """It took no less than low and no more than high."""
        return self.estimated.low <= self.seconds <= self.estimated.high

    @property
    def factor(self) -> float:
        """How many times as long as likely it took."""
        return self.seconds / self.estimated.likely if self.estimated.likely > 0 else 1.0


def hit_rate(rows: Sequence[Held]) -> float | None:
    """Which part lies between low and high: of good estimates 8 of 10; None without any."""
    return sum(row.inside for row in rows) / len(rows) if rows else None


def bias(rows: Sequence[Held]) -> float | None:
    """How many times as long as likely they took, by the geometric mean; None without any."""
    factors = [log(row.factor) for row in rows if row.factor > 0]
    return exp(sum(factors) / len(factors)) if factors else None


def held(execution: Execution, estimates: Iterable[Estimate]) -> tuple[Held, ...]:
    """Each stage that was done whole, in the order of the plan, then the downtime; empty where nothing was estimated.

    An estimate is of what a stop proves by default: one that read every file is not held against it.
    """
    made = [each for each in estimates if each.made_at is not None and each.made_at <= execution.started_at]
    latest = max(made, key=lambda each: each.made_at or execution.started_at, default=None)
    method = latest.method(execution.plan.method) if latest is not None else None
    if method is None:
        return ()
    took = stage_seconds(execution)
    spans = {stage.name: stage.seconds for stage in method.stages}
    if _read_all(execution):
        took.pop(Phase.VERIFY, None)
    elif execution.kind is Kind.REAL and execution.state is State.DONE:
        down = downtime(execution, execution.ended_at or execution.started_at)
        if down is not None:
            took, spans = {**took, DOWNTIME: down.command_seconds}, {**spans, DOWNTIME: method.downtime_seconds}
    return tuple(
        Held(execution.id, execution.move, execution.kind, execution.started_at, name, spans[name], seconds)
        for name, seconds in took.items()
        if name in spans
    )


def stage_seconds(execution: Execution) -> dict[str, float]:
    """Seconds while a step of the stage ran, of each stage whose steps were all done; what people do is not counted.

    A rehearsal prepares all but what only the stop needs: that counts as preparing.
    """
    stages: dict[str, list[Step]] = {}
    for step in execution.plan.steps:
        left_out = step.phase is Phase.PREPARE or step.timed_as is Phase.PREPARE
        if step.side != "you" and not (left_out and step not in execution.steps_taken):
            stages.setdefault(step.timed_as or step.phase, []).append(step)
    runs = {name: [execution.latest(step.number) for step in steps] for name, steps in stages.items()}
    return {
        str(name): _covered([run for run in found if run is not None])
        for name, found in runs.items()
        if all(run is not None and run.done and (name not in _COPIES or run.attempt == 1) for run in found)
    }


def _covered(runs: Sequence[StepRun]) -> float:
    """Seconds in which at least one of them ran."""
    seconds, until = 0.0, None
    for run in sorted(runs, key=lambda each: each.started_at):
        if run.ended_at is None:
            continue
        began = run.started_at if until is None else max(until, run.started_at)
        seconds += max(0.0, (run.ended_at - began).total_seconds())
        until = run.ended_at if until is None else max(until, run.ended_at)
    return seconds


def history_of(own: Sequence[Execution], alike: Sequence[Execution], rows: Sequence[Held]) -> History:
    """What the next estimate has of executions, newest first: of this move, else of others between such servers.

    `rows`: the record of all, of which copies tell how far their estimates are off.
    """
    timed, sources = {}, {}
    for stage in _TIMED:
        mine, others = _timed(own, stage), _timed(alike, stage) if stage in _ALIKE else ()
        if mine or others:
            timed[str(stage)] = mine or others
            sources[str(stage)] = "in this move" if mine else "in other moves between such servers"
    copies = tuple(row.factor for row in rows if row.stage in _COPIES)
    return History(timed=timed, copies=copies, sources=sources)


def _timed(executions: Sequence[Execution], stage: Phase) -> tuple[float, ...]:
    found = [
        seconds[stage]
        for each in executions
        if stage in (seconds := stage_seconds(each)) and not (stage is Phase.VERIFY and _read_all(each))
    ]
    return tuple(found[:_NEWEST])


def _read_all(execution: Execution) -> bool:
    """It read every file in the stop, which is priced apart: by --verify all, or as what it passed warm was not read
    behind it."""
    if execution.plan.verify is Verify.ALL:
        return True
    warm = [step for step in execution.plan.steps if step.warm_pass]
    return bool(warm) and all(step.root for step in warm)
