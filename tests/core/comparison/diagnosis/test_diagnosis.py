"""Diagnosis: each finding with a storage that shows it and one that does not, by figures of others where there are."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.benchmarks.bonnie import parse_bonnie
from core.benchmarks.model import Mark, MarkKind, Metrics, Outcome, Parameter, Repetition, Run, Volume, Workload
from core.comparison.diagnosis import CATALOGUE, diagnose
from core.comparison.model import Diagnosis, Finding
from core.facts.block_devices import parse_arrays
from core.facts.model import Array, BlockDevice, Facts, FileSystem, NetworkLink
from core.sides import Side

DATA = Path(__file__).parents[3] / "data"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DISK = BlockDevice(
    "sda", "disk", 10**11, rotational=True, scheduler="mq-deadline", read_ahead_bytes=131072, model="ST9146852SS"
)
SYSTEM = FileSystem("/srv", "/dev/sda", "ext4", ("rw", "relatime"), 10**11, 5 * 10**10)
FACTS = Facts("old", NOW, 0.1, 2, block_devices=(DISK,), file_systems=(SYSTEM,))


def a_run(
    tool: str,
    metrics: Metrics,
    *,
    title: str = "",
    mount_point: str = "/srv",
    cached: bool = False,
    **parameters: Parameter,
) -> Run:
    headline = next(iter(metrics))
    return Run(
        move="m",
        volume=Volume(Side.OLD, "old", mount_point, mount_point),
        workload=Workload(title or tool, title or tool, tool, headline, dict(parameters)),
        started_at=NOW,
        outcome=Outcome.DONE,
        repetitions=(Repetition(1, NOW, 1.0, Outcome.DONE, metrics, tool, "", cached=cached),),
        id=7,
    )


def bonnie(name: str) -> Run:
    """The bonnie++ figures of Smith's article."""
    (result,) = parse_bonnie((DATA / "bonnie" / name).read_text(encoding="utf-8")).results
    return a_run("bonnie", result.metrics, title="bonnie++")


def found(name: str, facts: Facts, *runs: Run) -> Finding | None:
    return next((finding for finding in diagnose(facts, "/srv", runs).findings if finding.name == name), None)


def expect(name: str, facts: Facts, *runs: Run) -> Finding:
    finding = found(name, facts, *runs)
    assert finding is not None
    assert finding.evidence
    assert finding.advice
    return finding


def on(*devices: BlockDevice, **system: Any) -> Facts:
    """Facts where the file system lies on the first device."""
    changed = replace(SYSTEM, device=f"/dev/{devices[0].name}", **system)
    return replace(FACTS, block_devices=devices, file_systems=(changed,))


SLOW, FAST = bonnie("v1.03-text-csv-slowserver.txt"), bonnie("v1.03-text-csv-thud.txt")


def test_writes_far_under_reads() -> None:
    """Smith: 57.3 MB/s read and only 20.8 MB/s written, "less than 1/2 of what a single disk should get"."""
    finding = expect("writes-far-under-reads", FACTS, SLOW)
    assert finding.evidence == (
        "Sequential writes reach 21.3 MB/s (bonnie++), sequential reads 58.7 MB/s (bonnie++). The ratio is 0.363 ×.",
    )
    assert finding.run_ids == (7,)
    assert found("writes-far-under-reads", FACTS, FAST) is None


def test_a_write_cache_that_is_off_is_evidence_and_has_a_command() -> None:
    through = expect("writes-far-under-reads", on(replace(DISK, write_cache="write through")), SLOW)
    assert any("The write cache of sda is off" in text for text in through.evidence)
    assert "Turn on the disk's write cache: `hdparm -W1 /dev/sda`." in through.advice
    back = expect("writes-far-under-reads", on(replace(DISK, write_cache="write back")), SLOW)
    assert not any("sda" in text for text in back.evidence)


