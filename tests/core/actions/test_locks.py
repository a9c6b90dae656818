"""What is said of a lock that stands in the way, by whose it is."""

from dataclasses import replace

from core.actions import Desk
from core.actions.locks import advised
from core.migration.execution.lock import HeldError, Holder
from core.migration.model.execution import State
from tests.core.migration.execution.builders import execution

HELD = HeldError("/a on old is being moved by dba@desk", "wait", Holder("/var/tmp/lock", "c0ffee00", "dba@desk"))


def test_another_workstations_lock_is_waited_for(desk: Desk) -> None:
    assert advised(desk, HELD).hint == "wait"


def test_of_an_own_execution_under_way_its_status_is_offered(desk: Desk) -> None:
    desk.store.execution_started(replace(execution(), move="spring"))
    assert advised(desk, HELD).hint.endswith("under way on this workstation: pghaul execute spring --status")


def test_the_lock_of_an_own_execution_whose_program_ended_goes_with_it(desk: Desk) -> None:
    number = desk.store.execution_started(replace(execution(), move="spring"))
    desk.store.execution_changed(number, State.INTERRUPTED, "old does not answer")
    refused = advised(desk, HELD)
    assert refused.message == HELD.message
    assert refused.hint.startswith(f"it is execution {number} of spring, whose program has ended")
    assert "pghaul execute spring --resume, or end it with --cancel, which takes the lock away" in refused.hint
