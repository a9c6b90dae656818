"""Where a move stands, and what comes next."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.migration.execution.status import SENTENCES, MoveStatus
from core.migration.model import step_ids
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate, Method, Span
from core.migration.model.execution import Kind, State
from core.migration.model.plan import FollowUp, FollowUpGroup
from core.migration.model.probe import Probe, Quantity
from core.migration.model.standing import Condition, Milestone
from core.migration.standing import KnownState, find_next, list_marks
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.steps import change_step

Change = dict[str, Any]
LATER = NOW + timedelta(hours=1)
PASSED = CheckResult("space", "Space", Status.PASS, "1", "2", "enough")
BLOCKER = replace(PASSED, status=Status.BLOCKER)
PROBE = Probe(Quantity.WIRE, 112e6, 1 << 30, 9.0, "iperf3", "", "", NOW)
ESTIMATE = Estimate((Method("warm-copy", Span(1, 2, 3), Span(30, 38, 50), ()),), NOW, "warm-copy")
DONE = execution(kind=Kind.REHEARSAL, state=State.DONE)
STOPPED = ran(execution(change_step(STEP, id=step_ids.STOP_OLD_CLUSTER), state=State.INTERRUPTED), 1)
BACKUP = FollowUp("backup", FollowUpGroup.BACK_UP, "take a backup")
LOG = FollowUp("start-log", FollowUpGroup.INFORMATION, "the log of the start")
MOVED = execution(state=State.DONE)
MOVED = replace(MOVED, plan=replace(MOVED.plan, advice=(BACKUP,), remains=(LOG,)))
READ: Change = {"facts_at": (LATER, NOW)}
PROBED: Change = {"probes": (replace(PROBE, taken_at=LATER),)}
RUNNING: Change = {"executions": (STOPPED,), "alive": True}
TAKEN_BACK: Change = {"executions": (replace(STOPPED, state=State.ROLLED_BACK),)}
STEPS: tuple[tuple[Milestone, Change], ...] = (
    (Milestone.FACTS, {"facts_at": (NOW, NOW)}),
    (Milestone.MEASURE, {"measured_at": (NOW, NOW)}),
    (Milestone.CHECK, {"checks": (PASSED,), "checked_at": NOW}),
    (Milestone.PROBE, {"probes": (PROBE,)}),
    (Milestone.ESTIMATE, {"estimate": ESTIMATE}),
    (Milestone.PLAN, {"plan": DONE.plan}),
    (Milestone.REHEARSE, {"executions": (DONE,)}),
    (Milestone.MOVE, {"executions": (MOVED, DONE)}),
    (Milestone.AFTER, {}),
)


def test_each_thing_follows_the_one_before() -> None:
    known, said = KnownState(), list[str]()
    for milestone, done in STEPS:
        found = find_next(list_marks(known, NOW))
        assert found.milestone is milestone
        said.append(found.words)
        known = replace(known, **done)
    assert len(set(said)) == len(STEPS)


def test_an_unknown_that_cannot_stop_the_move_is_no_warning() -> None:
    unread = replace(PASSED, status=Status.UNKNOWN, blocking=False)
    warning = replace(PASSED, status=Status.WARNING)
    conditions = [
        next(
            one
            for one in list_marks(KnownState(checks=(PASSED, *checks), checked_at=NOW), NOW)
            if one.milestone == "check"
        )
        for checks in ((), (unread,), (unread, warning), (replace(unread, blocking=True),))
    ]
    assert [mark.condition for mark in conditions] == [
        Condition.DONE,
        Condition.DONE,
        Condition.WARNING,
        Condition.BLOCKED,
    ]
    assert conditions[0].said != conditions[1].said == "no blockers and no warnings; without a result: 1 of 2"
    assert conditions[2].said == "blockers: 0, warnings: 1"


def test_ticked_tasks_are_done_and_information_is_no_task() -> None:
    known = KnownState(executions=(MOVED,))
    after = {one.milestone: one for one in list_marks(known, NOW)}[Milestone.AFTER]
    assert (after.condition, after.said) == (Condition.OPEN, "open follow-up tasks: 1 of 1")
    ticked = replace(known, executions=(replace(MOVED, follow_up_done=frozenset({"backup"})),))
    marks = list_marks(ticked, NOW)
    assert {one.milestone: one.condition for one in marks}[Milestone.AFTER] is Condition.DONE
    assert find_next(marks).milestone is Milestone.MOVE  # its result; nothing is to be done any more


@pytest.mark.parametrize(
    ("change", "milestone", "condition", "said"),
    [
        ({"facts_at": (NOW, None)}, Milestone.FACTS, Condition.OPEN, " new "),
        ({"checks": (BLOCKER,), "checked_at": NOW}, Milestone.CHECK, Condition.BLOCKED, ": 1, "),
        (READ, Milestone.CHECK, Condition.STALE, ": 0, "),
        (PROBED, Milestone.PLAN, Condition.STALE, "1 step by rsync; "),
        ({"executions": (STOPPED,)}, Milestone.MOVE, Condition.BLOCKED, SENTENCES[MoveStatus.STOPPING]),
        (RUNNING, Milestone.MOVE, Condition.UNDER_WAY, "step 1 of 1"),
        (TAKEN_BACK, Milestone.MOVE, Condition.OPEN, ""),
    ],
)
def test_what_is_missing_or_out_of_date_is_said(
    change: Change, milestone: Milestone, condition: Condition, said: str
) -> None:
    known = KnownState(checks=(PASSED,), checked_at=NOW, probes=(PROBE,), estimate=ESTIMATE, plan=DONE.plan)
    before, mark = (
        {one.milestone: one for one in list_marks(each, NOW)}[milestone] for each in (known, replace(known, **change))
    )
    assert mark.condition is condition
    assert said in mark.said
    assert mark.said != before.said


def test_what_was_interrupted_comes_before_all_else() -> None:
    found = find_next(list_marks(KnownState(executions=(STOPPED,)), NOW))
    under_way = find_next(list_marks(KnownState(executions=(STOPPED,), alive=True), NOW))
    assert (found.milestone, under_way.milestone) == (Milestone.MOVE, Milestone.MOVE)
    assert found.words != under_way.words


def test_what_is_paused_has_neither_failed_nor_been_interrupted() -> None:
    cancelled, paused = (replace(STOPPED, state=state) for state in (State.CANCELLED, State.PAUSED))
    marks = [
        next(mark for mark in list_marks(KnownState(executions=(one,)), NOW) if mark.milestone is Milestone.MOVE)
        for one in (paused, replace(paused, steps=()), cancelled)
    ]
    assert [mark.said.partition(":")[0].partition(";")[0] for mark in marks] == [
        "paused by the operator",
        "paused by the operator",
        "cancelled",
    ]


def test_a_blocker_is_next_before_probes() -> None:
    known = KnownState((NOW, NOW), (NOW, NOW), (BLOCKER, BLOCKER), NOW)
    found = find_next(list_marks(known, NOW))
    assert found.milestone is Milestone.CHECK
