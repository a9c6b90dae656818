"""Gantt charts of plans that are longer than a page is high."""

from dataclasses import replace

import pytest

from core.language import languages, spoken
from core.migration.model.estimate import Span
from core.reports.charts.duration_plots import Bar, Scheduled, gantt, methods, stages, window
from core.reports.drawing import PALETTE, WIDTH, Box, Drawing, Line, Words, width_of
from core.reports.report import Report
from core.tones import Tone

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
    assert "13 more in the table of steps" in [mark.text for mark in many.marks if isinstance(mark, Words)]
    assert not any("more in" in mark.text for mark in few.marks if isinstance(mark, Words))


def test_downtime_is_red_as_in_the_window() -> None:
    drawn = gantt([Bar("stop", (0.0, 5.0), (0.0, 4.0), down=True), Bar("copy", (5.0, 9.0), (4.0, 9.0))])
    assert drawn is not None
    red = [mark for mark in drawn.marks if isinstance(mark, Box) and mark.fill == "bad"]
    assert PALETTE["bad"] == Tone.BAD.on_paper
    assert len(red) == 2  # that of the key, and that of the step


SCHEDULED = (
    Scheduled("warm-copy", 30_000.0, Span(6, 11, 33), 50.0),
    Scheduled("cold-copy", 5.0, Span(5000, 6000, 8000), 8020.0),
    Scheduled("dump-restore", 0.0, Span(20_000, 30_000, 60_000), 60_020.0),
)


@pytest.mark.parametrize("language", languages())
def test_a_window_shows_the_latest_schedule_of_each_method(language: str) -> None:
    with spoken(language):
        drawn = window(4 * 3600.0, SCHEDULED, Span(1, 3, 12))
    assert drawn is not None
    words = [mark.text for mark in drawn.marks if isinstance(mark, Words)]
    assert [text for text in words if text.endswith("…")] == []
    assert any("8 h 20 min" in text and "50 s" in text for text in words)
    boxes = [mark for mark in drawn.marks if isinstance(mark, Box) and mark.y > 4]
    ground, *bars = boxes
    assert [bar.fill for bar in bars] == ["planned", "white", "bad", "planned", "white", "bad", "bad"]
    _, _, down, _, _, _, too_long = bars
    assert ground.x < down.x < down.x + down.width <= ground.x + ground.width
    assert too_long.x == pytest.approx(ground.x)  # it begins with the window, and goes on behind it
    assert too_long.x + too_long.width > ground.x + ground.width + 1
    assert all(box.x >= 0 and box.x + box.width <= WIDTH for box in boxes)


def test_a_window_without_methods_is_not_drawn() -> None:
    assert window(3600.0, (), Span(1, 3, 12)) is None


def test_without_times_there_is_none() -> None:
    assert gantt([]) is None
    assert gantt([Bar("decide", (0.0, 0.0))]) is None


@pytest.mark.parametrize("language", languages())
def test_no_name_of_a_method_or_stage_is_cut(shipped: Report, language: str) -> None:
    assert shipped.estimate is not None
    found = shipped.estimate.methods
    upgrades = [replace(found[0], method=f"pg-upgrade-{way}") for way in ("copy", "clone", "link")]
    with spoken(language):
        drawn = [methods([*found, *upgrades]), *map(stages, found)]
    words = [mark.text for each in drawn if each is not None for mark in each.marks if isinstance(mark, Words)]
    assert len(words) > 50
    assert [text for text in words if text.endswith("…")] == []


def _drawn(report: Report) -> list[Drawing]:
    found = report.estimate.methods if report.estimate is not None else ()
    made = [
        methods(found, found[0]),
        *map(stages, found),
        gantt([replace(bar, down=True) for bar in _bars(12)]),
        window(4 * 3600.0, SCHEDULED, Span(1, 3, 12)),
    ]
    return [drawing for drawing in made if drawing is not None]


def test_bars_cover_the_grid(shipped: Report) -> None:
    for drawing in _drawn(shipped):
        grid = [place for place, mark in enumerate(drawing.marks) if isinstance(mark, Line) and mark.colour == "rule"]
        bars = [place for place, mark in enumerate(drawing.marks) if isinstance(mark, Box)]
        assert max(grid, default=-1) < min(bars), drawing.name


@pytest.mark.parametrize("language", languages())
def test_the_words_of_a_key_leave_room_for_the_next_mark(shipped: Report, language: str) -> None:
    with spoken(language):
        drawings = _drawn(shipped)
    for drawing in drawings:
        row = [mark for mark in drawing.marks if isinstance(mark, Words | Box) and mark.y <= 2]
        ends = [mark.x + width_of(mark.text, mark.size) for mark in row if isinstance(mark, Words)]
        begins = [mark.x for mark in row if isinstance(mark, Box)][1:]
        assert all(end + 2 < begin for end, begin in zip(ends, begins, strict=False)), (drawing.name, ends, begins)
        assert max(ends, default=0) <= WIDTH, drawing.name
