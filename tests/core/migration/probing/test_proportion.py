"""How far probes go beside the move that they are for."""

from dataclasses import replace
from datetime import timedelta

from core.migration.model.probe import OF_A_DUMP, Quantity
from core.migration.probing.candidates import worth_a_cipher
from core.migration.probing.proportion import THOROUGH, forecast, in_proportion, lately, slowest
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


def test_samples_leave_tables_their_part_of_the_time() -> None:
    short = in_proportion(10**9, 100e6)
    assert short.samples_seconds + 2 * short.dump_seconds == short.seconds == 15
    assert THOROUGH.samples_seconds == THOROUGH.seconds


def test_a_dump_is_sampled_again_where_a_part_of_it_is_missing() -> None:
    fresh = {each: replace(probe(each, 1e8), taken_at=NOW) for each in OF_A_DUMP}
    assert lately(tuple(fresh.values()), NOW) == fresh
    assert lately([fresh[Quantity.DUMP], fresh[Quantity.INDEX]], NOW) == {}


def test_the_forecast_says_for_how_long_and_what_is_used_again() -> None:
    assert " 15 s" in forecast(in_proportion(10**9, 100e6), [])
    assert " 48.0 MiB " in forecast(in_proportion(10**9, 100e6), [])
    assert "MiB" not in forecast(THOROUGH, list(OF_A_DUMP))
    said = forecast(THOROUGH, [Quantity.READ, Quantity.WIRE])
    assert " 1 min 45 s" in said
    assert said.endswith(": read, wire")


def test_no_other_cipher_is_tried_where_the_wire_or_a_disk_holds_the_copy_up() -> None:
    links = {Quantity.READ: 500e6, Quantity.WIRE: 119e6, Quantity.WRITE: 400e6, Quantity.SUMS: 90e6}
    assert not worth_a_cipher(110e6, links)
    assert worth_a_cipher(90e6, links)
    assert worth_a_cipher(90e6, {})
