"""A disk of new's that loses writes and tells nobody: full below a file system with room, as thin ones are."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import PghaulError
from core.migration.execution.engine import carry_out
from core.migration.execution.rollback import roll_back
from core.migration.model.execution import State
from core.servers.connection import Server
from core.servers.profiles import Profile
from core.servers.shell import call
from tests.core.migration.running import run
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable
from tests.live import moving as site
from tests.live.moving import ROOT, TARGET, sql

pytestmark = pytest.mark.lab

_THIN = """
mkdir -p '{behind}'; mount -t tmpfs -o size={disk}m thin '{behind}'; truncate -s 300M '{behind}/disk'
mkfs.ext4 -q -E nodiscard,assume_storage_prezeroed=1 '{behind}/disk'; mount -o loop '{behind}/disk' '{folder}'
"""


def shell(text: str) -> None:
    subprocess.run(["sh", "-ec", text], check=True, capture_output=True, text=True)


@pytest.fixture
def thin(tmp_path: Path) -> Iterator[Path]:
    """An empty ext4 of 300 MB on a disk of 20."""
    reason = lab_unavailable()
    if reason is not None:
        pytest.skip(reason)
    behind, folder = tmp_path / "behind", tmp_path / "thin"
    folder.mkdir()
    shell(_THIN.format(behind=behind, folder=folder, disk=20))
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


def test_a_move_to_a_disk_that_loses_writes_fails_before_old_is_stopped(
    lab: Lab, old_server: Server, new_server: Server, old_profile: Profile, new_profile: Profile, tmp_path: Path
) -> None:
    servers = {"old": old_server, "new": new_server}
    site.create(lab.old)
    try:
        site.clear(lab)
        site.start(lab.old)
        facts = site.read_facts(servers.__getitem__)
        with site.undisturbed(lab, tmp_path, (old_profile, new_profile), servers.__getitem__, facts) as move:
            lab.new.exec("sh", "-ec", _THIN.format(behind="/run/behind", folder=ROOT, disk=25))
            try:
                lab.new.exec("chown", "postgres:", ROOT)
                number = move.begin()
                with pytest.raises(PghaulError):
                    carry_out(move.executor(number))
                stopped = move.store.execution(number)
                assert stopped.state is State.STOPPED
                assert "stop old" not in [each.title for each in stopped.steps]
                assert lab.new.exec("test", "-e", f"{TARGET}/postmaster.pid", check=False).returncode == 1
                assert sql(lab.old, "select count(*) from pgbench_accounts") == "100000"
                roll_back(move.executor(number))
            finally:
                lab.new.exec("sh", "-c", f"umount '{ROOT}'; umount -l /run/behind; rm -rf /run/behind /run/mount")
    finally:
        site.remove(lab)
