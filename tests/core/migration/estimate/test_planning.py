"""By when a move must begin and the old cluster be stopped, so that it ends in its window."""

from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from core.migration.estimate import Spec, estimate, simulated
from core.migration.estimate.draws import span
from core.migration.estimate.planning import Planned, answered, answers, clock
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec
from core.migration.model.asked import Asked, window_of
from core.migration.model.estimate import Fit

VIENNA = ZoneInfo("Europe/Vienna")
NOON = datetime(2026, 11, 30, 12, tzinfo=VIENNA)
SPEC = Spec(
    ClusterSpec(1.22e12, files=20_000, change_bytes_per_hour=1e9),
    link=LinkSpec(command_seconds=0.04),
    copy=CopySpec(200e6, pass_seconds=0.4),
)
"""A pre-copy takes an hour and a half at the least."""


def planned(window: str, now: datetime = NOON, spec: Spec = SPEC) -> Planned:
    asked = Asked(window_of(window))
    return answers(spec, answered(spec, estimate(spec), asked), asked, now)


def fit(found: Planned, method: str = "warm-copy") -> Fit:
    return next(each for each in found.fits if each.method == method)


def test_the_precopy_begins_before_the_stop_by_what_it_takes_in_nine_nights_of_ten() -> None:
    found = planned("22:00-02:00", NOON - timedelta(hours=9))
    warm = fit(found)
    method = next(each for each in simulated(SPEC) if each.name == "warm-copy")
    ahead = span(method.duration - method.downtime).high
    assert warm.begin_before == pytest.approx(ahead, rel=0.01)
    assert warm.begin_by is not None
    assert warm.stop_by is not None
    assert (warm.stop_by - warm.begin_by).total_seconds() == pytest.approx(warm.begin_before)
    assert found.window_ends == datetime(2026, 12, 1, 2, tzinfo=VIENNA)
    assert (found.window_ends - warm.stop_by).total_seconds() == pytest.approx(warm.start_by)
    assert warm.next_window is None
    assert fit(found, "dump-restore").begin_before == 0  # clients wait from its beginning
    assert fit(found, "cold-copy").begin_before < 60 < fit(found, "streaming-replica").begin_before


def test_a_precopy_for_which_it_is_too_late_is_ready_for_a_later_window() -> None:
    found = planned("12:30-13:30")
    warm = fit(found)
    assert warm.begin_by is not None
    assert warm.begin_by < NOON
    assert warm.next_window == datetime(2026, 12, 1, 12, 30, tzinfo=VIENNA)
    huge = replace(SPEC, cluster=replace(SPEC.cluster, size_bytes=1.22e14, change_bytes_per_hour=1e6))
    later = fit(planned("00:00-23:59", spec=huge), "streaming-replica")
    assert later.begin_by is not None
    assert later.next_window is not None
    days = later.next_window - datetime(2026, 11, 30, tzinfo=VIENNA)
    assert later.begin_by + days >= NOON > later.begin_by + days - timedelta(days=1)


def test_a_window_that_is_open_now_is_the_next_one() -> None:
    assert planned("11:00-13:00").window_begins == NOON - timedelta(hours=1)
    assert planned("22:00-12:00").window_ends == NOON + timedelta(days=1)  # that of last night is over


def test_a_window_that_is_too_short_has_no_latest_moments() -> None:
    cold = fit(planned("22:00-22:30"), "cold-copy")
    assert (cold.begin_by, cold.stop_by, cold.next_window) == (None, None, None)


def test_a_copy_of_thousands_of_years_has_begun_long_ago() -> None:
    endless = replace(SPEC, copy=CopySpec(1.0), cluster=replace(SPEC.cluster, change_bytes_per_hour=1e-3))
    replica = fit(planned("22:00-02:00", spec=endless), "streaming-replica")
    assert replica.begin_by == datetime(1, 1, 1, tzinfo=VIENNA)


def test_a_moment_of_another_day_is_told_with_its_date() -> None:
    found = planned("22:00-02:00")
    for moment, said in (
        (datetime(2026, 11, 30, 14, 40, tzinfo=VIENNA), "14:40"),
        (datetime(2026, 12, 1, 1, 59, tzinfo=VIENNA), "01:59"),
        (datetime(2026, 11, 30, 1, 30, tzinfo=VIENNA), "2026-11-30 01:30"),  # else it would lie in the window
        (datetime(2026, 11, 29, 23, 10, tzinfo=VIENNA), "2026-11-29 23:10"),
        (datetime(2026, 12, 1, 22, 0, tzinfo=VIENNA), "2026-12-01 22:00"),
    ):
        assert clock(moment, found) == said


def test_seconds_are_counted_also_where_the_clocks_are_changed() -> None:
    found = planned("04:00-06:00", datetime(2026, 10, 24, 12, tzinfo=VIENNA))  # 03:00 becomes 02:00 that night
    replica = fit(found, "streaming-replica")
    assert replica.begin_by is not None
    assert replica.stop_by is not None
    passed = replica.stop_by.timestamp() - replica.begin_by.timestamp()
    assert passed == pytest.approx(replica.begin_before)


def test_a_price_for_each_hour_of_the_downtime() -> None:
    asked = Asked(downtime_seconds=3600.0, price=1000.0)
    made = answered(SPEC, estimate(SPEC), asked)
    cold = fit(answers(SPEC, made, asked, NOON), "cold-copy")
    assert cold.cost is not None
    assert cold.cost.likely == pytest.approx(1000 * cold.downtime.likely / 3600)
    assert cold.cost.low < cold.cost.likely < cold.cost.high
    assert all(each.cost is None for each in answers(SPEC, made, asked.kept, NOON).fits)


def test_an_estimate_holds_what_it_has_answered_and_the_answers_are_its_own() -> None:
    """Whatever is known by now: each figure has one source."""
    asked = Asked(window_of("22:00-02:00"), 600.0, price=5.0, growth_bytes_per_month=1e9)
    made = answered(SPEC, estimate(SPEC), asked)
    assert made.asked == Asked(window_of("22:00-02:00"), 600.0)
    assert {each.method for each in made.fits} == {each.method for each in made.methods if not each.ruled_out}
    assert all(each.likelihood is not None for each in made.helps)
    faster = replace(SPEC, copy=CopySpec(2e9, pass_seconds=0.4))
    found = answers(faster, made, asked, NOON)
    assert found.helps == made.helps
    assert [each.likelihood for each in found.fits] == [each.likelihood for each in made.fits]
    assert [each.downtime for each in found.fits] == [each.downtime for each in made.fits]


def test_an_estimate_that_nothing_was_asked_of_has_no_fits() -> None:
    made = answered(SPEC, estimate(SPEC), Asked(price=5.0))
    assert (made.fits, made.asked, made.changes) == ((), Asked(), None)
    assert made.helps
    assert all(each.likelihood is None for each in made.helps)
