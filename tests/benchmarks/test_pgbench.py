"""What the benchmark of pgbench makes of its figures."""

from benchmarks.pgbench import Pair, ratio, right, table


def test_the_medians_decide() -> None:
    pairs = [Pair(100, 100), Pair(103, 101), Pair(50, 99)]
    assert ratio(pairs) == 1.0
    assert right(pairs)
    assert "ratio of the medians 1.0000: right" in table("tpcb", pairs)


def test_more_than_three_per_cent_is_wrong() -> None:
    pairs = [Pair(104, 100)]
    assert not right(pairs)
    assert "WRONG: more than 3% off" in table("tpcb", pairs)
    assert right([Pair(97.5, 100)])
