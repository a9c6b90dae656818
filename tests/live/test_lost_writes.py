"""A disk of new's that loses writes and tells nobody: full below a file system with room, as thin ones are."""

import errno
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.history.store import Store
from core.migration.model import step_ids
from core.migration.model.execution import State
from core.servers.profiles import Profile
from core.servers.shell import call
from tests.core.migration.running import run
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable
from tests.live import moving as site
from tests.live.moving import DATA, MOVE, ROOT, TARGET, sql

pytestmark = pytest.mark.lab

PROJECT = Path(__file__).resolve().parents[2]

_THIN = """
mkdir -p '{behind}'; mount -t tmpfs -o size={disk}m thin '{behind}'; truncate -s 300M '{behind}/disk'
mkfs.ext4 -q -E nodiscard,assume_storage_prezeroed=1 '{behind}/disk'; mount -o loop '{behind}/disk' '{folder}'
"""


def shell(text: str) -> None:
    subprocess.run(["sh", "-ec", text], check=True, capture_output=True, text=True)


@contextmanager
def taking_no_more() -> Iterator[None]:
    """A file system that the kernel has closed after an error takes what is written inside, or says so."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.EIO, errno.EROFS}:
            raise


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
    """Its flusher has met the error before anybody asks, and a sync of everything ends well.

    Where something else on the machine flushes all files meanwhile, that happens before the last are written, which the
    file system then takes no more.
    """
    for number in range(8):
        with taking_no_more():
            (thin / str(number)).write_bytes(bytes([number]) * 4_000_000)
    assert run(call("flush_file_system", "/nowhere")).returncode == 1
    shell("sync")
    done = run(call("flush_file_systems", thin))
    assert (done.returncode, "was not written to disk" in done.stderr) == (1, True)


@pytest.mark.long
def test_a_move_to_a_disk_that_loses_writes_fails_before_old_is_stopped(
    lab: Lab, old_profile: Profile, new_profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "history"))
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(tmp_path / "ssh_config"))
    (tmp_path / "ssh_config").write_text(f'UserKnownHostsFile "{lab.known_hosts}"\n')
    with Store.open(tmp_path / "history") as store:
        store.add_profile(old_profile)
        store.add_profile(new_profile)
        store.add_move(MOVE)
    site.create(lab.old)
    try:
        site.clear(lab)
        site.start(lab.old)
        lab.new.exec("sh", "-ec", _THIN.format(behind="/run/behind", folder=ROOT, disk=25))
        lab.new.exec("chown", "postgres:", ROOT)
        done = pghaul("execute", MOVE.name, "--confirm", DATA, "--manual-steps-done")
        assert done.returncode not in {0, 70}, done.stdout
        assert "not written to disk" in done.stderr or "rsync ended" in done.stderr, done.stderr
        with Store.open(tmp_path / "history") as store:
            (stopped,) = store.executions(MOVE.name)
        assert stopped.state is State.STOPPED
        stop = stopped.plan.step(step_ids.STOP_OLD_CLUSTER)
        assert stop is not None
        assert stopped.latest(stop.number) is None
        assert lab.new.exec("test", "-e", f"{TARGET}/postmaster.pid", check=False).returncode == 1
        assert sql(lab.old, "select count(*) from pgbench_accounts") == "100000"
        assert pghaul("execute", MOVE.name, "--rollback").returncode == 0
    finally:
        lab.new.exec("sh", "-c", f"umount '{ROOT}'; umount -l /run/behind; rm -rf /run/behind /run/mount")
        site.remove(lab)


def pghaul(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gui.entry", *words], cwd=PROJECT, check=False, capture_output=True, text=True
    )
