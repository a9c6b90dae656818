"""No painter fails, whatever figures it has to show, and in every state of an execution."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.standing import Condition, Mark, Milestone
from core.tones import Tone
from gui.design.icons import Icon
from gui.models.figures import Figure
from gui.models.headline import Headline
from gui.models.rail import RailRow
from gui.models.steps import Part, Progressed, progressed
from gui.widgets.budget_bar import BudgetBar
from gui.widgets.figures import FigureTiles
from gui.widgets.move_card import MarksLine
from gui.widgets.phase_strip import PhaseStrip
from gui.widgets.rail import Rail
from gui.widgets.state_card import StateCard
from tests.core.migration.execution.builders import STEP, execution
from tests.gui.models.test_fuzzed import FLOATS, NUMBERS, TEXTS
from tests.steps import change_step

SIZES = ((400, 60), (90, 20), (1, 1))
DAY = datetime(2026, 3, 14, tzinfo=UTC)
DAYS = (None, datetime(1, 1, 2, tzinfo=UTC), DAY, datetime(9999, 12, 30, tzinfo=UTC))


@pytest.fixture
def painted(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Callable[[QWidget], None]:
    """Show a widget in several sizes and paint it; what its guard reports fails the test."""

    def paint(widget: QWidget) -> None:
        failed: list[BaseException | None] = []
        qtbot.addWidget(widget)
        with monkeypatch.context() as patched:
            patched.setattr("sys.excepthook", lambda _kind, error, _trace: failed.append(error))
            widget.show()
            for size in SIZES:
                widget.resize(*size)
                assert not widget.grab().isNull()
        assert failed == []

    return paint


DONE = (0, None, 1, -1, 2**80)
"""Steps of each part that are done; None: all."""


@pytest.mark.parametrize("seconds", [None, *FLOATS])
def test_the_parts_are_painted(painted: Callable[[QWidget], None], seconds: float | None) -> None:
    for number in NUMBERS:
        strip = PhaseStrip()
        strip.show_parts(
            tuple(
                Progressed(part, number if done is None else done, number, seconds, under_way=done == 1)
                for part, done in zip(Part, DONE, strict=True)
            )
        )
        painted(strip)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("ends", [None, 0, 12])
def test_the_parts_of_every_execution_are_painted(
    painted: Callable[[QWidget], None], state: State, kind: Kind, ends: int | None
) -> None:
    for made in (execution(), _in_step(execution(change_step(STEP, expected_seconds=0.0)), ends)):
        strip = PhaseStrip()
        strip.show_parts(progressed(replace(made, state=state, kind=kind)))
        painted(strip)


def _in_step(made: Execution, ends: int | None) -> Execution:
    run = StepRun(1, 1, "copy", 1, DAY, None if ends is None else DAY, ends, 0, total=0)
    return replace(made, steps=(run,))


@pytest.mark.parametrize("at", DAYS)
@pytest.mark.parametrize("condition", Condition)
@pytest.mark.parametrize("text", ["", TEXTS[3]])
def test_milestones_are_painted(
    painted: Callable[[QWidget], None], condition: Condition, at: datetime | None, text: str
) -> None:
    marks = tuple(Mark(milestone, condition, at=at, said=text) for milestone in Milestone)
    line = MarksLine(marks)
    painted(line)
    assert line.places(0)
    assert all(place.width() > 0 for place in line.places(line.width()))
    rail = Rail([RailRow(one.value, one) for one in Milestone], [Icon.MOVE] * len(Milestone))
    rail.rows.show_marks(marks)
    rail.turn_to(0)
    painted(rail)
    rail.ages.stop()


def test_no_milestone_is_painted(painted: Callable[[QWidget], None]) -> None:
    painted(MarksLine(()))
    painted(PhaseStrip())


@pytest.mark.parametrize("used", [*FLOATS, 7.0])
def test_a_budget_is_painted(painted: Callable[[QWidget], None], used: float) -> None:
    for planned in (*FLOATS, 7.0):
        bar = BudgetBar()
        bar.show_seconds(used, planned)
        painted(bar)


@pytest.mark.parametrize("tone", [None, *Tone])
@pytest.mark.parametrize("text", ["", "a", TEXTS[3], TEXTS[4]])
def test_any_text_is_painted(painted: Callable[[QWidget], None], tone: Tone | None, text: str) -> None:
    card: Any = StateCard()
    card.show_state(None if tone is None else Headline(text, tone), text)
    painted(card)
    tiles = FigureTiles()
    tiles.show_figures((Figure(text, text, text, tone), Figure("", "1", "")))
    painted(tiles)
