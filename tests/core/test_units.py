import math
import re
import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import units
from core.language import spoken


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 Bytes"), (1, "1 Byte"), (1536, "1.5 KiB"), (3 * 2**30, "3.0 GiB"), (2**40, "1.0 TiB"), (None, "–")],
)
def test_sizes_are_binary(number: float | None, text: str) -> None:
    assert units.size(number) == text


def test_what_is_chosen_holds_on_its_own_thread_but_within_styled() -> None:
    found: list[str] = []
    units.choose(binary=False)
    try:
        thread = threading.Thread(target=lambda: found.append(units.size(3 * 2**30)))
        thread.start()
        thread.join()
        with units.styled(units.Style()):
            found.append(units.size(3 * 2**30))
        found += [units.size(1536), units.block(8192)]
    finally:
        units.choose(binary=True)
    assert found == ["3.0 GiB", "3.0 GiB", "1.54 kB", "8.0 KiB"]
    assert units.size(1536) == "1.5 KiB"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.2, "1 s"), (4.2, "4 s"), (45.4, "45 s"), (60, "1 min 00 s"), (64, "1 min 00 s"), (233, "3 min 50 s")],
)
def test_a_rest_of_a_time_is_no_finer_than_an_estimate(number: float, text: str) -> None:
    assert units.time_left(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(80_600_000, "80.6 MB/s"), (999.6e6, "1.00 GB/s"), (34, "34.0 B/s"), (0, "0 B/s"), (1.2e15, "1200 TB/s")],
)
def test_rates_are_decimal(number: float, text: str) -> None:
    assert units.rate(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.5, "0.5 s"),
        (45, "45 s"),
        (59.7, "1 min 00 s"),
        (600, "10 min 00 s"),
        (3599.6, "1 h 00 min"),
        (3900, "1 h 05 min"),
        (24 * 3600, "24 h 00 min"),
        (100_000, "27 h 47 min"),
        (1e6, "11 d 14 h"),
    ],
)
def test_durations_are_no_more_exact_than_useful(number: float, text: str) -> None:
    assert units.duration(number) == text


@pytest.mark.parametrize(("number", "text"), [(None, "–"), (0.0, "under 1 s"), (0.99, "under 1 s"), (45, "45 s")])
def test_the_expected_duration_of_a_step_is_no_more_exact_than_a_second(number: float | None, text: str) -> None:
    assert units.expected(number) == text


@pytest.mark.parametrize(
    ("number", "text"), [(2.5, "2.50 s"), (0.0125, "12.5 ms"), (192.8e-6, "193 µs"), (13.5e-9, "13.5 ns"), (0, "0 s")]
)
def test_latencies_have_three_digits(number: float, text: str) -> None:
    assert units.seconds(number) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("read_bytes_per_second", 80.6e6, "80.6 MB/s"),
        ("write_iops", 903.4, "903 IOPS"),
        ("read_latency_p99_seconds", 0.0046, "4.60 ms"),
        ("duration_seconds", 61.0, "1 min 01 s"),
        ("size_bytes", 2**30, "1.0 GiB"),
        ("cpu_fraction", 0.127, "12.7 %"),
        ("fsyncs_per_second", 7784.32, "7\u202f784 /s"),
        ("read_iops", None, "–"),
        ("read_iops", 999.7, "1\u202f000 IOPS"),
        ("read_iops", 999.4, "999 IOPS"),
    ],
)
def test_a_metric_is_shown_by_the_unit_in_its_name(name: str, value: float | None, text: str) -> None:
    assert units.metric(name, value) == text


def test_a_spread_has_one_digit() -> None:
    assert (units.spread(0.0367), units.spread(0.0), units.spread(None)) == ("± 3.7 %", "± 0.0 %", "")


@given(st.floats(min_value=0, max_value=1e18, allow_nan=False))
def test_every_number_can_be_shown(number: float) -> None:
    for show in (units.size, units.rate, units.bits, units.count, units.seconds, units.duration, units.percent):
        assert show(number)


