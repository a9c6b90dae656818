"""Round marks of an axis."""

import pytest

from core import units
from core.reports.charts.axes import decades, few, round_marks, size_marks


def test_marks_reach_from_below_to_above() -> None:
    assert decades(0.0013, 0.19) == (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


@pytest.mark.parametrize(
    ("marks", "shown"),
    [
        ((0.001, 0.002, 0.005), (0.001, 0.002, 0.005)),
        ((0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2), (0.001, 0.01, 0.1)),
    ],
)
def test_too_many_marks_become_powers_of_ten(marks: tuple[float, ...], shown: tuple[float, ...]) -> None:
    assert few(marks, 6) == shown


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (0.0, []),
        (3.2 * 2**40, ["1 TiB", "2 TiB", "3 TiB"]),
        (1.2 * 2**40, ["0.5 TiB", "1 TiB"]),
        (2**40, ["0.2 TiB", "0.4 TiB", "0.6 TiB", "0.8 TiB", "1 TiB"]),
        (1000 * 2**30, ["200 GiB", "400 GiB", "600 GiB", "800 GiB", "1000 GiB"]),
        (512.0, ["200 Bytes", "400 Bytes"]),
    ],
)
def test_sizes_are_round_and_of_one_unit(most: float, shown: list[str]) -> None:
    marks = size_marks(most)
    assert [name for _, name in marks] == shown
    assert all(0 < mark <= most * 1.0001 for mark, _ in marks)


def test_decimal_sizes() -> None:
    with units.styled(units.Style(binary=False)):
        assert size_marks(6.1e9) == ((2e9, "2 GB"), (4e9, "4 GB"), (6e9, "6 GB"))


@pytest.mark.parametrize("most", [0.0007, 1.0, 19.9, 92_000.0, 4.1e9])
def test_marks_of_any_size_are_two_to_five_round_numbers(most: float) -> None:
    marks = round_marks(most)
    assert 2 <= len(marks) <= 5
    assert marks[-1] <= most < marks[-1] + 1.001 * marks[0]
    assert f"{marks[0]:e}".startswith(("1.000000", "2.000000", "5.000000"))


def test_nothing_has_no_marks() -> None:
    assert round_marks(0.0) == ()
