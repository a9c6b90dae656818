"""From an empty history to the PDF that compares two hosts: in ten clicks besides typing, and by the keyboard alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from core.migration.model.standing import Milestone
from gui.destinations import PageId
from gui.dialogs.form import FormDialog
from gui.dialogs.move import MoveDialog
from gui.dialogs.report import ReportDialog
from gui.dialogs.server import ServerDialog
from gui.pages.measure import MeasurePage
from gui.widgets.empty import Empty
from gui.window import MainWindow
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live.windows import PATIENCE_MS, Hand, opened

pytestmark = [
    pytest.mark.lab,
    pytest.mark.usefixtures("clean_hosts"),
    pytest.mark.qt_log_level_fail("DEBUG"),
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
MOST_CLICKS = 10
CONTROL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
SUITE = """
title = "a moment"
repetitions = 1
most_repetitions = 1
[[workload]]
name = "fio-sequential-write-direct"
title = "sequential write, 1 MiB, direct"
tool = "fio"
headline = "write_bytes_per_second"
[workload.parameters]
pattern = "write"
direct = true
block_bytes = 1048576
size_bytes = 33554432
runtime_seconds = 1
"""


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """On an empty history; the suite that is selected at first is short."""
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "config"))
    (tmp_path / "config" / "suites").mkdir(parents=True)
    (tmp_path / "config" / "suites" / "standard.toml").write_text(SUITE)
    with opened(qapp, tmp_path / "history") as made:
        yield made


def ok(dialog: FormDialog) -> QPushButton:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)


def described(host: Host, key: Path) -> tuple[str, ...]:
    """What is typed of a server: name, address, user, port, private key; the port stays as ssh says."""
    return (host.name, host.address, host.user, "", str(key))


def forecast(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until the forecast is there that the page makes by itself, behind a job that may not have ended yet."""
    page = window.findChild(MeasurePage)
    assert page is not None
    qtbot.waitUntil(lambda: page.start.isVisible() and page.start.isEnabled(), timeout=PATIENCE_MS)


def measured(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until the benchmarks have begun, and ended."""
    qtbot.waitUntil(lambda: window.job_bar.isVisible() and window.work.busy, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: window.milestones.next(Milestone.MEASURE)[1] == PageId.COMPARE, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: window.work.runner.idle, timeout=PATIENCE_MS)
    page = window.findChild(MeasurePage)
    assert page is not None
    assert page.tabs.currentWidget() is page.tiles  # what moves, and not what suites there are


def compares(path: Path, window: MainWindow) -> bool:
    """Whether the report is there, of a move with runs on both sides."""
    session = window.work.session
    assert session is not None
    sides = {run.volume.side for run in session.store.runs("spring")}
    return len(sides) == 2 and path.read_bytes().startswith(b"%PDF")


@pytest.mark.long
def test_ten_clicks_besides_typing(window: MainWindow, lab: Lab, qtbot: QtBot, tmp_path: Path) -> None:
    hand, path = Hand(qtbot, window), tmp_path / "spring.pdf"
    qtbot.waitUntil(lambda: window.findChild(Empty) is not None, timeout=PATIENCE_MS)
    begin = window.findChild(Empty)
    assert begin is not None
    hand.click(begin.button)
    for host in (lab.old, lab.new):
        dialog = hand.wait_for(ServerDialog)
        hand.write(*described(host, lab.key))
        hand.click(ok(dialog))
        box = hand.wait_for(QMessageBox)
        hand.click(next(button for button in box.buttons() if "Trust" in button.text()))
    made = hand.wait_for(MoveDialog)
    hand.write("spring")
    assert (made.old.currentText(), made.new.currentText()) == ("old", "new")
    hand.click(ok(made))
    qtbot.waitUntil(lambda: window.milestones.next(None)[1] == PageId.MEASURE, timeout=PATIENCE_MS)
    hand.click(window.next)
    forecast(window, qtbot)
    hand.rest()
    hand.click(window.next)
    measured(window, qtbot)
    hand.click(window.bar.widgetForAction(window.menus.report))
    report = hand.wait_for(ReportDialog)
    hand.write(str(path))
    assert report.kind.currentData() == "storage"
    hand.click(ok(report))
    qtbot.waitUntil(path.exists, timeout=PATIENCE_MS)
    hand.rest()
    assert compares(path, window)
    assert hand.clicks <= MOST_CLICKS


@pytest.mark.long
def test_by_the_keyboard_alone(window: MainWindow, lab: Lab, qtbot: QtBot, tmp_path: Path) -> None:
    hand, path = Hand(qtbot, window), tmp_path / "spring.pdf"
    hand.rest()
    hand.press(Qt.Key.Key_Return, CONTROL)
    for host in (lab.old, lab.new):
        hand.wait_for(ServerDialog)
        hand.write(*described(host, lab.key))
        hand.press(Qt.Key.Key_Return)
        hand.wait_for(QMessageBox)
        hand.press(Qt.Key.Key_T, ALT)
    hand.wait_for(MoveDialog)
    hand.write("spring")
    hand.press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.milestones.next(None)[1] == PageId.MEASURE, timeout=PATIENCE_MS)
    hand.press(Qt.Key.Key_Return, CONTROL)
    forecast(window, qtbot)
    hand.rest()
    hand.press(Qt.Key.Key_Return, CONTROL)
    measured(window, qtbot)
    hand.press(Qt.Key.Key_S, CONTROL)
    report = hand.wait_for(ReportDialog)
    assert report.kind.currentData() == "storage"
    hand.write(str(path))
    hand.press(Qt.Key.Key_Return)
    qtbot.waitUntil(path.exists, timeout=PATIENCE_MS)
    hand.rest()
    assert compares(path, window)
    assert hand.clicks == 0
