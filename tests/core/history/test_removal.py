"""What is removed one by one comes back as it was."""

import contextlib
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.benchmarks.model import Outcome
from core.errors import InputError
from core.history.removal import KINDS
from core.history.store import Entry, Store
from core.jobs import CommandStarted
from core.migration.model.execution import State, StepRun
from core.migration.model.move import Hook, HookCommand
from core.migration.model.probe import Probe, Quantity
from core.servers.shell import quoted
from core.sides import Side
from tests.core.history import samples
from tests.core.history.conftest import on_both
from tests.core.history.contents import rows_of
from tests.core.history.samples import MOVE, OLD, START

STAY = {"move", "waiver"}


def _entries(store: Store, kind: str) -> list[Entry]:
    return [entry for entry in store.entries(limit=1000) if entry.kind == kind]


def _ended(store: Store) -> None:
    """The execution ends, and another one after it."""
    store.execution_changed(1, State.DONE)
    later = replace(samples.execution(), started_at=START + timedelta(days=100))
    store.execution_changed(store.execution_started(later), State.DONE)


@pytest.mark.slow
@on_both
def test_whatever_is_removed_is_gone_and_comes_back_as_it_was(filled: Store) -> None:
    _ended(filled)
    filled.record_report(MOVE.name, Path("report.pdf"))
    before, latest = rows_of(filled), _entries(filled, "execution")[0]
    chosen = [entry for entry in filled.entries(limit=1000) if entry.kind not in STAY and entry != latest]
    assert {entry.kind for entry in chosen} == {
        "facts", "run", "probe", "checks", "estimate", "plan", "execution", "report",
    }  # fmt: skip
    removed = filled.remove_entries(chosen)
    assert removed.entries == len(chosen)
    assert {entry.kind for entry in filled.entries(limit=1000)} == {*STAY, "execution"}
    assert not {"metrics", "repetitions", "check_results"} & rows_of(filled).keys()
    filled.put_back(removed)
    assert rows_of(filled) == before


@on_both
def test_what_is_gone_already_is_passed_over(filled: Store) -> None:
    (plan, *_) = _entries(filled, "plan")
    assert filled.remove_entries([plan, plan]).entries == 1
    nothing = filled.remove_entries([plan])
    assert nothing.entries == 0
    filled.put_back(nothing)
    assert _entries(filled, "plan") == []


@pytest.mark.slow
@on_both
def test_what_pghaul_goes_by_stays_and_the_rest_with_it(filled: Store) -> None:
    (plan, *_) = _entries(filled, "plan")
    _ended(filled)
    open_run = filled.run_started(replace(samples.runs(Side.OLD)[0], outcome=None, ended_at=None, repetitions=()))
    before = rows_of(filled)
    for kind, said in (
        ("move", "entries of the kind 'move' cannot be removed"),
        ("waiver", "entries of the kind 'waiver' cannot be removed"),
        ("execution", "the latest execution of a move cannot be removed"),
        ("run", "run has not ended and cannot be removed"),
    ):
        found = _entries(filled, kind)
        entry = next(each for each in found if each.reference == open_run) if kind == "run" else found[0]
        with pytest.raises(InputError, match=said):
            filled.remove_entries([plan, entry])
    assert rows_of(filled) == before


@on_both
def test_who_comes_back_to_a_number_that_is_taken_gets_another(filled: Store) -> None:
    newest = max(_entries(filled, "run"), key=lambda entry: entry.reference)
    before = filled.run(newest.reference)
    removed = filled.remove_entries([newest])
    taken = filled.run_started(replace(before, started_at=datetime(2027, 1, 1, tzinfo=UTC), repetitions=()))
    if taken != newest.reference:  # a server gives no number twice
        filled.put_back(removed)
        assert filled.run(newest.reference) == before
        return
    assert filled.run(taken).repetitions == ()
    filled.put_back(removed)
    found = (run for run in filled.runs(MOVE.name) if replace(run, id=None) == replace(before, id=None))
    (back,) = found
    assert back.id != taken
    assert filled.run(taken).repetitions == ()


@pytest.mark.slow
@on_both
def test_what_stands_there_is_not_put_back_again(filled: Store) -> None:
    removed = filled.remove_entries(_entries(filled, "plan") + _entries(filled, "run"))
    filled.put_back(removed)
    before = rows_of(filled)
    with pytest.raises(InputError, match="the entry was restored already"):
        filled.put_back(removed)
    assert rows_of(filled) == before


