"""What the benchmark of the window does with the window alone: it finds its pages and lists where they are today."""

from datetime import timedelta

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from benchmarks.window import scroll
from core.benchmarks.model import Outcome, Run, Volume, Workload
from core.history.store import Store
from core.sides import Side
from gui.pages.history import HistoryPage
from gui.window import MainWindow
from tests.gui.conftest import page
from tests.gui.samples import MORNING, MOVE, OLD

RUNS = 200
"""More than a screen holds."""


def test_the_history_is_scrolled_through_to_its_end(
    qapp: QApplication, qtbot: QtBot, full_store: Store, full_window: MainWindow
) -> None:
    volume = Volume(Side.OLD, OLD.name, "/srv/pg", "/srv/pg/pghaul-bench")
    workload = Workload("dd-write", "dd write", "dd", "bytes_per_second", {})
    for number in range(RUNS):
        at = MORNING + timedelta(hours=1, minutes=number)
        full_store.run_ended(full_store.run_started(Run(MOVE.name, volume, workload, at)), Outcome.DONE, at, "9.1")
    shown = page(qtbot, full_window, HistoryPage.id)
    assert isinstance(shown, HistoryPage)
    bar = shown.entries.verticalScrollBar()
    assert bar.value() == 0
    scroll(qapp, full_window)
    assert bar.value() == bar.maximum() > 0
