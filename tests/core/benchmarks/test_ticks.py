"""What ticks tell of the moment, and that nothing of them stays in an output."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.runs import Ticks, without_ticks


@pytest.fixture
def ticks() -> Ticks:
    """A tick a quarter of a second, from 0 s on."""
    times: Iterator[float] = iter(number / 4 for number in range(100))
    return Ticks(lambda: next(times))


def test_a_rate_is_of_the_last_second(ticks: Ticks) -> None:
    assert ticks.take(b". 100 800 50 400\n") is None
    assert ticks.take(b". 150 1200 50 400\n") == {
        "read_iops": 200.0,
        "read_bytes_per_second": 4 * 400 * 512.0,
        "write_iops": 0.0,
        "write_bytes_per_second": 0.0,
    }
    for number in range(4):
        ticks.take(f". {150 + number} 1200 50 400\n".encode())
    figures = ticks.take(b". 154 1200 50 400\n")
    assert figures is not None
    assert figures["read_iops"] == pytest.approx(4.0)


def test_a_tick_may_come_in_two_parts_and_several_at_once(ticks: Ticks) -> None:
    assert ticks.take(b". 0 0 0 0\n") is None
    assert ticks.take(b". 10 0") is None
    figures = ticks.take(b" 0 0\n. 20 0 0 0\n")
    assert figures is not None
    assert figures["read_iops"] == 80.0


def test_without_counters_and_from_what_a_command_says_nothing_is_taken(ticks: Ticks) -> None:
    assert ticks.take(b".\n.\n") is None
    assert ticks.take(b'{"jobs": [1 2 3 4]}\n' + b"x" * 10_000) is None


def test_a_device_that_counts_anew(ticks: Ticks) -> None:
    ticks.take(b". 100 100 100 100\n")
    assert ticks.take(b". 1 1 1 1\n") is None


def test_ticks_are_no_part_of_the_output() -> None:
    assert without_ticks(".\n. 1 2 3 4\n.\n\nsaid\n. 1 2 3 4\n") == "\nsaid\n. 1 2 3 4\n"
    assert without_ticks("...\n") == "...\n"


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_output_breaks_it(first: bytes, second: bytes) -> None:
    reader = Ticks()
    reader.take(first)
    reader.take(second)
    without_ticks((first + second).decode(errors="replace"))
