"""A window that crashed or was killed leaves its log; the next start says so, once, with the log to copy."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from core.history.store import Store
from core.settings import PROGRAM, program_version
from gui.destinations import PageId
from gui.dialogs.confirm import NameDialog
from gui.dialogs.crash import LastTimeDialog
from gui.last_time import FOLDER, LastTime
from gui.window import MainWindow
from tests.gui.conftest import at_rest
from tests.gui.test_move_milestones import interrupted

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
    assert not dialog.isModal()
    assert dialog.go.isHidden()  # nothing is unfinished
    copy = dialog.text.findChild(QPushButton)
    assert copy is not None
    copy.click()
    assert QGuiApplication.clipboard().text() == dialog.text.text
    dialog.reject()
    qtbot.waitUntil(lambda: window.findChild(LastTimeDialog) is None)


@pytest.mark.parametrize("known", [True, False], ids=["known before", "known later"])
def test_the_dialog_leads_to_the_unfinished_move(
    full_window: MainWindow, full_store: Store, qtbot: QtBot, known: bool
) -> None:
    if known:
        interrupted(full_store)
        full_window.work.changed.emit()
        qtbot.waitUntil(full_window.status_banner.isVisible)
    full_window.show_last_time("the log")
    dialog = full_window.findChild(LastTimeDialog)
    assert dialog is not None
    if not known:
        assert dialog.go.isHidden()
        interrupted(full_store)
        full_window.work.changed.emit()
    qtbot.waitUntil(dialog.go.isVisible)
    QTest.mouseClick(full_window.status_banner.go_on, Qt.MouseButton.LeftButton)  # the dialog does not block it
    qtbot.waitUntil(lambda: full_window.findChild(NameDialog) is not None)
    asked = full_window.findChild(NameDialog)
    assert asked is not None
    asked.reject()
    full_window.show_page(PageId.HISTORY)
    dialog.go.click()
    assert full_window.stack.currentWidget() is full_window.show_page(PageId.MOVE)
    assert dialog.isVisible()  # its text may still be copied
    dialog.reject()
    at_rest(qtbot, full_window)
