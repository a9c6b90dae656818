from dataclasses import replace
from datetime import timedelta

import pytest

from core.migration.execution.rates import change_rate, changed, copied, copy_rate
from core.migration.model import step_ids
from core.migration.model.execution import Execution, StepRun
from core.migration.transports.passes import PRECOPY_LIMIT
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.steps import change_step

FIRST = change_step(STEP, size=100_000_000, precopy_pass=1)
SECOND = change_step(FIRST, precopy_pass=2)


def test_the_first_pass_over_all_places_tells_the_rate() -> None:
    made = ran(ran(execution(FIRST, FIRST, SECOND), 1, seconds=2, sent=100_000_000), 2, seconds=3, sent=90_000_000)
    made = ran(made, 3, seconds=100, sent=5)
    assert copy_rate([made]) == pytest.approx(190_000_000 / 3), "they went side by side"
    apart = replace(made.steps[1], started_at=NOW + timedelta(seconds=2), ended_at=NOW + timedelta(seconds=5))
    assert copy_rate([replace(made, steps=(made.steps[0], apart))]) == pytest.approx(190_000_000 / 5)


def test_what_a_flush_behind_the_pass_writes_is_not_copied_before_its_end() -> None:
    flush = change_step(STEP, id=step_ids.of_part(step_ids.PRE_COPY_FLUSH, 1), precopy_pass=1)
    made = ran(execution(FIRST, flush), 1, seconds=4, sent=100_000_000)
    (copying,) = made.steps
    writing = StepRun(9, 2, "", 1, NOW + timedelta(seconds=4), NOW + timedelta(seconds=10), 0)
    assert copying.ended_at == NOW + timedelta(seconds=4)
    assert copy_rate([replace(made, steps=(copying, writing))]) == pytest.approx(10_000_000)


def test_a_rate_says_when_it_was_taken_and_by_which_transport() -> None:
    made = ran(execution(FIRST), 1, seconds=4, sent=100_000_000)
    seen = copied([execution(FIRST), replace(made, plan=replace(made.plan, transport="rsync over ssh, lz4"))])
    assert seen is not None
    assert (seen.value, seen.evidence.transport) == (25e6, "rsync over ssh, lz4")
    assert seen.evidence.taken_at == (made.ended_at or made.started_at)
    assert changed([passes(900, 900, 30, 20)]) is not None
    assert copied([]) is None


def test_a_limited_pass_tells_nothing_of_the_servers() -> None:
    made = ran(execution(FIRST), 1, seconds=4, sent=100_000_000)
    for option, rate in (("", 25e6), ("--bwlimit=24414", None)):
        plan = replace(made.plan, settings=((PRECOPY_LIMIT, option),))
        assert copy_rate([replace(made, plan=plan)]) == rate


def test_a_pass_that_found_most_of_it_there_tells_nothing() -> None:
    assert copy_rate([ran(execution(FIRST), 1, seconds=2, sent=1_000_000)]) is None
    assert copy_rate([]) is None
    assert copy_rate([execution(FIRST)]) is None


def test_a_place_that_was_begun_twice_tells_nothing_of_the_whole() -> None:
    """Of the large one a part lay on new already when it was sent; the small one alone says little."""
    made = ran(execution(FIRST, change_step(FIRST, size=9_000_000)), 1, status=1, seconds=30, sent=70_000_000)
    made = ran(ran(made, 1, seconds=9, sent=30_000_000), 2, seconds=4, sent=9_000_000)
    assert copy_rate([made]) is None


def test_a_failed_pass_tells_nothing_and_an_earlier_execution_does() -> None:
    failed = ran(execution(FIRST), 1, status=12, seconds=2, sent=100_000_000)
    whole = ran(execution(FIRST), 1, seconds=4, sent=100_000_000)
    assert copy_rate([failed, whole]) == pytest.approx(25e6)


def passes(*sent: int | None, apart: float = 1800.0) -> Execution:
    """Two passes over two places, each begun so long after the one before it."""
    of = execution(
        *(
            change_step(STEP, title=f"warm pass {n}: /{p}", root=p, precopy_pass=n, size=10)
            for n in (1, 2)
            for p in "ab"
        )
    )
    runs = []
    for number, size in enumerate(sent, 1):
        began = NOW + timedelta(seconds=apart * ((number - 1) // 2))
        runs.append(StepRun(number, number, "", 1, began, began + timedelta(seconds=9), 0, size))
    return replace(of, steps=tuple(runs))


def test_what_a_later_pass_sent_changed_since_the_one_before_began() -> None:
    assert change_rate([passes(900, 900, 30, 20)]) == pytest.approx(2 * (30 + 20))


def test_one_pass_alone_tells_no_change() -> None:
    assert change_rate([passes(900, 900)]) is None
    assert change_rate([passes(900, 900, 30)]) is None
    assert change_rate([passes(900, 900), passes(900, 900, 3, 2)]) == pytest.approx(10)
    assert change_rate([execution()]) is None
