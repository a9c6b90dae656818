from dataclasses import replace

import pytest

from core.migration.execution.rates import copy_rate
from tests.core.migration.execution.builders import STEP, execution, ran

FIRST = replace(STEP, bytes=100_000_000, warm_pass=1)
SECOND = replace(FIRST, warm_pass=2)


def test_the_first_pass_over_all_places_tells_the_rate() -> None:
    made = ran(ran(execution(FIRST, FIRST, SECOND), 1, seconds=2, sent=100_000_000), 2, seconds=3, sent=90_000_000)
    assert copy_rate([ran(made, 3, seconds=100, sent=5)]) == pytest.approx(190_000_000 / 5)


def test_a_pass_that_found_most_of_it_there_tells_nothing() -> None:
    assert copy_rate([ran(execution(FIRST), 1, seconds=2, sent=1_000_000)]) is None
    assert copy_rate([]) is None
    assert copy_rate([execution(FIRST)]) is None


def test_a_failed_pass_tells_nothing_and_an_earlier_execution_does() -> None:
    failed = ran(execution(FIRST), 1, status=12, seconds=2, sent=100_000_000)
    whole = ran(execution(FIRST), 1, seconds=4, sent=100_000_000)
    assert copy_rate([failed, whole]) == pytest.approx(25e6)
