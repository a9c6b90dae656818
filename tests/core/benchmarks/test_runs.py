"""When a workload is repeated often enough, and what is said of it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.model import Mark, MarkKind, Outcome, Repetition, Suite
from core.benchmarks.runs import Ticks, why_enough, without_ticks

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SUITE = Suite("s", "s", 5, (), target_variation=0.05, most_repetitions=8)
DISTURBED = (Mark(MarkKind.DISTURBED, "others"),)


def made(*values: float, disturbed: tuple[int, ...] = ()) -> list[Repetition]:
    return [
        Repetition(
            number, NOW, 1.0, Outcome.DONE, {"iops": value}, "", "", marks=DISTURBED if number in disturbed else ()
        )
        for number, value in enumerate(values, 1)
    ]


@pytest.mark.parametrize(
    ("values", "figures"),
    [
        ((100,) * 4, []),
        ((100, 101, 99, 100, 102), ["5", "1.1", "5.0"]),
        ((100, 130, 70, 100, 115), []),
        ((100, 130, 70, 100, 115, 90, 120), []),
        (
            (100, 130, 70, 100, 115, 90, 120, 80),
            ["8", "20.3", "5.0"],
        ),
        ((3170.57, 7606.69, 8379.83, 7627.63, 7523.14), []),
    ],
)
def test_more_are_made_until_the_figures_are_steady(values: tuple[float, ...], figures: list[str]) -> None:
    assert re.findall(r"\d+(?:\.\d+)?", why_enough(SUITE, "iops", made(*values))) == figures


def test_an_outlier_does_not_make_the_rest_unsteady() -> None:
    assert why_enough(SUITE, "iops", made(50, 100, 101, 99, 100)).partition(" %")[0].endswith("± 0.8")


def test_disturbed_repetitions_are_made_again() -> None:
    assert why_enough(SUITE, "iops", made(100, 101, 99, 60, 100, disturbed=(4,))) == ""
    assert re.search(r"\b6\b", why_enough(SUITE, "iops", made(100, 101, 99, 60, 100, 100, disturbed=(4,))))
    all_of_them = made(*(100,) * 8, disturbed=tuple(range(1, 9)))
    assert why_enough(SUITE, "iops", all_of_them).startswith("0 of 8 ")


def test_one_repetition_and_a_headline_that_was_not_measured() -> None:
    assert why_enough(Suite("s", "s", 1, ()), "iops", made(100)).startswith("1 repetition")
    assert why_enough(SUITE, "latency", made(*(100,) * 5)).startswith("5 repetitions")


# What ticks tell of the moment, and that nothing of them stays in an output.


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