@given(st.floats(min_value=1, max_value=1e14))
def test_a_shown_rate_reads_back_within_its_digits(number: float) -> None:
    text, unit = units.rate(number).split()
    factor = {"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}[unit]
    assert math.isclose(float(text) * factor, number, rel_tol=0.006)


@pytest.mark.parametrize("language", ["en", "de"])
@given(number=st.floats(min_value=0.001, max_value=1e14))
@example(number=999.5)
@example(number=999.99)
def test_a_figure_reads_back_as_it_is_written(language: str, number: float) -> None:
    with spoken(language):
        written = units.count(number)
        assert math.isclose(units.parse(written), number, rel_tol=0.006)


@pytest.mark.parametrize(
    ("language", "typed", "number"),
    [
        ("en", "450", 450), ("en", "1,200", 1200), ("en", "1,200.5", 1200.5), ("en", " 1 200.5 ", 1200.5),
        ("de", "450,5", 450.5), ("de", "1.200", 1200), ("de", "1.200,5", 1200.5), ("de", "-3", -3),
        ("en", "450,5", 450.5), ("en", "1,20", 1.2), ("de", "450.5", 450.5), ("de", "1.25", 1.25),
        ("en", "0,500", 0.5), ("de", "0.500", 0.5), ("en", "-0,125", -0.125), ("en", "1 200 300", 1_200_300),
    ],
)  # fmt: skip
def test_a_number_is_read_as_the_language_writes_it(language: str, typed: str, number: float) -> None:
    with spoken(language):
        assert units.parse(typed) == number


@pytest.mark.parametrize(
    ("language", "typed"),
    [
        ("en", "1.200,5"), ("de", "1,200.5"), ("de", "1.200.5"), ("de", "many"), ("en", "-"), ("en", "1e9"),
        ("en", "1,"), ("en", "12 34"), ("en", "1 2"), ("de", "0.500.000"), ("en", "1 20 000"),
    ],
)  # fmt: skip
def test_what_is_no_number_is_not_guessed(language: str, typed: str) -> None:
    with spoken(language), pytest.raises(ValueError, match=re.escape(typed)):
        units.parse(typed)


@pytest.mark.parametrize(("language", "point"), [("en", "."), ("de", ",")])
def test_every_fraction_has_the_point_of_the_language(language: str, point: str) -> None:
    """Also where the units of sizes are chosen within it, and on no other thread."""
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(units.size(1536)))
    with spoken(language):
        thread.start()
        thread.join()
        units.choose(binary=False)
        texts = [
            *(units.size(1536), units.block(1536), units.rate(1.5e6), units.bits(1.5e6), units.count(1.5)),
            *(units.plain(1.5), units.seconds(1.5), units.duration(1.5), units.about(1.5), units.measured(0.0015)),
            *(units.expected(1.5), units.percent(0.0155), units.spread(0.0155), units.ratio(1.5)),
            *(units.metric(name, 1.5e-3) for name in ("x_latency_seconds", "x_seconds", "x_iops", "x_per_second")),
        ]
    assert [text for text in texts if not re.search(rf"\d{re.escape(point)}\d", text)] == []
    assert [*found, units.size(1536)] == ["1.5 KiB", "1.5 KiB"]


def test_a_round_latency_has_no_zeros_behind_its_point() -> None:
    marks = [factor * 10.0**power for power in range(-9, 2) for factor in (1, 2, 5)]
    shown = [units.round_seconds(each) for each in marks]
    assert shown[:9] == ["1 ns", "2 ns", "5 ns", "10 ns", "20 ns", "50 ns", "100 ns", "200 ns", "500 ns"]
    assert shown[9:12] == ["1 µs", "2 µs", "5 µs"]
    assert shown[-6:] == ["1 s", "2 s", "5 s", "10 s", "20 s", "50 s"]
    assert not any("." in each for each in shown)


def test_nouns_are_counted() -> None:
    assert [units.counted(number, "check") for number in (0, 1, 68)] == ["0 checks", "1 check", "68 checks"]


def test_a_measured_time_may_be_far_below_a_second() -> None:
    assert [units.measured(each) for each in (0.0425, 0.3, 45.0, 0.0, None)] == [
        "42.5 ms",
        "0.3 s",
        "45 s",
        "0.0 s",
        "–",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("whole move, 18 s – 1 min 37 s", "whole move, 18\u00a0s – 1\u00a0min\u00a037\u00a0s"),
        ("79,9 MB/s and 1.5 GiB in 2 d 3 h", "79,9\u00a0MB/s and 1.5\u00a0GiB in 2\u00a0d\u00a03\u00a0h"),
        ("95 % of 3 servers", "95\u00a0% of 3 servers"),
    ],
)
def test_no_line_breaks_between_a_number_and_its_unit(text: str, shown: str) -> None:
    assert units.unbroken(text) == shown


def test_seconds_between_two_moments_are_never_negative() -> None:
    at = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert units.seconds_between(at, at + timedelta(seconds=90)) == 90
    assert units.seconds_between(at, at) == 0
    assert units.seconds_between(at, at - timedelta(seconds=1)) is None
    assert units.seconds_between(at, None) is None
