"""Results that are unknown because nobody has asked the new server's binaries yet, and those asked in vain."""

from dataclasses import replace

import pytest

from core.facts.model import Facts, Gap, Tool, TrialStart
from core.facts.sections import TRIAL
from core.migration.checks import run_checks
from core.migration.model.checks import Status
from tests.core.migration.builders import DATA, TARGET, cluster, move, new, old, trial

OF_THIS_MOVE = TrialStart(DATA, TARGET)
OF_ANOTHER = TrialStart("/srv/another", "/srv/another")
ASKED = {"control-data", "settings", "extension-libraries", "locales", "local-start"}
"""Checks that ask the binaries about every cluster of the builders."""


def pending(on_old: Facts, on_new: Facts) -> set[str]:
    return {each.id for each in run_checks(move(), on_old, on_new) if each.pending}


def stopping(on_old: Facts, on_new: Facts) -> set[str]:
    return {each.id for each in run_checks(move(), on_old, on_new) if each.stops}


def test_what_nobody_has_asked_is_pending_and_stops_nothing() -> None:
    untried = new(clusters=(), trials=(), trial_start=None, collation_order={})
    assert pending(old(), untried) >= ASKED
    assert stopping(old(), untried) & ASKED == set()


def test_only_an_unknown_that_could_be_a_blocker_is_pending() -> None:
    untried = new(clusters=(), trials=(), trial_start=None, collation_order={})
    found = run_checks(move(), old(), untried)
    assert all(each.status is Status.UNKNOWN and each.blocking for each in found if each.pending)
    assert any(each.status is Status.UNKNOWN and not each.blocking for each in found)  # the trial start


def test_binaries_that_could_not_answer_leave_nothing_pending() -> None:
    failed = Gap(TRIAL, "trial cluster", "initdb was not found")
    in_vain = new(clusters=(), trials=(), trial_start=OF_THIS_MOVE, gaps=(*new().gaps, failed))
    assert pending(old(), in_vain) == set()
    assert "control-data" in stopping(old(), in_vain)


@pytest.mark.parametrize(
    ("started", "waits", "stops"), [(OF_ANOTHER, {"extension-libraries"}, False), (OF_THIS_MOVE, set(), True)]
)
def test_binaries_that_were_asked_for_another_move_were_not_asked_for_this_one(
    started: TrialStart, waits: set[str], stops: bool
) -> None:
    silent = new(trials=(trial(libraries=()),), trial_start=started)
    assert pending(old(), silent) == waits
    assert ("extension-libraries" in stopping(old(), silent)) is stops


def test_an_answer_that_was_lost_with_the_programs_is_pending_again() -> None:
    assert "settings" in pending(old(), new(trials=(), trial_start=OF_THIS_MOVE))


def test_a_check_that_lacks_other_facts_too_is_not_pending() -> None:
    untried = new(trials=(), trial_start=None)
    unread = old(cluster(settings={}, wide=None))
    results = {each.id: each.status for each in run_checks(move(), unread, untried)}
    assert results["settings"] is Status.UNKNOWN
    assert "settings" not in pending(unread, untried)
    nowhere = replace(old(), clusters=())
    assert pending(nowhere, untried) == set()


@pytest.mark.parametrize(("tools", "expected"), [((), False), ((("pg_test_fsync", "16.2"),), True)])
def test_programs_of_another_major_version_may_stand_beside_those_that_the_move_needs(
    tools: tuple[tuple[str, str], ...], expected: bool
) -> None:
    programs = tuple(Tool(name, f"/usr/lib/postgresql/16/bin/{name}", version) for name, version in tools)
    untried = new(clusters=(), trials=(), trial_start=None, tools=programs)
    assert ("series" in pending(old(), untried)) is expected
    assert ("series" in stopping(old(), untried)) is not expected
