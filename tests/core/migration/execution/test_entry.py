from dataclasses import replace
from typing import Any

import pytest

from core.errors import BlockedError, InputError
from core.migration.execution.entry import (
    find_cancellable,
    find_resumable,
    find_rollbackable,
    refuse_blockers,
    refuse_changed_move,
    refuse_if_unfinished,
    require_execution,
)
from core.migration.execution.status import suggest_next_commands
from core.migration.model import step_ids
from core.migration.model.checks import CheckResult, Status
from core.migration.model.execution import ENDED_EARLY, Kind, State
from tests.core.migration.builders import move, space
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.core.migration.plan.plans import plan
from tests.steps import change_step


def result(status: Status, *, blocking: bool = True) -> CheckResult:
    return CheckResult("x", "a title", status, "o", "n", f"it is {status}", "a hint", blocking)


def test_blockers_and_unknowns_that_can_block_are_named() -> None:
    refuse_blockers([result(Status.PASS), result(Status.WARNING), result(Status.UNKNOWN, blocking=False)])
    with pytest.raises(BlockedError, match=r"^(?=.*\bblocker\b)(?=.*\bunknown\b)(?!.*\bwarning\b)"):
        refuse_blockers([result(Status.BLOCKER), result(Status.UNKNOWN), result(Status.WARNING)])


def test_what_several_checks_say_alike_is_said_once() -> None:
    with pytest.raises(BlockedError) as refused:
        refuse_blockers([result(Status.BLOCKER), result(Status.BLOCKER), result(Status.UNKNOWN)])
    assert refused.value.message.count("it is blocker") == 1
    assert "a title: it is unknown" in refused.value.message


@pytest.mark.parametrize("state", [State.DONE, State.ROLLED_BACK, State.STOPPED, State.CANCELLED, State.PAUSED])
def test_a_new_execution_may_begin_where_old_runs_and_nothing_is_under_way(state: State) -> None:
    refuse_if_unfinished(None, alive=False)
    refuse_if_unfinished(execution(state=state), alive=False)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("state", [State.CANCELLED, State.PAUSED])
def test_what_ended_on_its_way_is_said_before_another_begins(kind: Kind, state: State) -> None:
    first, copy = change_step(STEP, in_rehearsal=True), change_step(STEP, title="warm pass 1", in_rehearsal=True)
    stop = change_step(STEP, id=step_ids.STOP_OLD_CLUSTER)
    latest = ran(ran(execution(first, copy, copy, stop, state=state, kind=kind), 1), 2, sent=3 << 30)
    with pytest.raises(InputError) as refused:
        refuse_if_unfinished(latest, alive=False)
    for said in (" 7 of spring ", " 3 of 4 (warm pass 1)", "3.0 GiB"):
        assert said in refused.value.message
    assert refused.value.message.startswith("Rehearsal ") is (kind is Kind.REHEARSAL)
    assert "--resume" in refused.value.hint
    assert "--start-over" in refused.value.hint
    assert ("--rollback" in refused.value.hint) is (kind is Kind.REAL)
    refuse_if_unfinished(latest, alive=False, start_over=True)


def test_another_copy_would_destroy_what_clients_wrote_to_new() -> None:
    opened = ran(execution(change_step(STEP, id=step_ids.CUTOVER), state=State.DONE), 1)
    with pytest.raises(InputError, match=r"\b7\b.*\bspring\b") as refused:
        refuse_if_unfinished(opened, alive=False)
    assert "pghaul move add " in refused.value.hint
    assert "--start-over" in refused.value.hint
    refuse_if_unfinished(opened, alive=False, start_over=True)
    with pytest.raises(InputError) as over:
        find_resumable(opened, "spring", alive=False)
    assert over.value.hint.endswith(": pghaul execute spring --status")


def test_what_never_did_anything_stands_in_nobodys_way() -> None:
    refuse_if_unfinished(ran(execution(state=State.STOPPED), 1, status=1), alive=False)


def test_anew_is_no_way_around_an_old_that_is_stopped() -> None:
    stopped = ran(execution(change_step(STEP, id=step_ids.STOP_OLD_CLUSTER), state=State.STOPPED), 1)
    with pytest.raises(InputError) as refused:
        refuse_if_unfinished(stopped, alive=False, start_over=True)
    assert refused.value.hint == suggest_next_commands(stopped)
    interrupted = execution(state=State.INTERRUPTED)
    with pytest.raises(InputError) as refused:
        refuse_if_unfinished(interrupted, alive=False, start_over=True)
    assert refused.value.hint == suggest_next_commands(interrupted)


@pytest.mark.parametrize("state", [State.RUNNING, State.INTERRUPTED])
def test_what_was_interrupted_is_gone_on_with_first(state: State) -> None:
    with pytest.raises(InputError) as refused:
        refuse_if_unfinished(execution(state=state), alive=False)
    assert "--resume" in refused.value.hint
    assert "--start-over" not in refused.value.hint


