"""Who finds the cluster locked by another changes nothing: not on the servers, and not in the history."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import HistoryError, HistoryLostError
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.executor import Executor
from core.migration.execution.lock import HeldError, Holder
from core.migration.execution.recording import PROGRAM_ENDED, record_state, watch_progress
from core.migration.model.execution import State, StepRun
from tests.core.migration.builders import NOW, set_up
from tests.core.migration.execution.builders import Nobody, execution, unconnected
from tests.histories import Histories
from tests.wire import Wire

HELD = HeldError("/a on old is being moved by ada@desk since 20:00", "wait", Holder("/var/tmp/lock", "1", "ada@desk"))


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path, set_up) as made:
        yield made


def refused(store: Store, number: int) -> tuple[State, str]:
    with pytest.raises(HeldError), record_state(Executor(number, store, unconnected, Nobody(), Job())):
        raise HELD
    found = store.execution(number)
    assert not store.carried_out(number)
    return found.state, found.message


@pytest.mark.parametrize("state", [State.INTERRUPTED, State.CANCELLED, State.STOPPED])
def test_it_stands_as_before(store: Store, state: State) -> None:
    number = store.execution_started(execution())
    store.step_started(number, StepRun(0, 1, "step", 1, NOW))
    store.execution_changed(number, state, "why it ended")
    assert refused(store, number) == (state, "why it ended")


def test_one_whose_program_was_killed_is_known_to_be_interrupted(store: Store) -> None:
    number = store.execution_started(execution())
    store.step_started(number, StepRun(0, 1, "step", 1, NOW))
    assert refused(store, number) == (State.INTERRUPTED, PROGRAM_ENDED)


def test_one_that_had_not_begun_has_ended(store: Store) -> None:
    assert refused(store, store.execution_started(execution())) == (State.STOPPED, HELD.message)


@pytest.mark.slow
def test_while_the_history_of_a_team_is_lost_nothing_is_done_and_it_can_be_gone_on_with(
    histories: Histories, wire: Wire, tmp_path: Path
) -> None:
    def work(executor: Executor) -> None:
        with record_state(executor):
            wire.cut()
            executor.journal.step_started(executor.id, StepRun(0, 1, "step", 1, NOW))

    with histories.placed("postgresql", tmp_path, set_up) as place, Store.open(wire.through(str(place))) as store:
        number = store.execution_started(execution())
        executor = Executor(number, store, unconnected, Nobody(), Job())
        with pytest.raises(HistoryLostError) as lost:
            work(executor)
        assert lost.value.hint.endswith(": pghaul execute spring --resume")
        wire.mend()
        with record_state(executor):
            assert store.execution(number).state is State.RUNNING
        assert store.execution(number).state is State.DONE


@pytest.mark.slow
def test_a_history_that_cannot_be_written_ends_no_copy(store: Store) -> None:
    """Who looks each second must outlive it: the watcher is still there to be ended, and the work goes on."""
    number = store.execution_started(execution())
    executor = Executor(number, store, unconnected, Nobody(), Job())
    told = threading.Event()

    def fails() -> None:
        told.set()
        raise HistoryError("the history is locked by another program")

    executor.tell_progress = fails  # type: ignore[method-assign]  # SQLite's patience is too long for a test
    with watch_progress(executor):
        assert told.wait(20)
    assert store.execution(number).state is State.RUNNING
