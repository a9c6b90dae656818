"""The same move later."""

from dataclasses import replace

import pytest

from core.migration.estimate import Spec, simulated
from core.migration.estimate.draws import span
from core.migration.estimate.growth import grown, later, months_until_full
from core.migration.estimate.spec import ClusterSpec, CopySpec, History, NewSpec, ObservedSpec, OldSpec
from core.migration.model.move import Verify


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


FULL = Spec(
    ClusterSpec(
        1e12,
        files=10_000,
        index_bytes=2.5e11,
        largest_table_bytes=2e11,
        change_bytes_per_hour=2e9,
        written_bytes=2e10,
        checksummed_bytes=9e11,
        database_bytes=9e11,
        wasted_bytes=5e10,
        kept_wal_bytes=1e9,
        idle_wal_bytes=1e9,
    ),
    OldSpec(5e8, 8, version=15),
    NewSpec(4e8, 8),
    copy=CopySpec(1e8),
)


@pytest.mark.parametrize("name", ["cold-copy", "warm-copy", "dump-restore", "parallel-dump-restore"])
def test_twice_the_cluster_takes_about_twice_as_long(name: str) -> None:
    """All that a move handles grows alike; what is done once takes seconds."""
    both = [next(each for each in simulated(spec) if each.name == name) for spec in (FULL, grown(FULL, 2.0))]
    now, then = (span(each.duration).likely for each in both)
    assert then == pytest.approx(2 * now, rel=0.05)


def test_a_stop_that_was_timed_grows_with_what_it_looks_through() -> None:
    timed = {"final pass": (60.0,), "verify": (100.0,), "stop old": (5.0,)}
    spec = replace(FULL, history=History(timed=timed))
    first, *_, last = (each.downtime_seconds["warm-copy"].likely for each in later(spec, 1e12 / 12))
    assert last > 1.5 * first
    then = grown(spec, 2.0).history.timed
    assert then["stop old"] == (5.0,)
    assert 110 < then["final pass"][0] < 150  # twice the files, and more that changes while they are looked through


def test_a_stop_that_was_timed_grows_by_what_it_proves() -> None:
    """Every page is looked at, so twice the pages take twice as long, where the plan looks at all."""
    timed = {"final pass": (60.0,), "pg_checksums": (100.0,), "pg_amcheck": (300.0,)}
    spec = replace(FULL, history=History(timed=timed))
    every = grown(spec, 2.0, Verify.ALL).history.timed
    assert every["pg_checksums"][0] == pytest.approx(200, rel=0.01)
    assert every["pg_amcheck"][0] == pytest.approx(600, rel=0.01)
    changed = grown(spec, 2.0).history.timed
    assert (changed["pg_checksums"], changed["pg_amcheck"]) == ((100.0,), (300.0,))
    # no warm pass reads behind itself where all is read in the stop: less has changed by then
    assert every["final pass"] != changed["final pass"]


def test_an_earlier_dump_was_of_the_cluster_as_it_is_now() -> None:
    spec = replace(FULL, observed=ObservedSpec(dump_seconds=3600.0))
    dump = {each.name: each for each in next(m for m in simulated(grown(spec, 2.0)) if m.name == "dump-restore").parts}
    assert span(dump["dump"].seconds).likely == pytest.approx(7200, rel=0.01)
