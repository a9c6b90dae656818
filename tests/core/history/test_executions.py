"""Executions and hooks in the history."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.errors import InputError
from core.history.store import Store
from core.migration.model import step_ids
from core.migration.model.execution import NOT_OPENED, Execution, Kind, State, StepRun
from core.migration.model.move import EditedSettings, Hook, HookCommand
from core.migration.model.plan import Plan, RemoteCall, Step, Timing
from core.migration.model.schedule import Schedule
from core.servers.profiles import Profile
from core.sides import Side
from tests.core.history import samples
from tests.core.history.conftest import on_both
from tests.core.history.samples import HOOK, MOVE, START

pytestmark = on_both

POINT = Step(
    id=step_ids.CUTOVER,
    title="open",
    action=RemoteCall(side=Side.NEW, user="postgres", call="true"),
    reason="because",
    undo="no",
    timing=Timing(expected_seconds=1.0),
    number=2,
    server="new",
)
PLAN = Plan(MOVE.name, "rsync", "why", (replace(POINT, id="copy", number=1), POINT), START)


@pytest.fixture
def started(filled: Store) -> Execution:
    return filled.execution(filled.execution_started(replace(samples.execution(), plan=PLAN)))


def run(store: Store, of: Execution, begun: StepRun, status: int | None) -> Execution:
    number = store.step_started(of.id, begun)
    store.step_ended(replace(begun, id=number, exit_status=status, ended_at=datetime.now(UTC)))
    return store.execution(of.id)


@pytest.mark.slow
def test_a_step_comes_back_as_it_was_recorded(filled: Store, started: Execution) -> None:
    begun = samples.step_run()
    number = filled.step_started(started.id, begun)
    assert filled.execution(started.id).steps == (replace(begun, id=number),)
    ended = replace(
        begun, id=number, ended_at=START + timedelta(hours=4), exit_status=23, bytes=5, output="x" * 5000, message="no"
    )
    filled.step_ended(ended)
    assert filled.execution(started.id).steps == (ended,)


def test_a_step_says_how_far_it_is_until_it_has_ended(filled: Store, started: Execution) -> None:
    number = filled.step_started(started.id, samples.step_run())
    filled.step_progressed(number, 3 << 40, 5 << 40)
    running = filled.execution(started.id).steps[0]
    assert (running.bytes, running.total) == (3 << 40, 5 << 40)
    filled.step_ended(replace(running, ended_at=datetime.now(UTC), exit_status=12, bytes=None))
    filled.step_progressed(number, 4 << 40, 5 << 40)
    failed = filled.execution(started.id).steps[0]
    assert (failed.exit_status, failed.bytes) == (12, 3 << 40)


def test_the_latest_try_counts(filled: Store, started: Execution) -> None:
    assert not run(filled, started, samples.step_run(), 1).done(1)
    assert run(filled, started, samples.step_run(attempt=2), 0).done(1)
    assert not run(filled, started, samples.step_run(attempt=3), None).done(1)


def test_what_is_void_is_not_done(filled: Store, started: Execution) -> None:
    run(filled, started, samples.step_run(1), 0)
    run(filled, started, samples.step_run(2), 0)
    run(filled, started, replace(samples.step_run(2), back=True), 0)
    filled.steps_void(started.id, 2)
    found = filled.execution(started.id)
    assert (found.done(1), found.done(2)) == (True, False)
    back = found.latest(2, back=True)
    assert back is not None
    assert back.done


def test_the_point_of_no_return_is_passed_once_its_step_began(filled: Store, started: Execution) -> None:
    assert not run(filled, started, samples.step_run(1), 0).past_return
    assert not run(filled, started, replace(samples.step_run(2), back=True), 0).past_return
    filled.step_started(started.id, samples.step_run(2))
    assert filled.execution(started.id).past_return


@pytest.mark.slow
def test_an_opening_that_let_nobody_in_is_no_point_of_no_return(filled: Store, started: Execution) -> None:
    assert not run(filled, started, samples.step_run(2), NOT_OPENED).past_return
    assert run(filled, started, samples.step_run(2), 1).past_return


def test_a_wish_to_cancel_is_forgotten_by_the_next_start(filled: Store, started: Execution) -> None:
    assert not filled.cancel_asked(started.id)
    filled.ask_cancel(started.id)
    assert filled.cancel_asked(started.id)
    filled.execution_changed(started.id, State.CANCELLED, "by you")
    ended = filled.execution(started.id)
    assert (ended.state, ended.message, ended.ended_at is not None) == (State.CANCELLED, "by you", True)
    filled.execution_changed(started.id, State.RUNNING)
    again = filled.execution(started.id)
    assert (again.cancel_asked, again.ended_at, again.message) == (False, None, "")


def test_the_ticks_of_follow_up_tasks_are_recorded_and_not_signed(filled: Store, started: Execution) -> None:
    assert filled.execution(started.id).follow_up_done == frozenset()
    for task in ("backup", "old-files", "backup"):
        filled.tick_follow_up(started.id, task, done=True)
    assert filled.execution(started.id).follow_up_done == {"backup", "old-files"}
    filled.tick_follow_up(started.id, "backup", done=False)
    filled.tick_follow_up(started.id, "nothing", done=False)
    assert filled.execution(started.id).follow_up_done == {"old-files"}
    assert filled.recorded_here(started.id)


def test_the_times_of_a_schedule_are_recorded_and_signed(filled: Store) -> None:
    night = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
    number = filled.execution_started(replace(samples.execution(), schedule=Schedule(night, None)))
    assert filled.execution(number).schedule == Schedule(night, None)
    assert filled.recorded_here(number)
    filled.execution_changed(number, State.CANCELLED)
    assert filled.recorded_here(number)


def test_executions_stand_newest_first(filled: Store, started: Execution) -> None:
    assert [each.id for each in filled.executions(MOVE.name)] == [started.id, started.id - 1]
    with pytest.raises(InputError, match="no execution 99"):
        filled.execution(99)


def test_a_hook_is_replaced_and_removed(filled: Store) -> None:
    assert filled.hooks(MOVE.name) == (HOOK,)
    other = HookCommand(Hook.STOP_APPLICATIONS, Side.OLD, "systemctl stop shop", "root")
    filled.save_hook(MOVE.name, replace(HOOK, command="true"))
    filled.save_hook(MOVE.name, other)
    assert filled.hooks(MOVE.name) == (other, replace(HOOK, command="true"))
    filled.remove_hook(MOVE.name, HOOK.hook)
    assert filled.hooks(MOVE.name) == (other,)


def test_what_is_unfinished_is_the_newest_execution_of_a_move(filled: Store, started: Execution) -> None:
    filled.execution_changed(started.id, State.INTERRUPTED)
    assert [each.id for each in filled.unfinished_executions()] == [started.id]
    newer = filled.execution_started(replace(samples.execution(), plan=PLAN))
    assert [each.id for each in filled.unfinished_executions()] == [newer]
    filled.execution_changed(newer, State.DONE)
    assert filled.unfinished_executions() == ()


@pytest.mark.parametrize("state", [State.STOPPED, State.CANCELLED, State.PAUSED, State.INTERRUPTED])
def test_in_the_middle_of_a_move_nobody_changes_which_settings_hold(filled: Store, state: State) -> None:
    number = filled.execution_started(replace(samples.execution(), plan=PLAN, kind=Kind.REAL))
    filled.execution_changed(number, state, "")
    other = replace(filled.move(MOVE.name), edited=EditedSettings.FILE)
    for change in (filled.put_move, lambda move: filled.update_move(replace(move, name="m"), MOVE.name)):
        with pytest.raises(InputError, match=f"cannot be changed now: execution {number} ") as refused:
            change(other)
        assert "--rollback" in refused.value.hint
    filled.put_move(replace(other, edited=None, plain_text=True))  # anything else
    filled.execution_changed(number, State.ROLLED_BACK, "")
    filled.put_move(other)
    assert filled.move(MOVE.name).edited is EditedSettings.FILE


def save_server(store: Store, profile: Profile, *, how: str) -> None:
    """Save the old server by one of the ways in which a profile comes into the history."""
    match how:
        case "update":
            store.update_profile(profile, samples.OLD.name)
        case "put":
            store.put_profile(profile)
        case _:
            store.put_profiles([samples.NEW, profile])


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("change", [{"address": "192.0.2.44"}, {"port": 2022}, {"user": "other"}, {"jump": "other"}])
@pytest.mark.parametrize("how", ["update", "put", "put several"])
def test_a_server_is_not_reached_otherwise_while_a_program_carries_a_move_of_it_out(
    filled: Store, change: dict[str, Any], kind: Kind, how: str
) -> None:
    number = filled.execution_started(replace(samples.execution(), plan=PLAN, kind=kind))
    with pytest.raises(InputError, match=f"the move {MOVE.name} uses it. Execution {number} .* has not ended") as found:
        save_server(filled, replace(samples.OLD, **change), how=how)
    assert "--status" in found.value.hint
    assert filled.profile(samples.OLD.name) == samples.OLD
    save_server(filled, replace(samples.OLD, database_user="pg"), how=how)
    assert filled.step_started(number, samples.step_run())


@pytest.mark.parametrize("name", ["old", "new"])
def test_a_server_is_not_renamed_while_a_program_carries_a_move_of_it_out(filled: Store, name: str) -> None:
    profile = {"old": samples.OLD, "new": samples.NEW}[name]
    assert filled.server_use(profile.name) is None
    filled.execution_started(replace(samples.execution(), plan=PLAN))
    use = filled.server_use(profile.name)
    assert use is not None
    assert (use.move, sorted(use.fixed)) == (MOVE.name, ["address", "jump", "name", "port", "user"])
    with pytest.raises(InputError, match=f"The server {profile.name} cannot be renamed"):
        filled.update_profile(replace(profile, name="renamed"), profile.name)


@pytest.mark.parametrize(
    ("state", "steps", "fixed"),
    [
        (State.INTERRUPTED, 0, True),
        (State.STOPPED, 1, True),
        (State.PAUSED, 1, True),
        (State.PAUSED, 0, False),
        (State.DONE, 1, False),
        (State.ROLLED_BACK, 1, False),
    ],
)
def test_a_move_that_is_not_over_keeps_its_machines_but_may_reach_them_otherwise(
    filled: Store, state: State, steps: int, *, fixed: bool
) -> None:
    """`steps`: how many of its steps have run; the first one stops the old cluster."""
    stop = replace(PLAN, steps=(replace(POINT, id=step_ids.STOP_OLD_CLUSTER, number=1),))
    number = filled.execution_started(replace(samples.execution(), plan=stop, kind=Kind.REAL))
    for each in range(1, steps + 1):
        filled.step_started(number, samples.step_run(each))
    filled.execution_changed(number, state, "")
    another = replace(samples.OLD, name="renamed", user="other", jump="other")
    filled.update_profile(another, samples.OLD.name)
    use = filled.server_use("renamed")
    assert ([] if use is None else sorted(use.fixed)) == (["address", "port"] if fixed else [])
    if fixed:
        with pytest.raises(InputError, match="HostName"):
            filled.put_profile(replace(another, address="192.0.2.44"))
        assert filled.recorded_here(number)
    else:
        filled.put_profile(replace(another, address="192.0.2.44"))
        assert filled.profile("renamed").address == "192.0.2.44"


@pytest.mark.parametrize(
    ("kind", "state", "stops", "stays"),
    [
        (Kind.REAL, State.RUNNING, False, True),
        (Kind.REHEARSAL, State.RUNNING, False, True),
        (Kind.REAL, State.INTERRUPTED, False, True),
        (Kind.REHEARSAL, State.INTERRUPTED, False, False),
        *((Kind.REAL, state, True, True) for state in (State.STOPPED, State.CANCELLED, State.PAUSED)),
        *((Kind.REAL, state, False, False) for state in (State.STOPPED, State.CANCELLED, State.PAUSED)),
        (Kind.REAL, State.DONE, True, False),
        (Kind.REAL, State.ROLLED_BACK, True, False),
    ],
)
def test_a_move_that_is_not_over_cannot_be_removed(
    store: Store, kind: Kind, state: State, *, stops: bool, stays: bool
) -> None:
    """`stops`: its first step, which stops the old cluster, has begun."""
    for profile in (samples.OLD, samples.NEW):
        store.add_profile(profile)
    store.add_move(MOVE)
    plan = replace(PLAN, steps=(replace(POINT, id=step_ids.STOP_OLD_CLUSTER, number=1),))
    number = store.execution_started(replace(samples.execution(), plan=plan, kind=kind))
    if stops:
        store.step_started(number, samples.step_run())
    if state is not State.RUNNING:
        store.execution_changed(number, state, "")
    if stays:
        with pytest.raises(
            InputError, match=rf"The move {MOVE.name} cannot be removed now\. Execution {number} "
        ) as found:
            store.remove_move(MOVE.name)
        assert "--resume" in found.value.hint
        assert store.executions(MOVE.name)
    else:
        store.remove_move(MOVE.name)
        assert store.moves() == ()


SWAPPED = replace(MOVE, old=MOVE.new, new=MOVE.old)


@pytest.mark.parametrize(
    ("state", "kind", "fixed"),
    [
        (State.RUNNING, Kind.REAL, True),
        (State.INTERRUPTED, Kind.REHEARSAL, True),
        (State.DONE, Kind.REAL, True),
        (State.DONE, Kind.REHEARSAL, False),
        (State.STOPPED, Kind.REAL, False),
        (State.ROLLED_BACK, Kind.REAL, False),
    ],
)
def test_the_servers_of_a_move_that_is_under_way_or_over_stay(
    filled: Store, state: State, kind: Kind, *, fixed: bool
) -> None:
    number = filled.execution_started(replace(samples.execution(), plan=PLAN, kind=kind))
    if state is not State.RUNNING:
        filled.execution_changed(number, state, "")
    for change in (filled.put_move, lambda move: filled.update_move(replace(move, name="renamed"), MOVE.name)):
        if not fixed:
            change(SWAPPED)
            assert filled.moves()[0].old == MOVE.new
            break
        with pytest.raises(InputError, match=f"servers and paths of {MOVE.name} cannot be changed"):
            change(SWAPPED)
    if fixed:
        assert filled.move(MOVE.name) == MOVE
        other = replace(MOVE, name="renamed", new_volume="/srv/bench", plain_text=not MOVE.plain_text)
        filled.update_move(other, MOVE.name)
        assert filled.move("renamed") == other
        assert filled.recorded_here(number)


@pytest.mark.parametrize(
    ("state", "kind", "fixed"),
    [
        (State.DONE, Kind.REHEARSAL, True),
        (State.STOPPED, Kind.REAL, True),
        (State.ROLLED_BACK, Kind.REAL, False),
    ],
)
def test_the_servers_of_a_finished_move_stay_until_a_rollback_follows(
    filled: Store, state: State, kind: Kind, *, fixed: bool
) -> None:
    for each, how in ((Kind.REAL, State.DONE), (kind, state)):
        number = filled.execution_started(replace(samples.execution(), plan=PLAN, kind=each))
        filled.execution_changed(number, how, "")
    if fixed:
        with pytest.raises(InputError, match="The move was carried out"):
            filled.put_move(SWAPPED)
    else:
        filled.put_move(SWAPPED)
    assert filled.move(MOVE.name) == (MOVE if fixed else SWAPPED)


def test_a_rehearsal_that_failed_hinders_no_choice(filled: Store) -> None:
    rehearsal = filled.execution_started(replace(samples.execution(), plan=PLAN, kind=Kind.REHEARSAL))
    filled.execution_changed(rehearsal, State.INTERRUPTED, "")
    other = replace(filled.move(MOVE.name), edited=EditedSettings.FILE)
    with pytest.raises(InputError, match="cannot be changed now") as refused:
        filled.put_move(other)
    assert "--cancel" in refused.value.hint
    filled.execution_changed(rehearsal, State.STOPPED, "")
    filled.put_move(other)


def test_an_execution_is_found_by_its_token(filled: Store, started: Execution) -> None:
    other = filled.execution_started(replace(samples.execution(), plan=PLAN, token="another"))
    assert filled.execution_with_token("another") == filled.execution(other)
    assert filled.execution_with_token("none") is None
    newer = filled.execution_started(replace(samples.execution(), plan=PLAN))
    assert filled.execution_with_token(started.token) == filled.execution(newer)
