"""The milestones of a card keep their names at every width."""

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QPoint, QRect
from pytestqt.qtbot import QtBot

from core.migration.model.standing import Condition, Mark, Milestone
from gui.widgets.move_card import MarksLine

MARKS = tuple(Mark(each, Condition.DONE, "done", datetime(2026, 11, 29, tzinfo=UTC)) for each in Milestone)


@pytest.mark.parametrize("width", [300, 500, 742, 1200])
def test_every_name_has_its_room(qtbot: QtBot, width: int) -> None:
    line = MarksLine(MARKS)
    qtbot.addWidget(line)
    places = line.places(width)
    assert len(places) == len(MARKS)
    assert all(place.right() < width for place in places)
    assert all(place.bottom() < line.heightForWidth(width) for place in places)
    assert not any(one.intersects(other) for number, one in enumerate(places) for other in places[:number])


def test_a_narrow_line_is_higher(qtbot: QtBot) -> None:
    line = MarksLine(MARKS)
    qtbot.addWidget(line)
    assert line.heightForWidth(300) > line.heightForWidth(700) > line.heightForWidth(3000)
    assert QRect(QPoint(), line.places(3000)[0].size()) == line.places(3000)[0]
