"""How many results there are of each kind: each is counted once, and says itself whether it stops the move."""

import dataclasses
from itertools import product

import pytest

from core.errors import BlockedError
from core.migration.checks.waivers import is_waivable
from core.migration.execution.entry import refuse_blockers
from core.migration.model.checks import CheckResult, Status, Tally, Waiver, tally
from tests.core.migration.builders import NOW

WAIVER = Waiver("space", "tested", "me@here", NOW, Status.WARNING, "1", "2")
MADE = tuple(
    CheckResult("space", "Space", status, "1", "2", "enough", blocking=blocking, pending=pending, waiver=waiver)
    for status, blocking, pending, waiver in product(Status, (True, False), (True, False), (None, WAIVER))
)
RESULTS = tuple(
    each
    for each in MADE
    if (each.waiver is None or is_waivable(each))
    and (not each.pending or (each.status is Status.UNKNOWN and each.blocking))
)
"""Every result that there can be."""


def test_each_result_is_counted_once() -> None:
    assert len(RESULTS) == 12
    for each in RESULTS:
        assert sorted(dataclasses.astuple(tally((each,)))) == [0, 0, 0, 0, 0, 0, 1]
    assert tally(RESULTS) == Tally(blockers=2, unanswered=1, pending=1, unknown=1, warnings=2, waived=3, passed=2)
    assert tally(()) == Tally()


def test_a_result_that_stops_the_move_is_counted_as_one_that_does() -> None:
    for each in RESULTS:
        found = tally((each,))
        assert bool(found.stopping) is each.stops
        assert bool(found.warnings) is each.warns
        assert bool(found.pending) is each.pending


def test_a_result_is_called_by_its_status_unless_it_was_waived_or_waits() -> None:
    assert {each.state for each in RESULTS if each.waiver is not None} == {"waived"}
    assert {each.state for each in RESULTS if each.pending} == {"to run"}
    assert all(each.state == each.status for each in RESULTS if each.waiver is None and not each.pending)


@pytest.mark.parametrize("result", RESULTS, ids=lambda each: f"{each.state} {each.blocking}")
def test_no_execution_begins_with_what_stops_it_or_was_not_run(result: CheckResult) -> None:
    if not result.stops and not result.pending:
        refuse_blockers((result,))
        return
    with pytest.raises(BlockedError, match="Space: enough"):
        refuse_blockers((result,))
