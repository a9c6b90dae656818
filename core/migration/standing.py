"""Where a move stands: each milestone of its way with its condition, its age and what is missing, and what comes next.

Pure: what the history holds of a move goes in, and the window, the list of moves and the command line show the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core import units
from core.migration.execution.account import account
from core.migration.execution.summary import follow_up
from core.migration.execution.unfinished import unfinished
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe, Quantity
from core.migration.model.standing import Condition, Mark, Milestone, Next


@dataclass(frozen=True, slots=True)
class Known:
    """What the history holds of a move. Pairs are of old and new.

    Attributes:
        facts_at, measured_at: when the latest facts were read, when the latest run ended; None: not yet.
        executions: newest first; `alive`: a program of this workstation carries the newest out.
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


def marks(known: Known, now: datetime) -> tuple[Mark, ...]:
    """Every milestone, in the order of the way."""
    measured = _measured(known)
    return (
        _facts(known),
        measured,
        Mark(Milestone.COMPARE, measured.condition, measured.said, measured.at),
        _checks(known),
        _probes(known),
        _estimate(known),
        _plan(known),
        _executed(known, Kind.REHEARSAL, Milestone.REHEARSE, now),
        _executed(known, Kind.REAL, Milestone.MOVE, now),
        _after(known),
    )


def next_of(found: Sequence[Mark]) -> Next:
    """The first thing that is missing, or out of date; what is under way, or was interrupted, before all others."""
    by = {mark.milestone: mark for mark in found}
    for milestone in (Milestone.MOVE, Milestone.REHEARSE):
        if by[milestone].condition is Condition.UNDER_WAY:
            return Next(milestone, "Show the progress")
        if by[milestone].condition is Condition.BLOCKED:
            return Next(milestone, "Continue or roll back")
    if by[Milestone.MOVE].condition is Condition.DONE:
        return Next(Milestone.AFTER, "See the follow-up tasks")
    if by[Milestone.CHECK].condition is Condition.BLOCKED:
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
    lacking = (step for step in steps if by[step.milestone].condition in {Condition.OPEN, Condition.STALE})
    return next(lacking, steps[-1])


def _facts(known: Known) -> Mark:
    old, new = (moment is None for moment in known.facts_at)
    latest = _latest(known.facts_at)
    if old and new:
        return Mark(Milestone.FACTS, Condition.OPEN, "no facts of the servers yet", latest)
    if old or new:
        said = f"no facts of the {'old' if old else 'new'} server yet"
        return Mark(Milestone.FACTS, Condition.OPEN, said, latest)
    return Mark(Milestone.FACTS, Condition.DONE, "facts of both servers read", latest)


def _measured(known: Known) -> Mark:
    old, new = (moment is None for moment in known.measured_at)
    latest = _latest(known.measured_at)
    if old and new:
        return Mark(Milestone.MEASURE, Condition.OPEN, "no benchmarks on the servers yet", latest)
    if old or new:
        said = f"no benchmarks on the {'old' if old else 'new'} server yet"
        return Mark(Milestone.MEASURE, Condition.OPEN, said, latest)
    return Mark(Milestone.MEASURE, Condition.DONE, "both servers measured", latest)


def _latest(moments: tuple[datetime | None, datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _checks(known: Known) -> Mark:
    if known.checks is None:
        return Mark(Milestone.CHECK, Condition.OPEN, "not run yet")
    stopping = sum(result.stops for result in known.checks)
    warnings = sum(
        result.waiver is None and not result.stops and result.status is not Status.PASS for result in known.checks
    )
    at = known.checked_at
    if any(moment is not None and at is not None and moment > at for moment in known.facts_at):
        return Mark(
            Milestone.CHECK, Condition.STALE, f"blockers: {stopping}, warnings: {warnings}; the facts are newer", at
        )
    if not stopping and not warnings:
        number = len(known.checks)
        return Mark(Milestone.CHECK, Condition.DONE, f"all {number} checks passed or waived", at)
    condition = Condition.BLOCKED if stopping else Condition.WARNING
    return Mark(Milestone.CHECK, condition, f"blockers: {stopping}, warnings: {warnings}", at)


def _probes(known: Known) -> Mark:
    links = [probe for probe in known.probes if probe.quantity is not Quantity.CHANGES]
    if not links:
        return Mark(Milestone.PROBE, Condition.OPEN, "not run yet")
    fastest = max(probe.bytes_per_second for probe in links)
    said = f"{units.counted(len(links), 'probe')}, up to {units.rate(fastest)}"
    return Mark(Milestone.PROBE, Condition.DONE, said, _probed_at(known))


def _probed_at(known: Known) -> datetime | None:
    return max((probe.taken_at for probe in known.probes), default=None)


def _estimate(known: Known) -> Mark:
    made = known.estimate
    if made is None:
        return Mark(Milestone.ESTIMATE, Condition.OPEN, "no estimate yet")
    method = made.method(made.planned)
    said = "estimated" if method is None else f"about {units.duration(method.downtime_seconds.likely)} of downtime"
    probed = _probed_at(known)
    if made.made_at is not None and probed is not None and probed > made.made_at:
        return Mark(Milestone.ESTIMATE, Condition.STALE, f"{said}; the transfer test is newer", made.made_at)
    return Mark(Milestone.ESTIMATE, Condition.DONE, said, made.made_at)


def _plan(known: Known) -> Mark:
    if known.plan is None:
        return Mark(Milestone.PLAN, Condition.OPEN, "no plan yet")
    said = f"{units.counted(len(known.plan.steps), 'step')} by {known.plan.transport}"
    probed = _probed_at(known)
    if probed is not None and probed > known.plan.made_at:
        return Mark(Milestone.PLAN, Condition.STALE, f"{said}; the transfer test is newer", known.plan.made_at)
    return Mark(Milestone.PLAN, Condition.DONE, said, known.plan.made_at)


def _executed(known: Known, kind: Kind, milestone: Milestone, now: datetime) -> Mark:
    newest = known.executions[0] if known.executions else None
    latest = next((one for one in known.executions if one.kind is kind), None)
    if latest is None:
        return Mark(milestone, Condition.OPEN, "not started yet")
    at = latest.ended_at or latest.started_at
    found = unfinished(latest, now, alive=known.alive) if latest is newest else None
    if found is not None:
        condition = Condition.UNDER_WAY if found.alive else Condition.BLOCKED
        return Mark(milestone, condition, found.at if found.alive else f"interrupted: {found.stands}", at)
    if latest.state is State.DONE:
        down = account(latest).downtime_seconds
        return Mark(milestone, Condition.DONE, "done" if down is None else f"{units.duration(down)} of downtime", at)
    if latest.state is State.ROLLED_BACK:
        return Mark(milestone, Condition.OPEN, "rolled back to the old server", at)
    ended = "failed" if latest.state is State.STOPPED else str(latest.state)
    return Mark(milestone, Condition.STALE, f"{ended}; clients use the old cluster", at)


def _after(known: Known) -> Mark:
    newest = known.executions[0] if known.executions else None
    if newest is None or newest.kind is not Kind.REAL or newest.state is not State.DONE:
        return Mark(Milestone.AFTER, Condition.OPEN, "after the cutover")
    advice = len(follow_up(newest)) + len(newest.plan.remains)
    if not advice:
        return Mark(Milestone.AFTER, Condition.DONE, "no follow-up tasks", newest.ended_at)
    return Mark(Milestone.AFTER, Condition.WARNING, f"follow-up tasks: {advice}", newest.ended_at)