def test_reads_from_memory_and_unlike_tests_say_nothing_of_writes() -> None:
    cached = a_run("dd", {"write_bytes_per_second": 80e6, "read_bytes_per_second": 900e6}, cached=True)
    large = a_run("fio", {"read_bytes_per_second": 900e6}, pattern="read", direct=True, block_bytes=1048576)
    small = a_run("fio", {"write_bytes_per_second": 80e6}, pattern="write", direct=True, block_bytes=8192)
    log = a_run("fio", {"write_bytes_per_second": 1e6}, pattern="write", direct=False, sync="fdatasync")
    assert found("writes-far-under-reads", FACTS, cached, large, small, log) is None
    elsewhere = replace(SLOW, volume=replace(SLOW.volume, mount_point="/other"))
    assert found("writes-far-under-reads", FACTS, elsewhere) is None
    for kind in (MarkKind.DISTURBED, MarkKind.CACHE):
        marked = replace(SLOW.repetitions[0], marks=(Mark(kind, "others wrote 3 GB"),))
        assert found("writes-far-under-reads", FACTS, replace(SLOW, repetitions=(marked,))) is None
    failed = replace(SLOW, repetitions=tuple(replace(one, outcome=Outcome.FAILED) for one in SLOW.repetitions))
    assert found("writes-far-under-reads", FACTS, failed) is None


MIRROR = Array("md0", "raid1", "active", ("sda1", "sdb1"), False, raid_devices=2)
ON_MIRROR = replace(
    on(
        BlockDevice("md0", "raid1", 10**11, ("sda1", "sdb1"), True),
        BlockDevice("sda1", "part", 10**11, ("sda",), True),
        BlockDevice("sdb1", "part", 10**11, ("sdb",), True),
        DISK,
        replace(DISK, name="sdb"),
    ),
    arrays=(MIRROR,),
)


def test_a_mirror_that_reads_like_one_disk() -> None:
    """Smith's slow server is a RAID-1 pair of 10k SCSI disks: "only one disk worth of transfers"."""
    finding = expect("mirror-reads-like-one", ON_MIRROR, SLOW)
    assert finding.evidence[0] == "md0 is a RAID-1 of 2 rotating disks (sda1, sdb1)."
    assert "58.7 MB/s (bonnie++)" in finding.evidence[1]


def test_a_mirror_that_may_read_as_it_does() -> None:
    faster = a_run("bonnie", {"read_bytes_per_second": 320e6})
    assert found("mirror-reads-like-one", ON_MIRROR, faster) is None
    assert found("mirror-reads-like-one", ON_MIRROR) is None
    assert found("mirror-reads-like-one", replace(ON_MIRROR, arrays=(replace(MIRROR, degraded=True),)), SLOW) is None
    assert found("mirror-reads-like-one", FACTS, SLOW) is None
    solid = tuple(replace(device, rotational=False) for device in ON_MIRROR.block_devices)
    assert found("mirror-reads-like-one", replace(ON_MIRROR, block_devices=solid), SLOW) is None
    unknown = tuple(replace(device, rotational=None) for device in ON_MIRROR.block_devices)
    assert found("mirror-reads-like-one", replace(ON_MIRROR, block_devices=unknown), SLOW) is None


PARITY = Array(
    "md0",
    "raid5",
    "active",
    ("sda",),
    False,
    chunk_bytes=65536,
    raid_devices=7,
    stripe_cache_pages=256,
    write_threads=0,
)
ON_PARITY = replace(
    on(BlockDevice("md0", "raid5", 10**11, ("sda",), False), replace(DISK, rotational=False)), arrays=(PARITY,)
)


def random_writes(thread: float) -> Run:
    """Hoeppner's 59 228 random writes a second on seven SSDs in RAID-5."""
    return a_run("fio", {"write_iops": 59228.0, "array_thread_cores": thread}, pattern="randwrite", direct=True)


