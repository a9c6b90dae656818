"""What is known of a volume's device before the start: who uses it, and which array below it is being rebuilt."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.benchmarks.traffic import fastest_read
from core.benchmarks.volume_device import Situation, Traffic, counters, parse_situation, rebuilding
from core.facts.block_devices import parse_arrays
from core.facts.model import BlockDevice, Facts

MDSTAT = Path(__file__).resolve().parents[2] / "data" / "mdstat"
FACTS = Facts(
    "db01",
    datetime(2026, 1, 1, tzinfo=UTC),
    0.0,
    1,
    block_devices=tuple(
        device
        for letter in "abcdefgh"
        for device in (
            BlockDevice(f"sd{letter}", "disk", 146 * 10**9, rotational=True, model="ST9146852SS"),
            BlockDevice(f"sd{letter}1", "part", 146 * 10**9, parents=(f"sd{letter}",)),
            BlockDevice(f"sd{letter}2", "part", 146 * 10**9, parents=(f"sd{letter}",)),
        )
    ),
)
BEFORE = "100 0 2000 10 200 0 4000 20 0 30 40"
SEED = """Personalities : [raid10]
md0 : active raid10 sdh1[7] sdg1[6] sdf1[5] sde1[4] sdd1[3] sdc1[2] sdb1[1] sda1[0]
      570917376 blocks 64K chunks 2 near-copies [8/8] [UUUUUUUU]
      [==>..................]  resync = 12.5% (71771392/570917376) finish=41.5min speed=200000K/sec

unused devices: <none>
"""


def look(*below: str, after: str = BEFORE, mdstat: str = "") -> str:
    lines = [*(f"below {name}" for name in below), f"device /sys/devices/virtual/block/{below[0]}"]
    return "\n".join([*lines, f"before {BEFORE}", f"after {after}", *(["mdstat", mdstat] if mdstat else [])])


def test_the_counters_of_old_and_new_kernels() -> None:
    """Of 11, 15 and 17 numbers; sectors of 512 bytes, and flushes where they are counted."""
    assert counters(BEFORE) == Traffic(2000 * 512, 4000 * 512, None)
    assert counters(f"{BEFORE} 0 0 0 0").flushes is None
    assert counters(f"{BEFORE} 0 0 0 0 77 5").flushes == 77


def test_a_resync_below_the_volume_is_told_with_its_end() -> None:
    found = parse_situation(look("md0", *(f"sd{letter}1" for letter in "abcdefgh"), mdstat=SEED), FACTS)
    assert [array.name for array in found.rebuilt] == ["md0"]
    assert re.match(r"md0 \(raid10\) .*\b12\.5 % .*\b41 min 30 s .*\bdb01\b", found.resync("db01") or "")


def test_a_resync_on_the_same_disks_counts_and_one_on_others_does_not() -> None:
    same_disks = parse_situation(look("sda2", "sda", mdstat=SEED), FACTS)
    assert [array.name for array in same_disks.rebuilt] == ["md0"]
    assert parse_situation(look("nvme0n1", mdstat=SEED), FACTS).rebuilt == ()
    quiet = SEED.replace(
        "      [==>..................]  resync = 12.5% (71771392/570917376) finish=41.5min speed=200000K/sec\n", ""
    )
    assert parse_situation(look("md0", mdstat=quiet), FACTS).rebuilt == ()


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ("raid10-near-resync.txt", "resyncs, 12.5 % done"),
        ("05-synology-reshape-f28490408615.txt", "is in reshape"),
        ("08-mail-wrapped-lines-f23111203891.txt", "% done"),
    ],
)
def test_rebuilding_arrays_of_real_machines(sample: str, text: str) -> None:
    busy = [array for array in parse_arrays((MDSTAT / sample).read_text()) if array.action]
    assert busy
    assert all(text in rebuilding(array) for array in busy)


def test_a_delayed_resync_has_no_end_yet() -> None:
    delayed = SEED.replace(
        "[==>..................]  resync = 12.5% (71771392/570917376) finish=41.5min speed=200000K/sec",
        "  resync=DELAYED",
    )
    (array,) = parse_situation(look("md0", mdstat=delayed), FACTS).rebuilt
    assert rebuilding(array).startswith("md0 (raid10) ")
    assert "%" not in rebuilding(array)


def test_others_on_the_disk_are_told_with_their_rates() -> None:
    busy = parse_situation(look("sda1", "sda", after="100 0 26000 10 200 0 44000 20 0 30 40"), FACTS)
    (warning,) = busy.warnings("db01", "/srv/pg")
    assert re.search(r"/srv/pg .*\bdb01\b.*: sda1 \D*12\.3 MB/s \D*20\.5 MB/s$", warning)
    assert parse_situation(look("sda1"), FACTS).warnings("db01", "/srv/pg") == []


def test_a_volume_without_a_device_is_not_watched() -> None:
    """Overlay, nfs, btrfs: the look prints nothing of a device."""
    assert parse_situation("", FACTS) == Situation()
    assert parse_situation(f"mdstat\n{SEED}", FACTS).rebuilt == ()


def test_what_disks_can_read_at_the_most() -> None:
    array = parse_situation(look("md0", *(f"sd{letter}1" for letter in "abcdefgh")), FACTS)
    assert fastest_read(FACTS, array) == 8 * 600e6
    assert fastest_read(FACTS, parse_situation(look("sda1"), FACTS)) == 600e6
    behind = tuple(replace(device, model="PERC H800") for device in FACTS.block_devices)
    assert fastest_read(replace(FACTS, block_devices=behind), array) is None
    assert fastest_read(FACTS, Situation()) is None
