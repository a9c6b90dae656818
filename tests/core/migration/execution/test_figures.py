"""What a finished move or rehearsal has come to, and how urgent an unfinished one is."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.migration.execution.outcome import figures_of
from core.migration.execution.status import unfinished
from core.migration.execution.timeline import seconds_left
from core.migration.model import step_ids
from core.migration.model.execution import OVER, Kind, State, StepRun
from core.migration.model.plan import Decision
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.steps import change_step

COPY = change_step(STEP, id="pre-copy/1/data", expected_seconds=30.0, precopy_pass=1, in_rehearsal=True)
STOP = change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, downtime=True, expected_seconds=5.0)
DECIDE = replace(STEP, id=step_ids.DECIDE, action=Decision())


@pytest.mark.parametrize("state", State)
def test_only_what_is_over_has_figures(state: State) -> None:
    made = ran(execution(COPY, STOP, DECIDE, state=state), 1, seconds=40.0, sent=1 << 30)
    made = ran(ran(made, 2, seconds=40.0), 3, seconds=3600.0)
    found = figures_of(replace(made, ended_at=made.started_at + timedelta(hours=2)))
    assert (found is not None) is (state in OVER)
    if found is not None:
        assert (found.sent, found.passes, found.files_verified) == (1 << 30, 1, None)
        planned = 35.0 if state is State.DONE else None  # the plan's whole time says nothing of a rolled-back move
        assert found.seconds == 7200.0
        assert (found.command_seconds, found.expected_seconds) == (40.0, planned)  # side by side, without the decision


def test_a_rehearsal_is_held_against_its_own_steps() -> None:
    made = ran(execution(COPY, STOP, state=State.DONE, kind=Kind.REHEARSAL), 1, seconds=40.0)
    found = figures_of(made)
    assert found is not None
    assert (found.expected_seconds, found.forecast) == (30.0, None)


def test_what_is_left_is_of_the_steps_that_are_named() -> None:
    made = ran(execution(COPY, STOP, DECIDE), 1)
    steps = made.plan.steps
    assert seconds_left(made, steps, NOW) == (5.0, False)
    assert seconds_left(made, steps[:1], NOW) == (None, False)
    unknown = change_step(STOP, expected_seconds=None)
    made = execution(COPY, unknown)
    assert seconds_left(made, made.plan.steps, NOW) == (30.0, True)


def test_the_most_urgent_waits_for_a_person() -> None:
    stopped = replace(
        execution(COPY, STOP, DECIDE), steps=(StepRun(1, 1, "", 1, NOW, NOW, 0), StepRun(2, 2, "", 1, NOW))
    )
    asked = replace(stopped, steps=(*stopped.steps[:1], StepRun(2, 2, "", 1, NOW, NOW, 0), StepRun(3, 3, "", 1, NOW)))
    later = NOW + timedelta(seconds=3)
    found = [
        unfinished(each, later, alive=alive)
        for each, alive in ((asked, True), (stopped, True), (execution(COPY, STOP), True), (execution(COPY), False))
    ]
    assert [each.urgency for each in found if each is not None] == [0, 1, 2, 3]
    assert [each.waits for each in found if each is not None] == [True, False, False, False]
    lost = unfinished(asked, later, alive=False)
    assert lost is not None
    assert (lost.waits, lost.urgency) == (False, 1)  # nobody asks any more
    back = replace(asked, steps=(*asked.steps, StepRun(4, 1, "", 1, NOW, back=True)))
    rolling = unfinished(back, later, alive=True)
    assert rolling is not None
    assert not rolling.waits  # what was asked before the rollback is asked no more
