"""What looks for timers and threads that are left sees them."""

import pytest
from PySide6.QtCore import QObject, QThread, QTimer
from PySide6.QtWidgets import QApplication

from tests.gui.leaks import left_running

pytestmark = pytest.mark.usefixtures("qapp")


def test_a_timer_that_nobody_owns_is_seen_until_it_is_stopped() -> None:
    owner = QObject()
    timer = QTimer(owner, interval=60_000)
    assert left_running() == []
    timer.start()
    (said,) = left_running()
    assert said.startswith("a timer of 60000 ms of <PySide6.QtCore.QObject(")
    timer.stop()
    assert left_running() == []


def test_a_timer_of_the_application_is_none_that_is_left(qapp: QApplication) -> None:
    timer = QTimer(qapp, interval=60_000)
    timer.start()
    assert left_running() == []
    timer.stop()


def test_a_thread_of_qts_is_seen_until_it_has_ended() -> None:
    thread = QThread()
    thread.start()
    (said,) = left_running()
    assert said.startswith("a thread: <PySide6.QtCore.QThread(")
    thread.quit()
    thread.wait()
    assert left_running() == []
