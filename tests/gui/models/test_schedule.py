"""What the chosen times mean, with their dates."""

from datetime import UTC, datetime, timedelta

import pytest

from core.migration.model.schedule import Schedule, dated
from gui.models.schedule import describe_schedule

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
START = NOW + timedelta(hours=3)


@pytest.mark.parametrize(("hours", "next_day"), [(1, False), (24, True), (48, False)])
def test_a_question_on_the_day_after_the_start_is_told_as_such(hours: int, *, next_day: bool) -> None:
    ask = START + timedelta(hours=hours)
    said = describe_schedule(Schedule(START, ask), NOW)
    assert dated(START) in said
    assert dated(ask) in said
    assert ("(next day)" in said) is next_day
