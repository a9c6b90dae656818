"""What is drawn for a round, and what a person types next."""

from typing import Any

import pytest

from core.migration.model import step_ids
from tests.chaos.draw import ANEW, RESUME, ROLLBACK, TRIES, choose_option, draw, ended, of_the_move, opened_at
from tests.chaos.faults import FAULTS
from tests.chaos.traces import left


def execution(state: str, *begun: int, opening: int = 3, options: tuple[str, ...] = ()) -> dict[str, Any]:
    steps = [{"id": step_ids.CUTOVER if number == opening else f"step-{number}"} for number in range(1, 5)]
    runs = [{"number": number, "back": False, "started_at": f"2026-11-22T12:00:0{number}Z"} for number in begun]
    return {"state": state, "plan": {"steps": steps}, "steps": runs, "next_options": [*options]}


def test_a_round_is_the_same_whatever_went_before() -> None:
    assert draw(7, 3, list(FAULTS)) == draw(7, 3, list(FAULTS))
    assert draw(7, 3, list(FAULTS)) != draw(7, 4, list(FAULTS)) != draw(8, 4, list(FAULTS))


def test_all_faults_all_moments_and_both_ways_are_drawn() -> None:
    rounds = [draw(1, number, list(FAULTS)) for number in range(400)]
    assert {each.fault for each in rounds} == set(FAULTS)
    assert {each.step(46) for each in rounds} == set(range(47))
    assert {each.ways[0] for each in rounds} == {RESUME, ROLLBACK}
    assert {each.dressed for each in rounds} == {True, False}
    assert {len(each.ways) for each in rounds} == {TRIES}


@pytest.mark.parametrize(
    ("found", "drawn", "expected"),
    [
        (None, ROLLBACK, ""),
        (execution("stopped", 1, 2, options=("resume", "rollback")), ROLLBACK, ROLLBACK),
        (execution("stopped", 1, 2, options=("resume", "rollback")), RESUME, RESUME),
        (execution("interrupted", 1, 2, 3, options=("resume",)), ROLLBACK, RESUME),
        (execution("stopped", 1, options=("start-over",)), ROLLBACK, ANEW),
        (execution("stopped", 1, 2, options=("rollback",)), RESUME, ROLLBACK),
    ],
)
def test_the_option_is_one_that_the_status_offers(found: dict[str, Any] | None, drawn: str, expected: str) -> None:
    assert choose_option(found, drawn) == expected


def test_an_execution_has_ended_only_when_nothing_is_left_to_do() -> None:
    assert [ended(execution(state)) for state in ("done", "rolled back", "stopped", "interrupted")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert not ended(None)
    assert opened_at(execution("done", 1, 2, 3)) == "2026-11-22T12:00:03Z"
    assert opened_at(execution("stopped", 1, 2)) is None


def test_a_rehearsal_that_is_done_is_no_move() -> None:
    rehearsed = execution("done", 1, 2) | {"kind": "rehearsal"}
    moved = execution("done", 1, 2) | {"kind": "real"}
    assert [of_the_move(each) for each in (None, rehearsed, moved)] == [None, None, moved]


def test_what_is_left_is_told_but_for_what_is_kept_on_purpose() -> None:
    before = frozenset({"contents 1f  /etc/fstab", "file /tmp/mine"})
    after = frozenset({"contents 2e  /etc/fstab", "file /srv/pg/pghaul-fence", "process dba rsync --server"})
    assert left(before, after, ("/srv/pg/pghaul-fence",)) == [
        "contents 2e  /etc/fstab",
        "process dba rsync --server",
        "contents 1f  /etc/fstab (gone)",
    ]
