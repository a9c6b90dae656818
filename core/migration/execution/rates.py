"""What executions show of the copy's rate: the best measure there is for the estimate of the next one."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from statistics import median

from core.migration.estimate.evidence import Evidence, Measured
from core.migration.model import step_ids
from core.migration.model.execution import Execution, StepRun
from core.migration.model.plan import Step
from core.migration.transports.passes import PRECOPY_LIMIT

_WHOLE = 0.5
"""A pass counts as a copy when it sent this part of its data roots: a later one sends what changed alone."""


_ENOUGH = 10
"""Commands that tell what a short one takes."""


def copied(executions: Sequence[Execution]) -> Measured | None:
    """`copy_rate` with where it comes from."""
    return _latest(executions, _rate, "timed: an earlier copy of this move")


def changed(executions: Sequence[Execution]) -> Measured | None:
    """`change_rate` with where it comes from."""
    return _latest(executions, _change, "timed: an earlier pre-copy pass of this move")


def _latest(
    executions: Sequence[Execution], rate_of: Callable[[Execution], float | None], words: str
) -> Measured | None:
    for each in executions:
        rate = rate_of(each)
        if rate is not None:
            return Measured(rate, Evidence(words, each.ended_at or each.started_at, each.plan.transport))
    return None


def copy_rate(executions: Sequence[Execution]) -> float | None:
    """Bytes of cluster a second of the latest whole copy, newest execution first; None where there was none.

    A rehearsal's first warm pass, or the copy of a stopped cluster, over all places: some go side by side. A pass that
    the user has limited does not count.
    """
    return next((rate for rate in map(_rate, executions) if rate is not None), None)


def command_seconds(took: Sequence[float | None]) -> float | None:
    """What a command takes that does next to nothing: the median of the shorter half; None of less than ten."""
    known = sorted(each for each in took if each is not None)
    return median(known[: len(known) // 2]) if len(known) >= _ENOUGH else None


def change_rate(executions: Sequence[Execution]) -> float | None:
    """Bytes of cluster that changed in an hour, by the latest warm pass that sent what changed since the one before.

    What a pass sends came together since the pass before began; newest execution first, None where there was no such.
    """
    return next((rate for rate in map(_change, executions) if rate is not None), None)


def _change(execution: Execution) -> float | None:
    roots = [step for step in execution.plan.steps if step.precopy_pass == 1 and step.root]
    rates = [_of_root(execution, root) for root in roots]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known and len(known) == len(rates) else None


def _of_root(execution: Execution, root: Step) -> float | None:
    """Of one place: its last two passes that sent anything."""
    numbers = {step.number for step in execution.plan.steps if step.precopy_pass and step.root == root.root}
    runs = [
        run for run in execution.steps if run.number in numbers and run.done and not run.back and run.bytes is not None
    ]
    if len(runs) < 2:
        return None
    before, last = runs[-2:]
    seconds = (last.started_at - before.started_at).total_seconds()
    return 3600 * (last.bytes or 0) / seconds if seconds > 0 else None


def _rate(execution: Execution) -> float | None:
    first = 1 if any(step.precopy_pass for step in execution.plan.steps) else 0
    if first and dict(execution.plan.settings).get(PRECOPY_LIMIT):
        return None  # the user has limited it: the servers may be faster
    whole = {step.number: step.size for step in execution.plan.steps if step.size and step.precopy_pass == first}
    runs = [run for run in execution.steps if run.number in whole and run.done and run.attempt == 1 and not run.message]
    sent = sum(run.bytes or 0 for run in runs)
    flushing = {
        step.number
        for step in execution.plan.steps
        if step.precopy_pass == first and step_ids.family_of(step.id, step_ids.PRE_COPY_FLUSH) is not None
    }
    # what a flush behind the pass has written is not there earlier
    seconds = covered([*runs, *(run for run in execution.steps if run.number in flushing and run.attempt == 1)])
    size = sum(whole[run.number] or 0 for run in runs)
    everywhere = {run.number for run in runs} == whole.keys()
    if not everywhere or not seconds or sent < _WHOLE * size:
        return None  # a place that was begun twice, or not at all, may be the large one
    return sent / seconds


def covered(runs: Iterable[StepRun], began: datetime | None = None, until: datetime | None = None) -> float:
    """Return the seconds in which at least one of the runs was under way; a run without an end does not count.

    Args:
        runs: the runs, in any order.
        began: what lies before this moment does not count; None: no limit.
        until: what lies behind this moment does not count; None: no limit.
    """
    seconds, reached = 0.0, began
    for run in sorted(runs, key=lambda each: each.started_at):
        if run.ended_at is None:
            continue
        start = run.started_at if reached is None else max(reached, run.started_at)
        end = run.ended_at if until is None else min(until, run.ended_at)
        seconds += max(0.0, (end - start).total_seconds())
        reached = end if reached is None else max(reached, end)
    return seconds
