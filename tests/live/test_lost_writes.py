"""A disk of new's that loses writes and tells nobody: full below a file system with room, as thin ones are."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.servers.shell import call
from tests.core.migration.running import run
from tests.lab.machine import lab_unavailable

pytestmark = pytest.mark.lab


def shell(text: str) -> str:
    return subprocess.run(["sh", "-ec", text], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def thin(tmp_path: Path) -> Iterator[Path]:
    """An empty ext4 of 60 MB on a disk of 20."""
    reason = lab_unavailable()
    if reason is not None:
        pytest.skip(reason)
    behind, folder = tmp_path / "behind", tmp_path / "thin"
    behind.mkdir()
    folder.mkdir()
    shell(f"mount -t tmpfs -o size=20m thin '{behind}'; truncate -s 60M '{behind}/disk'")
    shell(f"mkfs.ext4 -q -E nodiscard,assume_storage_prezeroed=1 '{behind}/disk'")
    shell(f"mount -o loop '{behind}/disk' '{folder}'")
    try:
        yield folder
    finally:
        shell(f"umount '{folder}'; umount -l '{behind}'")


def test_a_write_that_the_kernel_lost_by_itself_fails_the_flush(thin: Path) -> None:
    """Its flusher has met the error before anybody asks, and a sync of everything ends well."""
    for number in range(8):
        (thin / str(number)).write_bytes(bytes([number]) * 4_000_000)
    assert run(call("flush", "/nowhere")).returncode == 1
    shell("sync")
    done = run(call("flush_all", thin))
    assert (done.returncode, "is not on its disk" in done.stderr) == (1, True)
