"""The cockpit: what moves on a disk at this moment, and what a dot stands for."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from core.benchmarks.model import Forecast, Mark, MarkKind, Volume
from core.history.store import Store
from core.jobs import Job, Live, Progress
from core.sides import Side
from gui.destinations import PageId
from gui.models.queue import SIDES_TITLES, Entry, MeasuredSides, State
from gui.models.tiles import describe_live_figure, tile_rows
from gui.models.words import in_sentence
from gui.pages.measure import NO_FORECAST, PROBLEMS, MeasurePage
from gui.widgets.tiles import Tiles
from gui.window import MainWindow
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page

ONE_BY_ONE, AT_ONCE, OLD_ONLY, _ = MeasuredSides
NAMES = ("db1 (old)", "db2 (new)")
FIGURES = {"read_iops": 900.0, "read_bytes_per_second": 7e6, "write_iops": 10.0, "write_bytes_per_second": 2e6}


def test_a_picture_follows_the_other_while_something_moves_and_none_after(full_store: Store, qtbot: QtBot) -> None:
    run = full_store.runs("spring")[0]
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.resize(900, 300)
    tiles.show_rows(tile_rows([replace(run, outcome=None)]), NAMES)
    tiles.show()
    assert not tiles.moving
    for _ in range(3):
        tiles.take(Live(run.volume.source, run.workload.name, FIGURES))
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
    tiles.show_rows(tile_rows([run]), NAMES)
    tiles.take(Live(run.volume.source, run.workload.name, FIGURES))
    spot = tiles.room(0, 0).topLeft() + QPoint(5, 5)
    monkeypatch.setattr("gui.widgets.tiles.STALE_SECONDS", 1000.0)
    now = describe_live_figure(run.workload.headline, FIGURES)
    assert now in tiles.tip_at(spot)
    monkeypatch.setattr("gui.widgets.tiles.STALE_SECONDS", 0.0)  # as if its side had ended a while ago
    assert now not in tiles.tip_at(spot)
    assert "902 IOPS" in tiles.tip_at(spot)
    tiles.rest()


def test_what_a_tool_reports_is_told_as_such(full_store: Store, qtbot: QtBot) -> None:
    run = replace(full_store.runs("spring")[0], outcome=None)
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.resize(900, 300)
    tiles.show_rows(tile_rows([run]), NAMES)
    spot = tiles.room(0, 0).topLeft() + QPoint(5, 5)
    for by in ("", "fio"):
        for _ in range(2):
            tiles.take(Live(run.volume.source, run.workload.name, FIGURES, by))
        assert describe_live_figure(run.workload.headline, FIGURES, by) in tiles.tip_at(spot)
    tiles.rest()


@pytest.mark.slow
def test_what_moves_reaches_the_tile_of_its_run(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
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
    tiles.show_rows(tile_rows([replace(run, repetitions=(run.repetitions[0], disturbed, run.repetitions[2]))]), NAMES)
    room = tiles.room(0, 0)
    said = {tiles.tip_at(QPoint(x, y)) for x in range(room.left(), room.right(), 4) for y in range(0, room.bottom(), 4)}
    of_dots = {tuple(figures(text)): text for text in said}
    assert MarkKind.DISTURBED in of_dots["2", "905 IOPS"]
    assert MarkKind.DISTURBED not in of_dots["1", "903 IOPS"]
    assert any(text.startswith("db1 (old): fio random read direct\n901") for text in said)
    assert tiles.tip_at(QPoint(room.left(), room.bottom() + 500)) == ""


def test_suites_are_queued_in_their_order(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    assert shown.empty.isHidden()
    shown.queue.click()
    shown.suite.setCurrentText("raid")
    shown.sides.setCurrentIndex(shown.sides.findData(AT_ONCE))
    shown.queue.click()
    queued = f"standard ({in_sentence(SIDES_TITLES[ONE_BY_ONE])}), raid ({in_sentence(SIDES_TITLES[AT_ONCE])})"
    assert queued in shown.hint.text()
    assert not shown.start.isEnabled()
    shown.empty.click()
    assert queued not in shown.hint.text()
    assert "raid (" not in shown.hint.text()
    assert shown.suites.current() is not None
    assert shown.empty.isHidden()


def test_an_emptied_queue_ends_behind_what_is_measured(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    runs, waits = (Entry(suite, ONE_BY_ONE, (FORECAST,)) for suite in ("quick", "raid"))
    shown._clock.start()  # noqa: SLF001
    shown._show_entries((replace(runs, state=State.RUNS), waits))  # noqa: SLF001  as if it had begun
    assert figures(shown.hint.text()) == ["2 h 00 min"]
    shown.empty_queue()
    assert figures(shown.hint.text()) == ["1 h 00 min"]  # what is left of the one that runs
    shown._ended_well(())  # noqa: SLF001  as if it had ended
    assert [(entry.suite, entry.state) for entry in shown._entries] == [("quick", State.DONE)]  # noqa: SLF001  as if it had ended


FORECAST = Forecast(Volume(Side.OLD, "db-old", "/srv", "/srv"), 3600.0, 1, 2)


def forecast_shown(qtbot: QtBot, window: MainWindow, store: Store) -> MeasurePage:
    """The page with a forecast of the picked move, and another move beside it."""
    store.add_move(replace(samples.MOVE, name="autumn"))
    window.work.changed.emit()
    at_rest(qtbot, window)
    shown = page(qtbot, window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    chosen = (shown.suite.currentText(), MeasuredSides(shown.sides.currentData()))
    shown._show_forecast("spring", [chosen], (Entry(*chosen, (FORECAST,)),))  # noqa: SLF001  as if it was made
    assert shown.start.isEnabled()
    return shown


@pytest.mark.slow
def test_a_forecast_is_forgotten_with_its_move(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    full_window.work.pick("autumn")
    at_rest(qtbot, full_window)
    assert (shown.start.isEnabled(), shown.forecasts.isHidden()) == (False, True)
    full_window.work.pick("spring")
    at_rest(qtbot, full_window)
    assert (shown.start.isEnabled(), shown.forecasts.isHidden()) == (False, True)
    assert shown.start.toolTip() == NO_FORECAST


@pytest.mark.slow
def test_a_queue_goes_with_its_move_and_stays_while_that_is_edited(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    shown.queue.click()
    full_store.update_move(replace(samples.MOVE, target="/srv/other/15"))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert "standard (" in shown.hint.text()
    full_window.work.pick("autumn")
    at_rest(qtbot, full_window)
    assert "standard (" not in shown.hint.text()
    assert shown.empty.isHidden()


@pytest.mark.slow
def test_a_forecast_that_comes_late_is_not_shown_beside_another_move(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    chosen = (shown.suite.currentText(), MeasuredSides(shown.sides.currentData()))
    for move, wanted in (("autumn", chosen), ("spring", ("raid", OLD_ONLY))):
        full_window.work.pick(move)
        at_rest(qtbot, full_window)
        if move == "spring":
            shown.suite.setCurrentText("raid")
        shown._show_forecast("spring", [chosen], (Entry(*chosen, (FORECAST,)),))  # noqa: SLF001
        assert shown.forecasts.isHidden(), (move, wanted)
        assert not shown.start.isEnabled()


@pytest.mark.slow
def test_what_is_measured_is_said_with_its_move_while_another_is_picked(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    shown._clock.start()  # noqa: SLF001
    shown._mark(0, State.RUNS)  # noqa: SLF001  as if it had begun
    assert figures(shown.hint.text()) == ["1 h 00 min"]
    assert "spring" not in shown.hint.text()
    full_window.work.pick("autumn")
    at_rest(qtbot, full_window)
    assert figures(shown.hint.text()) == ["1 h 00 min"]
    assert " spring " in shown.hint.text()
    assert shown.forecasts.isHidden()
    assert not shown.queue.isEnabled()
    run = full_store.runs("spring")[0]
    shown.take_events((Live(run.volume.source, run.workload.name, FIGURES),))
    assert not shown.tiles.tiles.moving
    full_window.work.pick("spring")
    at_rest(qtbot, full_window)
    assert shown.forecasts.isVisible()
    shown._ended_well(())  # noqa: SLF001
    assert ": standard. " in shown.hint.text()
    assert figures(shown.hint.text()) == []  # nothing is left


@pytest.mark.slow
def test_what_is_left_is_the_same_above_and_below(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    """The bar below the page and the line above it: of one work, by one reckoning."""
    shown = forecast_shown(qtbot, full_window, full_store)
    shown._mark(0, State.RUNS)  # noqa: SLF001

    def measure(_session: object, job: Job) -> None:
        job.report(Progress("random read, 1 of 3", "random read, 1 of 3", 20.0, 60.0, "seconds"))

    task = full_window.work.run("Benchmarks", measure)
    assert task is not None
    task.reported.connect(shown.take_events)
    with qtbot.waitSignal(task.reported):
        pass
    assert figures(full_window.job_bar.words.text())[-1] == "40 s"
    assert figures(shown.hint.text()) == ["40 s"]
    at_rest(qtbot, full_window)


def test_why_it_cannot_start_is_said_as_it_is(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = forecast_shown(qtbot, full_window, full_store)
    assert shown.start.toolTip() == ""
    chosen = (shown.suite.currentText(), MeasuredSides(shown.sides.currentData()))
    bad = Entry(*chosen, (replace(FORECAST, problems=("no space",)),))
    shown._show_forecast("spring", [chosen], (bad,))  # noqa: SLF001
    assert not shown.start.isEnabled()
    assert shown.start.toolTip() == PROBLEMS
    assert shown.hint.text() == PROBLEMS


def test_sorted_suites_and_the_box_choose_the_same(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
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
