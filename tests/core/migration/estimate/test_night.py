"""How likely a method fits into a night, and what must hold for it."""

import re

import pytest

from core.migration.estimate import Spec, simulated
from core.migration.estimate.night import NEVER, Fit, Night, fit
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec

SPEC = Spec(
    ClusterSpec(1.22e12, files=20_000, change_bytes_per_hour=1e9),
    link=LinkSpec(command_seconds=0.04),
    copy=CopySpec(50e6, pass_seconds=0.4),
)


def found(name: str, seconds: float, *, way_back: bool = False, price: float | None = None) -> Fit:
    method = next(each for each in simulated(SPEC) if each.name == name)
    return fit(SPEC, method, Night(seconds, way_back), price=price)


def test_a_cold_copy_at_50_mb_a_second_fits_into_no_four_hours_but_at_100() -> None:
    night = found("cold-copy", 4 * 3600)
    assert night.likelihood == 0
    needed, taken = re.findall(r"([\d.]+) MB/s", night.must_hold)
    assert 1.22e12 / 4 / 3600 / 1e6 < float(needed) < 1.3 * 1.22e12 / 4 / 3600 / 1e6
    assert taken == "50.0"
    sure = found("cold-copy", 9 * 3600)
    assert (sure.likelihood > 0.9, sure.must_hold) == (True, "")


def test_a_warm_copy_fits_where_little_changes() -> None:
    assert found("warm-copy", 3600).likelihood > 0.9
    tight = found("warm-copy", 60)
    assert tight.likelihood < 0.6
    may_change, changes = re.findall(r"([\d.]+) MiB", tight.must_hold)
    assert float(may_change) < float(changes)
    assert found("warm-copy", 1).must_hold == NEVER


def test_longer_nights_are_never_less_likely_and_the_way_back_takes_time() -> None:
    shares = [found("warm-copy", seconds).likelihood for seconds in (10, 100, 1000)]
    assert shares == sorted(shares)
    assert found("warm-copy", 60, way_back=True).likelihood <= found("warm-copy", 60).likelihood
    must_hold = found("dump-restore", 60).must_hold
    assert (bool(must_hold), must_hold == NEVER, re.search(r"\d", must_hold)) == (True, False, None)


def test_a_price_for_each_hour() -> None:
    cost = found("cold-copy", 3600, price=1000).cost
    assert cost is not None
    assert cost.likely == pytest.approx(6800, rel=0.05)
    assert cost.low < cost.likely < cost.high