def test_a_saturated_write_thread() -> None:
    finding = expect("write-thread", ON_PARITY, random_writes(0.97))
    assert finding.evidence == (
        "md0 is raid5, for which one kernel thread does all writes.",
        "That thread kept 0.97 CPU cores busy (fio).",
        "Throughput at that time: 59\u202f228 IOPS (fio).",
        "group_thread_cnt is 0.",
        "stripe_cache_size is 256.",
    )
    assert finding.advice[:2] == (
        "Give the array more write threads: `echo 4 > /sys/block/md0/md/group_thread_cnt`.",
        "Enlarge its stripe cache: `echo 4096 > /sys/block/md0/md/stripe_cache_size`.",
    )


def test_a_write_thread_with_room() -> None:
    """Hoeppner saw the thread at 35 % of a core: nothing to claim."""
    assert found("write-thread", ON_PARITY, random_writes(0.35)) is None
    striped = replace(PARITY, level="raid0")
    assert found("write-thread", replace(ON_PARITY, arrays=(striped,)), random_writes(0.97)) is None


STRIPED = parse_arrays((DATA / "mdstat/raid10-near-resync.txt").read_text(encoding="utf-8"))


def on_striped(kind: str, unit: int | None, width: int | None, block: int | None = 4096) -> Facts:
    """Bleything's eight disks in RAID-10 with chunks of 64 KiB, as his mdstat has them."""
    device = BlockDevice("md0", "raid10", 570917376 * 1024, ("sda",), True)
    facts = on(device, DISK, kind=kind, stripe_unit_bytes=unit, stripe_width_bytes=width, block_bytes=block)
    return replace(facts, arrays=STRIPED)


def test_stripes_that_the_file_system_does_not_know() -> None:
    finding = expect("stripes", on_striped("ext4", 0, 0))
    assert finding.evidence == (
        "md0 has chunks of 64.0 KiB on 4 data disks, so its stripes have 256.0 KiB.",
        "/srv (ext4) was created with stride 0 and stripe width 0.",
    )
    assert any("`tune2fs -E stride=16,stripe_width=64 /dev/md0`" in text for text in finding.advice)
    wrong = expect("stripes", on_striped("xfs", 32768, 65536))
    assert wrong.evidence[1] == "/srv (xfs) was created with sunit 32.0 KiB and swidth 64.0 KiB."
    assert wrong.advice[:2] == (
        "Mount it with the options sunit=128,swidth=512. XFS stores these values.",
        "Or create the file system again: `mkfs.xfs -d su=64k,sw=4 /dev/md0`.",
    )
    assert "in blocks" in expect("stripes", on_striped("ext4", 0, 0, None)).advice[0]


@pytest.mark.parametrize(
    "facts",
    [
        on_striped("xfs", 65536, 262144),
        on_striped("ext4", None, None),
        on_striped("btrfs", 0, 0),
        on(DISK, stripe_unit_bytes=0, stripe_width_bytes=0),
        replace(on_striped("xfs", 0, 0), arrays=(replace(STRIPED[0], chunk_bytes=None),)),
        replace(on_striped("xfs", 0, 0), arrays=(replace(STRIPED[0], raid_devices=7),)),
    ],
)
def test_stripes_that_are_known_or_none(facts: Facts) -> None:
    assert found("stripes", facts) is None


def test_times_of_access() -> None:
    finding = expect("access-times", on(DISK, options=("rw", "stripe=64")))
    assert finding.evidence == (
        "/srv (ext4) is mounted with rw,stripe=64. Without noatime or relatime, each read is also a write.",
    )
    assert "mount -o remount,noatime /srv" in finding.advice[0]


@pytest.mark.parametrize("options", [("rw", "relatime"), ("rw", "noatime"), ("ro",), ("rw", "lazytime")])
def test_times_of_access_that_cost_nothing(options: tuple[str, ...]) -> None:
    assert found("access-times", on(DISK, options=options)) is None
    assert found("access-times", on(DISK, options=("rw",), kind="nfs4")) is None


