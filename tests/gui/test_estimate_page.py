"""Estimate: its stages, what would help, whether it fits into a night, how good earlier ones were."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pytestqt.qtbot import QtBot

from core import units
from core.history.store import Store
from core.migration.model.asked import NOTHING, Asked, window_of
from core.migration.model.estimate import Estimate, method_title
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.move import Verify
from core.migration.model.plan import Phase
from gui.destinations import PageId
from gui.models.charts import timeline_chart
from gui.models.migration import estimate_made
from gui.models.night import COSTS, FITS, METHOD, STOP, STOPS, TOO_SHORT, WITH_IT
from gui.models.words import in_sentence
from gui.pages.estimate import EstimatePage
from gui.pages.overview import OverviewPage
from gui.window import MainWindow
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page
from tests.steps import change_step


def shown_page(window: MainWindow, qtbot: QtBot) -> EstimatePage:
    shown = page(qtbot, window, PageId.ESTIMATE)
    assert isinstance(shown, EstimatePage)
    return shown


def cells(shown: EstimatePage, column: int) -> list[str]:
    rows = shown.night.table.rows
    return [rows.columns[column].text(row) for row in rows.rows]


def by_method(shown: EstimatePage, column: int) -> dict[str, str]:
    return dict(zip((row.fit.method for row in shown.night.table.rows.rows), cells(shown, column), strict=True))


def asked(shown: EstimatePage, full_window: MainWindow, qtbot: QtBot, **texts: str) -> EstimatePage:
    for name, field in shown.night.fields.items():
        field.setText(texts.get(name, ""))
    shown.night.ask()
    at_rest(qtbot, full_window)
    return shown


def kept_estimate(window: MainWindow) -> Estimate:
    assert window.work.session is not None
    kept = window.work.session.store.estimate(samples.MOVE.name)
    assert kept is not None
    return kept


def test_what_would_help_stands_with_what_it_saves(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    assert in_sentence(method_title("cold-copy")) in shown.advice.text()
    rows = [[column.text(row) for column in shown.helps.rows.columns] for row in shown.helps.rows.rows]
    assert rows == [
        [
            "a disk of the new server that writes twice as fast (10.5 MB/s instead of 5.25 MB/s)",
            *("1 h 30 min", "1 h 30 min", "a purchase", "–", "disk of the new server"),
        ],
        ["compression", "none", "35 min 00 s", "–", "–", "CPU of the old server"],  # recorded before efforts were
    ]
    assert shown.helps.isColumnHidden(WITH_IT)


@pytest.mark.parametrize("size", [(1024, 700), (1440, 900)])
def test_the_improvements_are_as_high_as_their_rows(
    full_window: MainWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    full_window.resize(*size)
    shown = shown_page(full_window, qtbot)
    shown.tabs.setCurrentIndex(1)
    at_rest(qtbot, full_window)
    rows = sum(shown.helps.rowHeight(number) for number in range(shown.helps.rows.rowCount()))
    assert shown.helps.isVisible()
    assert shown.helps.viewport().height() == rows > 0
    assert shown.explained.geometry().top() > shown.helps.geometry().bottom()


def test_each_change_tells_how_likely_the_window_is_with_it(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = asked(shown_page(full_window, qtbot), full_window, qtbot, downtime="10m")
    assert not shown.helps.isColumnHidden(WITH_IT)
    assert shown.helps.rows.rows
    for row in shown.helps.rows.rows:
        assert row.effort is not None
        assert shown.helps.rows.columns[WITH_IT].text(row).endswith("%")
    asked(shown, full_window, qtbot)
    assert shown.helps.isColumnHidden(WITH_IT)


def test_a_window_says_by_when_old_must_be_stopped(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    assert figures(shown.night.message.text()) == []  # nothing was asked
    assert cells(shown, STOP) == []
    assert shown.night.table.rows.columns[STOP].title == STOPS[False]
    shown.tabs.setCurrentWidget(shown.night)
    assert not shown.night.table.isVisible()
    asked(shown, full_window, qtbot, window="20:00-08:00", price="5000", growth="20GB")
    assert figures(shown.night.message.text())[0] == "12 h 00 min"
    assert shown.night.table.isVisible()
    fits = by_method(shown, FITS)
    assert set(fits) == {each.method for each in kept_estimate(full_window).fits}
    assert cells(shown, METHOD) == [method_title(method) for method in fits]
    likely = [int(text.rstrip("%")) for text in fits.values()]
    assert likely == sorted(likely, reverse=True)
    stop_by = by_method(shown, STOP)
    assert stop_by["dump-restore"] == TOO_SHORT
    assert stop_by["cold-copy"][2] == ":"
    assert all("(" in text for text in cells(shown, COSTS))
    assert "12" in [figures(line)[0] for line in shown.night.later.text().splitlines()]  # in so many months
    assert shown.night.table.rows.columns[STOP].title == STOPS[True]


def test_the_window_is_drawn_above_its_fits_and_the_stages_above_all_else(
    full_window: MainWindow, qtbot: QtBot
) -> None:
    shown = shown_page(full_window, qtbot)
    asked(shown, full_window, qtbot, window="20:00-08:00")
    assert shown.tabs.currentWidget() is shown.night
    timeline = timeline_chart(kept_estimate(full_window))
    assert shown.chart.chart == shown.night.chart != timeline
    shown.tabs.setCurrentWidget(shown.table)
    assert shown.chart.chart == timeline
    shown.tabs.setCurrentWidget(shown.night)
    assert shown.chart.chart == shown.night.chart
    asked(shown, full_window, qtbot, downtime="10m")
    assert shown.chart.chart == timeline_chart(kept_estimate(full_window))


def test_the_figures_follow_the_verification(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    asked(shown, full_window, qtbot, downtime="4h")
    before = shown.downtime.figure.text(), by_method(shown, STOP)["cold-copy"]
    assert shown.verify.currentData() == Verify.CHANGED
    number = shown.verify.findData(Verify.ALL)
    shown.verify.setCurrentIndex(number)
    shown.verify.activated.emit(number)
    at_rest(qtbot, full_window)
    assert shown.verify.currentData() == Verify.ALL
    after = shown.downtime.figure.text(), by_method(shown, STOP)["cold-copy"]
    assert before[0] != after[0]
    assert before[1] != after[1]
    kept = kept_estimate(full_window)
    assert kept.checking is Verify.CHANGED  # an estimate that a plan would not follow is not kept


def texts(shown: EstimatePage) -> dict[str, str]:
    return {name: field.text() for name, field in shown.night.fields.items() if field.text()}


def test_what_is_asked_is_kept_with_its_move_alone(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    full_store.add_move(replace(samples.MOVE, name="summer"))
    full_store.save_asked("summer", Asked(downtime_seconds=90.0))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    asked(shown_page(full_window, qtbot), full_window, qtbot, window="20:00-08:00", downtime="600s")
    night = Asked(window_of("20:00-08:00"), 600.0)
    assert full_store.asked(samples.MOVE.name) == kept_estimate(full_window).asked == night
    for move, said in (
        ("summer", {"downtime": "90s"}),
        (samples.MOVE.name, {"window": "20:00-08:00", "downtime": "10m"}),
    ):
        full_window.work.pick(move)
        at_rest(qtbot, full_window)
        assert texts(shown_page(full_window, qtbot)) == said
    assert full_store.asked("summer") == Asked(downtime_seconds=90.0)
    asked(shown_page(full_window, qtbot), full_window, qtbot)
    assert full_store.asked(samples.MOVE.name) == kept_estimate(full_window).asked == NOTHING


def test_the_figures_are_those_of_the_estimate_that_has_answered(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = asked(shown_page(full_window, qtbot), full_window, qtbot, downtime="10m")
    kept = kept_estimate(full_window)
    method = kept.method(kept.to_take)
    assert method is not None
    assert shown.downtime.figure.text() == units.duration(method.downtime_seconds.likely)
    assert tuple(shown.helps.rows.rows) == kept.helps
    assert shown.summary.text() == estimate_made(kept)


def test_what_is_being_typed_stays_while_the_page_is_read_again(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = asked(shown_page(full_window, qtbot), full_window, qtbot, downtime="10m")
    shown.night.fields["window"].setText("22:0")
    shown.refresh()
    at_rest(qtbot, full_window)
    assert texts(shown) == {"window": "22:0", "downtime": "10m"}


def test_the_overview_says_whether_the_move_fits(full_window: MainWindow, qtbot: QtBot) -> None:
    asked(shown_page(full_window, qtbot), full_window, qtbot, window="20:00-08:00")
    overview = page(qtbot, full_window, PageId.OVERVIEW)
    assert isinstance(overview, OverviewPage)
    *_, fit = [card.answer for card in overview.cards]
    kept = kept_estimate(full_window)
    expected = kept.fit(kept.to_take)
    assert expected is not None
    assert len(overview.cards) == 4
    assert fit.line.endswith(f"{expected.likelihood * 100:.0f} %")


def test_a_downtime_alone_leaves_no_time_to_stop_by(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = asked(shown_page(full_window, qtbot), full_window, qtbot, downtime="10m")
    assert by_method(shown, FITS)["dump-restore"] == "0 %"
    assert shown.night.table.rows.columns[STOP].title == STOPS[False]
    assert not any("(" in text for text in cells(shown, COSTS))


@pytest.mark.slow
def test_what_cannot_be_read_is_said_in_place_of_rows(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = asked(shown_page(full_window, qtbot), full_window, qtbot, downtime="10m")
    for name, text in (("window", "22-02"), ("downtime", "ten"), ("price", "-1"), ("growth", "much")):
        asked(shown, full_window, qtbot, **{name: text})
        said, hint = shown.night.message.text().split(": ", 1)
        assert text in said
        assert any(letter.isdigit() for letter in hint)  # an example of what can be read
        assert shown.night.table.rows.rowCount() == 0
    asked(shown, full_window, qtbot, downtime="10m")
    assert shown.night.table.rows.rowCount() == len(kept_estimate(full_window).fits)


def test_an_answer_that_comes_late_is_left_out(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = asked(shown_page(full_window, qtbot), full_window, qtbot, downtime="10m")
    shown.night.show_answers(shown.night.question - 1, None)
    assert shown.night.table.rows.rowCount() == len(kept_estimate(full_window).fits)


def test_without_an_estimate_there_is_nothing_but_the_way_to_one(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    full_store.add_move(replace(samples.MOVE, name="summer"))
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    full_window.work.pick("summer")
    at_rest(qtbot, full_window)
    shown = shown_page(full_window, qtbot)
    assert shown.summary.text() == shown.describe_nothing() != ""
    assert not shown.parts.isVisible()


def rehearsed(store: Store, seconds: float) -> None:
    """A rehearsal whose one step, the copy, took so long."""
    copy = change_step(samples.PLAN.steps[0], phase=Phase.COPY, in_rehearsal=True)
    plan = replace(samples.PLAN, steps=(copy,))
    began = samples.MORNING + timedelta(days=1)
    made = Execution(0, plan.move, Kind.REHEARSAL, State.RUNNING, "c0ffee00", "dba@desk", began, None, plan)
    number = store.execution_started(made)
    run = StepRun(0, copy.number, copy.title, 1, began)
    done = replace(run, id=store.step_started(number, run), ended_at=began + timedelta(seconds=seconds), exit_status=0)
    store.step_ended(done)
    store.execution_changed(number, State.DONE)


@pytest.mark.slow
def test_the_record_holds_what_was_taken_against_what_was_estimated(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    shown = shown_page(full_window, qtbot)
    shown.tabs.setCurrentIndex(3)
    assert figures(shown.message.text()) == []
    assert not shown.record.isVisible()
    assert not shown.by_stage.isVisible()
    rehearsed(full_store, 28_600.0)
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    assert shown.record.isVisible()
    (row, *_) = shown.record.rows.rows
    assert [column.text(row) for column in shown.record.rows.columns][2:] == [
        "Copy", "3 h 58 min", "2 h 28 min – 5 h 33 min", "7 h 57 min", "yes", "longer",
    ]  # fmt: skip
    (stage, *_) = shown.by_stage.rows.rows
    assert [column.text(stage) for column in shown.by_stage.rows.columns] == ["Copy", "1", "0 %", "2.00 ×"]
    assert figures(shown.message.text())[0] == "0"
