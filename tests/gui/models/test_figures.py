"""The figures of a finished move or rehearsal."""

from datetime import UTC, datetime

import pytest

from core import units
from core.api.model import ExecutionState
from core.migration.execution.outcome import Figures
from core.migration.execution.timeline import Downtime
from core.migration.model.estimate import Span
from core.tones import Tone
from gui.models.figures import figures
from tests.figures import figures as numbers

AT = datetime(2026, 3, 14, 3, 12, 9, tzinfo=UTC)


def test_a_move_under_way_has_none() -> None:
    assert figures(ExecutionState()) == ()


@pytest.mark.parametrize(("took", "tone"), [(6.0, Tone.GOOD), (8.0, Tone.WARNING)])
def test_a_downtime_is_good_if_its_commands_took_no_longer_than_planned(took: float, tone: Tone) -> None:
    down = Downtime(AT, AT, took + 30.0, 30.0, 0.0, 7.0)
    first, *others = figures(ExecutionState(figures=Figures(0, 0, None, 1291, 25.4, 25.0, 23.0), downtime=down))
    assert (numbers(first.value), first.tone) == ([f"{took + 30:.0f} s"], tone)
    assert numbers(first.detail) == [f"{took:.1f} s", "7.0 s"]  # the plan says nothing of what people took
    verified, copied, duration = others
    assert (verified.value, numbers(verified.detail)) == (units.count(1291), ["0"])
    assert numbers(copied.detail) == ["0"]
    assert (numbers(duration.value), numbers(duration.detail)) == (["25 s"], ["23 s"])


def test_a_duration_is_from_start_to_end_and_its_commands_are_held_against_the_plan() -> None:
    *_, duration = figures(ExecutionState(figures=Figures(0, 0, None, 1291, 7200.0, 25.0, 23.0)))
    assert (numbers(duration.value), numbers(duration.detail)) == (["2 h 00 min"], ["25 s", "23 s"])


def test_a_rehearsal_tells_the_downtime_of_the_move_and_compares_nothing() -> None:
    found = Figures(1 << 30, 2, 72.4e6, None, 34.0, 34.0, None, Span(4.8, 7.0, 12.0))
    made = figures(ExecutionState(figures=found))
    assert [numbers(each.value) for each in made] == [["7.0 s"], ["1.0 GiB"], ["72.4 MB/s"], ["34 s"]]
    assert numbers(made[0].detail) == ["4.8 s", "12 s"]
    assert made[-1].detail == ""