def test_data_in_the_journal() -> None:
    facts = on(DISK, options=("rw", "relatime", "data=journal"))
    assert "Sequential writes reach 21.3 MB/s (bonnie++)." in expect("data-journal", facts, SLOW).evidence
    assert len(expect("data-journal", facts).evidence) == 1
    assert found("data-journal", on(DISK, options=("rw", "data=ordered")), SLOW) is None
    assert found("data-journal", on(DISK, options=("rw", "data=journal"), kind="xfs"), SLOW) is None


def test_barriers() -> None:
    rate = a_run("sysbench", {"fsyncs_per_second": 8118.38})
    finding = expect("barriers", on(DISK, options=("rw", "relatime", "barrier=0")), rate)
    assert finding.evidence[1] == "fsync rate: 8\u202f118 /s (sysbench). The disks did not have to store the data."
    assert found("barriers", on(DISK, options=("rw", "relatime", "barrier=1")), rate) is None


SSD = BlockDevice("sdc", "disk", 10**11, rotational=False, scheduler="bfq", model="Samsung SSD 870")


def test_schedulers() -> None:
    random = a_run("fio", {"read_iops": 900.0}, pattern="randread", direct=True)
    finding = expect("scheduler", on(SSD), random)
    assert finding.evidence == (
        "sdc (Samsung SSD 870), a non-rotating disk, has the I/O scheduler bfq.",
        "Measured with this scheduler: 900 IOPS (fio).",
    )
    assert finding.advice[0] == "Set the scheduler to none: `echo none > /sys/block/sdc/queue/scheduler`."
    spinning = expect("scheduler", on(replace(DISK, scheduler="none")))
    assert "`echo mq-deadline > /sys/block/sda/queue/scheduler`" in spinning.advice[0]


@pytest.mark.parametrize(
    "disk",
    [
        DISK,
        replace(SSD, scheduler="none"),
        replace(SSD, scheduler=None),
        replace(SSD, rotational=None),
        replace(DISK, scheduler="none", model="PERC H710P"),
        replace(DISK, scheduler="none", model=None),
        BlockDevice("vda", "disk", 1, rotational=True, scheduler="none", model="Virtio"),
        BlockDevice("loop3", "loop", 1, rotational=True, scheduler="none"),
    ],
)
def test_schedulers_that_fit_or_are_not_known(disk: BlockDevice) -> None:
    assert found("scheduler", on(disk)) is None


def buffered(rate: float) -> Run:
    return a_run("dd", {"read_bytes_per_second": rate, "write_bytes_per_second": rate})


def direct(rate: float) -> Run:
    return a_run("fio", {"read_bytes_per_second": rate}, pattern="read", direct=True, block_bytes=1048576)


def test_a_small_read_ahead() -> None:
    striped = on_striped("ext4", 65536, 262144)
    devices = (replace(striped.block_devices[0], read_ahead_bytes=131072), *striped.block_devices[1:])
    striped = replace(striped, block_devices=devices)
    finding = expect("read-ahead", striped, buffered(320465 * 1024.0))
    assert finding.evidence == (
        "The read-ahead of md0 is 128.0 KiB, less than one stripe of md0 (256.0 KiB).",
        "Read through the page cache: 328 MB/s (dd).",
    )
    assert finding.advice[0] == "Set the read-ahead to 4.0 MiB: `blockdev --setra 8192 /dev/md0`."
    single = expect("read-ahead", FACTS, buffered(90e6), direct(180e6))
    assert single.evidence[1:] == (
        "Read through the page cache: 90.0 MB/s (dd).",
        "Read with direct I/O: 180 MB/s (fio).",
    )
    assert found("read-ahead", striped, buffered(320e6), direct(330e6)) is None
    assert found("read-ahead", striped) is None


