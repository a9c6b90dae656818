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


def test_a_sample_of_tables_stands_in_for_what_is_published() -> None:
    """Clocked thrice: samples went out at 188 to 253 MB/s and were loaded at 119 to 180, their indexes built at 34 to
    50; pg_dump of 1.79 GB took 7.5 to 10.9 s, pg_restore of it 15.7 to 24.4 s, of 347 MB of indexes 6.8 to 9.4 s."""
    cluster = ClusterSpec(2.149e9, index_bytes=347e6)
    sampled = DumpSpec(copy_bytes_per_second=213e6, load_bytes_per_second=146e6, index_bytes_per_second=40e6)
    clocked = {"dump": (7.5, 9.5, 10.9), "load": (15.7, 16.3, 24.4), "indexes": (6.8, 7.6, 9.4)}
    fast = (OldSpec(2e9), NewSpec(2e9), LinkSpec(1e11))
    made = method("dump-restore", Spec(cluster, *fast, dump=sampled))
    known = method("dump-restore", Spec(cluster, *fast))
    for name, seconds in clocked.items():
        span = stage(name, made)
        assert span.low <= min(seconds)
        assert max(seconds) <= span.high
        assert span.likely == pytest.approx(sorted(seconds)[1], rel=0.25)
        assert span.high / span.low < 0.6 * stage(name, known).high / stage(name, known).low


def test_reindex_goes_by_the_sampled_index() -> None:
    cluster = ClusterSpec(100e9, index_bytes=30e9, reindex_bytes=4e9)
    made = method("cold-copy", Spec(cluster, new=NewSpec(1e10), dump=DumpSpec(index_bytes_per_second=100e6)))
    assert stage("reindex", made).likely == pytest.approx(4e9 / 110e6, rel=0.1)
    assert any("100 MB/s" in text for text in made.assumptions)


def test_what_new_took_for_a_table_counts_for_each() -> None:
    """5,000 tables and primary keys in the lab: 31.0 s and 21.4 s, where a sample had taken 5.7 ms and 4.4 ms each."""
    spec = Spec(ClusterSpec(1e8, tables=5_000, indexes=5_000, index_bytes=0), dump=DumpSpec())
    told = replace(spec, dump=DumpSpec(table_seconds=0.0057, index_seconds=0.0044))
    assert stage("load", method("dump-restore", told)).low < 52.4 < stage("load", method("dump-restore", told)).high
    with_text = replace(told, cluster=replace(told.cluster, toast_tables=5_000))
    assert (
        stage("load", method("dump-restore", with_text)).likely
        > 1.5 * stage("load", method("dump-restore", told)).likely
    )
    times = [DumpSpec(table_seconds=each, index_seconds=each) for each in (0.0001, 0.001, 0.01)]
    likely = [stage("load", method("dump-restore", replace(spec, dump=each))).likely for each in times]
    assert likely == sorted(likely)
    assert likely[-1] == pytest.approx(100, rel=0.2)


def test_rows_cross_the_wire_as_text() -> None:
    """Twice the bytes of their pages, over a wire that holds the load up."""
    spec = Spec(ClusterSpec(100e9, index_bytes=0), link=LinkSpec(1e8), dump=DumpSpec(text_ratio=1.0))
    wide = replace(spec, dump=DumpSpec(text_ratio=0.5))
    assert stage("load", method("dump-restore", wide)).likely == pytest.approx(
        2 * stage("load", method("dump-restore", spec)).likely, rel=0.05
    )


def test_a_faster_sample_never_makes_a_dump_slower() -> None:
    spec = Spec(ClusterSpec(100e9))
    sampled = (
        [DumpSpec(copy_bytes_per_second=rate) for rate in (1e7, 1e8, 1e9)],
        [DumpSpec(load_bytes_per_second=rate) for rate in (1e7, 1e8, 1e9)],
        [DumpSpec(index_bytes_per_second=rate) for rate in (1e7, 1e8, 1e9)],
        [DumpSpec(text_ratio=ratio) for ratio in (0.5, 1.0, 2.0)],
    )
    for dumps in sampled:
        taken = [method("dump-restore", replace(spec, dump=each)).duration_seconds for each in dumps]
        for end in ("low", "likely", "high"):
            ends = [getattr(each, end) for each in taken]
            assert ends == sorted(ends, reverse=True)


def test_gzip_holds_a_fast_sample_up() -> None:
    spec = Spec(ClusterSpec(100e9, index_bytes=0), dump=DumpSpec(gzip_level=9))
    sampled = replace(spec, dump=replace(spec.dump, copy_bytes_per_second=500e6))
    slow = replace(spec, dump=replace(spec.dump, copy_bytes_per_second=1e6))
    dump = stage("dump", method("dump-restore", spec)).likely
    assert stage("dump", method("dump-restore", sampled)).likely == pytest.approx(dump, rel=0.1)
    assert stage("dump", method("dump-restore", slow)).likely > 3 * dump


def test_gzip_bounds_a_dump_and_jobs_share_it() -> None:
    spec = Spec(ClusterSpec(1e12, index_bytes=0), OldSpec(1e9, 8), NewSpec(1e9, 8))
    packed = replace(spec, dump=DumpSpec(gzip_level=9))
    assert stage("dump", method("dump-restore", packed)).likely > 3 * stage("dump", method("dump-restore", spec)).likely
    shared = replace(packed, dump=DumpSpec(jobs=4, gzip_level=9))
    assert stage("dump", method("parallel-dump-restore", shared)).likely == pytest.approx(
        stage("dump", method("dump-restore", packed)).likely / 4**0.9, rel=0.15
    )
