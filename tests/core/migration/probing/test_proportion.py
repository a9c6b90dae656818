"""How far probes go beside the move that they are for."""

import time
from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from core.migration.model.probe import OF_A_DUMP, Quantity
from core.migration.probing.candidates import worth_a_cipher
from core.migration.probing.proportion import (
    THOROUGH,
    Budget,
    forecast,
    forecast_text,
    in_proportion,
    lately,
    sample_bytes,
    slowest,
)
from tests.core.migration.builders import NOW, probe

TERA = 10**12


def test_a_tenth_of_the_move_and_a_quarter_of_a_minute_at_least() -> None:
    assert in_proportion(10**9, 100e6).seconds == 15
    assert in_proportion(30 * 10**9, 100e6).seconds == 30
    assert in_proportion(TERA, 100e6) == THOROUGH
    assert THOROUGH.dump_bytes == 96 << 20
    assert in_proportion(TERA, 1e12).seconds == 15
    assert in_proportion(None, None).seconds == 15


def test_a_longer_move_is_worth_no_shorter_a_look() -> None:
    made = [in_proportion(gigabytes * 10**9, 100e6) for gigabytes in (1, 10, 20, 50, 100, 1000)]
    parts = ("seconds", "route_seconds", "closer_seconds", "link_seconds", "sample_seconds", "small_files")
    for part in (*parts, "dump_seconds", "dump_bytes"):
        values = [getattr(each, part) for each in made]
        assert values[0] <= min(values[2:])
        assert values[-1] == getattr(THOROUGH, part)


def test_links_that_were_measured_lately_are_used_again() -> None:
    fresh = replace(probe(Quantity.READ, 2e8), taken_at=NOW - timedelta(minutes=20))
    old = replace(probe(Quantity.WIRE, 1e8), taken_at=NOW - timedelta(hours=2))
    sample = replace(probe(Quantity.END_TO_END, 1e8), taken_at=NOW)
    assert lately([old, sample, fresh], NOW) == {Quantity.READ: fresh}
    assert slowest([fresh, old, sample]) == 1e8
    assert slowest([sample]) is None


def test_an_estimate_knows_better_than_the_slowest_link_how_long_a_move_takes() -> None:
    assert in_proportion(30 * 10**9, 100e6, 200.0).seconds == 20
    assert in_proportion(30 * 10**9, 100e6, 20.0).seconds == 15
    assert in_proportion(10**9, 100e6, 1e5) == THOROUGH


def test_the_time_counts_from_its_beginning_and_is_over_at_its_end() -> None:
    short = in_proportion(10**9, 100e6)
    fresh, begun = Budget(short), Budget(short, time.monotonic() - 8)
    assert fresh.left == pytest.approx(fresh.bounds.seconds - 1.5, abs=1)
    assert begun.left == pytest.approx(fresh.left - 8, abs=1)
    assert begun.elapsed == pytest.approx(8, abs=1)
    over = Budget(short, time.monotonic() - 14)
    assert (over.left, over.left_for_samples) == (0, 0)
    assert Budget(THOROUGH, time.monotonic() - 1e6).left == inf


def test_samples_leave_tables_their_part_of_the_time() -> None:
    short = Budget(in_proportion(10**9, 100e6))
    assert short.left_for_samples == pytest.approx(short.left - 4, abs=0.5)
    assert Budget(THOROUGH).left_for_samples == inf


def test_what_is_chosen_ahead_of_the_samples_leaves_three_of_them_their_time() -> None:
    short = in_proportion(10**9, 100e6)
    assert Budget(short).left_beside(3) == pytest.approx(Budget(short).left_for_samples - 3 * 1.8, abs=0.5)
    late = Budget(short, time.monotonic() - 6)
    assert late.left_for_samples > 0
    assert late.left_beside(3) == 0
    assert Budget(THOROUGH).left_beside(3) == inf


def test_samples_over_a_slow_network_are_small() -> None:
    slow = {**GIGABIT, Quantity.WIRE: 5.6e6}
    assert sample_bytes(slow, 0.5) == round(0.5 * 4 * 5.6e6) < 48 << 20
    assert sample_bytes({**GIGABIT, Quantity.WIRE: 1e5}, 0.5) == 8 << 20
    assert sample_bytes(GIGABIT, 10) == 256 << 20


def test_a_dump_is_sampled_again_where_a_part_of_it_is_missing() -> None:
    fresh = {each: replace(probe(each, 1e8), taken_at=NOW) for each in OF_A_DUMP}
    assert lately(tuple(fresh.values()), NOW) == fresh
    assert lately([fresh[Quantity.DUMP], fresh[Quantity.INDEX]], NOW) == {}


GIGABIT = {Quantity.READ: 200e6, Quantity.WIRE: 119e6, Quantity.WRITE: 200e6}


def test_the_forecast_says_for_how_long_and_what_is_used_again() -> None:
    short = forecast(in_proportion(10**9, 100e6), GIGABIT, [])
    assert (short.seconds, short.again) == (15, ())
    assert forecast(THOROUGH, GIGABIT, []).seconds == 105
    said = forecast_text(forecast(THOROUGH, GIGABIT, [Quantity.READ, Quantity.WIRE]))
    assert " 1 min 45 s" in said
    assert said.endswith(": read, wire")


def test_the_forecast_counts_what_is_written_and_sent() -> None:
    short = in_proportion(10**9, 100e6)
    coming = forecast(short, GIGABIT, [])
    assert coming.written_bytes - coming.sent_bytes == 200e6 - 119e6
    assert 48 << 20 < coming.sent_bytes < 1e9
    known = forecast(short, GIGABIT, [Quantity.WIRE, Quantity.WRITE])
    assert known.written_bytes == known.sent_bytes == coming.sent_bytes - 119e6
    without_tables = forecast(short, GIGABIT, list(OF_A_DUMP))
    assert coming.sent_bytes - without_tables.sent_bytes == short.dump_bytes
    assert forecast(short, GIGABIT, [], over_network=False).sent_bytes == 0
    slow = forecast(short, {**GIGABIT, Quantity.WIRE: 5.6e6}, [])
    assert slow.sent_bytes < coming.sent_bytes / 2


def test_no_other_cipher_is_tried_where_the_wire_or_a_disk_holds_the_copy_up() -> None:
    links = {Quantity.READ: 500e6, Quantity.WIRE: 119e6, Quantity.WRITE: 400e6, Quantity.SUMS: 90e6}
    assert not worth_a_cipher(110e6, links)
    assert worth_a_cipher(90e6, links)
    assert worth_a_cipher(90e6, {})