def test_a_read_ahead_that_is_enough() -> None:
    assert found("read-ahead", FACTS, buffered(170e6), direct(180e6)) is None
    assert found("read-ahead", FACTS, buffered(90e6)) is None
    assert found("read-ahead", on(replace(DISK, read_ahead_bytes=None)), buffered(90e6), direct(180e6)) is None
    assert found("read-ahead", on(replace(DISK, read_ahead_bytes=2**22)), buffered(90e6), direct(180e6)) is None


def on_partition(start: int, block: int | None) -> Facts:
    part = BlockDevice("sda1", "part", 10**11, ("sda",), True, start_bytes=start)
    return on(part, replace(DISK, physical_block_bytes=block))


def test_partitions() -> None:
    finding = expect("partition", on_partition(63 * 512, 4096))
    assert finding.evidence == (
        (
            "sda1 starts at byte 32\u202f256 of sda. "
            "The disk has physical blocks of 4.0 KiB, so the start is off by 3.5 KiB."
        ),
    )
    assert found("partition", on_partition(2**20, 4096)) is None
    assert found("partition", on_partition(63 * 512, 512)) is None
    assert found("partition", on_partition(63 * 512, None)) is None


def layout(rate: float) -> tuple[Run, Run]:
    laid_out = {"write_iops": 7118.0, "layout_bytes": 25.0 * 2**30, "layout_seconds": 25 * 2**30 / rate}
    return (
        a_run("fio", laid_out, pattern="randwrite", direct=True),
        a_run("fio", {"write_bytes_per_second": 200e6}, pattern="write", direct=True),
    )


def test_layout() -> None:
    """Five files of 5 GiB on ext3 took nearly a minute each; on ext4 they were there at once."""
    finding = expect("layout", on(DISK, kind="ext3"), *layout(85e6))
    assert finding.evidence == (
        "Creating test files of 25.0 GiB took 5 min 16 s, a rate of 85.0 MB/s. The disks write 200 MB/s (fio).",
        "/srv is ext3, which has no extents.",
    )
    assert finding.advice[0].startswith("Create the file system again as ext4 or XFS")
    without = expect("layout", on(DISK, features=("has_journal", "dir_index")), *layout(85e6))
    assert without.evidence[1] == "/srv is ext4 without the feature extent."
    assert found("layout", on(DISK, kind="ext3"), *layout(150e6)) is None
    assert found("layout", on(DISK, kind="ext3"), layout(85e6)[1]) is None
    short = a_run("fio", {"layout_bytes": 16e6, "layout_seconds": 0.7}, pattern="randread", direct=True)
    assert found("layout", on(DISK, kind="ext3"), short, layout(85e6)[1]) is None
    assert found("layout", on(DISK, kind="ext3"), layout(85e6)[0]) is None


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("ext4", "ext4 creates large files quickly"),
        ("xfs", "xfs creates large files quickly"),
        ("zfs", "zfs is a copy-on-write file system: give it more free space"),
    ],
)
def test_the_advice_knows_the_file_system(kind: str, advice: str) -> None:
    slow = expect("layout", on(DISK, kind=kind), *layout(85e6))
    assert slow.evidence[1] == f"/srv is {kind}, 50.0 % full."
    assert advice in slow.advice[0]
    assert not any("Create the volume as" in each for each in slow.advice)
    aged = {"initial_transactions_per_second": 95.0, "final_transactions_per_second": 45.0, "decrease_fraction": 0.5}
    means = {"ext4": "filefrag", "xfs": "xfs_db -r -c frag /dev/sda", "zfs": "zpool list -v"}
    ageing = expect("ageing", on(DISK, kind=kind), a_run("pgbench", aged))
    assert ageing.advice[1].endswith(f"{means[kind]}`.")
    assert ("noatime" in ageing.advice[2]) == (kind != "zfs")


