"""Gantt charts of plans that are longer than a page is high."""

from core.reports.charts.durations import Bar, gantt
from core.reports.drawing import Words

LETTER_MILLIMETRES = 279.4 - 40 - 20
"""Between the margins, below a heading."""


def _bars(number: int) -> list[Bar]:
    return [Bar(f"{each}. step", (each, each + 1.0), (each, each + 2.0)) for each in range(number)]


def test_as_many_as_there_are_stay_on_one_page() -> None:
    for number in (1, 12, 55, 60, 300):
        drawn = gantt(_bars(number))
        assert drawn is not None
        assert drawn.height <= LETTER_MILLIMETRES


def test_what_has_no_room_is_counted() -> None:
    few, many = gantt(_bars(60)), gantt(_bars(73))
    assert few is not None
    assert many is not None
    assert "13 more in the table below" in [mark.text for mark in many.marks if isinstance(mark, Words)]
    assert not any("more in" in mark.text for mark in few.marks if isinstance(mark, Words))


def test_without_times_there_is_none() -> None:
    assert gantt([]) is None
    assert gantt([Bar("decide", (0.0, 0.0))]) is None
