"""The moves that others published: each file is whole, and the estimate takes it."""

import math
from urllib.parse import urlsplit

import pytest

from core.migration.estimate import load_spec
from tests.published import METHODS, Published, factor, likely, published

MOVES = published()
TOLD = [each for each in MOVES if not each.untellable]


@pytest.mark.parametrize("each", MOVES, ids=lambda each: each.name)
def test_a_file_says_what_was_clocked_and_where_it_was_read(each: Published) -> None:
    assert urlsplit(each.source).scheme in {"http", "https"}
    assert each.move
    assert each.method in METHODS
    assert each.clocked
    assert len(each.clocked) == 1 or not {"whole", "downtime"} & set(each.clocked)
    assert 0 < each.low <= each.high < math.inf
    assert each.confidence in {"high", "medium", "low"}
    assert each.figures
    assert all((*each.figures, *each.assumed, *each.untold))
    assert not each.untellable or each.untold


@pytest.mark.parametrize("each", TOLD, ids=lambda each: each.name)
def test_what_was_told_is_a_spec(each: Published) -> None:
    assert load_spec(each.spec, each.name).cluster.size_bytes > 0


@pytest.mark.parametrize("each", TOLD, ids=lambda each: each.name)
def test_what_was_told_can_be_held_against_the_estimate(each: Published) -> None:
    seconds = likely(each)
    assert seconds is None or 1 <= factor(each, seconds) < math.inf


@pytest.mark.parametrize(
    ("method", "least"),
    [
        ("cold-copy", 2),
        ("warm-copy", 2),
        ("streaming-replica", 4),
        ("dump-restore", 10),
        ("parallel-dump-restore", 10),
        ("pg-upgrade-copy", 3),
        ("pg-upgrade-clone", 1),
        ("pg-upgrade-link", 2),
    ],
)
def test_every_method_is_held_against_somebody_elses_clock(method: str, least: int) -> None:
    assert sum(each.method == method for each in TOLD) >= least


def test_no_two_files_say_the_same() -> None:
    assert len({each.move for each in MOVES}) == len(MOVES)
