"""How the benchmark of the estimate judges."""

import pytest

from benchmarks.judging import Clock, Judged, Probing, best_possible, good, judged, sums, table

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
    assert near.score == pytest.approx(0.1 * 20 + 0 + 0.1 * 50)
    assert wide.score > 100 * near.score


def test_a_copy_is_judged_by_its_downtime_too_a_dump_is_not() -> None:
    estimate = {
        "methods": [
            {"method": name, "duration_seconds": SPAN, "downtime_seconds": SPAN}
            for name in ("warm-copy", "dump-restore")
        ]
    }
    assert [each.within for each in judged("a setting", "warm", estimate, Clock(90, 9))] == [0.15, 0.25]
    assert len(judged("a setting", "dump", estimate, Clock(90, 90))) == 1


def test_nine_of_ten_right_and_eight_inside() -> None:
    assert good([row(100)] * 9 + [row(1000)])
    assert not good([])
    assert not good([row(100)] * 8 + [row(1000)] * 2)


def test_the_interval_score_stands_beside_the_hits_of_the_whole_and_of_the_downtime() -> None:
    down = Judged("a setting, warm: downtime", 8, 10, 15, 9, 0.25)
    said = sums([row(100), row(1000), down]).splitlines()
    assert [line.split(" (")[0] for line in said] == [
        f"whole: likely within 15 % in 1 of 2, inside in 1, interval score {row(100).score + row(1000).score:.1f} s",
        "downtime: likely within 25 % in 1 of 1, inside in 1, interval score 1.2 s",
    ]


def test_no_estimate_is_nearer_than_the_clocks_are_to_each_other() -> None:
    assert best_possible([row(100)]) == ""
    said = best_possible([row(100), row(110), row(200)])
    assert "whole: within 15 % in 2 of 3, clocks of one move up to 2.00 times apart" in said


@pytest.mark.parametrize(
    ("seconds", "whole", "right"), [(14.9, 20, True), (15.1, 20, False), (21.9, 220, True), (22.1, 220, False)]
)
def test_probes_take_a_tenth_of_the_move_or_a_quarter_of_a_minute(seconds: float, whole: float, right: bool) -> None:
    probed = Probing("a setting", seconds, whole)
    assert probed.right is right
    assert str(probed).endswith("right" if right else "MISSED")
    assert good([row(100)], [probed]) is right
