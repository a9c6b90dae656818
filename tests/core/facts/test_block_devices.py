"""/proc/mdstat: recorded ones, and each state that the kernel knows."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.block_devices import parse_arrays
from core.pasted import plain

DATA = Path(__file__).parents[2] / "data" / "mdstat"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_recorded_arrays(name: str) -> None:
    arrays = parse_arrays(plain((DATA / name).read_text(encoding="utf-8")))
    expected = EXPECTED[name]["arrays"]
    found = [asdict(array) | {"devices": len(array.devices)} for array in arrays]
    assert [{field: array[field] for field in known} for array, known in zip(found, expected, strict=True)] == expected


def test_members_by_name() -> None:
    text = (DATA / "05-synology-reshape-f28490408615.txt").read_text(encoding="utf-8")
    assert parse_arrays(text)[0].devices == ("sdc5", "sda5", "sdb5")


def test_a_failed_member_makes_it_degraded() -> None:
    (array,) = parse_arrays(
        "Personalities : [raid1]\nmd0 : active raid1 sdb1[1](F) sda1[0]\n"
        "      976630464 blocks super 1.2 [2/1] [U_]\n      bitmap: 3/8 pages [12KB], 65536KB chunk\n\n"
        "unused devices: <none>\n"
    )
    assert array.degraded
    assert array.devices == ("sdb1", "sda1")


def test_a_rebuild_with_a_spare() -> None:
    (array,) = parse_arrays(
        "md127 : active raid5 sdd[4] sdc[2] sdb[1] sda[0] sde[5](S)\n"
        "      3221225472 blocks level 5, 64k chunk, algorithm 2 [4/3] [UUU_]\n"
        "      [==>..................]  recovery = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec\n"
    )
    assert (array.action, array.progress, array.finish_seconds) == ("recovery", 0.126, 7650.0)
    assert array.degraded


@pytest.mark.parametrize("word", ["DELAYED", "PENDING"])
def test_an_action_that_waits_has_no_progress(word: str) -> None:
    (array,) = parse_arrays(f"md1 : active raid1 a[0] b[1]\n      4 blocks [2/2] [UU]\n      \tresync={word}\n")
    assert (array.action, array.progress) == ("resync", None)


def test_inactive_and_read_only_and_raid0() -> None:
    arrays = parse_arrays(
        "Personalities : [raid0] [raid1]\nmd2 : inactive sdb1[1](S)\n      1046528 blocks super 1.2\n\n"
        "md1 : active (auto-read-only) raid1 sdc1[0] sdd1[1]\n      1046528 blocks super 1.2 [2/2] [UU]\n\n"
        "md0 : active raid0 sde[0] sdf[1]\n      2093056 blocks super 1.2 512k chunks\n\nunused devices: <none>\n"
    )
    assert [(array.name, array.state, array.level, array.degraded) for array in arrays] == [
        ("md2", "inactive", None, False),
        ("md1", "active", "raid1", False),
        ("md0", "active", "raid0", False),
    ]


@pytest.mark.parametrize("text", ["", "Personalities : \nunused devices: <none>\n"])
def test_no_arrays(text: str) -> None:
    assert parse_arrays(text) == ()


def test_other_text_is_refused() -> None:
    with pytest.raises(ParseError, match=r"mdstat: .*'hello'"):
        parse_arrays("hello\n")
