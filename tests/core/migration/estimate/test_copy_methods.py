"""The copies of files: what they are charged, and what they are not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.facts.model import Facts
from core.migration.estimate import Spec, estimate, load_spec, spec_of
from core.migration.estimate.basis import basis
from core.migration.estimate.copy_methods import HARDLY, LIMIT
from core.migration.estimate.draws import span
from core.migration.estimate.proofs import looks_for_corruption, reading
from core.migration.estimate.spec import ClusterSpec, CopySpec, History, LinkSpec, NewSpec, OldSpec
from core.migration.model.estimate import Method, Span
from core.migration.model.move import Verify
from core.migration.model.plan import Phase
from tests.core.migration.builders import NOW, TARGET, cluster, move, new, old

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


@pytest.mark.parametrize(("took", "cached"), [(3000.0, True), (6000.0, False)])
def test_what_was_read_from_the_page_cache_may_have_to_be_read_from_the_disk(took: float, cached: bool) -> None:
    """1.22 TB from a disk of 200 MB/s are 6,100 s: the rehearsal that read them in half of that had them in memory."""
    copied = History(whole_copy=True, copied_at=NOW, copy_ended_at=NOW, read_seconds=took, now=NOW)
    stage = next(each for each in method("warm-copy", replace(TERA, history=copied)).stages if each.name == Phase.WARM)
    assert ("partly from the page cache" in stage.evidence) is cached
    assert stage.seconds.likely == pytest.approx(took, rel=0.15)
    assert (stage.seconds.high > 1.5 * stage.seconds.likely) is cached
    assert stage.seconds.high > 6100


@pytest.mark.parametrize(
    ("size", "indexes", "processors", "clocked"),
    [
        (1.1e9, 0.14e9, 2, {"pg_checksums": (0.48, 0.49, 0.54, 0.6), "pg_amcheck": (0.74, 0.75, 0.79, 0.86)}),
        (3.2e9, 0.42e9, 2, {"pg_checksums": (1.1,), "pg_amcheck": (1.63,)}),
        (0.55e9, 0.07e9, 2, {"pg_checksums": (0.38, 0.38), "pg_amcheck": (0.54, 0.54)}),
    ],
)
def test_the_looks_for_corruption_take_as_long_as_they_were_clocked(
    size: float, indexes: float, processors: int, clocked: dict[str, tuple[float, ...]]
) -> None:
    """On a new server that has nothing else to do, as in the downtime."""
    cluster = ClusterSpec(size, index_bytes=indexes)
    looks = _looks(Spec(cluster, new=NewSpec(1e10, cores=processors), link=LinkSpec(command_seconds=0.035)))
    for name, seconds in clocked.items():
        assert all(looks[name].low <= each <= looks[name].high for each in seconds)
        assert looks[name].likely == pytest.approx(sum(seconds) / len(seconds), rel=0.3)


def test_the_looks_for_corruption_of_a_busy_server_are_no_surprise() -> None:
    """2.16 GB, of it 347 MB indexes: pg_checksums in 1.0 to 3.2 s, pg_amcheck by one process in 4.3 to 5.5 s."""
    small = Spec(ClusterSpec(2.16e9, index_bytes=347e6), new=NewSpec(1e10, cores=1))
    looks = _looks(small)
    for name, clocked in {"pg_checksums": (1.04, 1.82, 3.16), "pg_amcheck": (4.28, 5.46)}.items():
        assert all(looks[name].low <= each <= looks[name].high for each in clocked)
    more = replace(small, cluster=replace(small.cluster, index_bytes=1e9))
    assert _looks(more)["pg_amcheck"].likely > 1.4 * looks["pg_amcheck"].likely


def _looks(spec: Spec) -> dict[str, Span]:
    return {part.name: span(part.seconds) for part in looks_for_corruption(basis(spec))}


@pytest.mark.parametrize("name", ["cold-copy", "warm-copy"])
def test_the_looks_for_corruption_are_taken_as_they_were_timed(name: str) -> None:
    timed = {"pg_checksums": (70.0,), "pg_amcheck": (400.0, 420.0)}
    made = method(name, replace(TERA, history=History(timed=timed)), Verify.ALL)
    assert stages(made)["pg_checksums"] == pytest.approx(70, rel=0.2)
    assert stages(made)["pg_amcheck"] == pytest.approx(410, rel=0.2)
    evidence = {stage.name: stage.evidence for stage in made.stages}
    assert (evidence["pg_checksums"], evidence["pg_amcheck"]) == ("timed 1 time", "timed 2 times")
    assert made.looks_seconds is not None
    assert made.looks_seconds.likely == pytest.approx(480, rel=0.2)


def test_what_memory_holds_is_looked_through_without_the_disk() -> None:
    """It was read whole just before; at 60 MB/s 3 GB take the disk 50 s."""
    slow = Spec(ClusterSpec(3e9, index_bytes=0), new=NewSpec(60e6, cores=2))
    held = replace(slow, new=replace(slow.new, memory_bytes=16e9))
    for name in ("pg_checksums", "pg_amcheck"):
        assert stages(method("cold-copy", slow, Verify.ALL))[name] > 40
        assert stages(method("cold-copy", held, Verify.ALL))[name] < 15
    short = replace(held, new=replace(held.new, memory_bytes=4e9))
    assert stages(method("cold-copy", short, Verify.ALL))["pg_checksums"] > 40


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
    assert HARDLY in method("warm-copy", busy).warnings


def test_what_was_timed_stands_in_for_what_is_assumed() -> None:
    small = replace(TERA, cluster=ClusterSpec(1e9, files=1000))
    timed = {
        "prepare": (3.0, 3.2, 2.9),
        "stop old": (0.5,),
        "final pass": (1.0,),
        "verify": (0.7,),
        "close the copy channel": (0.1,),
        "start new": (1.0,),
        "open new": (1.1,),
    }
    before, after = method("warm-copy", small), method("warm-copy", replace(small, history=History(timed=timed)))
    assert after.downtime_seconds.likely == pytest.approx(4.4, rel=0.1)
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


def test_a_stage_of_many_short_commands_waits_for_round_trips() -> None:
    """What reads and sends next to nothing would gain nothing by a faster disk."""

    def bounds(changes: float, written: float, files: int = 1000) -> dict[str, str]:
        cluster = replace(TERA.cluster, change_bytes_per_hour=changes, written_bytes=written, files=files)
        return {stage.name: stage.bound_by for stage in method("warm-copy", replace(TERA, cluster=cluster)).stages}

    idle, busy = bounds(1e3, 1e3), bounds(1e12, 1e12)
    assert idle[Phase.FINAL] == idle[Phase.AFTER] == "round trips"
    assert busy[Phase.FINAL] not in {"round trips", "files"}
    assert bounds(1e3, 1e3, 3_000_000)[Phase.FINAL] == "files"


def test_a_small_cluster_is_stopped_for_some_seconds() -> None:
    """1 GB of pgbench between two hosts, with every proof: some 8 s of downtime."""
    small = Spec(
        ClusterSpec(1e9, files=1500, change_bytes_per_hour=1e8),
        OldSpec(400e6),
        NewSpec(400e6),
        LinkSpec(command_seconds=0.045),
        CopySpec(150e6, pass_seconds=0.5, sum_bytes_per_second=400e6),
    )
    stop = method("warm-copy", small).downtime_seconds
    assert 6.0 < stop.likely < 11.0
    assert stop.low > 4.5
    assert stop.high < 16


def test_with_verify_all_nothing_is_read_behind_a_warm_pass() -> None:
    plain, whole = method("warm-copy", TERA), method("warm-copy", TERA, Verify.ALL)
    assert stages(whole)["warm passes"] < stages(plain)["warm passes"] - 0.7 * 1.22e12 / 200e6


def test_estimates_that_are_always_wrong_the_same_way_are_no_surer() -> None:
    twice = method("cold-copy", replace(TERA, history=History(copies=(2.0, 2.0, 2.0)))).duration_seconds
    assert twice.high / twice.likely > 1.8


@pytest.mark.parametrize("name", ["cold-copy", "warm-copy"])
def test_wal_that_no_pass_brings_is_not_priced(name: str) -> None:
    """1 TB of which 300 GB are segments kept to be written over takes what 700 GB take."""
    cluster = replace(TERA.cluster, files=10_000, index_bytes=2e11, change_bytes_per_hour=1e9, written_bytes=2e9)
    idle = replace(TERA, cluster=replace(cluster, size_bytes=1e12, idle_wal_bytes=3e11))
    without = replace(TERA, cluster=replace(cluster, size_bytes=7e11))
    priced, wanted = method(name, idle), method(name, without)
    assert priced.duration_seconds == wanted.duration_seconds
    assert priced.downtime_seconds == wanted.downtime_seconds
    assert priced.bytes_on_new == 1e12  # new makes WAL of its own


def test_a_second_warm_pass_is_not_made_where_little_is_touched() -> None:
    """A first of hours leaves another in a busy cluster; in a quiet one the stop does what little there is."""
    busy, quiet, still = (
        stages(method("warm-copy", replace(TERA, cluster=changing)))["warm passes"]
        for changing in (
            replace(TERA.cluster, change_bytes_per_hour=change, written_bytes=written)
            for change, written in ((1e9, 50e9), (1e5, 1e7), (0.0, 0.0))
        )
    )
    assert busy > 1.005 * quiet
    assert quiet == pytest.approx(still)


def test_a_sample_that_shrinks_much_promises_too_much() -> None:
    plain, shrinks = (
        replace(TERA, copy=CopySpec(observed_bytes_per_second=1e8, compression_ratio=ratio)) for ratio in (1.5, 4.0)
    )
    copied = [stages(method("cold-copy", spec))["copy"] for spec in (plain, shrinks)]
    assert copied[1] == pytest.approx(copied[0] / 0.8, rel=0.02)
    made = replace(shrinks, history=History(whole_copy=True))
    assert stages(method("cold-copy", made))["copy"] < 0.9 * copied[1]


def test_the_network_limits_the_whole_copy_although_a_processor_limited_the_sample() -> None:
    """What shrinks to a tenth crosses a network of 100 Mbit/s at up to 117 MB/s; a sample at 60 MB/s was held up by a
    processor, one at 105 MB/s by the network, which carries less of what shrinks less."""

    def rate(observed: float, ratio: float = 10.0) -> float:
        copy = CopySpec(observed_bytes_per_second=observed, compression_ratio=ratio)
        return basis(replace(TERA, link=LinkSpec(bits_per_second=1e8), copy=copy)).copy.likely

    assert rate(60e6) == pytest.approx(0.95 * 60e6)
    assert rate(105e6) == rate(110e6) == pytest.approx(0.8 * 0.94 * 125e6)
    assert rate(150e6) == pytest.approx(0.8 * 150e6)  # one of the two was measured badly


def test_ssh_limits_the_whole_copy_although_a_processor_limited_the_sample() -> None:
    """A cipher of 27 MB/s carries what shrinks to a quarter at 108 MB/s."""
    link = LinkSpec(bits_per_second=1e10)

    def rate(observed: float) -> float:
        copy = CopySpec(observed_bytes_per_second=observed, compression_ratio=4.0, ssh_bytes_per_second=27e6)
        return basis(replace(TERA, link=link, copy=copy)).copy.likely

    assert rate(100e6) == pytest.approx(0.8 * 108e6)
    assert rate(60e6) == pytest.approx(0.95 * 60e6)


def test_a_program_that_reads_files_computes_checksums_more_slowly_the_faster_it_is() -> None:
    """Reading takes the same processors: at 1.7 GB/s that is felt, at 0.3 GB/s hardly."""

    def rate(given: float) -> float:
        spec = Spec(ClusterSpec(1e9), OldSpec(1e11, cores=1), NewSpec(1e11, read_bytes_per_second=1e11))
        return reading(basis(replace(spec, copy=CopySpec(sum_bytes_per_second=given)))).likely

    assert 0.9e9 < rate(1.7e9) < 1.1e9  # as it was clocked
    assert rate(0.3e9) == pytest.approx(0.27e9, rel=0.02)


def test_a_copy_that_lies_on_the_new_server_is_not_made_again() -> None:
    known = History(copied_at=NOW - timedelta(hours=1), read_seconds=600.0, now=NOW)
    quiet = replace(TERA, cluster=replace(TERA.cluster, change_bytes_per_hour=1e6, written_bytes=1e6))
    before, after = (method("warm-copy", replace(quiet, history=each)) for each in (History(now=NOW), known))
    assert before.passes[0].copy > 10_000
    assert after.passes[0].copy < 60
    assert after.passes[0].read == pytest.approx(600, rel=0.02)
    assert stages(after)["warm passes"] < 0.1 * stages(before)["warm passes"]


@pytest.mark.parametrize(
    ("there", "hours", "known"),
    [
        (new(cluster(data_directory=TARGET, fenced=True, control=None)), 1, True),
        (new(cluster(data_directory=TARGET)), 1, True),
        (new(), 1, False),
        (new(), -1, True),
    ],
    ids=["behind the fence", "the same cluster", "removed since", "facts are older"],
)
def test_facts_tell_whether_the_copy_still_lies_there(there: Facts, hours: int, known: bool) -> None:
    copied = History(copied_at=NOW - timedelta(hours=3), copy_ended_at=NOW - timedelta(hours=hours), now=NOW)
    spec = spec_of(move(), old(), [], new=there, history=copied)
    assert (spec.history.copied_at is not None) is known


def test_no_more_is_assumed_to_change_than_was_written_to() -> None:
    spec = replace(TERA, cluster=replace(TERA.cluster, written_bytes=5e6))
    assert span(basis(spec).change).likely == pytest.approx(5e6)
    assert span(basis(spec).change).high > 1e9
    assert span(basis(TERA).change).likely > 1e9


def test_the_limit_of_the_move_binds_the_pre_copy_passes_alone() -> None:
    """At 20 MB/s 1.22 TB take 61,000 s; what the cluster is stopped for grows by what changes meanwhile alone."""
    spec = replace(TERA, cluster=replace(TERA.cluster, change_bytes_per_hour=1e6))
    limited = replace(spec, copy=replace(spec.copy, precopy_limit_bytes_per_second=20e6))
    plain, slow = (method("warm-copy", each) for each in (spec, limited))
    (warm,) = (stage for stage in slow.stages if stage.name == Phase.WARM)
    assert warm.seconds.low >= 1.22e12 / 20e6
    assert warm.bound_by == LIMIT
    assert slow.downtime_seconds.likely == pytest.approx(plain.downtime_seconds.likely, rel=0.1)
    assert any("20.0 MB/s" in each for each in slow.assumptions)
    cold, as_ever = (method("cold-copy", each) for each in (limited, spec))
    assert stages(cold) == stages(as_ever)
    fast = replace(spec, copy=replace(spec.copy, precopy_limit_bytes_per_second=1e12))
    assert stages(method("warm-copy", fast)) == stages(plain)
    assert next(stage for stage in plain.stages if stage.name == Phase.WARM).bound_by != LIMIT


def test_the_limit_is_on_what_is_sent_compressed_or_not() -> None:
    def seconds(ratio: float | None) -> float:
        copy = replace(TERA.copy, precopy_limit_bytes_per_second=1e6, compression_ratio=ratio)
        return stages(method("warm-copy", replace(TERA, copy=copy)))[Phase.WARM]

    assert seconds(3.0) < 0.4 * seconds(None)


def test_the_estimate_of_a_move_counts_its_limit() -> None:
    made = spec_of(move(precopy_limit=20_000_000), old(), ())
    assert made.copy.precopy_limit_bytes_per_second == 20e6
    assert spec_of(move(), old(), ()).copy.precopy_limit_bytes_per_second is None
