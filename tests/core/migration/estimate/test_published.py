"""The moves that others published: each file is whole, and the estimate takes it."""

import math
from collections import Counter
from urllib.parse import urlsplit

import pytest

from core.migration.estimate import load_spec
from tests.published import METHODS, Published, factor, likely, published

MOVES = published()
TOLD = [each for each in MOVES if not each.untellable]


@pytest.mark.slow
@pytest.mark.parametrize("each", MOVES, ids=lambda each: each.name)
def test_a_file_says_what_was_clocked_and_the_estimate_takes_it(each: Published) -> None:
    assert urlsplit(each.source).scheme in {"http", "https"}
    assert each.move
    assert each.method in METHODS
    assert each.clocked
    assert len(each.clocked) == 1 or not {"whole", "downtime"} & set(each.clocked)
    assert 0 < each.low <= each.high < math.inf
    assert each.confidence in {"high", "medium", "low"}
    assert each.figures
    assert all((*each.figures, *each.assumed, *each.untold))
    if each.untellable:
        assert each.untold
        return
    assert load_spec(each.spec, each.name).cluster.size_bytes > 0
    seconds = likely(each)
    assert seconds is None or 1 <= factor(each, seconds) < math.inf


def test_every_method_is_held_against_somebody_elses_clock() -> None:
    least = {
        "cold-copy": 2,
        "warm-copy": 2,
        "streaming-replica": 4,
        "dump-restore": 10,
        "parallel-dump-restore": 10,
        "pg-upgrade-copy": 3,
        "pg-upgrade-clone": 1,
        "pg-upgrade-link": 2,
    }
    found = Counter(each.method for each in TOLD)
    assert set(least) == METHODS
    assert {method: found[method] for method, number in least.items() if found[method] < number} == {}


def test_no_two_files_say_the_same() -> None:
    assert len({each.move for each in MOVES}) == len(MOVES)
