"""When a workload is repeated often enough, and what is said of it."""

import re
from datetime import UTC, datetime

import pytest

from core.benchmarks.model import Mark, MarkKind, Outcome, Repetition, Suite
from core.benchmarks.runs import why_enough

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