def test_an_execution_never_comes_back_as_the_latest(filled: Store) -> None:
    _ended(filled)
    removed = filled.remove_entries([entry for entry in _entries(filled, "execution") if entry.reference == 1])
    filled.remove_move(MOVE.name)
    filled.add_move(MOVE)
    assert filled.execution_started(samples.execution()) == 1
    before = rows_of(filled)
    with pytest.raises(InputError, match="its execution's number is used by another execution"):
        filled.put_back(removed)
    assert rows_of(filled) == before


@pytest.mark.slow
@on_both
@pytest.mark.parametrize("state", [State.RUNNING, State.INTERRUPTED, State.STOPPED, State.CANCELLED])
def test_an_execution_goes_that_goes_on_no_more(filled: Store, state: State) -> None:
    _ended(filled)
    filled.execution_changed(1, state)
    latest, old = _entries(filled, "execution")
    if state in {State.RUNNING, State.INTERRUPTED}:
        with pytest.raises(InputError, match="execution has not ended and cannot be removed"):
            filled.remove_entries([old])
    else:
        filled.remove_entries([old])
        assert _entries(filled, "execution") == [latest]


@on_both
def test_a_watch_stays_until_it_was_collected(filled: Store) -> None:
    now = datetime.now(UTC)
    begun = Probe(Quantity.CHANGES, 0.0, 0, 0.0, "watch for 600 s begun", "sh", "600", now)
    filled.probe_taken(MOVE.name, begun)
    newest = max(_entries(filled, "probe"), key=lambda entry: entry.reference)
    with pytest.raises(InputError, match="whose watch is still running cannot be removed") as refused:
        filled.remove_entries([newest])
    assert refused.value.hint == f"end the watch first: pghaul probe {quoted(MOVE.name)} --watch --end"
    assert filled.uncollected_watch(MOVE.name) == begun
    filled.probe_taken(MOVE.name, replace(begun, seconds=600.0, taken_at=now + timedelta(seconds=600)))
    assert filled.remove_entries([newest]).entries == 1


@on_both
def test_what_belonged_to_a_move_that_is_gone_does_not_come_back_in_part(filled: Store) -> None:
    removed = filled.remove_entries([entry for entry in filled.entries(limit=1000) if entry.kind in {"facts", "run"}])
    filled.remove_move(MOVE.name)
    before = rows_of(filled)
    with pytest.raises(InputError, match="what it belonged to no longer exists"):
        filled.put_back(removed)
    assert rows_of(filled) == before


# What is old goes when its user says so; what the program goes by stays, however old it is.

LATER = START + timedelta(days=100)


def _twice(store: Store) -> None:
    """Everything of each kind once more, a hundred days later."""
    for side in Side:
        facts = samples.facts(side)
        store.save_facts(replace(facts, taken_at=facts.taken_at + timedelta(days=100)))
        for run in samples.runs(side):
            store.run_started(replace(run, started_at=run.started_at + timedelta(days=100)))
    for probe in samples.probes():
        store.probe_taken(MOVE.name, replace(probe, taken_at=probe.taken_at + timedelta(days=100)))
    store.save_estimate(MOVE.name, replace(samples.estimate(), made_at=LATER))
    store.save_plan(MOVE.name, replace(samples.plan(), made_at=LATER))
    store.record_command(MOVE.name, CommandStarted(OLD.name, "root", "true", LATER))


@on_both
def test_nothing_goes_that_is_the_latest_of_its_kind(filled: Store) -> None:
    before = filled.entries(limit=1000)
    far = datetime(2100, 1, 1, tzinfo=UTC)
    removed = filled.prune(far, KINDS)
    assert removed == dict.fromkeys(KINDS, 0) | {"command": 1}
    assert filled.entries(limit=1000) == before
    assert filled.commands() == ()


