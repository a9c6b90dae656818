"""What a watch tells an estimate: the best hour, a hot set that saturates, a window's own changes."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.migration.estimate import Spec, simulated
from core.migration.estimate.draws import fixed, span
from core.migration.estimate.growth import later
from core.migration.estimate.night import during
from core.migration.estimate.spec import ClusterSpec, CopySpec, History
from core.migration.estimate.watched import Watched, describe_watch, watched
from core.migration.model.watch import AGES, parse_watch
from tests.core.migration.builders import NOW
from tests.core.migration.watches import GIGA, log

HOUR = 3600.0


def busy_by_day(hour: int) -> float:
    """As in many offices: nothing at night but the backup's hour."""
    return 10 * GIGA if 8 <= hour < 18 else 0.1 * GIGA if hour == 3 else GIGA


DAY = watched(parse_watch(log(24, busy_by_day)))


def spec(known: Watched | None) -> Spec:
    hourly = known.bytes_per_hour if known is not None else GIGA
    cluster = ClusterSpec(1e12, files=1000, change_bytes_per_hour=hourly)
    return Spec(cluster, copy=CopySpec(1e8), history=History(watched=known))


def test_each_hour_has_what_was_written_in_it_and_the_best_is_named() -> None:
    assert DAY.bytes_per_hour == pytest.approx((100 + 0.1 + 13) / 24 * GIGA, rel=0.001)
    assert DAY.by_hour[12] == pytest.approx(10 * GIGA, rel=0.001)
    assert DAY.by_hour[3] == pytest.approx(0.1 * GIGA, rel=0.001)
    assert any(re.search(r"\b03:00 \w+ 04:00 \(95\.4 MiB [^)]+\), \D+ 08:00\b", each) for each in describe_watch(DAY))
    told = next(each for each in simulated(spec(DAY)) if each.name == "warm-copy").assumptions
    assert set(describe_watch(DAY)) <= set(told)


def test_an_hour_that_was_hardly_seen_is_not_known_and_none_of_a_day_is_said_without_two() -> None:
    short = watched(parse_watch(log(1.25)))
    assert [hour for hour, rate in enumerate(short.by_hour) if rate is not None] == [NOW.hour]
    assert len(describe_watch(short)) == 1
    assert short.between(2 * HOUR, 4 * HOUR) is None
    assert short.between(NOW.hour * HOUR, HOUR) == pytest.approx(GIGA, rel=0.001)


def test_old_s_clock_names_the_hours() -> None:
    there = watched(parse_watch(log(24, busy_by_day, zone="+0200")))
    assert there.by_hour[5] == pytest.approx(0.1 * GIGA, rel=0.001)


def test_a_hot_set_saturates() -> None:
    size = 1e13
    day, week = (span(DAY.touched(fixed(each), size)).likely for each in (86_400.0, 7 * 86_400.0))
    assert span(DAY.touched(fixed(HOUR), size)).likely == pytest.approx(GIGA)
    assert day == pytest.approx(1.3 * GIGA)
    assert week < 1.5 * day
    growing = replace(DAY, curve=tuple(float(each) for each in AGES))
    assert span(growing.touched(fixed(7 * 86_400.0), size)).likely == pytest.approx(7 * 86_400, rel=0.01)
    assert span(growing.touched(fixed(7 * 86_400.0), 1000.0)).likely == 1000, "never more than there are"


@given(st.floats(0, 1e7), st.floats(0, 1e7))
def test_more_time_never_touches_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert (DAY.touched(fixed(low), 1e13) <= DAY.touched(fixed(high), 1e13) * (1 + 1e-9)).all()


def test_a_window_at_night_makes_the_stop_of_a_warm_copy_shorter_than_one_by_day() -> None:
    def stop(of: Spec) -> float:
        return span(next(each.downtime for each in simulated(of) if each.name == "warm-copy")).likely

    wide = replace(DAY, curve=tuple(50.0 * GIGA for _ in AGES))
    night, noon = during(spec(wide), 2 * HOUR, 4 * HOUR), during(spec(wide), 11 * HOUR, 2 * HOUR)
    assert night.cluster.change_bytes_per_hour == pytest.approx((3 + 0.1) / 4 * GIGA, rel=0.01)
    assert noon.cluster.change_bytes_per_hour == pytest.approx(10 * GIGA, rel=0.01)
    assert stop(night) < stop(spec(wide)) < stop(noon)
    assert during(spec(None), 2 * HOUR, HOUR) == spec(None)


def test_a_window_across_midnight_has_both_days_hours() -> None:
    assert DAY.between(23 * HOUR, 5 * HOUR) == pytest.approx((4 + 0.1) / 5 * GIGA, rel=0.01)


def test_a_watch_of_files_alone_still_tells_what_is_touched() -> None:
    silent = re.sub(r"^(look \d+) \S+", r"\1 -", log(3), flags=re.MULTILINE)
    known = watched(parse_watch(silent))
    assert known.bytes_per_hour is None
    assert known.curve == DAY.curve
    assert during(spec(replace(known, bytes_per_hour=None)), 0, HOUR).history.watched == known


def test_a_cluster_that_grows_changes_more() -> None:
    now, _, _, year = later(spec(DAY), 0.1e12)
    assert year.downtime_seconds["warm-copy"].likely >= now.downtime_seconds["warm-copy"].likely


def test_hours_that_differ_make_the_range_wide() -> None:
    low, high = DAY.change_spread
    assert low < 0.05
    assert high == pytest.approx(2.12, abs=0.05)
    steady = watched(parse_watch(log(24)))
    assert steady.change_spread == (0.5, 2.0)
    assert steady.taken_at == NOW + timedelta(hours=24)
