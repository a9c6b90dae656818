"""Counters that filter."""

from itertools import combinations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.tones import Tone
from gui.models.verdict import Counter
from gui.widgets.chip import ChipRow


@pytest.fixture
def chips(qtbot: QtBot) -> ChipRow:
    made = ChipRow("Which are shown", "pass")
    qtbot.addWidget(made)
    return made


def shown(bad: int, passed: int) -> tuple[Counter, ...]:
    return Counter("bad", "Bad", bad, Tone.BAD), Counter("pass", "Passed", passed, Tone.GOOD)


def test_what_is_folded_is_so_while_there_is_anything_else(chips: ChipRow) -> None:
    chips.show_counters(shown(2, 80))
    assert chips.wanted == {"bad"}
    chips.show_counters(shown(0, 80))
    assert "pass" in chips.wanted
    assert not chips.chips["bad"].isEnabled()


def test_what_was_pressed_stays(chips: ChipRow, qtbot: QtBot) -> None:
    chips.show_counters(shown(2, 80))
    with qtbot.waitSignal(chips.changed):
        chips.chips["pass"].click()
    assert chips.wanted == {"bad", "pass"}
    chips.chips["bad"].setFocus()
    QTest.keyClick(chips.chips["bad"], Qt.Key.Key_Space)
    chips.show_counters(shown(3, 79))
    assert chips.wanted == {"pass"}
    assert chips.chips["bad"].accessibleName() == "Bad: 3"


def test_a_counter_that_is_gone_has_no_chip(chips: ChipRow) -> None:
    chips.show_counters(shown(1, 1))
    chips.show_counters(shown(1, 1)[:1])
    assert chips.wanted == {"bad"}
    assert set(chips.chips) == {"bad"}


def test_a_new_chip_takes_part_in_the_order_of_tab_at_once(chips: ChipRow) -> None:
    chips.show()
    chips.show_counters(shown(1, 1))
    assert [chip.isVisibleTo(chips) for chip in chips.chips.values()] == [True, True]


def test_where_there_is_no_room_the_word_is_cut(chips: ChipRow) -> None:
    chips.show_counters((Counter("long", "Accepted by the operator", 12, Tone.MUTED),))
    chips.show()
    chip = chips.chips["long"]
    chip.grab()
    assert (chip.width(), chip.toolTip()) == (chip.sizeHint().width(), "")
    chip.resize(chip.minimumSizeHint())
    chip.grab()
    assert chip.width() < chip.sizeHint().width() // 2 + 20
    assert "Accepted by the operator: 12" in chip.toolTip()


@pytest.mark.parametrize("number", [0, -1, 10**18])
def test_any_number_is_painted_whole(chips: ChipRow, number: int) -> None:
    chips.show_counters(shown(number, 1))
    chips.show()
    chip = chips.chips["bad"]
    assert chip.width() >= chip.fontMetrics().horizontalAdvance(chip.text())
    assert not chips.grab().isNull()


@pytest.mark.parametrize("width", [900, 300, 120, 40])
def test_chips_wrap_where_a_line_has_no_room_for_them(chips: ChipRow, width: int) -> None:
    every = [Counter(str(number), "A longer word" * (number % 2 + 1), 1000, Tone.MUTED) for number in range(6)]
    chips.show_counters(every)
    chips.resize(width, chips.heightForWidth(width))
    chips.show()
    places = [chip.geometry() for chip in chips.chips.values()]
    assert all(chips.rect().top() <= place.top() and place.bottom() <= chips.rect().bottom() for place in places)
    assert all(place.right() < width for place in places) or width < chips.minimumSizeHint().width()
    assert not any(one.intersects(other) for one, other in combinations(places, 2))
    assert (len({place.top() for place in places}) > 1) is (chips.sizeHint().width() > width)
    assert max(place.bottom() for place in places) + 1 == chips.height()


def test_chips_stand_and_take_the_focus_in_the_order_of_the_counters(chips: ChipRow) -> None:
    chips.show_counters([Counter(name, name, 1, Tone.MUTED) for name in ("one", "three")])
    chips.show_counters([Counter(name, name, 1, Tone.MUTED) for name in ("one", "two", "three")])
    chips.resize(chips.sizeHint())
    chips.show()
    assert [*chips.chips] == ["one", "two", "three"]
    left = [chip.x() for chip in chips.chips.values()]
    assert left == sorted(left)
    assert [chips.chips[name].nextInFocusChain() for name in ("one", "two")] == [
        chips.chips["two"],
        chips.chips["three"],
    ]
