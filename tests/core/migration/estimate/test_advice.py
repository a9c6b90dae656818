"""What would help, in minutes."""

from dataclasses import replace

from core.migration.estimate import Spec
from core.migration.estimate.advice import helps
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec, NewSpec, OldSpec
from core.migration.model.move import Verify

SLOW_LINK = Spec(
    ClusterSpec(1e12, files=20_000, change_bytes_per_hour=1e9, checksummed_bytes=0.0),
    OldSpec(400e6),
    NewSpec(400e6),
    LinkSpec(1e9, 1),
    CopySpec(ssh_bytes_per_second=300e6),
)


def test_the_faster_link_helps_most_and_says_what_bounds_it_next() -> None:
    first, *others = helps(SLOW_LINK, "cold-copy")
    assert first.change == "a link of 10.0 Gbit/s"
    assert 1e12 / 117e6 - 1e12 / 300e6 > first.downtime_seconds > 0.8 * (1e12 / 117e6 - 1e12 / 280e6)
    assert first.then_bound_by == "old cpu"
    assert not any("streams" in each.change for each in others)  # one keeps up with this link
    assert [each.downtime_seconds for each in others] == sorted(
        (each.downtime_seconds for each in others), reverse=True
    )


def test_behind_the_link_comes_the_cipher_and_then_the_disks() -> None:
    fast = replace(SLOW_LINK, link=LinkSpec(100e9, 1))
    assert helps(fast, "cold-copy")[0].change in {"4 streams", "compression, where it shrinks to 1/2.5"}
    wide = replace(fast, link=LinkSpec(100e9, 8), new=NewSpec(100e6))
    assert "a new disk that writes 200 MB/s" in helps(wide, "cold-copy")[0].change


def test_a_proof_ahead_and_a_quiet_hour_shorten_the_stop() -> None:
    changes = {each.change: each for each in helps(SLOW_LINK, "warm-copy", Verify.ALL)}
    ahead = changes["verification ahead: --verify changed"]
    assert ahead.downtime_seconds > 1e12 / 400e6 / 2
    busy = replace(SLOW_LINK, cluster=replace(SLOW_LINK.cluster, change_bytes_per_hour=50e9))
    assert any("a fifth changes" in each.change for each in helps(busy, "warm-copy"))


def test_an_observed_copy_does_not_hide_what_a_faster_link_would_do() -> None:
    observed = replace(SLOW_LINK, copy=replace(SLOW_LINK.copy, observed_bytes_per_second=110e6))
    assert helps(observed, "cold-copy")[0].change == "a link of 10.0 Gbit/s"
    assert helps(observed, "dump-restore") == ()


def test_what_no_link_explains_no_link_helps() -> None:
    """The chain carries 112 MB/s and 30 were seen: nobody knows why, so no link is worth its price."""
    held_up = replace(SLOW_LINK, copy=replace(SLOW_LINK.copy, observed_bytes_per_second=30e6))
    assert helps(held_up, "cold-copy") == ()
    assert [each.change[:25] for each in helps(held_up, "warm-copy")] in ([], ["an hour in which a fifth "])


def test_a_quieter_hour_writes_to_fewer_files() -> None:
    hot = replace(SLOW_LINK, cluster=replace(SLOW_LINK.cluster, written_bytes=200e9))
    quiet = next(each for each in helps(hot, "warm-copy") if "a fifth changes" in each.change)
    assert quiet.downtime_seconds > 200
