"""The window and the downtime that a move has to fit into, and what answers them."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.api.migration import answer_planning, estimate_with, make_estimate_with_spec
from core.api.session import Session
from core.errors import HistoryError
from core.history.example import MOVE, lay
from core.history.store import Store
from core.jobs import Job
from core.migration.model.asked import NOTHING, Asked, window_of
from core.migration.model.move import Verify
from core.reports.report import build
from core.servers.profiles import Nobody

NIGHT = Asked(window_of("22:00-02:00"), 600.0)


@pytest.fixture
def moved(tmp_path: Path) -> Iterator[Session]:
    """The shipped example, whose move is over: more is known now than its estimate was made from."""
    lay(tmp_path / "history")
    with Store.open(tmp_path / "history") as store, Session(store, Nobody()) as session:
        yield session


def test_what_is_asked_is_kept_with_the_move_and_nothing_found_for_it_is_of_the_past(moved: Session) -> None:
    store = moved.store
    assert store.asked(MOVE) == NOTHING
    before = store.move(MOVE), store.checks(MOVE), store.probes(MOVE), store.plan(MOVE)
    assert answer_planning(moved, MOVE, replace(NIGHT, price=5.0, growth_bytes_per_month=1e9)) is not None
    assert store.asked(MOVE) == NIGHT
    assert (store.move(MOVE), store.checks(MOVE), store.probes(MOVE), store.plan(MOVE)) == before
    store.update_move(replace(before[0], name="renamed", plain_text=True), MOVE)
    assert store.asked("renamed") == NIGHT


def test_each_figure_is_of_the_kept_estimate(moved: Session) -> None:
    found = answer_planning(moved, MOVE, NIGHT)
    assert found is not None
    made, planned = found
    assert made == moved.store.estimate(MOVE) == build(moved.store, MOVE).estimate == estimate_with(moved, MOVE)
    assert planned.helps == made.helps
    assert planned.fits
    for fit in planned.fits:
        method = made.method(fit.method)
        assert method is not None
        assert fit.downtime == method.downtime_seconds
        kept = made.fit(fit.method)
        assert kept is not None
        assert (kept.likelihood, kept.start_by, kept.must_hold) == (fit.likelihood, fit.start_by, fit.must_hold)


def test_an_estimate_is_made_again_only_for_another_window_or_downtime(moved: Session) -> None:
    store, count = moved.store, len(moved.store.estimates(MOVE))
    for asked, more in (
        (NOTHING, 0),
        (NIGHT, 1),
        (replace(NIGHT, price=5.0), 1),
        (NIGHT, 1),
        (Asked(downtime_seconds=5.0), 2),
        (NOTHING, 3),
    ):
        found = answer_planning(moved, MOVE, asked)
        assert found is not None
        assert len(store.estimates(MOVE)) == count + more
        assert found[0].asked == store.asked(MOVE) == asked.kept
        assert bool(found[1].fits) is (asked.kept != NOTHING)


def test_the_next_estimate_answers_what_is_kept(moved: Session) -> None:
    moved.store.save_asked(MOVE, NIGHT)
    assert make_estimate_with_spec(moved, MOVE, Job())[0].asked == NIGHT
    latest = moved.store.estimate(MOVE)
    assert latest is not None
    assert latest.asked == NIGHT
    assert latest.fits


def test_another_verification_does_not_leave_an_old_answer_behind(moved: Session) -> None:
    made, _ = make_estimate_with_spec(moved, MOVE, Job(), verify=Verify.ALL, asked=NIGHT)
    latest = moved.store.estimate(MOVE)
    assert latest is not None
    assert (made.checking, latest.checking) == (Verify.ALL, Verify.CHANGED)
    assert made.asked == latest.asked == NIGHT


@pytest.mark.parametrize("document", ["{", '{"window": [0, 90000]}', '{"downtime_seconds": -1}', '{"window": "night"}'])
def test_what_somebody_else_has_written_there_is_refused_with_a_sentence(moved: Session, document: str) -> None:
    with sqlite3.connect(moved.store.path) as connection:
        connection.execute("UPDATE moves SET asked = ?", (document,))
    with pytest.raises(HistoryError, match="asked document"):
        moved.store.asked(MOVE)
