"""A streaming replica, and pg_upgrade behind a copy."""

from core.migration.estimate import Spec, estimate, ruled_out
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec, NewSpec, OldSpec
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Span

MINUTE = 60.0


def base_copy(spec: Spec) -> Span:
    replica = estimate(spec).method("streaming-replica")
    assert replica is not None
    return next(each.seconds for each in replica.stages if each.name == "base copy")


def fast(streams: int = 1, version: float | None = None, files: int = 25_000) -> Spec:
    return Spec(
        ClusterSpec(2.0**40, files=files),
        OldSpec(5e9, 64, version),
        NewSpec(5e9, 64),
        LinkSpec(75e9, streams),
        CopySpec(compression_ratio=2.0, ssh_bytes_per_second=300e6),
    )


def test_one_process_and_one_stream_whatever_the_copy_takes() -> None:
    """1 TiB on NVMe and 75 Gbit/s: 300 to 500 MiB/s, 35 to 58 minutes."""
    found = base_copy(fast())
    assert 35 * MINUTE <= found.likely <= 58 * MINUTE
    assert base_copy(fast(streams=8)) == found


def test_since_18_it_is_faster_and_many_files_are_slower() -> None:
    assert base_copy(fast(version=18)).likely < 0.75 * base_copy(fast(version=17)).likely
    assert base_copy(fast(files=5_000_000)).likely > 1.3 * base_copy(fast()).likely


def test_another_major_version_rules_out_files_alone_and_adds_pg_upgrade() -> None:
    made = estimate(Spec(ClusterSpec(1.2e12, files=40_000), OldSpec(2e8, version=11), NewSpec(2e8, version=17)))
    reasons = {each.method: each.ruled_out for each in made.methods}
    assert all("11" in reasons[name] for name in ("cold-copy", "warm-copy", "streaming-replica"))
    assert not any(reasons[name] for name in reasons if "dump" in name or "upgrade" in name)
    upgrade = {
        mode: next(each.seconds for each in method.stages if each.name == "pg_upgrade").likely
        for mode in ("copy", "clone", "link")
        if (method := made.method(f"pg-upgrade-{mode}")) is not None
    }
    assert upgrade["link"] < MINUTE  # 1.2 TB by links: less than a minute, by copies more than four hours
    assert upgrade["link"] <= upgrade["clone"] < upgrade["copy"]
    assert upgrade["copy"] > 2 * 3600
    same = estimate(Spec(ClusterSpec(1e12), OldSpec(version=17), NewSpec(version=17)))
    assert [each.method for each in same.methods if "upgrade" in each.method or each.ruled_out] == []


def test_what_a_check_rules_out_bears_its_reason() -> None:
    other = CheckResult(
        "architecture", "same architecture", Status.BLOCKER, "x86_64", "aarch64", "x86_64 is not aarch64"
    )
    mended = CheckResult("space", "enough space", Status.BLOCKER, "1", "0", "no room")
    made = ruled_out(estimate(Spec(ClusterSpec(1e12))), [mended, other])
    reasons = {each.method: each.ruled_out for each in made.methods}
    assert reasons["warm-copy"] == "x86_64 is not aarch64"
    assert reasons["dump-restore"] == ""
    assert made.advised == ""
    assert ruled_out(made, [mended]) is made
