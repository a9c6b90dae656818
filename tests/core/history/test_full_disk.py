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

_MOUNT = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'
_ALONE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, "sh"]


def _can_mount() -> bool:
    if sys.platform != "linux":
        return False
    return subprocess.run([*_ALONE, "1m", "/mnt", "true"], capture_output=True, check=False).returncode == 0


MOUNTS = pytest.mark.skipif(not _can_mount(), reason="nobody may mount a file system of his own here")


def _filled(tmp_path: Path, work: str, times: int) -> list[filling.Seen]:
    disk = tmp_path / "disk"
    disk.mkdir(exist_ok=True)
    room = 3_000_000 + filling.RESERVE + times * filling.BALLAST
    command = [*_ALONE, str(room), str(disk), sys.executable, "-m", filling.__name__, work, str(disk), str(times)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, env={**os.environ}, check=False)
    assert done.returncode == 0, done.stderr
    return [filling.Seen(**line) for line in map(json.loads, done.stdout.splitlines())]


@MOUNTS
@pytest.mark.parametrize("times", [3, pytest.param(10, marks=pytest.mark.long)])
def test_while_it_records(tmp_path: Path, times: int) -> None:
    """filling.py itself holds, after each time, that the history is whole and has all that was recorded."""
    seen = _filled(tmp_path, "record", times)
    assert len(seen) == times
    for each in seen:
        assert "cannot be written: the disk is full" in each.message
        assert each.hint == "free some space; what was recorded is kept"
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
        assert each.hint == "free some space; what was recorded is kept"
    assert sum(each.recorded for each in seen) > times


@MOUNTS
@pytest.mark.parametrize(
    ("work", "said"),
    [
        ("upgrade", "could not be copied before its upgrade: database or disk is full"),
        ("backup", "could not be copied to .*: database or disk is full"),
        ("restore", "could not be put back|the disk is full"),
        ("rescue", "could not be rescued|the disk is full"),
        ("begin", "the disk is full"),
    ],
)
def test_a_file_that_cannot_be_made(tmp_path: Path, work: str, said: str) -> None:
    """The history is as it was, and nothing half made lies about: filling.py compares both."""
    (seen,) = _filled(tmp_path, work, 1)
    assert re.search(said, seen.message)
    assert seen.hint
