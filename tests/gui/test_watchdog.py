"""The event loop never stands still: not while the window starts, pages fill and a job talks without pause."""

import time

import pytest
from pytestqt.qtbot import QtBot

from core.jobs import CommandEnded, CommandStarted, Job, Note, Progress
from gui.pages.kinds import PAGES
from gui.window import MainWindow
from tests.gui.conftest import at_rest, page
from tests.gui.watchdog import LIMIT, SLOWEST, Watchdog


@pytest.mark.slow
@pytest.mark.measures
def test_the_watchdog_sees_a_block(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_rows: object) -> None:
        time.sleep(1.5 * SLOWEST * LIMIT)  # the block itself, too long for the slowest machine

    monkeypatch.setattr(window.pane.table, "set_rows", slow)
    with Watchdog(window) as watchdog:
        qtbot.wait(50)
        window.pane.server.addItem("elsewhere")
        window.pane.server.setCurrentText("elsewhere")
        qtbot.waitUntil(lambda: any(block.seconds > SLOWEST * LIMIT for block in watchdog.blocks))
    assert any("_show" in block.where for block in watchdog.blocks)


@pytest.mark.slow
def test_a_talkative_job_does_not_block_the_window(full_window: MainWindow, qtbot: QtBot) -> None:
    def talk(_session: object, job: Job) -> None:
        for number in range(3000):
            job.report(CommandStarted("db-old", "dba", f"command {number} " + "x" * 500))
            job.report(Progress("talking", "talking", number, 3000))
            job.report(Note(f"note {number}"))
            job.report(CommandEnded("db-old", f"command {number} " + "x" * 500, 0, 0.001))
            if number % 100 == 0:
                job.wait(0.01)

    with Watchdog(full_window) as watchdog:
        full_window.work.run("Talking", talk)
        qtbot.waitUntil(lambda: not full_window.work.busy, timeout=30_000)
        for kind in PAGES:
            page(qtbot, full_window, kind.id)
        at_rest(qtbot, full_window)
    assert watchdog.beats > 10
    assert watchdog.blocks == []
