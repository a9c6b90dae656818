"""What is old goes when its user says so; what the program goes by stays, however old it is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.benchmarks.model import Outcome, Side
from core.errors import InputError
from core.history.removal import KINDS
from core.history.store import Store
from core.jobs import CommandStarted
from core.migration.model.execution import State
from tests.core.history import samples
from tests.core.history.conftest import on_both
from tests.core.history.samples import MOVE, OLD, START

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
