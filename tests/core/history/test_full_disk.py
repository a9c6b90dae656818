"""A disk that is full, really: a small file system of its own, with ballast that is thrown off one by one.

All of it happens in `filling.py`, which the test runs where that file system is mounted; it hands out what it saw.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.history.server import prepare
from core.history.store import Store
from tests import postgresql
from tests.core.history import filling, samples
from tests.postgresql import newest

_MOUNT = """
size=$1 && shift
while [ "$1" != -- ]; do
  mount -t tmpfs -o size="$size" none "$1" || exit
  shift
done
shift && exec "$@"
"""
_ALONE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, "sh"]


def _can_mount() -> bool:
    if sys.platform != "linux":
        return False
    return subprocess.run([*_ALONE, "1m", "/mnt", "--", "true"], capture_output=True, check=False).returncode == 0


MOUNTS = pytest.mark.skipif(not _can_mount(), reason="nobody may mount a file system of his own here")


def _filled(tmp_path: Path, times: int, *works: str) -> list[filling.Seen]:
    """What was seen at each of the works, which have a disk of their own each."""
    disks = [tmp_path / work for work in works]
    for disk in disks:
        disk.mkdir()
    room = 3_000_000 + filling.RESERVE + times * filling.BALLAST
    command = [*_ALONE, room, *disks, "--", sys.executable, "-m", filling.__name__, times, *disks]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    return [filling.Seen(**line) for line in map(json.loads, done.stdout.splitlines())]


@pytest.mark.slow
@MOUNTS
@pytest.mark.parametrize("times", [3, pytest.param(10, marks=pytest.mark.long)])
def test_while_it_records(tmp_path: Path, times: int) -> None:
    """filling.py itself holds, after each time, that the history is whole and has all that was recorded."""
    seen = _filled(tmp_path, times, "record")
    assert len(seen) == times
    for each in seen:
        assert "cannot be written: the disk is full" in each.message
        assert each.hint == "free some space; everything that was recorded is kept"
    assert seen[0].recorded > 0
    assert sum(each.recorded for each in seen) > times


@pytest.mark.skipif(newest() is None or os.geteuid() != 0, reason="it takes root to mount a disk for another user")
@pytest.mark.long
def test_while_it_records_on_a_server() -> None:
    times = 10
    programs = newest()
    assert programs is not None
    size = 60_000_000 + times * filling.BALLAST
    with postgresql.short_folder() as folder, postgresql.on_a_small_disk(folder, programs, size) as (server, disk):
        place = server.create("history")
        prepare(place)
        with Store.open(place) as store:
            samples.set_up(store)
        for number in range(times):
            (disk / f"ballast {number}").write_bytes(bytes(filling.BALLAST))
        filling.fill(disk, leave=2_000_000)
        (disk / "ballast").rename(disk / "reserve")
        seen = list(filling.again_and_again(place, disk, times))
    assert len(seen) == times
    for each in seen:
        assert "cannot be written: the disk of its server is full" in each.message
        assert each.hint == "free some space; everything that was recorded is kept"
    assert sum(each.recorded for each in seen) > times


@pytest.mark.slow
@MOUNTS
def test_a_file_that_cannot_be_made(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The history is as it was, and nothing half made lies about: filling.py compares both."""
    said = {
        "upgrade": "could not be copied before its upgrade: the disk is full .*SQLite says: database or disk is full",
        "backup": "could not be copied to .*: the disk is full",
        "restore": "could not be restored|the disk is full",
        "rescue": "could not be rescued|the disk is full",
        "begin": "the disk is full",
    }
    seen = _filled(tmp_path, 1, *said)
    assert [each.work for each in seen] == list(said)
    for each in seen:
        with subtests.test(each.work):
            assert re.search(said[each.work], each.message)
            assert each.hint
