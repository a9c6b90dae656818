"""What is said of a lock that stands in the way, by whose it is."""

from dataclasses import replace

import pytest

from core.api.servers import find_leftover_execution, with_advice
from core.api.session import Session
from core.migration.execution.lock import HeldError, Holder
from core.migration.model.execution import State
from tests.core.migration.execution.builders import execution

HELD = HeldError("/a on old is being moved by dba@desk", "wait", Holder("/var/tmp/lock", "c0ffee00", "dba@desk"))


def test_another_workstations_lock_is_waited_for(session: Session) -> None:
    assert with_advice(session, HELD).hint == "wait"


def test_of_an_own_execution_under_way_its_status_is_offered(session: Session) -> None:
    session.store.execution_started(replace(execution(), move="spring"))
    assert with_advice(session, HELD).hint.endswith(": pghaul execute spring --status")


def test_the_lock_of_an_own_execution_whose_program_ended_goes_with_it(session: Session) -> None:
    number = session.store.execution_started(replace(execution(), move="spring"))
    session.store.execution_changed(number, State.INTERRUPTED, "old does not answer")
    refused = with_advice(session, HELD)
    assert refused.message == HELD.message
    assert f" {number} of spring, " in refused.hint
    assert "pghaul execute spring --resume, " in refused.hint
    assert "--cancel" in refused.hint


@pytest.mark.parametrize("state", State)
def test_an_execution_that_is_over_has_left_its_lock(session: Session, state: State) -> None:
    number = session.store.execution_started(replace(execution(), move="spring"))
    session.store.execution_changed(number, state, "")
    left = find_leftover_execution(session, HELD.holder)
    over = state not in {State.RUNNING, State.INTERRUPTED}
    assert (left.id if left is not None else None) == (number if over else None)
    assert find_leftover_execution(session, replace(HELD.holder, token="00000000")) is None