@pytest.mark.slow
@on_both
def test_what_is_older_goes_with_all_that_belongs_to_it(filled: Store) -> None:
    _twice(filled)
    latest = {
        "facts": filled.facts(OLD.name),
        "runs": filled.runs(MOVE.name, latest_only=True),
        "probes": filled.probes(MOVE.name),
        "estimate": filled.estimate(MOVE.name),
        "plan": filled.plan(MOVE.name),
    }
    middle = START + timedelta(days=50)
    counted = filled.prunable(middle, KINDS)
    assert counted == {
        "facts": 2, "run": 10, "probe": 8, "checks": 0, "estimate": 1, "plan": 1, "execution": 0, "report": 0,
        "command": 1,
    }  # fmt: skip
    assert filled.prune(middle, KINDS) == counted
    assert filled.prunable(middle, KINDS) == dict.fromkeys(KINDS, 0)
    assert latest == {
        "facts": filled.facts(OLD.name),
        "runs": filled.runs(MOVE.name, latest_only=True),
        "probes": filled.probes(MOVE.name),
        "estimate": filled.estimate(MOVE.name),
        "plan": filled.plan(MOVE.name),
    }
    assert len(filled.runs(MOVE.name)) == 10
    assert filled.moves() == (MOVE,)
    assert len(filled.hooks(MOVE.name)) == 1
    assert [command.command for command in filled.commands()] == ["true"]


@pytest.mark.slow
@on_both
def test_only_the_kinds_and_the_move_that_were_named(filled: Store) -> None:
    _twice(filled)
    filled.add_move(replace(MOVE, name="other"))
    filled.save_plan("other", replace(samples.plan(), made_at=START))
    filled.save_plan("other", replace(samples.plan(), made_at=LATER))
    middle = START + timedelta(days=50)
    assert filled.prune(middle, ["plan"], "other") == {"plan": 1}
    assert filled.prunable(middle, ["plan", "estimate"]) == {"plan": 1, "estimate": 1}
    assert filled.prunable(middle, ["facts"], "other") == {"facts": 2}
    with pytest.raises(InputError, match="the move 'third' does not exist"):
        filled.prune(middle, ["plan"], "third")
    with pytest.raises(InputError, match="entries of the kind 'moves'"):
        filled.prune(middle, ["moves"])


@on_both
def test_an_execution_that_has_not_ended_stays(filled: Store) -> None:
    later = replace(samples.execution(), started_at=LATER)
    filled.execution_changed(filled.execution_started(later), State.DONE)
    far = datetime(2100, 1, 1, tzinfo=UTC)
    assert filled.prunable(far, ["execution"]) == {"execution": 0}
    filled.execution_changed(1, State.ROLLED_BACK)
    assert filled.prune(far, ["execution"]) == {"execution": 1}
    assert [one.id for one in filled.executions(MOVE.name)] == [2]


@on_both
def test_what_ran_for_an_execution_that_has_not_ended_stays(filled: Store) -> None:
    far = datetime(2100, 1, 1, tzinfo=UTC)
    filled.execution_changed(1, State.ROLLED_BACK)
    filled.execution_started(replace(samples.execution(), started_at=LATER))
    for when in (LATER - timedelta(hours=1), LATER + timedelta(hours=1)):
        filled.record_command(MOVE.name, CommandStarted(OLD.name, "root", f"at {when:%H}", when))
    filled.prune(far, ["command"])
    assert [command.command for command in filled.commands()] == [f"at {LATER + timedelta(hours=1):%H}"]


@on_both
def test_a_run_that_is_done_stays_for_one_that_failed_later(filled: Store) -> None:
    run = samples.runs(Side.OLD)[0]
    filled.run_started(replace(run, started_at=LATER, outcome=Outcome.FAILED))
    filled.run_started(replace(run, started_at=LATER, outcome=None, ended_at=None))
    far = datetime(2100, 1, 1, tzinfo=UTC)
    assert filled.prune(far, ["run"]) == {"run": 1}
    assert [one.outcome for one in filled.runs(MOVE.name, side=Side.OLD)].count(Outcome.DONE) == 5


@pytest.mark.slow
def test_the_room_is_given_back(filled: Store) -> None:
    for _ in range(30):
        filled.save_checks(MOVE.name, samples.checks() * 20)
    with Store.open(filled.path.parent) as other:  # and another program may look meanwhile
        filled.prune(datetime(2100, 1, 1, tzinfo=UTC), ["checks"])
        before = _size(filled.path)
        filled.shrink()
        assert _size(filled.path) < before / 2
        assert other.moves() == (MOVE,)


def _size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))


@on_both
def test_a_removed_move_comes_back_whole(filled: Store) -> None:
    before = rows_of(filled)
    removed = filled.remove_move(MOVE.name)
    assert filled.moves() == ()
    filled.put_back(removed)
    assert rows_of(filled) == before
    assert filled.from_elsewhere(MOVE.name) == ()
    with pytest.raises(InputError, match="exists already"):
        filled.put_back(removed)
    assert rows_of(filled) == before


