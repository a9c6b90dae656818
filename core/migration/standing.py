"""Where a move stands: the condition and the date of each milestone, what is missing, and what comes next.

These are pure functions of what the history contains. The window, the list of moves and the command line show the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core import units
from core.migration.execution.outcome import follow_up_tasks, open_follow_up_tasks
from core.migration.execution.status import applications_stopped, unfinished, was_stopped_before
from core.migration.execution.timeline import account
from core.migration.model.checks import CheckResult, tally
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.plan import FollowUpGroup, Plan
from core.migration.model.probe import Probe, Quantity
from core.migration.model.standing import Condition, Mark, Milestone, Next


@dataclass(frozen=True, slots=True)
class KnownState:
    """What the history contains of a move. Pairs are of the old and the new server.

    Attributes:
        facts_at: when the latest facts were read; None if they never were.
        measured_at: when the latest benchmark ended; None if there was none.
        checks: the results of the latest checks; None if they never ran.
        checked_at: when they ran.
        probes: the probes of the move.
        estimate: the latest estimate; None if there is none.
        plan: the latest plan; None if there is none.
        executions: the executions, newest first.
        alive: whether a program of this workstation carries out the newest execution.
    """

    facts_at: tuple[datetime | None, datetime | None] = (None, None)
    measured_at: tuple[datetime | None, datetime | None] = (None, None)
    checks: tuple[CheckResult, ...] | None = None
    checked_at: datetime | None = None
    probes: tuple[Probe, ...] = ()
    estimate: Estimate | None = None
    plan: Plan | None = None
    executions: tuple[Execution, ...] = ()
    alive: bool = False


def list_marks(known: KnownState, now: datetime) -> tuple[Mark, ...]:
    """Return the state of every milestone, in the order of a move."""
    measured = _benchmarks_mark(known)
    return (
        _facts_mark(known),
        measured,
        Mark(Milestone.COMPARE, measured.condition, measured.said, measured.at),
        _checks_mark(known),
        _probes_mark(known),
        _estimate_mark(known),
        _plan_mark(known),
        _execution_mark(known, Kind.REHEARSAL, Milestone.REHEARSE, now),
        _execution_mark(known, Kind.REAL, Milestone.MOVE, now),
        _follow_up_mark(known),
    )


def find_next(marks: Sequence[Mark]) -> Next:
    """Return the first milestone that is missing or out of date.

    An execution that is running, or was interrupted, comes before all others.
    """
    by_milestone = {mark.milestone: mark for mark in marks}
    for milestone in (Milestone.MOVE, Milestone.REHEARSE):
        if by_milestone[milestone].condition is Condition.UNDER_WAY:
            return Next(milestone, "Show the progress")
        if by_milestone[milestone].condition is Condition.BLOCKED:
            return Next(milestone, "Continue or roll back")
    if by_milestone[Milestone.MOVE].condition is Condition.DONE:
        if by_milestone[Milestone.AFTER].condition is Condition.DONE:
            return Next(Milestone.MOVE, "Show the result of the move")
        return Next(Milestone.AFTER, "See the follow-up tasks")
    if by_milestone[Milestone.CHECK].condition is Condition.BLOCKED:
        return Next(Milestone.CHECK, "Resolve the blockers")
    steps = (
        Next(Milestone.FACTS, "Read the facts"),
        Next(Milestone.MEASURE, "Run the benchmarks"),
        Next(Milestone.CHECK, "Run the checks"),
        Next(Milestone.PROBE, "Run the transfer test"),
        Next(Milestone.ESTIMATE, "Make the estimate"),
        Next(Milestone.PLAN, "Make the plan"),
        Next(Milestone.REHEARSE, "Rehearse the move"),
        Next(Milestone.MOVE, "Start the move"),
    )
    lacking = (step for step in steps if by_milestone[step.milestone].condition in {Condition.OPEN, Condition.STALE})
    return next(lacking, steps[-1])


def _facts_mark(known: KnownState) -> Mark:
    lacks_old, lacks_new = (moment is None for moment in known.facts_at)
    latest = _latest_moment(known.facts_at)
    if lacks_old and lacks_new:
        return Mark(Milestone.FACTS, Condition.OPEN, "no facts of the servers yet", latest)
    if lacks_old or lacks_new:
        summary = f"no facts of the {'old' if lacks_old else 'new'} server yet"
        return Mark(Milestone.FACTS, Condition.OPEN, summary, latest)
    return Mark(Milestone.FACTS, Condition.DONE, "facts of both servers read", latest)


def _benchmarks_mark(known: KnownState) -> Mark:
    lacks_old, lacks_new = (moment is None for moment in known.measured_at)
    latest = _latest_moment(known.measured_at)
    if lacks_old and lacks_new:
        return Mark(Milestone.MEASURE, Condition.OPEN, "no benchmarks on the servers yet", latest)
    if lacks_old or lacks_new:
        summary = f"no benchmarks on the {'old' if lacks_old else 'new'} server yet"
        return Mark(Milestone.MEASURE, Condition.OPEN, summary, latest)
    return Mark(Milestone.MEASURE, Condition.DONE, "both servers measured", latest)


def _latest_moment(moments: tuple[datetime | None, datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _checks_mark(known: KnownState) -> Mark:
    if known.checks is None:
        return Mark(Milestone.CHECK, Condition.OPEN, "not run yet")
    found = tally(known.checks)
    blockers, warnings, pending = found.stopping, found.warnings, found.pending
    summary = f"blockers: {blockers}, warnings: {warnings}"
    if pending:
        summary = f"blockers: {blockers}, warnings: {warnings}, to run first: {pending}"
    at = known.checked_at
    if any(moment is not None and at is not None and moment > at for moment in known.facts_at):
        return Mark(Milestone.CHECK, Condition.STALE, f"{summary}; the facts are newer", at)
    if blockers:
        return Mark(Milestone.CHECK, Condition.BLOCKED, summary, at)
    if pending:  # nobody has run them yet: what is next is to run the checks
        return Mark(Milestone.CHECK, Condition.OPEN, summary, at)
    if warnings:
        return Mark(Milestone.CHECK, Condition.WARNING, summary, at)
    number, unknown = len(known.checks), found.unknown
    if unknown:
        summary = f"no blockers and no warnings; without a result: {unknown} of {number}"
        return Mark(Milestone.CHECK, Condition.DONE, summary, at)
    return Mark(Milestone.CHECK, Condition.DONE, f"all {number} checks passed or waived", at)


def _probes_mark(known: KnownState) -> Mark:
    links = [probe for probe in known.probes if probe.quantity is not Quantity.CHANGES]
    if not links:
        return Mark(Milestone.PROBE, Condition.OPEN, "not run yet")
    fastest = max(probe.bytes_per_second for probe in links)
    summary = f"{units.counted(len(links), 'probe')}, up to {units.rate(fastest)}"
    return Mark(Milestone.PROBE, Condition.DONE, summary, _latest_probe_time(known))


def _latest_probe_time(known: KnownState) -> datetime | None:
    return max((probe.taken_at for probe in known.probes), default=None)


def _estimate_mark(known: KnownState) -> Mark:
    estimate = known.estimate
    if estimate is None:
        return Mark(Milestone.ESTIMATE, Condition.OPEN, "no estimate yet")
    method = estimate.method(estimate.planned)
    summary = "estimated" if method is None else f"about {units.duration(method.downtime_seconds.likely)} of downtime"
    probed = _latest_probe_time(known)
    if estimate.made_at is not None and probed is not None and probed > estimate.made_at:
        return Mark(Milestone.ESTIMATE, Condition.STALE, f"{summary}; the transfer test is newer", estimate.made_at)
    return Mark(Milestone.ESTIMATE, Condition.DONE, summary, estimate.made_at)


def _plan_mark(known: KnownState) -> Mark:
    if known.plan is None:
        return Mark(Milestone.PLAN, Condition.OPEN, "no plan yet")
    summary = f"{units.counted(len(known.plan.steps), 'step')} by {known.plan.transport}"
    probed = _latest_probe_time(known)
    if probed is not None and probed > known.plan.made_at:
        return Mark(Milestone.PLAN, Condition.STALE, f"{summary}; the transfer test is newer", known.plan.made_at)
    return Mark(Milestone.PLAN, Condition.DONE, summary, known.plan.made_at)


def _execution_mark(known: KnownState, kind: Kind, milestone: Milestone, now: datetime) -> Mark:
    newest = known.executions[0] if known.executions else None
    latest = next((one for one in known.executions if one.kind is kind), None)
    if latest is None:
        return Mark(milestone, Condition.OPEN, "not started yet")
    at = latest.ended_at or latest.started_at
    found = unfinished(latest, now, alive=known.alive) if latest is newest else None
    if found is not None:
        if found.alive:
            return Mark(milestone, Condition.UNDER_WAY, found.at, at)
        if latest.state is State.PAUSED:
            return Mark(milestone, Condition.BLOCKED, f"paused by the operator: {found.stands}", at)
        if latest.state is State.STOPPED:
            return Mark(milestone, Condition.BLOCKED, f"failed: {found.stands}", at)
        if latest.state is State.CANCELLED:
            return Mark(milestone, Condition.BLOCKED, f"cancelled: {found.stands}", at)
        return Mark(milestone, Condition.BLOCKED, f"interrupted: {found.stands}", at)
    if latest.state is State.DONE:
        down = account(latest).downtime_seconds
        return Mark(milestone, Condition.DONE, "done" if down is None else f"{units.duration(down)} of downtime", at)
    if latest.state is State.ROLLED_BACK:
        return Mark(milestone, Condition.OPEN, "rolled back to the old server", at)
    how = "failed" if latest.state is State.STOPPED else str(latest.state)
    if applications_stopped(latest):
        return Mark(milestone, Condition.WARNING, f"{how}; the applications were stopped for the move", at)
    if was_stopped_before(latest):
        return Mark(milestone, Condition.STALE, f"{how}; the old cluster was stopped before", at)
    if latest.state is State.PAUSED:
        return Mark(milestone, Condition.STALE, "paused by the operator; clients use the old cluster", at)
    if latest.state is State.STOPPED:
        return Mark(milestone, Condition.STALE, "failed; clients use the old cluster", at)
    return Mark(milestone, Condition.STALE, f"{latest.state}; clients use the old cluster", at)


def _follow_up_mark(known: KnownState) -> Mark:
    newest = known.executions[0] if known.executions else None
    if newest is None or newest.kind is not Kind.REAL or newest.state is not State.DONE:
        return Mark(Milestone.AFTER, Condition.OPEN, "after the cutover")
    still_open = len(open_follow_up_tasks(newest))
    if not still_open:
        return Mark(Milestone.AFTER, Condition.DONE, "all follow-up tasks are done", newest.ended_at)
    tasks = sum(each.group is not FollowUpGroup.INFORMATION for each in follow_up_tasks(newest))
    return Mark(Milestone.AFTER, Condition.OPEN, f"open follow-up tasks: {still_open} of {tasks}", newest.ended_at)
