"""What is typed when more is asked of an estimate than its methods."""

import pytest

from core.errors import InputError
from core.migration.model.asked import price_of, seconds_of, size_of, window_of


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("2 h", 7200), ("1.5h", 5400), ("45", 45)])
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


def test_windows_and_sizes() -> None:
    assert window_of("22:00-02:30") == (79200, 9000)
    assert size_of("20GB") == 20e9
    assert size_of("1.5T") == 1.5e12
    with pytest.raises(InputError, match="1e9"):
        size_of("1e9")


def test_a_price_is_a_number_of_at_least_nothing() -> None:
    assert price_of("5000") == 5000
    assert price_of(" 1e6 ") == 1e6
    for text in ("-1", "nan", "inf", "much", ""):
        with pytest.raises(InputError, match=f"^{text} ") as refused:
            price_of(text)
        assert " 5000" in refused.value.hint
