"""Wherever the window, a report or the command line counts the checks of a move, it counts the same."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.api.moves import get_standing
from core.api.reports import make_document, make_fleet_report, read_overview
from core.api.session import Session
from core.cli.migration import checks_text
from core.language import spoken
from core.migration.checks import run_checks
from core.migration.model.checks import CheckResult, Status, tally
from core.migration.model.fleet import FleetMove, MoveState
from core.migration.model.standing import Condition, Mark, Milestone
from core.reports.make import Kind
from core.reports.model import Tone as ReportTone
from core.reports.options import Options
from core.servers.profiles import Nobody
from core.tones import Tone
from gui.models.cards import card
from gui.models.checks import Group, counters, verdict
from gui.models.history import result
from gui.models.rail import RailRow, describe_row
from tests.core.migration.builders import move, new, old, set_up
from tests.figures import figures
from tests.histories import Histories

PASSED = CheckResult("series", "Major version", Status.PASS, "15", "15", "both are of the same major version")
BLOCKER = replace(PASSED, id="space", title="Free space", status=Status.BLOCKER, message="the target is too small")
UNREAD = replace(BLOCKER, id="libc", title="C library", status=Status.UNKNOWN, message="it could not be read")
WARNING = replace(PASSED, id="clock", title="Clock", status=Status.WARNING, message="the clocks differ", blocking=False)
WAITING = tuple(each for each in run_checks(move(), old(), new(trials=(), trial_start=None)) if each.pending)
"""What a survey leaves to be run first."""
SETS: dict[str, tuple[CheckResult, ...]] = {
    "after a survey": (*WAITING, PASSED),
    "after a survey, one to run": (WAITING[0], WARNING, PASSED),
    "after a survey, with a blocker": (BLOCKER, *WAITING, WARNING, PASSED),
    "after a survey, with an unknown": (UNREAD, *WAITING, PASSED),
    "blockers": (BLOCKER, BLOCKER, UNREAD, PASSED),
    "an unknown": (UNREAD, PASSED),
    "warnings": (WARNING, PASSED),
    "passed": (PASSED, PASSED),
}
CONDITIONS = {"blocked": {Condition.BLOCKED}, "to run": {Condition.OPEN}, "free": {Condition.DONE, Condition.WARNING}}
TONES = {"blocked": {Tone.BAD}, "to run": {Tone.WARNING}, "free": {Tone.GOOD, Tone.WARNING}}
ANSWERS = {"blocked": ReportTone.BAD, "to run": ReportTone.MIXED, "free": ReportTone.GOOD}


@pytest.fixture
def session(histories: Histories, tmp_path: Path) -> Iterator[Session]:
    """A move whose facts were read an hour ago."""
    with histories.open(tmp_path, set_up) as store, Session(store, Nobody()) as made:
        for facts in (old(), new()):
            store.save_facts(replace(facts, taken_at=datetime.now(UTC) - timedelta(hours=1)))
        yield made


def state_of(results: tuple[CheckResult, ...]) -> str:
    """What each place must show: whether the checks stop the move, or are to be run first, or neither."""
    found = tally(results)
    return "blocked" if found.stopping else "to run" if found.pending else "free"


def mark_of(session: Session) -> Mark:
    return next(one for one in get_standing(session, "spring").marks if one.milestone is Milestone.CHECK)


def fleet_move(session: Session) -> FleetMove:
    (found,) = make_fleet_report(session, (), datetime.now(UTC)).moves
    return found


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("results", SETS.values(), ids=SETS)
def test_no_two_places_disagree(results: tuple[CheckResult, ...], language: str, session: Session) -> None:
    session.store.save_checks("spring", results)
    found, state = tally(results), state_of(results)
    numbers = {str(number) for number in (found.blockers, found.unanswered, found.pending) if number}
    with spoken(language):
        rail = describe_row(RailRow("Checks", Milestone.CHECK, mark_of(session)), datetime.now(UTC))
        standing = get_standing(session, "spring")
        shown = card(standing, datetime.now(UTC))
        said = verdict(session.store.checks("spring") or ())
        chips = {one.id: one.number for one in counters(session.store.checks("spring") or ())}
        movable = read_overview(session, "spring").answers[1]
        go = make_document(session, Kind.PLAN, ["spring"], Options()).answers[0]
        listed = fleet_move(session)
        recorded_then = result(next(one for one in session.store.entries() if one.kind == "checks"))

    assert mark_of(session).condition in CONDITIONS[state]
    assert {str(number) for number in (found.stopping, found.pending) if number} <= set(figures(rail))
    assert bool(shown.wrong) is (state == "blocked")
    assert (standing.next.milestone, standing.next.words) != (Milestone.CHECK, "Resolve the blockers") or found.stopping
    assert said.tone in TONES[state]
    assert (chips.get(Group.BLOCKER, 0), chips.get(Group.PENDING, 0)) == (found.blockers, found.pending)
    assert chips[Group.UNKNOWN] == found.unanswered + found.unknown
    assert movable.tone is ANSWERS[state]
    assert numbers <= set(figures(" ".join((movable.words, *movable.details))))
    assert (go.tone is ReportTone.BAD) is (state == "blocked")
    assert (listed.state is MoveState.BLOCKED) is (state == "blocked")
    assert (len(listed.stops), len(listed.pending), listed.warnings) == (
        found.stopping,
        found.pending,
        found.warnings,
    )
    in_the_history = (found.blockers, found.unanswered + found.unknown, found.pending, found.warnings, found.passed)
    without_pending = tuple(n for at, n in enumerate(in_the_history) if at != 2 or n)
    assert tuple(map(int, figures(recorded_then))) == without_pending
    counted = checks_text(results).splitlines()[-1]
    assert f"{found.blockers} blocker" in counted
    assert ("to run first" in counted) is bool(found.pending)


def test_the_next_thing_after_a_survey_is_to_run_the_checks(session: Session) -> None:
    session.store.save_checks("spring", SETS["after a survey"])
    mark = mark_of(session)
    assert (mark.condition, figures(mark.said)) == (Condition.OPEN, ["0", "0", str(len(WAITING))])
    assert len(WAITING) > 1


def test_what_is_to_run_first_is_said_in_the_language_of_the_window(session: Session) -> None:
    session.store.save_checks("spring", SETS["after a survey"])
    results = session.store.checks("spring") or ()
    english = verdict(results).text, [one.name for one in counters(results)], mark_of(session).said
    with spoken("de"):
        german = verdict(results).text, [one.name for one in counters(results)]
        rail = describe_row(RailRow("Checks", Milestone.CHECK, mark_of(session)), datetime.now(UTC))
    assert german[0] != english[0]
    assert not set(german[1]) & set(english[1])
    assert english[2] not in rail
