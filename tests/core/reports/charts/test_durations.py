"""Gantt charts of plans that are longer than a page is high."""

from dataclasses import replace

import pytest

from core.language import languages, spoken
from core.reports.charts.duration_plots import Bar, gantt, methods, stages
from core.reports.drawing import PALETTE, Box, Words
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
    assert "13 more in the table below" in [mark.text for mark in many.marks if isinstance(mark, Words)]
    assert not any("more in" in mark.text for mark in few.marks if isinstance(mark, Words))


def test_downtime_is_red_as_in_the_window() -> None:
    drawn = gantt([Bar("stop", (0.0, 5.0), (0.0, 4.0), down=True), Bar("copy", (5.0, 9.0), (4.0, 9.0))])
    assert drawn is not None
    red = [mark for mark in drawn.marks if isinstance(mark, Box) and mark.fill == "bad"]
    assert PALETTE["bad"] == Tone.BAD.on_paper
    assert len(red) == 2  # that of the key, and that of the step


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
