"""When a workload is repeated often enough, and what is said of it."""

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
    ("values", "why"),
    [
        ((100,) * 4, ""),
        ((100, 101, 99, 100, 102), "steady after 5 repetitions: ± 1.1 %, the target is ± 5.0 %"),
        ((100, 130, 70, 100, 115), ""),
        ((100, 130, 70, 100, 115, 90, 120), ""),
        (
            (100, 130, 70, 100, 115, 90, 120, 80),
            "not steady after 8 repetitions, the most of the suite: ± 20.3 %, the target is ± 5.0 %",
        ),
        ((3170.57, 7606.69, 8379.83, 7627.63, 7523.14), ""),
    ],
)
def test_more_are_made_until_the_figures_are_steady(values: tuple[float, ...], why: str) -> None:
    assert why_enough(SUITE, "iops", made(*values)) == why


def test_an_outlier_does_not_make_the_rest_unsteady() -> None:
    assert why_enough(SUITE, "iops", made(50, 100, 101, 99, 100)).startswith("steady after 5 repetitions: ± 0.8 %")


def test_disturbed_repetitions_are_made_again() -> None:
    assert why_enough(SUITE, "iops", made(100, 101, 99, 60, 100, disturbed=(4,))) == ""
    assert why_enough(SUITE, "iops", made(100, 101, 99, 60, 100, 100, disturbed=(4,))).startswith("steady after 6")
    all_of_them = made(*(100,) * 8, disturbed=tuple(range(1, 9)))
    assert why_enough(SUITE, "iops", all_of_them) == "0 of 8 repetitions undisturbed, and the suite allows no more"


def test_one_repetition_and_a_headline_that_was_not_measured() -> None:
    assert why_enough(Suite("s", "s", 1, ()), "iops", made(100)) == "1 repetition, as many as the suite wants"
    assert why_enough(SUITE, "latency", made(*(100,) * 5)) == "5 repetitions, as many as the suite wants"
