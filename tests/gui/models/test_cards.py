"""What the card of a move says of its cluster: no fact that a move may have changed since."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.api.model import Standing
from core.migration.execution.status import facts_hold
from core.migration.model import step_ids
from core.migration.model.execution import Execution, State, StepRun
from core.migration.model.standing import Milestone, Next
from gui.models.cards import card
from tests.core.migration.builders import NOW, cluster, move
from tests.core.migration.execution.builders import STEP, execution
from tests.steps import change_step

STOP = change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, downtime=True)
OPEN = change_step(STEP, id=step_ids.CUTOVER, downtime=True)
ENDED = NOW + timedelta(minutes=5)


def made(state: State, *, stopped: bool = True) -> Execution:
    """Return a move with a downtime of 8 s."""
    times = [(1, 0, 2), (2, 4, 8)] if stopped else []
    if state is State.ROLLED_BACK:
        times = times[:1]
    runs = [
        StepRun(number, number, "step", 1, NOW + timedelta(seconds=began), NOW + timedelta(seconds=ended), 0)
        for number, began, ended in times
    ]
    if state is State.ROLLED_BACK and stopped:
        runs.append(
            StepRun(3, 1, "back", 1, NOW + timedelta(seconds=6), NOW + timedelta(seconds=8), exit_status=0, back=True)
        )
    return replace(execution(STOP, OPEN, state=state), steps=tuple(runs), ended_at=ENDED)


def said(over: Execution | None, *, hold: bool) -> str:
    known = cluster(running=True, port=5432)
    at = Standing(move(), (), Next(Milestone.FACTS, "Read the facts"), known, None, over=over, facts_hold=hold)
    return card(at, NOW).cluster


@pytest.mark.parametrize("hold", [True, False])
def test_the_card_of_a_finished_move_says_where_the_cluster_is(hold: bool) -> None:
    assert said(made(State.DONE), hold=hold) == f"Moved to {move().new}, downtime 8.0 s"
    assert said(made(State.DONE, stopped=False), hold=hold) == f"Moved to {move().new}"


def test_the_card_after_a_rollback_names_the_old_server() -> None:
    back = made(State.ROLLED_BACK)
    assert said(back, hold=False) == f"Rolled back: the cluster is running on {move().old} again, downtime 8.0 s"
    assert said(back, hold=True) == said(None, hold=True)  # the facts were read after it
    assert "port 5432" in said(None, hold=True)


def test_the_card_leaves_out_whether_a_cluster_runs_that_a_move_may_have_stopped() -> None:
    assert "running" not in said(None, hold=False)
    assert said(None, hold=True).startswith(said(None, hold=False))


def test_facts_are_too_old_once_the_move_may_have_stopped_the_cluster() -> None:
    done = made(State.DONE)
    assert not facts_hold(done, NOW)
    assert facts_hold(done, ENDED + timedelta(seconds=1))
    assert facts_hold(made(State.ROLLED_BACK, stopped=False), NOW)
    assert not facts_hold(replace(done, state=State.RUNNING, ended_at=None), ENDED + timedelta(days=1))
