"""Of several unfinished executions the strip shows the most urgent, and leads to the others."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pytestqt.qtbot import QtBot

from core.migration.execution.status import Possible, Unfinished
from core.migration.model.execution import Kind, State
from gui.widgets.status_banner import StatusBanner

MAY = Possible(begin=False, resume=True, end=False, roll_back=True)
LOST = Unfinished("autumn", 1, Kind.REAL, State.INTERRUPTED, False, "", "It stands.", None, None, MAY)
RUNS = replace(LOST, move="spring", id=2, state=State.RUNNING, alive=True)
DOWN = replace(RUNS, move="summer", id=3, stopped_at=datetime(2026, 3, 14, tzinfo=UTC))
AT = datetime(2026, 3, 14, 1, tzinfo=UTC)
WAITS = replace(DOWN, move="winter", id=4, waits=True)


@pytest.fixture
def strip(qtbot: QtBot) -> StatusBanner:
    made = StatusBanner()
    qtbot.addWidget(made)
    return made


def shown(strip: StatusBanner) -> str:
    return strip.text.text().split(":")[0]


def test_the_most_urgent_is_shown_and_the_others_are_listed(strip: StatusBanner, qtbot: QtBot) -> None:
    strip.show_unfinished((LOST, RUNS, WAITS, DOWN), AT, read_at=AT, ready=True)
    assert shown(strip) == WAITS.move
    assert strip.more.isVisibleTo(strip)
    strip.others.aboutToShow.emit()
    actions = strip.others.actions()
    assert [action.data() for action in actions] == [DOWN.move, RUNS.move, LOST.move]
    assert all(action.text().startswith(action.data()) for action in actions)
    with qtbot.waitSignal(strip.shown_wanted) as asked:
        actions[2].trigger()
    assert asked.args == [LOST.move]


def test_one_that_waits_in_this_window_comes_first(strip: StatusBanner) -> None:
    strip.show_unfinished((LOST, RUNS, DOWN), AT, read_at=AT, ready=True)
    assert shown(strip) == DOWN.move
    strip.wait_for(RUNS.move, "the name of the cluster")
    assert shown(strip) == RUNS.move
    strip.wait_for("", "")
    assert shown(strip) == DOWN.move


def test_a_single_one_has_no_menu(strip: StatusBanner) -> None:
    strip.show_unfinished((RUNS,), AT, read_at=AT, ready=True)
    assert not strip.more.isVisibleTo(strip)


def test_what_is_shown_of_an_old_read_goes_on_and_says_when_it_was_read(strip: StatusBanner) -> None:
    texts = []
    for seconds in (0, 3, 4, 5, 60):
        strip.show_unfinished((DOWN,), AT + timedelta(seconds=seconds), read_at=AT, ready=True)
        texts.append(strip.text.text())
    assert len(set(texts)) == len(texts)
    read_at = f"{AT.astimezone():%H:%M:%S}"
    assert [text.count(f" {read_at}. ") for text in texts] == [0, 0, 0, 1, 1]