def test_a_removed_move_does_not_replace_another_of_its_name(filled: Store) -> None:
    removed = filled.remove_move(MOVE.name)
    filled.add_move(MOVE)
    before = rows_of(filled)
    with pytest.raises(InputError, match=f"the move '{MOVE.name}' exists already"):
        filled.put_back(removed)
    assert rows_of(filled) == before


def _ended_step(store: Store, execution: int, title: str) -> None:
    run = StepRun(id=0, number=1, title=title, attempt=1, started_at=START)
    run = replace(run, id=store.step_started(execution, run))
    store.step_ended(replace(run, ended_at=START, exit_status=0))


@on_both
def test_a_move_is_restored_after_its_executions_number_was_used_again(filled: Store) -> None:
    _ended(filled)
    for title in ("one", "two", "three"):
        _ended_step(filled, 2, title)
    before = filled.executions(MOVE.name)
    filled.add_move(replace(MOVE, name="other"))
    removed = filled.remove_move(MOVE.name)
    other = filled.execution_started(replace(samples.execution(), move="other"))
    _ended_step(filled, other, "of another")
    filled.put_back(removed)
    back = filled.executions(MOVE.name)
    assert [(each.token, each.started_at) for each in back] == [(each.token, each.started_at) for each in before]
    assert [[run.title for run in each.steps] for each in back] == [
        [run.title for run in each.steps] for each in before
    ]
    assert other not in {each.id for each in back}
    assert filled.own_executions(MOVE.name) == {each.id for each in back}
    assert [run.title for run in filled.execution(other).steps] == ["of another"]


@on_both
def test_an_execution_that_is_restored_with_new_numbers_of_its_steps_stays_ones_own(filled: Store) -> None:
    _ended(filled)
    removed = filled.remove_entries([entry for entry in _entries(filled, "execution") if entry.reference == 1])
    before = [row["title"] for row in removed.rows["execution_steps"]]
    _ended_step(filled, 2, "of another")
    filled.put_back(removed)
    assert [run.title for run in filled.execution(1).steps] == before
    assert filled.own_executions(MOVE.name) == {1, 2}


@on_both
def test_a_restored_move_with_another_number_is_still_ones_own(filled: Store) -> None:
    filled.execution_changed(1, State.DONE)
    filled.save_hook(MOVE.name, HookCommand(Hook.TELL_POOLER, Side.OLD, "true"))
    assert filled.from_elsewhere(MOVE.name) == ()
    removed = filled.remove_move(MOVE.name)
    filled.add_move(replace(MOVE, name="other"))
    filled.put_back(removed)
    assert filled.from_elsewhere(MOVE.name) == ()
    assert filled.waivers(MOVE.name)
    assert len(filled.hooks(MOVE.name)) == 2


def test_what_was_not_ones_own_is_not_signed_by_restoring_it(filled: Store) -> None:
    filled.execution_changed(1, State.DONE)
    filled.save_hook(MOVE.name, HookCommand(Hook.MOVE_ADDRESS, Side.OLD, "true"))
    for statement in (
        "UPDATE hooks SET command = 'rm -rf /' WHERE hook = 'move-address'",
        "UPDATE waivers SET reason = 'changed'",
        "UPDATE executions SET state = 'stopped'",
    ):
        with contextlib.closing(sqlite3.connect(filled.path)) as connection, connection:
            assert connection.execute(statement).rowcount
    strange = filled.from_elsewhere(MOVE.name)
    assert len(strange) == 3
    removed = filled.remove_move(MOVE.name)
    filled.add_move(replace(MOVE, name="other"))
    filled.put_back(removed)
    assert filled.from_elsewhere(MOVE.name) == strange


def test_what_was_recorded_for_another_machine_is_not_signed_by_restoring_it(filled: Store) -> None:
    filled.execution_changed(1, State.DONE)
    removed = filled.remove_move(MOVE.name)
    filled.update_profile(replace(OLD, address="10.0.0.99"))
    filled.put_back(removed)
    assert filled.from_elsewhere(MOVE.name)[0] == "execution 1"
    assert all(hook.from_elsewhere for hook in filled.hooks(MOVE.name))
