"""Command lines on the workstation, for real: what they print, how they end, and that a cancel ends them whole."""

import os
import threading
import time
from pathlib import Path

import pytest

from core import this_workstation
from core.errors import Cancelled
from core.jobs import Job
from core.migration.execution.step_runner import run_here


def test_its_end_and_what_it_printed() -> None:
    ended = run_here("echo moved; echo 'oh dear' >&2; exit 3", Job())
    assert (ended.exit_status, ended.stdout, ended.stderr) == (3, "moved\n", "oh dear\n")


def test_more_output_than_a_pipe_holds() -> None:
    assert len(run_here("head -c 1000000 /dev/zero | tr '\\0' x", Job()).stdout) == 1_000_000


def test_a_cancel_ends_all_that_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    job = Job()

    def cancel_once_begun() -> None:
        while not child.exists():
            time.sleep(0.01)
        job.cancel()

    canceller = threading.Thread(target=cancel_once_begun)
    canceller.start()
    with pytest.raises(Cancelled):
        run_here(f"sleep 60 & echo $! >{child}.part; mv {child}.part {child}; wait", job)
    canceller.join()
    stat = Path(f"/proc/{child.read_text().strip()}/stat")
    deadline = time.monotonic() + 5  # it was told to end, which takes a busy machine a moment
    while runs(stat) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not runs(stat)


def runs(stat: Path) -> bool:
    """Whether that process is there and has not ended."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The rules of Windows, and a `cmd` that runs what follows its `/c`."""
    cmd = tmp_path / "cmd"
    cmd.write_text('#!/bin/sh\n[ "$1" = /c ] && [ $# = 2 ] && exec /bin/sh -c "$2"\n')
    cmd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)


@pytest.mark.usefixtures("windows")
def test_on_windows_its_own_shell_runs_the_line() -> None:
    ended = run_here('echo "$0"; exit 3', Job())
    assert (ended.exit_status, ended.stdout, ended.stderr) == (3, "/bin/sh\n", "")


@pytest.mark.usefixtures("windows")
def test_on_windows_a_cancel_ends_the_shell(tmp_path: Path) -> None:
    shell, job = tmp_path / "shell", Job()

    def cancel_once_begun() -> None:
        while not shell.exists():
            time.sleep(0.01)
        job.cancel()

    canceller = threading.Thread(target=cancel_once_begun)
    canceller.start()
    with pytest.raises(Cancelled):
        run_here(f"echo $$ >{shell}.part; mv {shell}.part {shell}; exec sleep 60", job)
    canceller.join()
    assert not runs(Path(f"/proc/{shell.read_text().strip()}/stat"))
