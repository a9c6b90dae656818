"""Red is the downtime that runs, not the one that is over."""

import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from core.tones import Tone
from gui.design.palette import colour
from gui.models.steps import Part, Progressed
from gui.widgets.phase_strip import PhaseStrip


@pytest.mark.parametrize(("done", "tone"), [(4, Tone.BAD), (27, Tone.GOOD)])
def test_a_downtime_that_is_over_is_not_red(qtbot: QtBot, done: int, tone: Tone) -> None:
    strip = PhaseStrip()
    qtbot.addWidget(strip)
    strip.resize(400, strip.sizeHint().height())
    strip.show_parts((Progressed(Part.DOWN, done, 27, 6.5, under_way=done < 27),))
    strip.show()
    picture = strip.grab().toImage()
    seen = {QColor(picture.pixel(x, y)).name() for x in range(picture.width()) for y in range(picture.height())}
    assert [each for each in (Tone.BAD, Tone.GOOD) if colour(each).name() in seen] == [tone]
    assert ("about" in strip.accessibleDescription()) is (done < 27)
