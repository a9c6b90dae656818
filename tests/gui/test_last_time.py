"""A window that crashed or was killed leaves its log; the next start says so, once, with the log to copy."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.settings import PROGRAM, program_version
from gui.dialogs.crash import LastTimeDialog
from gui.last_time import FOLDER, LastTime
from gui.window import MainWindow

ROOT = Path(__file__).parents[2]
ENDS = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, f"{PROGRAM} {program_version()}"),
    "crashed": ("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV, "Fatal Python error: Segmentation fault"),
    "closed": ("last.end()", 0, ""),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_window_that_does_not_end_as_it_should_is_told_of_once(end: str, tmp_path: Path) -> None:
    how, code, told = ENDS[end]
    program = (
        "import os, signal, sys; from pathlib import Path; from gui.last_time import LastTime; "
        f"last = LastTime(Path(sys.argv[1])); last.begin(); last.write('a bug'); {how}"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, timeout=60, check=False)
    assert ended.returncode == code
    now = LastTime(tmp_path)
    found = now.begin()
    assert told in found
    assert ("a bug" in found) is bool(told)
    other = LastTime(tmp_path)
    assert other.begin() == ""  # the other one lives, and what was left was told
    other.end()
    now.end()
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_a_folder_that_cannot_be_written_to_keeps_no_window_from_opening(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = LastTime(tmp_path / "file")
    assert log.begin() == ""
    log.write("a bug")
    log.end()


def test_the_next_start_shows_the_log(window: MainWindow, qtbot: QtBot) -> None:
    window.show_last_time("Fatal Python error: Segmentation fault")
    dialog = window.findChild(LastTimeDialog)
    assert dialog is not None
    assert dialog.text.text == "Fatal Python error: Segmentation fault"
    dialog.reject()
    qtbot.waitUntil(lambda: window.findChild(LastTimeDialog) is None)
