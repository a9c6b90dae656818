"""The copies of files: what they are charged, and what they are not."""

from dataclasses import replace

import pytest

from core.migration.estimate import Spec, estimate, load_spec
from core.migration.estimate.spec import ClusterSpec, CopySpec, History, NewSpec, OldSpec
from core.migration.model.estimate import Method
from core.migration.model.move import Verify

TERA = Spec(ClusterSpec(1.22e12, files=30000), OldSpec(200e6, 8), NewSpec(200e6, 16), copy=CopySpec(100e6))


def method(name: str, spec: Spec, checking: Verify = Verify.CHANGED) -> Method:
    found = estimate(spec, checking).method(name)
    assert found is not None
    return found


def stages(made: Method) -> dict[str, float]:
    return {stage.name: stage.seconds.likely for stage in made.stages}


@pytest.mark.parametrize("name", ["cold-copy", "warm-copy"])
def test_verify_all_is_priced_as_one_more_reading_and_the_looks_for_corruption(name: str) -> None:
    """1.22 TB at 200 MB/s are read in 6,100 s, by whom however fast; pg_checksums and pg_amcheck read them again."""
    plain, whole = method(name, TERA), method(name, TERA, Verify.ALL)
    assert stages(whole)["verify"] - stages(plain)["verify"] > 0.7 * 1.22e12 / 200e6
    assert {"pg_checksums", "pg_amcheck"} <= stages(whole).keys() - stages(plain).keys()
    longer = whole.downtime_seconds.likely - plain.downtime_seconds.likely
    assert plain.verify_all_seconds is not None
    assert plain.looks_seconds is not None
    assert longer == pytest.approx(plain.verify_all_seconds.likely + plain.looks_seconds.likely, rel=0.3)


def test_what_is_not_there_is_not_looked_through() -> None:
    """Page checksums where the cluster has them, pg_amcheck since 14."""
    bare = replace(TERA, cluster=replace(TERA.cluster, checksummed_bytes=0.0), old=replace(TERA.old, version=13))
    assert not {"pg_checksums", "pg_amcheck"} & stages(method("cold-copy", bare, Verify.ALL)).keys()


def test_a_rate_that_was_measured_beside_the_running_server_is_not_discounted_for_it() -> None:
    warm, cold = method("warm-copy", TERA), method("cold-copy", TERA)
    copy = next(stage for stage in cold.stages if stage.name == "copy").seconds
    passes = next(stage for stage in warm.stages if stage.name == "warm passes").seconds
    read = 1.22e12 / 200e6
    assert passes.likely < copy.likely + 2 * read
    assert passes.high < 1.3 * (copy.high + 2 * read)


@pytest.mark.parametrize("change", [1e7, 1e9, 1e11])
def test_a_faster_reading_disk_shortens_the_warm_copy(change: float) -> None:
    """No pass more or less for it: a plan has two."""
    spec = replace(TERA, cluster=replace(TERA.cluster, size_bytes=50e9, change_bytes_per_hour=change))
    taken = [
        method("warm-copy", replace(spec, old=OldSpec(rate))).duration_seconds.likely
        for rate in (1e8, 2e8, 4e8, 8e8, 16e8)
    ]
    assert taken == sorted(taken, reverse=True)


def test_where_a_warm_copy_gains_nothing_the_cold_one_is_advised() -> None:
    busy = replace(TERA, cluster=replace(TERA.cluster, change_bytes_per_hour=1e13))
    assert estimate(TERA).advised == "warm-copy"
    made = estimate(busy)
    assert made.advised == "cold-copy"
    assert any("a cold copy is done sooner" in text for text in method("warm-copy", busy).warnings)


def test_what_was_timed_stands_in_for_what_is_assumed() -> None:
    small = replace(TERA, cluster=ClusterSpec(1e9, files=1000))
    timed = {
        "prepare": (3.0, 3.2, 2.9),
        "stop old": (0.5,),
        "final pass": (1.0,),
        "verify": (0.7,),
        "start new": (1.1,),
    }
    before, after = method("warm-copy", small), method("warm-copy", replace(small, history=History(timed=timed)))
    assert after.downtime_seconds.likely == pytest.approx(3.3, rel=0.1)
    assert after.downtime_seconds.high / after.downtime_seconds.low < 1.6
    assert (
        after.downtime_seconds.high / after.downtime_seconds.low
        < before.downtime_seconds.high / before.downtime_seconds.low
    )
    evidence = {stage.name: stage.evidence for stage in after.stages}
    assert evidence["prepare"] == "timed 3 times"
    assert evidence["stop old"] == "timed 1 time"


def test_the_spread_of_a_copy_comes_from_how_far_earlier_ones_were_off() -> None:
    alike, apart = (
        method("cold-copy", replace(TERA, history=History(copies=copies))).duration_seconds
        for copies in ((1.0, 1.02, 0.98), (0.5, 1.0, 2.0))
    )
    assert alike.high / alike.low < 1.3
    assert apart.high / apart.low > 2


def test_low_and_high_are_percentiles_of_all_of_it_not_the_ends_added_up() -> None:
    found = estimate(load_spec("[cluster]\nsize_bytes = 1e12", "spec")).method("dump-restore")
    assert found is not None
    assert found.duration_seconds.high < 0.97 * sum(stage.seconds.high for stage in found.stages)
    assert found.duration_seconds.low > 1.2 * sum(stage.seconds.low for stage in found.stages)


def test_each_stage_says_what_bounds_it_and_where_its_figure_comes_from() -> None:
    for each in estimate(TERA).methods:
        assert all(stage.bound_by and stage.evidence for stage in each.stages)
    assert estimate(TERA).methods[0].bytes_on_new == 1.22e12


def test_a_small_cluster_is_stopped_for_some_seconds() -> None:
    """1 GB of pgbench between two systemd hosts: 3.0 to 6.0 s of downtime were taken in eight settings."""
    small = Spec(
        ClusterSpec(1e9, files=1500, change_bytes_per_hour=1e8), OldSpec(400e6), NewSpec(400e6), copy=CopySpec(150e6)
    )
    stop = method("warm-copy", small).downtime_seconds
    assert 3.0 < stop.likely < 6.0
    assert stop.low < 4.5
    assert stop.high < 12


def test_with_verify_all_nothing_is_read_behind_a_warm_pass() -> None:
    plain, whole = method("warm-copy", TERA), method("warm-copy", TERA, Verify.ALL)
    assert stages(whole)["warm passes"] < stages(plain)["warm passes"] - 0.7 * 1.22e12 / 200e6


def test_estimates_that_are_always_wrong_the_same_way_are_no_surer() -> None:
    twice = method("cold-copy", replace(TERA, history=History(copies=(2.0, 2.0, 2.0)))).duration_seconds
    assert twice.high / twice.likely > 1.8
