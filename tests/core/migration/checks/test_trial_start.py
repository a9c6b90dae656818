"""The check of a trial start: what PostgreSQL said is a blocker, and what was not tried is never green."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.facts.model import TrialStart
from core.facts.starters import Service
from core.migration.checks import run_checks
from core.migration.findings.trial import trial_basis
from core.migration.model.checks import CheckResult, Status
from tests.core.migration.builders import DATA, TARGET, cluster, move, new, old


def made(target: str = TARGET, **said: Any) -> TrialStart:
    """A trial start of the configuration that the old cluster had when it was looked at."""
    return TrialStart(DATA, target, old().taken_at.isoformat(), **said)


STARTED = made(listened=("tcp 0.0.0.0 5432",))


def result(tried: TrialStart | None, *services: Service) -> CheckResult:
    results = run_checks(move(), old(), new(trial_start=tried, services=services))
    return next(each for each in results if each.id == "trial-start")


@pytest.mark.parametrize(
    ("tried", "status", "said"),
    [
        (STARTED, Status.PASS, ""),
        (made(failed="FATAL:  no"), Status.BLOCKER, "FATAL:  no"),
        (made(not_tried="a cluster is being moved"), Status.WARNING, "a cluster is being moved"),
        (made("/srv/elsewhere"), Status.WARNING, ""),
        (replace(STARTED, cluster="/srv/another"), Status.WARNING, ""),
        (replace(STARTED, of=""), Status.WARNING, ""),
        (replace(STARTED, edited="file"), Status.WARNING, "was not made yet"),
        (None, Status.WARNING, ""),
    ],
)
def test_only_a_trial_of_this_very_move_that_started_is_green(
    tried: TrialStart | None, status: Status, said: str
) -> None:
    found = result(tried)
    assert found.status is status
    assert said in found.message


def test_what_was_tried_before_the_old_server_was_looked_at_again_is_not_known_any_more() -> None:
    later = replace(old(), taken_at=old().taken_at + timedelta(seconds=1))
    for tried in (STARTED, replace(STARTED, failed="FATAL:  no")):
        results = run_checks(move(), later, new(trial_start=tried))
        assert next(each for each in results if each.id == "trial-start").status is Status.WARNING


def _read_again(hours: float, **changes: Any) -> CheckResult:
    """Both servers were looked at again, so long after a trial start that stands on what the facts said then."""
    before = old()
    at = before.taken_at + timedelta(seconds=1)
    tried = replace(STARTED, at=at, basis=trial_basis(cluster(), new(), TARGET))
    later = at + timedelta(hours=hours)
    facts = old(cluster(**changes), taken_at=later), new(taken_at=later, trial_start=tried)
    return next(each for each in run_checks(move(), *facts) if each.id == "trial-start")


def test_it_holds_for_a_day_of_facts_that_are_the_same_and_says_when_it_was_made() -> None:
    found = _read_again(23)
    assert found.status is Status.PASS
    assert f"made at {old().taken_at:%Y-%m-%d %H:%M} UTC" in found.message
    assert "made at" not in result(STARTED).message


@pytest.mark.parametrize(
    ("hours", "changes"), [(25, {}), (1, {"settings": {**cluster().settings, "port": "5439"}})], ids=["old", "changed"]
)
def test_it_holds_no_longer_once_it_is_old_or_stands_on_other_facts(hours: float, changes: dict[str, Any]) -> None:
    found = _read_again(hours, **changes)
    assert found.status is Status.WARNING
    assert "Since the trial start" in found.message


def test_facts_of_the_new_server_that_are_read_again_are_compared_too() -> None:
    tried = replace(STARTED, at=old().taken_at, basis=trial_basis(cluster(), new(), TARGET))
    later = old().taken_at + timedelta(hours=1)
    for tools, status in ((new().tools, Status.PASS), ((), Status.WARNING)):
        facts = old(), new(taken_at=later, trial_start=tried, tools=tools)
        assert next(each for each in run_checks(move(), *facts) if each.id == "trial-start").status is status


def test_where_it_listened_stands_beside_what_it_left_out() -> None:
    found = result(made(listened=("tcp 10.77.0.12 5432",), lacking=("192.0.2.77",)))
    assert "tcp 10.77.0.12 5432" in found.new
    assert "192.0.2.77" in found.message


def test_a_unit_that_starts_the_new_cluster_was_not_tried() -> None:
    service = Service(TARGET, "15/main", "postgresql@15-main.service", debian=True)
    for tried in (STARTED, replace(STARTED, hindering=("User=other",)), made(not_tried="so", hindering=("User=x",))):
        found = result(tried, service)
        assert found.status is Status.WARNING
        assert ("postgresql@15-main.service" in found.message) is bool(tried.hindering or not tried.not_tried)
        assert all(each in found.message for each in tried.hindering)
        assert tried.not_tried or "by the service postgresql@15-main.service, which was not tried." in found.message


def test_conditions_of_the_unit_that_are_not_met_stop_the_move_and_those_not_judged_are_told() -> None:
    service = Service(TARGET, "own", "own.service")
    for tried in (STARTED, made(not_tried="so")):
        found = result(replace(tried, unmet=("ConditionPathExists=/none",)), service)
        assert (found.status, "ConditionPathExists=/none" in found.message) == (Status.BLOCKER, True)
        found = result(replace(tried, unjudged=("AssertHost=own",)), service)
        assert (found.status, "AssertHost=own" in found.message) == (Status.WARNING, True)
    found = result(replace(STARTED, unmet=("ConditionPathExists=/none",), hook="stop-applications"), service)
    assert found.status is Status.WARNING
    assert "ConditionPathExists=/none. Your command for stop-applications" in found.message
    failed = result(made(failed="FATAL:  no", unmet=("ConditionPathExists=/none",)), service)
    assert "FATAL:  no" in failed.message


def test_the_words_of_a_line_that_no_server_starts_with_are_not_repeated() -> None:
    """A password may stand there, in the wrong place."""
    refused = made(failed='LOG:  invalid authentication method "scrm-hunter2"')
    wrong = old(cluster(start_complaints=("/etc/pg_hba.conf line 99",)))
    results = run_checks(move(), wrong, new(trial_start=refused))
    found = {each.id: each for each in results}
    assert (found["trial-start"].status, found["start-files"].status) == (Status.BLOCKER, Status.BLOCKER)
    assert "hunter2" not in found["trial-start"].message
    assert "`start-files`" in found["trial-start"].message
