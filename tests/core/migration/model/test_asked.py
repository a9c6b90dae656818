"""What is typed when more is asked of an estimate than its methods."""

import pytest

from core.errors import InputError
from core.language import spoken
from core.migration.model.asked import (
    NOTHING,
    Asked,
    price_of,
    seconds_of,
    seconds_text,
    size_of,
    window_of,
    window_text,
)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("2 h", 7200), ("1.5h", 5400), ("45", 45)])
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


def test_windows_and_sizes() -> None:
    assert window_of("22:00-02:30") == (79200, 9000)
    assert size_of("20GB") == 20e9
    assert size_of("1.5T") == 1.5e12
    with pytest.raises(InputError, match="1e9"):
        size_of("1e9")


def test_in_german_what_is_shown_is_read_and_thousands_are_no_fraction() -> None:
    with spoken("de"):
        assert seconds_text(1.5) == "1,5s"
        assert seconds_of(seconds_text(1.5)) == 1.5
        assert (size_of("1,5TB"), size_of("1.5TB"), seconds_of("1.200s")) == (1.5e12, 1.5e12, 1200)
        assert (price_of("5.000"), price_of("5000,50")) == (5000, 5000.5)
    assert (price_of("5,000"), price_of("5000.50"), seconds_of("1,200s")) == (5000, 5000.5, 1200)


def test_a_price_is_a_number_of_at_least_nothing() -> None:
    assert price_of("5000") == 5000
    assert price_of(" 1e6 ") == 1e6
    for text in ("-1", "nan", "inf", "much", ""):
        with pytest.raises(InputError, match=f"^{text} ") as refused:
            price_of(text)
        assert " 5000" in refused.value.hint


@pytest.mark.parametrize("text", ["90s", "10m", "2h", "36h", "3d", "1.5s", "100000d"])
def test_a_duration_is_written_as_it_is_typed(text: str) -> None:
    assert seconds_of(seconds_text(seconds_of(text))) == seconds_of(text)
    assert seconds_text(seconds_of("600s")) == "10m"


@pytest.mark.parametrize("text", ["22:00-02:30", "00:00-23:59", "09:05-09:05"])
def test_a_window_is_written_as_it_is_typed(text: str) -> None:
    assert window_text(window_of(text)) == text


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        (NOTHING, None),
        (Asked(window_of("22:00-02:00")), 4 * 3600),
        (Asked(window_of("22:00-22:00")), 86400),
        (Asked(downtime_seconds=600.0), 600),
        (Asked(window_of("22:00-02:00"), 600.0), 600),
        (Asked(window_of("22:00-22:05"), 600.0), 300),
    ],
)
def test_clients_wait_for_the_shorter_of_window_and_downtime(asked: Asked, seconds: float | None) -> None:
    assert asked.seconds == seconds


@pytest.mark.parametrize(
    ("window", "downtime"),
    [
        ((-1.0, 5.0), None),
        ((0.0, 86400.0), None),
        ((float("nan"), 0.0), None),
        (None, 0.0),
        (None, float("inf")),
        (None, float("nan")),
    ],
)
def test_what_no_clock_shows_is_refused(window: tuple[float, float] | None, downtime: float | None) -> None:
    with pytest.raises(ValueError, match=r"the (window|downtime) is"):
        Asked(window, downtime)
