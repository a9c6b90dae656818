"""What an execution came to, from its rows: the time without the cluster and its parts."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.migration.execution.entry import explain_no_return
from core.migration.execution.outcome import outcome_of
from core.migration.execution.status import describe_completed_move
from core.migration.execution.timeline import account, downtime
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, NOT_OPENED, Execution, Kind, State
from tests.core.migration.execution.whole_move import NOW, OPENED, PLAN, START, STOPPED, execution, run
from tests.steps import change_step


def test_the_time_without_the_cluster_and_its_parts() -> None:
    found = downtime(execution(*STOPPED, run(10, 106, 20, bytes=7), *OPENED), NOW)
    assert found is not None
    assert (found.began_at, found.ended_at) == (START + timedelta(seconds=100), START + timedelta(seconds=174))
    assert (found.seconds, found.people_seconds, found.idle_seconds, found.command_seconds) == (74, 30, 14, 30)
    assert found.expected_seconds == 110  # the eleven commands from the stop to the opening


def test_what_runs_side_by_side_is_counted_once() -> None:
    beside = (run(13, 110, 20), run(14, 112, 12), run(12, 110, 3))
    found = downtime(execution(*STOPPED, *beside, *OPENED), NOW)
    assert found is not None
    assert found.command_seconds == 6 + 20 + 4


def test_while_old_is_stopped_it_goes_on() -> None:
    found = downtime(execution(*STOPPED, state=State.STOPPED), NOW)
    assert found is not None
    assert (found.ended_at, found.seconds) == (None, 900)


def test_where_new_first_listened_elsewhere_it_lasts_until_that_is_mended() -> None:
    looked = change_step(PLAN.steps[-1], id=step_ids.CHECK_LISTENERS)
    plan = replace(PLAN, steps=(*PLAN.steps[:-1], looked))
    elsewhere = replace(execution(*STOPPED, *OPENED, run(19, 175, 1, status=1), state=State.STOPPED), plan=plan)
    mended = replace(elsewhere, steps=(*elsewhere.steps, run(19, 300, 2)))
    here = replace(elsewhere, steps=(*STOPPED, *OPENED, run(19, 175, 1)))
    assert [account(each).downtime_seconds for each in (elsewhere, mended, here)] == [None, 202, 74]
    until = [found.seconds for each in (elsewhere, mended, here) if (found := downtime(each, NOW)) is not None]
    assert until == [900, 202, 74]


def test_a_cancelled_look_at_the_listeners_tells_nothing_of_the_downtime() -> None:
    looked = change_step(PLAN.steps[-1], id=step_ids.CHECK_LISTENERS)
    cancelled = run(19, 175, 1, status=CANCELLED_STEP)
    made = execution(*STOPPED, *OPENED, cancelled, state=State.CANCELLED)
    alone = replace(made, plan=replace(PLAN, steps=(*PLAN.steps[:-1], looked)))
    well, elsewhere = run(19, 300, 2), run(19, 300, 2, status=1)
    found = [
        account(replace(alone, steps=(*alone.steps, *more))).downtime_seconds
        for more in ((), (well,), (elsewhere,), (elsewhere, run(19, 400, 2)))
    ]
    assert found == [74, 74, None, 302]


def test_the_cutover_has_one_moment_however_often_the_execution_goes_on_behind_it() -> None:
    """A first try at the cutover that did not open it, and later looks at where it listens, change nothing."""
    looked = change_step(PLAN.steps[-1], id=step_ids.CHECK_LISTENERS)
    refused, again = run(18, 168, 2, status=NOT_OPENED), (run(19, 175, 1), run(19, 500, 1, status=1), run(19, 600, 1))
    found = replace(
        execution(*STOPPED, refused, *OPENED, *again, state=State.DONE),
        plan=replace(PLAN, steps=(*PLAN.steps[:-1], looked)),
        ended_at=START + timedelta(seconds=601),
    )
    at, down = START + timedelta(seconds=174), downtime(found, NOW)
    assert down is not None
    assert (found.cutover_at, account(found).opened_at, account(found).reached_at, down.ended_at) == (at, at, at, at)
    shown = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    assert shown in explain_no_return(found).message
    assert shown in describe_completed_move(found)
    (said,) = (each for each in outcome_of(found) if each.title == "Downtime")
    assert f"until the cutover ({at:%H:%M:%S} UTC)" in said.sentences[0]


def test_a_cutover_whose_end_was_not_seen_has_no_moment() -> None:
    unseen = execution(*STOPPED, run(18, 168, 2, status=NOT_OPENED), run(18, 170, None))
    assert unseen.cutover_at is None
    assert (
        f"{START + timedelta(seconds=170):%H:%M:%S} UTC, and its end was not seen" in explain_no_return(unseen).message
    )


def test_the_way_back_ends_it() -> None:
    back = (run(1, 200, 9, back=True), run(2, 209, 1, back=True))
    found = downtime(execution(*STOPPED, *back, state=State.ROLLED_BACK), NOW)
    assert found is not None
    assert (found.seconds, found.idle_seconds) == (110, 94)


@pytest.mark.parametrize(
    "none",
    [
        execution(run(1, 0, 1), run(2, 1, 60, bytes=9)),
        execution(*STOPPED, kind=Kind.REHEARSAL),
        execution(),
    ],
)
def test_old_that_was_not_stopped_was_never_missed(none: Execution) -> None:
    assert downtime(none, NOW) is None


def test_what_the_whole_of_it_came_to() -> None:
    found = account(execution(run(2, 1, 20, bytes=2_000_000_000), *STOPPED, run(10, 106, 20, bytes=500), *OPENED))
    assert found.downtime_seconds == 74
    assert (found.people_seconds, found.expected_seconds) == (30, 110)
    assert (found.passes, found.sent) == (2, 2_000_000_500)


def test_a_stop_that_was_overruled_does_not_count() -> None:
    """Somebody started old again meanwhile: it was down from its second stop on."""
    overruled = run(7, 10, 2, void=True)
    assert account(execution(overruled, *STOPPED, *OPENED)).downtime_seconds == 74


def test_before_the_opening_there_is_no_downtime_yet() -> None:
    found = account(execution(*STOPPED, run(17, 140, 30), run(18, 170, None)))
    assert found.stopped_at == START + timedelta(seconds=100)
    assert found.downtime_seconds is None
    assert found.people_seconds == 30


def test_what_people_took_is_one_figure_wherever_it_is_said() -> None:
    """Two tries of theirs that overlap are one wait."""
    taken = execution(*STOPPED, run(17, 140, 20), run(17, 150, 20), run(18, 170, 4))
    down = downtime(taken, NOW)
    assert down is not None
    assert account(taken).people_seconds == down.people_seconds == 30
