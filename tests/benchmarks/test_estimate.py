"""How the benchmark of the estimate judges."""

import pytest

from benchmarks.estimate import SETTINGS, Judged, good, judged, table

SPAN = {"low": 80.0, "likely": 100.0, "high": 150.0}


def row(clock: float, within: float = 0.15) -> Judged:
    return Judged("a setting, warm: whole", 80, 100, 150, clock, within)


@pytest.mark.parametrize(
    ("clock", "right", "inside"), [(100, True, True), (117, True, True), (125, False, True), (70, False, False)]
)
def test_likely_is_near_and_the_clock_inside(clock: float, right: bool, inside: bool) -> None:
    assert (row(clock).right, row(clock).inside) == (right, inside)
    assert ("OUTSIDE" in table([row(clock)])) is not inside


def test_wide_ranges_do_not_win() -> None:
    near, wide = row(100), Judged("wide", 1, 100, 10_000, 100, 0.15)
    assert near.loss == pytest.approx(0.1 * 20 + 0 + 0.1 * 50)
    assert wide.loss > 100 * near.loss


def test_a_copy_is_judged_by_its_downtime_too_a_dump_is_not() -> None:
    estimate = {
        "methods": [
            {"method": name, "duration_seconds": SPAN, "downtime_seconds": SPAN}
            for name in ("warm-copy", "dump-restore")
        ]
    }
    assert [each.within for each in judged(SETTINGS[0], "warm", estimate, 90, 9)] == [0.15, 0.25]
    assert len(judged(SETTINGS[0], "dump", estimate, 90, 90)) == 1
    assert len(SETTINGS) >= 12


def test_nine_of_ten_right_and_eight_inside() -> None:
    assert good([row(100)] * 9 + [row(1000)])
    assert not good([])
    assert not good([row(100)] * 8 + [row(1000)] * 2)
