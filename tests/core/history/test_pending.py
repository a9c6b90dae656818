"""A team's history whose server is lost in the middle of writes: what was measured is there afterwards, once."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core import settings
from core.benchmarks.model import Outcome, Run, Volume
from core.errors import HistoryError, HistoryLostError, InputError
from core.history.address import url_of
from core.history.pending import FOLDER
from core.history.server import grants
from core.history.store import Store
from core.jobs import CommandEnded, CommandStarted
from core.migration.model.execution import State
from core.sides import Side
from tests.core.history import samples
from tests.core.history.contents import rows_of
from tests.core.history.samples import MOVE, NEW, OLD
from tests.histories import Histories
from tests.postgresql import OWNER, Server
from tests.wire import Wire

_REPETITIONS = len(samples.runs(Side.OLD)[1].repetitions)
_END = 1 + 3 * _REPETITIONS
"""What is recorded of a run, before its end."""


@pytest.fixture
def place(histories: Histories, tmp_path: Path) -> Iterator[str]:
    """Of a history, past the wire."""
    with histories.placed("postgresql", tmp_path, samples.set_up) as found:
        assert isinstance(found, str)
        yield found


@pytest.fixture
def wired(place: str, wire: Wire) -> str:
    """The same history, through the wire."""
    return wire.through(place)


def _fresh(number: int = 0) -> Run:
    run = samples.runs(Side.OLD)[number]
    return dataclasses.replace(run, outcome=None, ended_at=None, repetitions=(), tool_version=None, stopped="")


def _measure(store: Store, before: Callable[[], None] = lambda: None) -> None:
    """What a suite and probes record; `before` each write."""
    run = samples.runs(Side.OLD)[1]
    before()
    number = store.run_started(_fresh(1))
    for repetition in run.repetitions:
        before()
        store.record_command(MOVE.name, CommandStarted(OLD.name, "root", f"fio {repetition.number}"))
        before()
        store.record_command(MOVE.name, CommandEnded(OLD.name, f"fio {repetition.number}", 0, 1.5))
        before()
        store.repetition_ended(number, repetition)
    before()
    store.run_ended(number, Outcome.DONE, run.started_at + timedelta(hours=1), "fio-3.1", "enough")
    for probe in samples.probes():
        before()
        store.probe_taken(MOVE.name, probe)


def _holds(place: str, commands: int) -> None:
    with Store.open(place) as store:
        assert store.remarks == []
        (run,) = (each for each in store.runs(MOVE.name) if each.workload == samples.runs(Side.OLD)[1].workload)
        assert run.repetitions == samples.runs(Side.OLD)[1].repetitions
        assert (run.outcome, run.tool_version, run.stopped) == (Outcome.DONE, "fio-3.1", "enough")
        assert len(rows_of(store)["probes"]) == len(samples.probes())
        found = store.commands(MOVE.name)
        assert len(found) == commands
        assert all(each.exit_status == 0 for each in found)
    assert not _left("*")


def _left(name: str) -> list[Path]:
    """What lies aside."""
    return sorted((settings.config_folder() / FOLDER).glob(f"*/{name}"))


def test_runs_of_no_move_that_began_at_the_same_moment_are_handed_in_each(wired: str, place: str, wire: Wire) -> None:
    made = samples.runs(Side.OLD)[0]
    folders = ("/mnt/a/pghaul-bench-1", "/mnt/b/pghaul-bench-2")
    with Store.open(wired) as store:
        wire.cut()
        for folder in folders:
            volume = Volume(None, OLD.name, folder.rpartition("/")[0], folder)
            number = store.run_started(dataclasses.replace(_fresh(), move=None, volume=volume))
            store.repetition_ended(number, made.repetitions[0])
            store.run_ended(number, Outcome.DONE, made.started_at + timedelta(hours=1), None)
        wire.mend()
        store.record_command(None, CommandStarted(OLD.name, "root", "later"))
    with Store.open(place) as others:
        found = others.runs_on(OLD.name)
    assert {run.volume.folder for run in found} == {*folders}
    assert [(run.move, run.outcome, len(run.repetitions)) for run in found] == [(None, Outcome.DONE, 1)] * 2


@pytest.mark.slow
def test_what_is_measured_while_the_server_is_lost_is_handed_in(wired: str, place: str, wire: Wire) -> None:
    with Store.open(wired) as store:
        run = samples.runs(Side.OLD)[0]
        number = store.run_started(_fresh())
        store.repetition_ended(number, run.repetitions[0])
        wire.cut()
        store.repetition_ended(
            number, dataclasses.replace(run.repetitions[0], number=2, metrics={"a": math.nan, "b": 1})
        )
        store.run_ended(number, Outcome.DONE, run.started_at + timedelta(hours=1), None)
        _measure(store)
        with pytest.raises(HistoryLostError, match="cannot be reached") as lost:
            store.runs(MOVE.name)
        assert "new results are kept in" in lost.value.hint
        with Store.open(place) as others:
            assert len(others.runs(MOVE.name)) == 1  # nothing of it is there yet
        wire.mend()
        store.record_command(MOVE.name, CommandStarted(NEW.name, "root", "later"))  # hands in what was before it
        first = store.run(number)
    assert [each.metrics for each in first.repetitions[1:]] == [{"b": 1.0}]
    assert first.outcome is Outcome.DONE
    with Store.open(place) as others:
        others.record_command(MOVE.name, CommandEnded(NEW.name, "later", 0, 1.0))
    _holds(place, 1 + _REPETITIONS)


def test_a_run_that_began_without_the_server_goes_on_with_it(wired: str, place: str, wire: Wire) -> None:
    run = samples.runs(Side.OLD)[1]
    with Store.open(wired) as store:
        wire.cut()
        number = store.run_started(_fresh(1))
        assert number < 0
        wire.mend()
        for repetition in run.repetitions:
            store.repetition_ended(number, repetition)
        with Store.open(place) as others:
            assert [each.outcome for each in others.runs(MOVE.name)] == [None]  # and it is seen to be measured
        wire.cut()
        store.run_ended(number, Outcome.DONE, run.started_at + timedelta(hours=1), "fio-3.1", "enough")
        wire.mend()
        for probe in samples.probes():
            store.probe_taken(MOVE.name, probe)
    _holds(place, 0)


def test_what_a_program_kept_aside_the_next_one_hands_in(wired: str, place: str, wire: Wire) -> None:
    with Store.open(wired) as store:
        wire.cut()
        _measure(store)
    with pytest.raises(HistoryError, match="cannot be reached"):
        Store.open(wired)
    wire.mend()
    with Store.open(wired) as store:
        assert "entries that had waited for the server were recorded" in "".join(store.remarks)
    _holds(place, _REPETITIONS)
    with Store.open(wired) as store:
        assert store.remarks == []


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1, 2, 3, _END, _END + 1, _END + len(samples.probes())])
def test_what_was_recorded_as_the_connection_was_cut_is_there_once(
    wired: str, place: str, wire: Wire, which: int
) -> None:
    """The server has heard COMMIT, and its answer is lost: nobody knows whether it was before."""
    with Store.open(wired) as store:
        writes = itertools.count()

        def lose() -> None:
            if next(writes) == which:
                wire.lost = (b"pg_advisory_xact_lock", b"COMMIT")

        _measure(store, lose)
        assert wire.lost is None
        assert next(writes) == _END + 1 + len(samples.probes())
    Store.open(wired).close()
    _holds(place, _REPETITIONS)


def test_what_has_no_place_any_more_stays_and_is_told_of(wired: str, place: str, wire: Wire) -> None:
    with Store.open(wired) as store:
        wire.cut()
        _measure(store)
        (kept, *others) = _left("*.json")
    kept.write_text("not JSON")
    with Store.open(place) as other:
        other.remove_move(MOVE.name)
    wire.mend()
    with Store.open(wired) as store:
        assert f"{len(others) + 1} entries in {kept.parent} no longer fit into the history" in "".join(store.remarks)
        assert rows_of(store).keys().isdisjoint({"runs", "probes", "commands"})
        assert len(list(kept.parent.glob("*.refused"))) == len(others) + 1


def test_who_may_not_write_any_more_is_told_what_waits(wired: str, place: str, wire: Wire, postgresql: Server) -> None:
    with postgresql.connect(str(url_of(place).database)) as connection:
        connection.execute("CREATE ROLE reader_only LOGIN")
        for statement in grants(place, "write", "reader_only"):
            connection.execute(statement)
        reading = wired.replace(OWNER, "reader_only")
        try:
            with Store.open(reading) as store:
                wire.cut()
                _measure(store)
                wire.mend()
            connection.execute("REVOKE INSERT ON ALL TABLES IN SCHEMA pghaul FROM reader_only")
            with Store.open(reading) as store:
                assert "could not be recorded" in "".join(store.remarks)
                assert store.moves() == (MOVE,)
                assert _left("*.json")
        finally:
            connection.execute("DROP OWNED BY reader_only")
            connection.execute("DROP ROLE reader_only")


def test_what_cannot_be_told_later_is_told_at_once(wired: str, wire: Wire) -> None:
    with Store.open(wired) as store:
        store.save_plan(MOVE.name, samples.plan())
        number = store.execution_started(samples.execution())
        step = store.step_started(number, samples.step_run(1))
        wire.cut()
        with pytest.raises(HistoryLostError):
            store.step_ended(dataclasses.replace(samples.step_run(1), id=step, exit_status=0))
        with pytest.raises(HistoryLostError):
            store.repetition_ended(4711, samples.runs(Side.OLD)[0].repetitions[0])
        wire.mend()
        assert store.recorded_here(number)
        store.step_ended(dataclasses.replace(samples.step_run(1), id=step, exit_status=0))
        assert store.carried_out(number)
        assert store.recorded_here(number)


def test_an_execution_that_another_went_on_with_is_left_to_it(wired: str, place: str, wire: Wire) -> None:
    with Store.open(wired) as mine, Store.open(place) as other:
        number = mine.execution_started(samples.execution())
        wire.cut()
        while other.carried_out(number):  # until its server has seen that the connection is gone
            pass
        other.execution_changed(number, State.RUNNING)
        wire.mend()
        with pytest.raises(InputError, match="was continued by another pghaul") as refused:
            mine.step_started(number, samples.step_run(2))
        assert "--status" in refused.value.hint
        with pytest.raises(InputError, match="was continued by another pghaul"):
            mine.execution_changed(number, State.STOPPED, "I thought so")
        assert other.carried_out(number)
        assert other.execution(number).state is State.RUNNING
        other.execution_changed(number, State.DONE)
        assert not mine.carried_out(number)
