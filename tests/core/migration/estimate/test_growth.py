"""The same move later."""

import pytest

from core.migration.estimate import Spec
from core.migration.estimate.growth import later, months_until_full
from core.migration.estimate.spec import ClusterSpec, CopySpec


def test_a_cluster_that_grows_takes_longer_in_three_six_and_twelve_months() -> None:
    spec = Spec(ClusterSpec(1e12, files=10_000, index_bytes=3e11), copy=CopySpec(1e8))
    found = later(spec, 50e9)
    assert [(each.months, each.size_bytes) for each in found] == [(0, 1e12), (3, 1.15e12), (6, 1.3e12), (12, 1.6e12)]
    for name in ("cold-copy", "warm-copy", "dump-restore"):
        likely = [each.downtime_seconds[name].likely for each in found]
        assert likely == sorted(likely)
    assert found[-1].downtime_seconds["cold-copy"].likely == pytest.approx(1.6e4, rel=0.05)


def test_when_old_is_full() -> None:
    """1.25 of 1.6 TB are 78 %: at 10 GB a month 80 % are reached in three months."""
    assert months_until_full(1.25e12, 1.6e12, 10e9) == pytest.approx(3)
    assert months_until_full(1.3e12, 1.6e12, 10e9) == 0
    assert months_until_full(1e12, 1.6e12, 0) is None
