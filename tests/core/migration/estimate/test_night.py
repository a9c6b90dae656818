"""How likely a method fits into a night, and what must hold for it."""

import re
from dataclasses import replace

from core.migration.estimate import Spec, simulated
from core.migration.estimate.night import NEVER, Night, fit
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec, NewSpec, OldSpec
from core.migration.model.estimate import Fit

SPEC = Spec(
    ClusterSpec(1.22e12, files=20_000, change_bytes_per_hour=1e9),
    link=LinkSpec(command_seconds=0.04),
    copy=CopySpec(50e6, pass_seconds=0.4),
)


def found(name: str, seconds: float, *, way_back: bool = False) -> Fit:
    method = next(each for each in simulated(SPEC) if each.name == name)
    return fit(SPEC, method, Night(seconds, way_back))


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
    tight = found("warm-copy", 60, way_back=True)
    assert 0 < tight.way_back.low < tight.way_back.likely < tight.way_back.high < tight.start_by


def test_a_dump_needs_a_rate_over_all_of_its_work() -> None:
    night = 4 * 3600
    needed, handled = re.findall(r"([\d.]+) MB/s", found("dump-restore", night).must_hold)
    assert 1.22e12 / night / 1e6 < float(needed) < 3 * 1.22e12 / night / 1e6
    assert float(handled) < float(needed)
    assert found("parallel-dump-restore", 1).must_hold == NEVER  # to stop and to start take longer


def test_a_replica_needs_a_rate_of_the_rebuild_of_indexes_if_there_is_one() -> None:
    assert found("streaming-replica", 1).must_hold == NEVER
    spec = replace(SPEC, cluster=replace(SPEC.cluster, reindex_bytes=5e10))
    made = next(each for each in simulated(spec) if each.name == "streaming-replica")
    needed, expected = re.findall(r"([\d.]+) MB/s", fit(spec, made, Night(600, way_back=False)).must_hold)
    assert 5e10 / 600 / 1e6 < float(needed) < 3 * 5e10 / 600 / 1e6
    assert float(expected) < float(needed)


def test_an_upgrade_fits_where_little_changes() -> None:
    spec = replace(SPEC, old=OldSpec(version=15), new=NewSpec(version=18))
    made = next(each for each in simulated(spec) if each.name == "pg-upgrade-link")
    assert fit(spec, made, Night(1, way_back=False)).must_hold == NEVER
    busy = replace(spec, cluster=replace(spec.cluster, change_bytes_per_hour=50e9))
    made = next(each for each in simulated(busy) if each.name == "pg-upgrade-link")
    may_change, changes = re.findall(r"([\d.]+) GiB", fit(busy, made, Night(900, way_back=False)).must_hold)
    assert float(may_change) < float(changes)
