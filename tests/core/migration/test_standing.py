"""Where a move stands, and what comes next."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate, Method, Span
from core.migration.model.execution import Kind, State
from core.migration.model.probe import Probe, Quantity
from core.migration.model.standing import Condition, Milestone
from core.migration.plan.steps.copy import STOP
from core.migration.standing import Known, marks, next_of
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran

Change = dict[str, Any]
LATER = NOW + timedelta(hours=1)
PASSED = CheckResult("space", "Space", Status.PASS, "1", "2", "enough")
BLOCKER = replace(PASSED, status=Status.BLOCKER)
PROBE = Probe(Quantity.WIRE, 112e6, 1 << 30, 9.0, "iperf3", "", "", NOW)
ESTIMATE = Estimate((Method("warm-copy", Span(1, 2, 3), Span(30, 38, 50), ()),), NOW, "warm-copy")
DONE = execution(kind=Kind.REHEARSAL, state=State.DONE)
STOPPED = ran(execution(replace(STEP, name=STOP), state=State.INTERRUPTED), 1)
READ: Change = {"facts_at": (LATER, NOW)}
PROBED: Change = {"probes": (replace(PROBE, taken_at=LATER),)}
RUNNING: Change = {"executions": (STOPPED,), "alive": True}
TAKEN_BACK: Change = {"executions": (replace(STOPPED, state=State.ROLLED_BACK),)}
STEPS: tuple[tuple[str, Change], ...] = (
    ("Read the facts", {"facts_at": (NOW, NOW)}),
    ("Measure both storages", {"measured_at": (NOW, NOW)}),
    ("Run the checks", {"checks": (PASSED,), "checked_at": NOW}),
    ("Take the probes", {"probes": (PROBE,)}),
    ("Make the estimate", {"estimate": ESTIMATE}),
    ("Make the plan", {"plan": DONE.plan}),
    ("Rehearse", {"executions": (DONE,)}),
    ("Move", {"executions": (execution(state=State.DONE), DONE)}),
    ("See what is left to do", {}),
)


def test_each_thing_follows_the_one_before() -> None:
    known = Known()
    for words, done in STEPS:
        assert next_of(marks(known, NOW)).words == words
        known = replace(known, **done)


@pytest.mark.parametrize(
    ("change", "milestone", "condition", "said"),
    [
        ({"facts_at": (NOW, None)}, Milestone.FACTS, Condition.OPEN, "no facts of new yet"),
        ({"checks": (BLOCKER,), "checked_at": NOW}, Milestone.CHECK, Condition.BLOCKED, "1 blocker"),
        (READ, Milestone.CHECK, Condition.STALE, "all of 1 passed or waived; facts were read since"),
        (PROBED, Milestone.PLAN, Condition.STALE, "1 step by rsync; probes were taken since"),
        ({"executions": (STOPPED,)}, Milestone.MOVE, Condition.BLOCKED, "interrupted: old is stopped, or about to be"),
        (RUNNING, Milestone.MOVE, Condition.UNDER_WAY, "step 1 of 1, old stopped 0.0 s ago"),
        (TAKEN_BACK, Milestone.MOVE, Condition.OPEN, "taken back: old serves"),
    ],
)
def test_what_is_missing_or_out_of_date_is_said(
    change: Change, milestone: Milestone, condition: Condition, said: str
) -> None:
    known = Known(checks=(PASSED,), checked_at=NOW, probes=(PROBE,), estimate=ESTIMATE, plan=DONE.plan)
    mark = next(one for one in marks(replace(known, **change), NOW) if one.milestone is milestone)
    assert (mark.condition, mark.said) == (condition, said)


def test_what_was_interrupted_comes_before_all_else() -> None:
    found = next_of(marks(Known(executions=(STOPPED,)), NOW))
    assert (found.milestone, found.words) == (Milestone.MOVE, "Continue or go back")


def test_a_blocker_is_next_before_probes() -> None:
    known = Known((NOW, NOW), (NOW, NOW), (BLOCKER, BLOCKER), NOW)
    assert next_of(marks(known, NOW)).words == "Solve 2 blockers"
