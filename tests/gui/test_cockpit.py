"""The cockpit: what moves on a disk at this moment, and what a dot stands for."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from core.benchmarks.model import Forecast, Mark, MarkKind, Side, Volume
from core.history.store import Store
from core.jobs import Job, Live, Progress
from gui.models.queue import Entry, State
from gui.models.tiles import tile_rows
from gui.pages.measure import MeasurePage
from gui.widgets.tiles import Tiles
from gui.window import MainWindow
from tests.gui import samples
from tests.gui.conftest import at_rest, page

FIGURES = {"read_iops": 900.0, "read_bytes_per_second": 7e6, "write_iops": 10.0, "write_bytes_per_second": 2e6}


def test_a_picture_follows_the_other_while_something_moves_and_none_after(full_store: Store, qtbot: QtBot) -> None:
    run = full_store.runs("spring")[0]
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.resize(900, 300)
    tiles.show_rows(tile_rows([replace(run, outcome=None)]))
    tiles.show()
    assert not tiles.moving
    for _ in range(3):
        tiles.take(Live(run.volume.side, run.workload.name, FIGURES))
    before = tiles.grab().toImage()
    assert tiles.moving
    tiles.rest()
    assert not tiles.moving
    assert tiles.grab().toImage() != before


def test_now_is_said_for_as_long_as_something_comes(
    full_store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = replace(full_store.runs("spring")[0], outcome=None)
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.resize(900, 300)
    tiles.show_rows(tile_rows([run]))
    tiles.take(Live(run.volume.side, run.workload.name, FIGURES))
    spot = tiles.room(0, 0).topLeft() + QPoint(5, 5)
    monkeypatch.setattr("gui.widgets.sparkline.STALE_SECONDS", 1000.0)
    assert "900 IOPS at the disk now" in tiles.tip_at(spot)
    monkeypatch.setattr("gui.widgets.sparkline.STALE_SECONDS", 0.0)  # as if its side had ended a while ago
    assert "now" not in tiles.tip_at(spot)
    assert "902 IOPS" in tiles.tip_at(spot)
    tiles.rest()


def test_what_moves_reaches_the_tile_of_its_run(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Measure")
    assert isinstance(shown, MeasurePage)
    run = full_store.runs("spring")[0]
    full_store.run_started(replace(run, repetitions=(), outcome=None, ended_at=None))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)

    def move(_session: object, job: Job) -> None:
        job.report(Live("old", run.workload.name, FIGURES))

    task = full_window.work.run("Benchmarks", move)
    assert task is not None
    task.reported.connect(shown.take_events)
    qtbot.waitUntil(lambda: shown.tiles.tiles.moving)
    shown.tiles.tiles.rest()


def test_a_dot_says_what_it_stands_for(full_store: Store, qtbot: QtBot) -> None:
    run = full_store.runs("spring")[0]
    disturbed = replace(run.repetitions[1], marks=(Mark(MarkKind.DISTURBED, "others wrote 80 MB/s"),))
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.resize(900, 300)
    tiles.show_rows(tile_rows([replace(run, repetitions=(run.repetitions[0], disturbed, run.repetitions[2]))]))
    room = tiles.room(0, 0)
    said = {tiles.tip_at(QPoint(x, y)) for x in range(room.left(), room.right(), 4) for y in range(0, room.bottom(), 4)}
    assert "repetition 1: 903 IOPS" in said
    assert "repetition 2: 905 IOPS: disturbed, counts apart" in said
    assert any(text.startswith("old: fio random read direct\n901") for text in said)
    assert tiles.tip_at(QPoint(room.left(), room.bottom() + 500)) == ""


def test_suites_are_queued_in_their_order(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Measure")
    assert isinstance(shown, MeasurePage)
    assert shown.empty.isHidden()
    shown.queue.click()
    shown.suite.setCurrentText("raid")
    shown.sides.setCurrentText("Both at once")
    shown.queue.click()
    assert shown.hint.text().startswith("Queued: quick (both, one by one), raid (both at once).")
    assert not shown.start.isEnabled()
    shown.empty.click()
    assert "Queued" not in shown.hint.text()
    assert shown.suites.current() is not None
    assert shown.empty.isHidden()


def test_an_emptied_queue_ends_behind_what_is_measured(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Measure")
    assert isinstance(shown, MeasurePage)
    runs, waits = (Entry(suite, "Both, one by one") for suite in ("quick", "raid"))
    shown._show_entries((replace(runs, state=State.RUNS), waits))  # noqa: SLF001  as if it had begun
    shown.empty_queue()
    assert "Make a forecast" not in shown.hint.text()
    shown._ended_well(())  # noqa: SLF001  as if it had ended
    assert [(entry.suite, entry.state) for entry in shown._entries] == [("quick", State.DONE)]  # noqa: SLF001  as if it had ended


FORECAST = Forecast(Volume(Side.OLD, "db-old", "/srv", "/srv"), 60.0, 1, 2)


def forecast_shown(qtbot: QtBot, window: MainWindow, store: Store) -> MeasurePage:
    """The page with a forecast of the picked move, and another move beside it."""
    store.add_move(replace(samples.MOVE, name="autumn"))
    window.work.changed.emit()
    at_rest(qtbot, window)
    shown = page(qtbot, window, "Measure")
    assert isinstance(shown, MeasurePage)
    chosen = (shown.suite.currentText(), shown.sides.currentText())
    shown._show_forecast("spring", [chosen], (Entry(*chosen, (FORECAST,)),))  # noqa: SLF001  as if it was made
    assert shown.start.isEnabled()
    return shown


def test_a_forecast_is_forgotten_with_its_move(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    full_window.work.pick("autumn")
    at_rest(qtbot, full_window)
    assert (shown.start.isEnabled(), shown.forecasts.isHidden()) == (False, True)
    full_window.work.pick("spring")
    at_rest(qtbot, full_window)
    assert (shown.start.isEnabled(), shown.forecasts.isHidden()) == (False, True)
    assert shown.start.toolTip() == "Make a forecast first"


def test_a_queue_goes_with_its_move_and_stays_while_that_is_edited(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    shown.queue.click()
    full_store.update_move(replace(samples.MOVE, target="/srv/other/15"))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.hint.text().startswith("Queued: quick")
    full_window.work.pick("autumn")
    at_rest(qtbot, full_window)
    assert "Queued" not in shown.hint.text()
    assert shown.empty.isHidden()


def test_a_forecast_that_comes_late_is_not_shown_beside_another_move(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    chosen = (shown.suite.currentText(), shown.sides.currentText())
    for move, wanted in (("autumn", chosen), ("spring", ("raid", "Old alone"))):
        full_window.work.pick(move)
        at_rest(qtbot, full_window)
        if move == "spring":
            shown.suite.setCurrentText("raid")
        shown._show_forecast("spring", [chosen], (Entry(*chosen, (FORECAST,)),))  # noqa: SLF001
        assert shown.forecasts.isHidden(), (move, wanted)
        assert not shown.start.isEnabled()


def test_what_is_measured_is_said_with_its_move_while_another_is_picked(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    shown._mark(0, State.RUNS)  # noqa: SLF001  as if it had begun
    assert shown.hint.text().startswith("Measuring: ")
    full_window.work.pick("autumn")
    at_rest(qtbot, full_window)
    assert shown.hint.text().startswith("Measuring spring: ")
    assert shown.forecasts.isHidden()
    assert not shown.queue.isEnabled()
    run = full_store.runs("spring")[0]
    shown.take_events((Live(run.volume.side, run.workload.name, FIGURES),))
    assert not shown.tiles.tiles.moving
    full_window.work.pick("spring")
    at_rest(qtbot, full_window)
    assert shown.forecasts.isVisible()
    shown._ended_well(())  # noqa: SLF001
    assert shown.hint.text() == "Measured: quick. Compare says what came of it."


def test_what_is_left_is_the_same_above_and_below(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    """The bar below the page and the line above it: of one work, by one reckoning."""
    shown = forecast_shown(qtbot, full_window, full_store)
    shown._mark(0, State.RUNS)  # noqa: SLF001

    def measure(_session: object, job: Job) -> None:
        job.report(Progress("random read, 1 of 3", 20.0, 60.0, "seconds"))

    task = full_window.work.run("Benchmarks", measure)
    assert task is not None
    task.reported.connect(shown.take_events)
    with qtbot.waitSignal(task.reported):
        pass
    assert "about 40 s left" in full_window.job_bar.words.text()
    assert shown.hint.text() == "Measuring: about 40 s left in all."
    at_rest(qtbot, full_window)


def test_why_it_cannot_start_is_said_as_it_is(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    assert shown.start.toolTip() == ""
    chosen = (shown.suite.currentText(), shown.sides.currentText())
    bad = Entry(*chosen, (replace(FORECAST, problems=("no space",)),))
    shown._show_forecast("spring", [chosen], (bad,))  # noqa: SLF001
    assert not shown.start.isEnabled()
    assert f"{shown.start.toolTip()}." == shown.hint.text()
    assert "before the problems are solved" in shown.hint.text()


def test_sorted_suites_and_the_box_choose_the_same(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, "Measure")
    assert isinstance(shown, MeasurePage)
    header = shown.suites.horizontalHeader()
    for column in range(header.count()):
        header.sectionClicked.emit(column)
        header.sectionClicked.emit(column)
    for number in range(shown.suite.count()):
        shown.suite.setCurrentIndex(number)
        chosen = shown.suites.current()
        assert chosen is not None
        assert chosen.name == shown.suite.currentText()
