"""Times as they are typed: the next one of the workstation's clock, across days and changes of the clocks."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from core import this_workstation
from core.errors import InputError
from core.migration.model.schedule import Schedule, describe_schedule, schedule_of, time_of

pytestmark = pytest.mark.skipif(this_workstation.on_windows(), reason="Windows has no TZ")


@pytest.fixture(autouse=True)
def _berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clocks go forward on 2026-03-29 at 02:00, and back on 2026-10-25 at 03:00."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "now", "meant"),
    [
        ("22:00", "2026-11-30 17:00", "2026-11-30 21:00"),
        ("18:00", "2026-11-30 17:00", "2026-12-01 17:00"),  # it is 18:00
        (" 7:05 ", "2026-11-30 17:00", "2026-12-01 06:05"),
        ("2026-12-01 22:00", "2026-11-30 17:00", "2026-12-01 21:00"),
        ("2026-12-01T22:00", "2026-11-30 17:00", "2026-12-01 21:00"),
        ("2026-12-01T22:00Z", "2026-11-30 17:00", "2026-12-01 22:00"),
        ("2026-12-01T22:00+05:30", "2026-11-30 17:00", "2026-12-01 16:30"),
        ("23:00", "2026-03-28 23:00", "2026-03-29 21:00"),  # the day has 23 hours
        ("02:30", "2026-10-24 22:30", "2026-10-25 00:30"),  # the first of two
        ("02:30", "2026-10-25 00:45", "2026-10-25 01:30"),  # the second
        ("02:30", "2026-10-25 01:45", "2026-10-26 01:30"),
    ],
)
def test_a_time_is_the_next_one_of_the_clock(text: str, now: str, meant: str) -> None:
    assert time_of(text, utc(now)) == utc(meant)


@pytest.mark.parametrize(
    ("text", "now", "said"),
    [
        ("02:30", "2026-03-28 22:00", "02:30 does not exist on 2026-03-29"),
        ("2026-03-29 02:30", "2026-03-28 22:00", "02:30 does not exist on 2026-03-29"),
        ("2026-11-30 17:59", "2026-11-30 17:00", "2026-11-30 17:59 is not after"),
        ("2026-12-08 22:00", "2026-11-30 17:00", "more than a week away"),
        *((text, "2026-11-30 17:00", "is no time") for text in ("", "noon", "24:00", "22", "22:60", "2026-12-01")),
        *((text, "2026-11-30 17:00", "is no time") for text in ("2026-02-30 22:00", "2026-12-01 22:00x")),
        ("0001-01-01 00:00", "2026-11-30 17:00", "is no time|is not after"),
    ],
)
def test_what_is_no_time_to_wait_for_is_refused_with_a_hint(text: str, now: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        time_of(text, utc(now))
    assert refused.value.hint


def test_the_question_comes_after_the_start() -> None:
    now = utc("2026-11-30 17:00")
    start, ask = utc("2026-11-30 21:00"), utc("2026-12-01 00:30")
    assert schedule_of("22:00", "01:30", now) == Schedule(start, ask)
    assert schedule_of("22:00", "19:00", now) == Schedule(start, utc("2026-12-01 18:00"))
    assert schedule_of(None, "19:00", now) == Schedule(None, utc("2026-11-30 18:00"))
    assert schedule_of("22:00", None, now) == Schedule(start, None)
    with pytest.raises(InputError, match=r"21:00 is not after .*22:00"):
        schedule_of("22:00", "2026-11-30 21:00", now - timedelta(minutes=1))


@pytest.mark.parametrize(
    ("start", "ask", "said"),
    [
        ("22:00", "21:00", "Start 2026-11-30 22:00, question 2026-12-01 21:00 (next day)"),
        ("22:00", "23:30", "Start 2026-11-30 22:00, question 2026-11-30 23:30"),
        ("22:00", "2026-12-02 01:00", "Start 2026-11-30 22:00, question 2026-12-02 01:00"),
        ("17:00", "16:00", "Start 2026-12-01 17:00, question 2026-12-02 16:00 (next day)"),
        (None, "23:30", "Question 2026-11-30 23:30"),
        (None, "17:00", "Question 2026-12-01 17:00 (next day)"),
        ("22:00", None, "Start 2026-11-30 22:00"),
        (None, None, ""),
    ],
)
def test_resolved_times_are_told_with_their_dates(start: str | None, ask: str | None, said: str) -> None:
    now = utc("2026-11-30 17:00")  # 18:00 on the workstation
    assert describe_schedule(schedule_of(start, ask, now), now) == said
