"""Moves side by side: in which order, and which window each needs."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.migration.checks import run_checks
from core.migration.fleet import (
    count_windows,
    make_fleet_move,
    mark_conflicts,
    move_time,
    rank_moves,
    smallest_window,
)
from core.migration.model.estimate import Span
from core.migration.model.fleet import FleetMove, MoveState
from core.migration.model.move import Move
from core.sides import Side
from tests.core.history import samples
from tests.core.migration import builders

AT = datetime(2026, 3, 14, tzinfo=UTC)


def one(name: str, size: int | None = 1, likely: float = 60.0, **known: Any) -> FleetMove:
    move = Move(name, "old", "new", "/srv", "/srv", "/", "/")
    span = Span(likely, likely, likely)
    return FleetMove(move, size_bytes=size, downtime_seconds=span, **known)


def test_what_nothing_stops_comes_first_then_the_small_and_the_short() -> None:
    moves = [
        one("over", moved_at=AT),
        one("unknown", None, unknown="it did not answer"),
        one("stopped twice", 1, stops=("a", "b")),
        one("stopped", 9, stops=("a",)),
        one("large", 9),
        one("longer", 2, 120),
        one("short", 2, 60),
        one("no size", None),
    ]
    names = ["short", "longer", "large", "no size", "stopped", "stopped twice", "unknown", "over"]
    assert [each.move.name for each in rank_moves(moves)] == names
    assert [each.move.name for each in rank_moves(reversed(moves))] == names
    assert [each.move.name for each in rank_moves(moves) if each.state is MoveState.READY] == names[:4]


@pytest.mark.parametrize(
    ("high", "needed"), [(800.0, 900.0), (895.0, 3600.0), (3 * 3600.0, 4 * 3600.0), (86400.0, None)]
)
def test_a_window_has_time_for_the_way_back(high: float, needed: float | None) -> None:
    assert smallest_window(Span(1.0, 2.0, high)) == needed


def test_a_move_by_what_the_history_holds() -> None:
    checks, estimate = samples.checks(), samples.estimate()
    made = make_fleet_move(samples.MOVE, samples.facts(Side.OLD), checks, estimate)
    assert made.size_bytes == samples.SIZE
    assert made.stops == tuple(each.title for each in checks if each.stops)
    assert made.method == estimate.to_take
    assert made.downtime_seconds is not None
    assert made.window_seconds == smallest_window(made.downtime_seconds)
    assert not made.unknown
    unread = make_fleet_move(samples.MOVE, None, None, None)
    assert (unread.size_bytes, bool(unread.unknown), unread.state) == (None, True, MoveState.UNKNOWN)
    assert make_fleet_move(samples.MOVE, None, None, None, unknown="no answer").unknown == "no answer"
    assert move_time(None) is None


def to(name: str, target: str, new: str = "new", **known: Any) -> FleetMove:
    made = one(name, **known)
    return replace(made, move=replace(made.move, new=new, target=target))


def test_moves_into_each_other_are_stopped_by_name() -> None:
    moves = [
        to("a", "/srv/a"),
        to("b", "/srv/a/"),
        to("around", "/srv/pg"),
        to("inside", "/srv/pg/15/main"),
        to("beside", "/srv/pg2"),
        to("elsewhere", "/srv/a", new="other"),
        to("late", "/srv/full"),
        to("over", "/srv/full", moved_at=AT),
        to("under", "/data/x/y"),
        to("unread", "/data/x", unknown="it did not answer"),
    ]
    found = mark_conflicts(moves, [to("before", "/data/x", moved_at=AT)])
    stopped = {each.move.name: (each.in_the_way, each.stops) for each in found if each.stops}
    assert {name: other for name, (other, _) in stopped.items()} == {
        "a": "b",
        "b": "a",
        "around": "inside",
        "inside": "around",
        "late": "over",
        "under": "before",
    }
    # how they lie and whether the other was carried out: without the names five ways to say it, of a and b the same one
    said = {
        name: tuple(re.sub(rf"\b{other}\b", "…", each, count=1) for each in stops)
        for name, (other, stops) in stopped.items()
    }
    assert said["a"] == said["b"]
    assert len(set(said.values())) == 5
    assert [each.move.name for each in found if each.state is MoveState.READY] == ["beside", "elsewhere"]


def test_downtimes_fill_windows_one_after_another() -> None:
    hours = [7, 5, 2, 1, 0.5, 9]
    found = [one(str(each), 1, each * 3600.0) for each in hours]
    assert (
        count_windows(found, 8 * 3600.0) == 3
    )  # 7 and 0.5; 5 and 2; 1, as each takes the way back besides; 9 fits into none
    assert count_windows([one("long", 1, 9 * 3600.0)], 8 * 3600.0) == 0
    assert count_windows([FleetMove(found[0].move)], 8 * 3600.0) == 0


@pytest.mark.parametrize(
    ("known", "state"),
    [
        ({}, MoveState.READY),
        ({"warnings": 2, "pending": ("Settings",)}, MoveState.READY),
        ({"stops": ("Settings",), "pending": ("Locales",)}, MoveState.BLOCKED),
        ({"stops": ("Settings",), "unknown": "it did not answer"}, MoveState.UNKNOWN),
        ({"stops": ("Settings",), "unknown": "it did not answer", "moved_at": AT}, MoveState.DONE),
    ],
)
def test_a_move_has_one_state(known: dict[str, Any], state: MoveState) -> None:
    made = one("a", **known)
    assert made.state is state
    assert replace(made, moved_at=AT).state is MoveState.DONE


def test_what_nobody_has_looked_at_does_not_stop_a_move() -> None:
    untried = builders.new(trials=(), trial_start=None)
    checks = run_checks(builders.move(), builders.old(), untried)
    waiting = {each.title for each in checks if each.pending}
    assert waiting
    made = make_fleet_move(builders.move(), builders.old(), checks, None)
    assert (made.state, made.stops, set(made.pending)) == (MoveState.READY, (), waiting)
