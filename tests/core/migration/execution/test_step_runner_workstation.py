"""Command lines on the workstation, for real: what they print, how they end, and that a cancel ends them whole."""

import codecs
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
    assert not any(runs(stat) for stat in cancelled(tmp_path))


def cancelled(folder: Path) -> list[Path]:
    """Cancel a line that has started a child. Return where to look whether its shell and the child have ended."""
    begun = folder / "begun"
    job = Job()

    def cancel_once_begun() -> None:
        while not begun.exists():
            time.sleep(0.01)
        job.cancel()

    canceller = threading.Thread(target=cancel_once_begun)
    canceller.start()
    with pytest.raises(Cancelled):
        run_here(f"sleep 60 & echo $$ $! >{begun}.part; mv {begun}.part {begun}; wait", job)
    canceller.join()
    stats = [Path(f"/proc/{number}/stat") for number in begun.read_text().split()]
    deadline = time.monotonic() + 5  # they were told to end, which takes a busy machine a moment
    while any(map(runs, stats)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return stats


def runs(stat: Path) -> bool:
    """Whether that process is there and has not ended."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class WithCmd(subprocess.Popen[str]):
    """Starts the shell of this system for cmd, which gets a line of its own as one text, and the stand-in of taskkill.

    Both have the path of a program of Windows.
    """

    def __init__(self, words: str | Sequence[str], **rest: Any) -> None:
        if not isinstance(words, str):
            assert words[0] == "D:\\Windows\\System32\\taskkill.exe"
            words = ("taskkill", *words[1:])
        else:
            assert rest.pop("executable") == "D:\\Windows\\System32\\cmd.exe"
            line = words.removeprefix('cmd /d /s /c "').removesuffix('"')
            assert words == f'cmd /d /s /c "{line}"'
            words = ("/bin/sh", "-c", line)
        super().__init__(words, **rest)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The rules of Windows, its shell and code page, and a `taskkill` that ends what it is told to and its children."""
    taskkill = tmp_path / "taskkill"
    taskkill.write_text('#!/bin/sh\n[ "$1 $2 $3" = "/F /T /PID" ] && [ $# = 4 ] && exec /bin/kill -9 -- "-$4"\n')
    taskkill.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    monkeypatch.setattr(subprocess, "Popen", WithCmd)
    monkeypatch.setenv("SYSTEMROOT", "D:\\Windows")
    codecs.register(western)
    yield
    codecs.unregister(western)


def western(name: str) -> codecs.CodecInfo | None:
    """The code page of consoles in Western Europe, which Python has on Windows by this name."""
    return codecs.lookup("cp850") if name == "oem" else None


@pytest.mark.usefixtures("windows")
def test_on_windows_a_cancel_ends_all_that_it_started_by_taskkill(tmp_path: Path) -> None:
    assert not any(runs(stat) for stat in cancelled(tmp_path))


@pytest.mark.usefixtures("windows")
def test_on_windows_the_line_reaches_its_shell_as_it_was_written() -> None:
    ended = run_here("""echo "a  b" 'c' "%TIME%"; exit 3""", Job())
    assert (ended.exit_status, ended.stdout, ended.stderr) == (3, "a  b c %TIME%\n", "")


@pytest.mark.usefixtures("windows")
def test_on_windows_output_is_read_as_consoles_show_it() -> None:
    assert run_here(r"printf 'gr\201n'", Job()).stdout == "gr\u00fcn"
