"""What is removed one by one comes back as it was."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.benchmarks.model import Side
from core.errors import InputError
from core.history.store import Entry, Store
from core.migration.model.execution import State
from core.migration.model.probe import Probe, Quantity
from tests.core.history import samples
from tests.core.history.conftest import on_both
from tests.core.history.contents import rows_of
from tests.core.history.samples import MOVE, START

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
    assert refused.value.hint == f"end the watch first: pghaul probe {MOVE.name} --watch --end"
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
