"""What would help, in minutes."""

import re
from dataclasses import replace

import pytest

from core.migration.estimate import Spec, simulated
from core.migration.estimate.advice import helps
from core.migration.estimate.night import Night, likelihood
from core.migration.estimate.spec import ClusterSpec, CopySpec, History, LinkSpec, NewSpec, OldSpec
from core.migration.model.estimate import Effort, Help
from core.migration.model.move import Verify

QUIETER = re.compile(r"\([\d.]+ [KMG]iB\)$")
"""Of a quieter hour it is said how much may change in it."""
FOUR = re.compile(r"(?<= )4(?= )")

SLOW_LINK = Spec(
    ClusterSpec(1e12, files=20_000, change_bytes_per_hour=1e9, checksummed_bytes=0.0),
    OldSpec(400e6),
    NewSpec(400e6),
    LinkSpec(1e9, 1),
    CopySpec(ssh_bytes_per_second=300e6),
)


def most(spec: Spec, method: str) -> Help:
    """What saves most downtime."""
    return max(helps(spec, method), key=lambda each: each.downtime_seconds)


def test_the_least_effort_comes_first_and_of_the_same_what_saves_most() -> None:
    cluster = replace(SLOW_LINK.cluster, wasted_bytes=3e11, kept_wal_bytes=2e10, change_bytes_per_hour=50e9)
    found = helps(replace(SLOW_LINK, cluster=cluster), "warm-copy", Verify.ALL)
    efforts = [each.effort for each in found]
    assert set(efforts) == set(Effort)
    assert efforts == sorted(efforts, key=[*Effort].index)
    for effort in Effort:
        saved = [each.downtime_seconds for each in found if each.effort is effort]
        assert saved == sorted(saved, reverse=True)
    assert [each.likelihood for each in found] == [None] * len(found)


def test_with_each_change_a_window_is_as_likely_as_the_estimate_of_it_says() -> None:
    night = Night(9000, way_back=True)
    faster = next(each for each in helps(SLOW_LINK, "cold-copy", night=night) if "10.0 Gbit/s" in each.change)
    then = replace(SLOW_LINK, link=replace(SLOW_LINK.link, bits_per_second=10e9))
    cold = next(each for each in simulated(then) if each.name == "cold-copy")
    assert faster.likelihood == likelihood(cold, night) > 0


def test_the_faster_link_helps_most_and_says_what_bounds_it_next() -> None:
    first, *others = sorted(helps(SLOW_LINK, "cold-copy"), key=lambda each: -each.downtime_seconds)
    assert "10.0 Gbit/s" in first.change
    assert 1e12 / 117e6 - 1e12 / 300e6 > first.downtime_seconds > 0.8 * (1e12 / 117e6 - 1e12 / 280e6)
    assert first.then_bound_by == "old cpu"
    assert not any(each.change.startswith("4 ") for each in others)  # one keeps up with this link


def test_behind_the_link_comes_the_cipher_and_then_the_disks() -> None:
    fast = replace(SLOW_LINK, link=LinkSpec(100e9, 1))
    first = most(fast, "cold-copy").change
    assert first.startswith("4 ") or " 2.5 times " in first
    wide = replace(fast, link=LinkSpec(100e9, 8), new=NewSpec(100e6))
    assert re.search(r"\bnew\b.*\b200 MB/s", most(wide, "cold-copy").change)


def test_a_proof_ahead_and_a_quiet_hour_shorten_the_stop() -> None:
    (ahead,) = (each for each in helps(SLOW_LINK, "warm-copy", Verify.ALL) if "--verify changed" in each.change)
    assert ahead.downtime_seconds > 1e12 / 400e6 / 2
    busy = replace(SLOW_LINK, cluster=replace(SLOW_LINK.cluster, change_bytes_per_hour=50e9))
    assert any(QUIETER.search(each.change) for each in helps(busy, "warm-copy"))


def test_an_observed_copy_does_not_hide_what_a_faster_link_would_do() -> None:
    observed = replace(SLOW_LINK, copy=replace(SLOW_LINK.copy, observed_bytes_per_second=110e6))
    assert "10.0 Gbit/s" in most(observed, "cold-copy").change
    assert helps(observed, "by hand") == ()


def test_what_no_link_explains_no_link_helps() -> None:
    """The chain carries 112 MB/s and 30 were seen: nobody knows why, so no link is worth its price. A faster old disk
    shortens the reading of all files for their checksums, whatever holds up the copy."""
    held_up = replace(SLOW_LINK, copy=replace(SLOW_LINK.copy, observed_bytes_per_second=30e6))
    assert helps(held_up, "cold-copy") == ()
    quieter, disk = helps(held_up, "warm-copy")
    assert QUIETER.search(quieter.change)
    assert re.search(r"\bold\b.*\b800 MB/s", disk.change)
    assert disk.downtime_seconds < 10 < disk.duration_seconds < 1e12 / 400e6


def test_a_quieter_hour_writes_to_fewer_files() -> None:
    hot = replace(SLOW_LINK, cluster=replace(SLOW_LINK.cluster, written_bytes=200e9))
    quiet = next(each for each in helps(hot, "warm-copy") if QUIETER.search(each.change))
    assert quiet.downtime_seconds > 200


def test_what_nobody_needs_is_not_copied() -> None:
    """Of a terabyte over gigabit 200 GB are a fifth of the copy; a dump leaves them behind anyhow."""
    cluster = replace(SLOW_LINK.cluster, wasted_bytes=2e11, kept_wal_bytes=1e11, largest_folder_bytes=1e12)
    history = History(bloated=("public.a", "public.b", "public.c", "public.d", "public.e"))
    bloated = replace(SLOW_LINK, cluster=cluster, history=history)
    changes = {each.change: each for each in helps(bloated, "cold-copy")}
    full = next(
        saved
        for change, saved in changes.items()
        if re.search(r"VACUUM FULL .*public\.a, public\.b, public\.c \D*2\b.*\b186\.3 GiB ", change)
    )
    assert full.downtime_seconds == pytest.approx(2e11 / 117e6, rel=0.15)
    wal = next(saved for change, saved in changes.items() if re.search(r"93\.1 GiB .*WAL", change))
    assert wal.duration_seconds == pytest.approx(1e11 / 117e6, rel=0.15)
    assert not any("VACUUM" in each.change or "WAL" in each.change for each in helps(bloated, "dump-restore"))


def test_more_processors_help_who_loads_with_several() -> None:
    spec = replace(SLOW_LINK, link=LinkSpec(10e9), new=NewSpec(2e9, cores=2))
    first = most(spec, "parallel-dump-restore")
    assert (FOUR.findall(first.change), first.then_bound_by) == (["4"], "new cpu")
    assert not any(FOUR.search(each.change) for each in helps(spec, "dump-restore"))


@pytest.mark.parametrize("method", ["streaming-replica", "pg-upgrade-link"])
def test_a_faster_link_helps_whatever_crosses_it(method: str) -> None:
    spec = replace(SLOW_LINK, old=OldSpec(400e6, version=13), new=NewSpec(400e6, version=17))
    saved = next(each for each in helps(spec, method) if "10.0 Gbit/s" in each.change)
    assert saved.duration_seconds > 1000
