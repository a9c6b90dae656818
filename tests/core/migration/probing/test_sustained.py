"""The longer write: its start, its tail, and where it falls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ParseError
from core.migration.estimate import spec_of
from core.migration.model.probe import Probe, Quantity
from core.migration.probing.sustained import sustained
from tests.core.migration.builders import NOW, move, old, probe

SIZE = 64 * 1024**2
FAST, SLOW = 0.1, 1.0


def test_credits_that_are_used_up_are_found_and_the_tail_counts() -> None:
    found = sustained([FAST] * 30 + [SLOW] * 20)
    assert found.start == pytest.approx(SIZE / FAST, rel=0.6)
    assert found.tail == pytest.approx(SIZE / SLOW)
    assert found.fell_after == 30 * SIZE
    assert found.bytes == 50 * SIZE
    assert found.seconds == pytest.approx(23.0)


def test_a_disk_that_holds_on_falls_nowhere() -> None:
    assert sustained([SLOW] * 9).fell_after is None
    assert sustained([1.0, 1.1, 0.9, 1.05, 1.0]).fell_after is None
    assert sustained([SLOW] * 20 + [FAST] * 20).fell_after is None, "one that gets faster has no cache to lose"
    assert sustained([2.0]).tail == pytest.approx(SIZE / 2)


def test_nothing_is_no_rate() -> None:
    for pieces in ([], [0.0, 1.0]):
        with pytest.raises(ParseError):
            sustained(pieces)


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=60))
def test_start_and_tail_lie_between_the_slowest_piece_and_the_fastest(pieces: list[float]) -> None:
    found = sustained(pieces)
    for rate in (found.start, found.tail):
        assert SIZE / max(pieces) * 0.999 <= rate <= SIZE / min(pieces) * 1.001
    assert found.fell_after is None or 0 < found.fell_after < found.bytes


def longer(tail: float, size: float, seconds: float) -> Probe:
    return Probe(Quantity.SUSTAINED, tail, round(size), seconds, "by hand", "true", "", NOW)


def test_a_copy_is_priced_by_what_the_disk_takes_over_all_its_bytes() -> None:
    short, sample = probe(Quantity.WRITE, 400e6), probe(Quantity.END_TO_END, 300e6)
    spec = spec_of(move(), old(), [short, sample, longer(100e6, 4e9, 10.0)])
    assert spec.new.write_bytes_per_second == pytest.approx(10e9 / (10 + 60)), "4 GB in 10 s, 6 GB at 100 MB/s"
    assert spec.copy.observed_bytes_per_second == spec.new.write_bytes_per_second
    lowered = spec.source("copy.observed_bytes_per_second").words
    holds = spec_of(move(), old(), [short, sample, longer(390e6, 4e9, 10.0)])
    assert holds.copy.observed_bytes_per_second == pytest.approx(300e6)
    unlowered = spec_of(move(), old(), [short, sample]).source("copy.observed_bytes_per_second").words
    assert holds.source("copy.observed_bytes_per_second").words == unlowered != lowered
