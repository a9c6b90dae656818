"""Words that several kinds of report share."""

from datetime import UTC, datetime, timedelta

from core.reports.words import time_words

NOON = datetime(2026, 3, 14, 12, 0, 5, tzinfo=UTC)


def test_a_column_shows_seconds_where_times_lie_within_a_minute() -> None:
    assert time_words([NOON, NOON, NOON + timedelta(minutes=1)])(NOON) == "2026-03-14 12:00 UTC"
    assert time_words([NOON, NOON + timedelta(seconds=9)])(NOON) == "2026-03-14 12:00:05 UTC"
