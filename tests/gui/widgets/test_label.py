"""Labels: text in lines about as long as each other."""

from math import ceil

import pytest
from PySide6.QtGui import QFontMetricsF, QImage
from pytestqt.qtbot import QtBot

from gui.widgets.label import EvenLabel

SENTENCES = (
    "A move is one migration of a cluster from an old server to a new one. First add both servers, then the move.",
    "The history records facts, benchmark runs, checks, plans and every command.",
    "short",
    "",
    "a-name-of-one-word-that-is-wider-than-its-place-" * 8,
    "This workload was measured only once on each server.\nRun the benchmarks again.",
)


def _ink(picture: QImage, top: int, height: int) -> list[int]:
    """Where across, in pixels, anything stands in a line."""
    ground = picture.pixel(0, 0)
    rows = range(top, min(top + height, picture.height()))
    return [x for x in range(picture.width()) if any(picture.pixel(x, y) != ground for y in rows)]


@pytest.mark.parametrize("width", [240, 470, 560, 900])
@pytest.mark.parametrize("text", SENTENCES)
def test_no_word_stands_alone_in_the_last_line(qtbot: QtBot, text: str, width: int) -> None:
    label = EvenLabel(text)
    qtbot.addWidget(label)
    label.resize(width, label.heightForWidth(width))
    picture = label.grab().toImage()
    line = ceil(QFontMetricsF(label.font()).lineSpacing())
    lines = [_ink(picture, top, line) for top in range(0, picture.height(), line)]
    widths = [ink[-1] - ink[0] for ink in lines if ink]
    assert label.line_width <= width
    if "\n" not in text and text.count(" ") > 5 and len(widths) > 1:
        assert min(widths) > 0.6 * max(widths)
    for ink in lines:
        if ink and max(widths) < width - 4:
            assert abs(ink[0] + ink[-1] - width) <= 10  # in the middle
