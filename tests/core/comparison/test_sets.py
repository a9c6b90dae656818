"""Which runs a word such as `old:/mnt/a@2026-11-01` names."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.benchmarks.model import Outcome, Run, Volume, Workload
from core.comparison.sets import Place, Start, over_time, place_of, set_of
from core.errors import InputError
from core.sides import Side

SERVERS = {Side.OLD: "gannon", Side.NEW: "link"}
DAY = datetime(2026, 11, 1, 9, tzinfo=UTC)


def run(day: int, path: str = "/mnt/a", side: Side = Side.OLD, folder: str = "") -> Run:
    volume = Volume(side, SERVERS[side], path, folder or f"{path}/pghaul-bench-{day}")
    return Run("m", volume, Workload("w", "w", "fio", "iops"), DAY + timedelta(days=day), Outcome.DONE, id=day)


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("old:/mnt/a", Place(Side.OLD, "/mnt/a")),
        ("link:/mnt/a/", Place(Side.NEW, "/mnt/a")),
        ("old:/", Place(Side.OLD, "/")),
        ("old:/mnt/a@2026-11-01", Place(Side.OLD, "/mnt/a", datetime(2026, 11, 2, tzinfo=UTC))),
        ("old:/mnt/a@2026-11-01T09:30", Place(Side.OLD, "/mnt/a", datetime(2026, 11, 1, 9, 31, tzinfo=UTC))),
        ("old:/mnt/a@home", Place(Side.OLD, "/mnt/a@home")),
        ("old:/mnt/a:b@c@2026-11-01", Place(Side.OLD, "/mnt/a:b@c", datetime(2026, 11, 2, tzinfo=UTC))),
    ],
)
def test_words_for_places(word: str, place: Place) -> None:
    assert place_of(word, SERVERS) == place


@pytest.mark.parametrize("word", ["", "old", "old:", "old:mnt", "zelda:/mnt/a", "old:/mnt/a@2026-13-01", ":/mnt/a"])
def test_words_that_name_nothing(word: str) -> None:
    with pytest.raises(InputError, match=re.escape(repr(word)) + "|2026-13-01"):
        place_of(word, SERVERS)


def test_a_set_is_of_one_volume_by_its_date() -> None:
    runs = [run(0), run(5), run(3, "/mnt/b"), run(4, side=Side.NEW)]
    assert [one.id for one in set_of(place_of("old:/mnt/a", SERVERS), runs)] == [0, 5]
    assert [one.id for one in set_of(place_of("old:/mnt/a@2026-11-05", SERVERS), runs)] == [0]
    assert set_of(place_of("old:/mnt/a@2026-10-31", SERVERS), runs) == ()


def test_a_start_stays_the_same_while_its_runs_come_in() -> None:
    begun = Start("m", Side.OLD, "gannon", "/mnt/a", "/mnt/a/pghaul-bench-1", DAY, 1)
    assert replace(begun, runs=4) == begun
    assert replace(begun, folder="/mnt/a/pghaul-bench-2") != begun


def test_over_time_each_start_of_a_suite_is_a_set() -> None:
    first = [run(0), replace(run(1), volume=run(0).volume)]
    cancelled = replace(run(3), outcome=Outcome.CANCELLED)
    sets = over_time(place_of("old:/mnt/a", SERVERS), [run(5), *first, cancelled, run(4, "/mnt/b")])
    assert [[one.id for one in group] for group in sets] == [[0, 1], [5]]
