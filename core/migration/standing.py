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


_WORDS = {
    Milestone.FACTS: "Read the facts",
    Milestone.MEASURE: "Measure both storages",
    Milestone.CHECK: "Run the checks",
    Milestone.PROBE: "Take the probes",
    Milestone.ESTIMATE: "Make the estimate",
    Milestone.PLAN: "Make the plan",
    Milestone.REHEARSE: "Rehearse",
    Milestone.MOVE: "Move",
}


def next_of(found: Sequence[Mark]) -> Next:
    """The first thing that is missing, or out of date; what is under way, or was interrupted, before all others."""
    by = {mark.milestone: mark for mark in found}
    for milestone in (Milestone.MOVE, Milestone.REHEARSE):
        if by[milestone].condition is Condition.UNDER_WAY:
            return Next(milestone, "Look how far it is")
        if by[milestone].condition is Condition.BLOCKED:
            return Next(milestone, "Continue or go back")
    if by[Milestone.MOVE].condition is Condition.DONE:
        return Next(Milestone.AFTER, "See what is left to do")
    if by[Milestone.CHECK].condition is Condition.BLOCKED:
        return Next(Milestone.CHECK, f"Solve {by[Milestone.CHECK].said.partition(',')[0]}")
    for milestone, words in _WORDS.items():
        if by[milestone].condition in {Condition.OPEN, Condition.STALE}:
            return Next(milestone, words)
    return Next(Milestone.MOVE, _WORDS[Milestone.MOVE])


def _both(milestone: Milestone, at: tuple[datetime | None, datetime | None], done: str, missing: str) -> Mark:
    lacking = [side for side, moment in zip(("old", "new"), at, strict=True) if moment is None]
    latest = max((moment for moment in at if moment is not None), default=None)
    if lacking:
        return Mark(milestone, Condition.OPEN, missing.format(" and ".join(lacking)), latest)
    return Mark(milestone, Condition.DONE, done, latest)


def _facts(known: Known) -> Mark:
    return _both(Milestone.FACTS, known.facts_at, "both servers were read", "no facts of {} yet")


def _measured(known: Known) -> Mark:
    return _both(Milestone.MEASURE, known.measured_at, "both storages were measured", "nothing measured on {} yet")


def _checks(known: Known) -> Mark:
    if known.checks is None:
        return Mark(Milestone.CHECK, Condition.OPEN, "not checked yet")
    stopping = sum(result.stops for result in known.checks)
    warnings = sum(
        result.waiver is None and not result.stops and result.status is not Status.PASS for result in known.checks
    )
    said = [units.counted(stopping, "blocker")] if stopping else []
    said += [units.counted(warnings, "warning")] if warnings else []
    words = ", ".join(said) or f"all of {len(known.checks)} passed or waived"
    if any(at is not None and known.checked_at is not None and at > known.checked_at for at in known.facts_at):
        return Mark(Milestone.CHECK, Condition.STALE, f"{words}; facts were read since", known.checked_at)
    condition = Condition.BLOCKED if stopping else Condition.WARNING if warnings else Condition.DONE
    return Mark(Milestone.CHECK, condition, words, known.checked_at)


def _probes(known: Known) -> Mark:
    links = [probe for probe in known.probes if probe.quantity is not Quantity.CHANGES]
    if not links:
        return Mark(Milestone.PROBE, Condition.OPEN, "no link was measured yet")
    fastest = max(probe.bytes_per_second for probe in links)
    said = f"{units.counted(len(links), 'probe')}, up to {units.rate(fastest)}"
    return Mark(Milestone.PROBE, Condition.DONE, said, _probed_at(known))


def _probed_at(known: Known) -> datetime | None:
    return max((probe.taken_at for probe in known.probes), default=None)


def _estimate(known: Known) -> Mark:
    made = known.estimate
    if made is None:
        return Mark(Milestone.ESTIMATE, Condition.OPEN, "not estimated yet")
    method = made.method(made.planned)
    said = "made" if method is None else f"about {units.duration(method.downtime_seconds.likely)} of downtime"
    probed = _probed_at(known)
    if made.made_at is not None and probed is not None and probed > made.made_at:
        return Mark(Milestone.ESTIMATE, Condition.STALE, f"{said}; probes were taken since", made.made_at)
    return Mark(Milestone.ESTIMATE, Condition.DONE, said, made.made_at)


def _plan(known: Known) -> Mark:
    if known.plan is None:
        return Mark(Milestone.PLAN, Condition.OPEN, "no plan yet")
    said = f"{units.counted(len(known.plan.steps), 'step')} by {known.plan.transport}"
    probed = _probed_at(known)
    if probed is not None and probed > known.plan.made_at:
        return Mark(Milestone.PLAN, Condition.STALE, f"{said}; probes were taken since", known.plan.made_at)
    return Mark(Milestone.PLAN, Condition.DONE, said, known.plan.made_at)


def _executed(known: Known, kind: Kind, milestone: Milestone, now: datetime) -> Mark:
    newest = known.executions[0] if known.executions else None
    latest = next((one for one in known.executions if one.kind is kind), None)
    if latest is None:
        return Mark(milestone, Condition.OPEN, "not yet")
    at = latest.ended_at or latest.started_at
    found = unfinished(latest, now, alive=known.alive) if latest is newest else None
    if found is not None:
        condition = Condition.UNDER_WAY if found.alive else Condition.BLOCKED
        return Mark(milestone, condition, found.at if found.alive else f"interrupted: {found.stands}", at)
    if latest.state is State.DONE:
        down = account(latest).downtime_seconds
        return Mark(milestone, Condition.DONE, "done" if down is None else f"{units.duration(down)} of downtime", at)
    if latest.state is State.ROLLED_BACK:
        return Mark(milestone, Condition.OPEN, "taken back: old serves", at)
    return Mark(milestone, Condition.STALE, f"{latest.state} on its way; old serves", at)


def _after(known: Known) -> Mark:
    newest = known.executions[0] if known.executions else None
    if newest is None or newest.kind is not Kind.REAL or newest.state is not State.DONE:
        return Mark(Milestone.AFTER, Condition.OPEN, "when new is open")
    advice = len(follow_up(newest)) + len(newest.plan.remains)
    said = f"{units.counted(advice, 'thing')} to look at" if advice else "nothing is left"
    return Mark(Milestone.AFTER, Condition.WARNING if advice else Condition.DONE, said, newest.ended_at)