def test_where_old_is_stopped_no_other_plan_begins() -> None:
    stopped = ran(execution(change_step(STEP, id=step_ids.STOP_OLD_CLUSTER), state=State.STOPPED), 1)
    with pytest.raises(InputError) as refused:
        refuse_if_unfinished(stopped, alive=False)
    assert "--rollback" in refused.value.hint
    assert "--start-over" not in refused.value.hint


def test_what_another_program_does_is_left_to_it() -> None:
    for entry in (refuse_if_unfinished, lambda latest, alive: find_resumable(latest, "spring", alive=alive)):
        with pytest.raises(InputError, match="2026-03-07 20:00 UTC"):
            entry(execution(), alive=True)


def test_there_must_be_something_to_go_on_with() -> None:
    for state in (State.RUNNING, State.INTERRUPTED, State.STOPPED, State.CANCELLED):
        assert find_resumable(execution(state=state), "spring", alive=False).state is state
    for latest in (None, execution(state=State.DONE), execution(state=State.ROLLED_BACK)):
        with pytest.raises(InputError) as refused:
            find_resumable(latest, "spring", alive=False)
        assert refused.value.hint.endswith(": pghaul execute spring")


def test_what_has_ended_cannot_be_cancelled() -> None:
    assert find_cancellable(execution(state=State.INTERRUPTED), "spring").state is State.INTERRUPTED
    with pytest.raises(InputError, match=State.STOPPED):
        find_cancellable(execution(state=State.STOPPED), "spring")


def test_what_was_never_executed_leads_on() -> None:
    with pytest.raises(InputError) as refused:
        find_cancellable(None, "spring")
    assert refused.value.hint.endswith(": pghaul execute spring")
    with pytest.raises(InputError) as refused:
        find_rollbackable(None, "spring", alive=False)
    assert refused.value.hint.endswith(": pghaul execute spring")


def test_a_rehearsal_has_nothing_to_take_back() -> None:
    assert find_rollbackable(execution(state=State.STOPPED), "spring", alive=False).state is State.STOPPED
    with pytest.raises(InputError, match=r"\b7\b.*\bspring\b") as refused:
        find_rollbackable(execution(kind=Kind.REHEARSAL, state=State.DONE), "spring", alive=False)
    assert refused.value.hint
    assert "pghaul" not in refused.value.hint
    with pytest.raises(InputError, match=State.ROLLED_BACK):
        find_rollbackable(execution(state=State.ROLLED_BACK), "spring", alive=False)


def test_nothing_to_show() -> None:
    with pytest.raises(InputError) as refused:
        require_execution(None, "spring")
    assert refused.value.hint.endswith(": pghaul execute spring")


MOVED = {"/space": "/srv/pg/space"}
MADE = plan({"tablespaces": (space("/space"), space("/other", 16401))}, {"tablespace_targets": MOVED})
"""One tablespace of two gets another path."""
PLANNED = replace(MADE, steps=tuple(change_step(step, call="true") for step in MADE.steps if step.remote))
"""The calls of the steps can change freely: nothing is read from them."""


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("state", sorted(ENDED_EARLY))
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"old": "new", "new": "old"}, "its old server was old, and is new now"),
        ({"new": "third"}, "its new server was new, and is third now"),
        ({"cluster": "/srv/another"}, "and is /srv/another now"),
        ({"target": "/srv/pg/another"}, "and is /srv/pg/another now"),
        ({"tablespace_targets": {"/space": "/srv/pg/another"}}, "does not know the folder /srv/pg/another"),
        ({"tablespace_targets": {**MOVED, "/other": "/srv/pg/another"}}, "does not know the folder /srv/pg/another"),
        ({"tablespace_targets": {}}, "copies to /srv/pg/space, which"),
    ],
)
def test_an_execution_does_not_go_on_with_a_move_that_was_changed(
    kind: Kind, state: State, change: dict[str, Any], named: str
) -> None:
    planned = move(cluster=PLANNED.data_directory, tablespace_targets=MOVED)
    latest = replace(execution(state=state, kind=kind), plan=PLANNED)
    refuse_changed_move(latest, planned, ["old", "new", "third"])
    with pytest.raises(InputError) as refused:
        refuse_changed_move(latest, replace(planned, **change), ["old", "new", "third"])
    assert named in refused.value.message
    assert "--start-over" in refused.value.hint
    assert ("--rehearsal" in refused.value.hint) is (kind is Kind.REHEARSAL)


def test_an_execution_goes_on_with_servers_that_were_renamed() -> None:
    planned = move(cluster=PLANNED.data_directory, tablespace_targets=MOVED)
    latest = replace(execution(state=State.PAUSED), plan=PLANNED)
    refuse_changed_move(latest, replace(planned, old="first", new="second", name="another"), ["first", "second"])


def test_an_execution_goes_on_with_its_plan_once_the_old_cluster_may_be_stopped() -> None:
    """No new plan can be made then."""
    latest = ran(execution(change_step(STEP, id=step_ids.STOP_OLD_CLUSTER), state=State.PAUSED), 1)
    refuse_changed_move(latest, move(cluster="/another"), ["old", "new"])