@pytest.mark.parametrize(
    ("name", "initial", "final", "ages"),
    [
        ("HAMMER", 95.0, 45.0, True),
        ("UFS", 70.0, 55.0, False),
        ("HAMMER, sysctl", 94.0, 46.0, True),
        ("JFS", 79.0, 61.0, False),
        ("ext3", 75.0, 93.0, False),
        ("XFS", 114.0, 68.0, True),
    ],
)
def test_ageing_file_systems(name: str, initial: float, final: float, ages: bool) -> None:
    """Lentfer's six."""
    metrics = {
        "initial_transactions_per_second": initial,
        "final_transactions_per_second": final,
        "decrease_fraction": 1 - final / initial,
    }
    finding = found("ageing", FACTS, a_run("pgbench", metrics, title=name))
    assert (finding is not None) == ages
    if finding is not None:
        assert finding.evidence[1] == f"They fell from {initial:g} to {final:g} transactions/s."


def test_a_processor_that_bounds() -> None:
    def dd(cores: float, jobs: int = 1) -> Run:
        return a_run("dd", {"write_bytes_per_second": 2e9, "cpu_cores": cores}, jobs=jobs)

    finding = expect("processor", FACTS, dd(0.98))
    assert finding.evidence == ("dd kept 0.98 CPU cores busy (dd).", "Measured at that time: 2.00 GB/s (dd).")
    # Smith's dd took 0.127 cores
    assert found("processor", FACTS, dd(0.127)) is None
    assert found("processor", FACTS, dd(0.98, jobs=5)) is None


@pytest.mark.parametrize(
    ("state", "speed", "addresses", "slow"),
    [
        ("up", 100_000_000, ("10.0.0.35/24",), True),
        ("up", 1_000_000_000, ("10.0.0.35/24",), False),
        ("up", None, ("10.0.0.35/24",), False),
        ("down", 100_000_000, ("10.0.0.35/24",), False),
        ("up", 100_000_000, (), False),
    ],
)
def test_links(state: str, speed: int | None, addresses: tuple[str, ...], slow: bool) -> None:
    facts = replace(FACTS, network_links=(NetworkLink("eth0", state, speed, 1500, addresses),))
    finding = found("link", facts, SLOW)
    assert (finding is not None) == slow
    if finding is not None:
        assert finding.evidence == (
            "eth0 (10.0.0.35/24) runs at 100 Mbit/s, which carries at most 12.5 MB/s.",
            "The volume reads 58.7 MB/s (bonnie++).",
        )


def test_unknown_facts_are_silent() -> None:
    everything = (SLOW, random_writes(0.97), *layout(85e6), buffered(90e6), direct(180e6))
    nothing = Facts("old", NOW, 0.1, 2)
    assert {finding.name for finding in diagnose(nothing, "/srv", everything).findings} == {"writes-far-under-reads"}
    assert diagnose(nothing, "/srv") == Diagnosis("old", "/srv", NOW, 0, ())


def test_every_finding_is_declared_once_and_tested() -> None:
    names = [declaration.name for declaration in CATALOGUE]
    assert len(set(names)) == len(names)
    text = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in names if f'expect("{name}"' not in text and f'found("{name}"' not in text] == []


def test_a_volume_on_the_device_mapper() -> None:
    mapped = BlockDevice("dm-0", "lvm", 10**11, ("sda",), True, read_ahead_bytes=131072, mapper="vg-data")
    facts = on(mapped, DISK)
    facts = replace(facts, file_systems=(replace(SYSTEM, device="/dev/mapper/vg-data"),))
    assert (
        expect("read-ahead", facts, buffered(90e6), direct(180e6)).evidence[0] == "The read-ahead of dm-0 is 128.0 KiB."
    )


def test_of_two_runs_of_a_workload_the_newer_counts() -> None:
    later = replace(buffered(50e6), started_at=NOW.replace(year=2027), id=8)
    (finding,) = diagnose(FACTS, "/srv", [later, buffered(90e6), direct(180e6)]).findings
    assert finding.evidence[1] == "Read through the page cache: 50.0 MB/s (dd)."
    assert finding.run_ids == (8, 7)
