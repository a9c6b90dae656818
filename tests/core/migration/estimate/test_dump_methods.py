"""Dump & restore: rates per byte of table, what each object costs, the wire that it crosses."""

from dataclasses import replace

import pytest

from core.migration.estimate import Spec, estimate
from core.migration.estimate.spec import ClusterSpec, CopySpec, DumpSpec, LinkSpec, NewSpec, OldSpec
from core.migration.model.estimate import Method, Span

MINUTE = 60.0


def method(name: str, spec: Spec) -> Method:
    found = estimate(spec).method(name)
    assert found is not None
    return found


def stage(name: str, made: Method) -> Span:
    return next(each.seconds for each in made.stages if each.name == name)


def test_what_a_constant_was_made_of_lies_in_its_range() -> None:
    """730 GB in 2007, three tenths of it indexes; 107 GB of tables by one process; a primary key of 2.1 GB."""
    seed = method("dump-restore", Spec(ClusterSpec(730e9, index_bytes=219e9)))
    for name, seconds in {"dump": 33480, "load": 14400, "indexes": 30420, "analyze": 10800}.items():
        assert stage(name, seed).low <= seconds <= stage(name, seed).high
    fast = (OldSpec(2e9), NewSpec(2e9), LinkSpec(1e11))
    dumped = stage("dump", method("dump-restore", Spec(ClusterSpec(107e9, index_bytes=0), *fast)))
    assert dumped.low <= 107e9 / 134e6 <= dumped.high
    key = stage("indexes", method("dump-restore", Spec(ClusterSpec(20e9, index_bytes=2.1e9), *fast)))
    assert key.low <= 63 <= key.high


def test_a_hundred_thousand_tables_cost_more_than_their_bytes() -> None:
    """119,628 tables were dumped in 48 minutes by an older pg_dump; since 15 it asks about all of them at once."""
    many = Spec(ClusterSpec(1e9, tables=119_628), old=OldSpec(version=9.6), new=NewSpec(version=9.6))
    dump = stage("dump", method("dump-restore", many))
    assert dump.low <= 48 * MINUTE <= dump.high
    newer = replace(many, new=NewSpec(version=16), old=OldSpec(version=16))
    assert stage("dump", method("dump-restore", newer)).likely < 10 * MINUTE
    assert "objects" in {each.bound_by for each in method("dump-restore", many).stages}


def test_large_objects_are_counted_one_by_one() -> None:
    few, many = (
        method("dump-restore", Spec(ClusterSpec(100e9, large_objects=count))).duration_seconds.likely
        for count in (0, 10_000_000)
    )
    assert many - few > 3600


@pytest.mark.parametrize("name", ["dump-restore", "parallel-dump-restore"])
def test_the_link_of_a_rehearsal_prices_a_dump_as_well(name: str) -> None:
    """A rehearsal saw 7.9 MB/s, whatever iperf3 had seen of the link: 700 GB of tables cross no faster."""
    spec = Spec(ClusterSpec(1e12, index_bytes=300e9), link=LinkSpec(1e9), copy=CopySpec(7.9e6))
    load = stage("load", method(name, spec))
    assert load.likely > 0.85 * 700e9 / 7.9e6


def test_the_processors_of_new_load_and_those_of_old_dump() -> None:
    def made(old: int, new: int) -> Method:
        return method(
            "parallel-dump-restore", Spec(ClusterSpec(1e12), OldSpec(1e10, old), NewSpec(1e10, new), LinkSpec(1e11))
        )

    few, more = made(2, 2), made(2, 8)
    assert stage("load", more).likely < 0.6 * stage("load", few).likely
    assert stage("dump", more).likely == pytest.approx(stage("dump", few).likely, rel=0.1)


def test_gzip_bounds_a_dump_and_jobs_share_it() -> None:
    spec = Spec(ClusterSpec(1e12, index_bytes=0), OldSpec(1e9, 8), NewSpec(1e9, 8))
    packed = replace(spec, dump=DumpSpec(gzip_level=9))
    assert stage("dump", method("dump-restore", packed)).likely > 3 * stage("dump", method("dump-restore", spec)).likely
    shared = replace(packed, dump=DumpSpec(jobs=4, gzip_level=9))
    assert stage("dump", method("parallel-dump-restore", shared)).likely == pytest.approx(
        stage("dump", method("dump-restore", packed)).likely / 4**0.9, rel=0.15
    )
