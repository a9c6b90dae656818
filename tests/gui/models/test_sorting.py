import pytest

from core import units
from gui.models.sorting import figure


@pytest.mark.parametrize(
    "rising",
    [
        [units.duration(seconds) for seconds in (0.5, 35, 233, 3900, 200_000)],
        [units.size(number) for number in (None, 12, 2048, 3 << 20, 5 << 30, 2 << 40)],
        [units.rate(number) for number in (900, 12e3, 80.6e6, 1.2e9)],
        [units.count(number) for number in (3, 999, 20_000, 1_000_000)],
        [units.seconds(number) for number in (2e-7, 193e-6, 0.02, 2.5)],
        ["752 ± 1.3 %", "8\u202f004 ± 0.1 %"],
    ],
)
def test_figures_rise_with_what_they_stand_for(rising: list[str]) -> None:
    falling = rising[::-1]
    assert sorted(falling, key=figure) == rising
