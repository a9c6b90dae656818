import re
from dataclasses import replace
from typing import Any

import pytest

from core.facts.catalog import ClusterWide, Setting, Subscription
from core.facts.model import Facts
from core.migration.checks import run_checks
from core.migration.findings.local_start import list_isolation_settings
from core.migration.model.checks import CheckResult, Status
from tests.core.migration.builders import cluster, move, new, old, trial


def one(here: Facts, there: Facts) -> CheckResult:
    return next(result for result in run_checks(move(), here, there) if result.id == "local-start")


def answering(series: str = "15", **changes: Any) -> Facts:
    """New, whose binaries answered for the settings of that series' local start."""
    taken = tuple((each, "") for each in list_isolation_settings(cluster(series=series)))
    made = trial(settings=(*taken, *changes.pop("settings", ())))
    return new(trials=(replace(made, series=series),), **changes)


def test_what_starts_work_by_itself_is_named_with_what_holds_it_back() -> None:
    subscriptions = (Subscription("shop", "sub", enabled=True), Subscription("shop", "off", enabled=False))
    here = old(
        cluster(
            settings={"shared_preload_libraries": "pg_cron"},
            wide=ClusterWide(subscriptions=subscriptions, workers=("pg_cron launcher",)),
        )
    )
    result = one(here, answering())
    assert result.status is Status.PASS, result
    assert re.findall(r"\bsub\b|\boff\b|\bshop\b|pg_cron launcher|pg_cron$", result.old) == [
        "sub",
        "shop",
        "pg_cron launcher",
        "pg_cron",
    ]
    assert result.new == "for local connections only, read-only, without background work"


def test_a_cluster_in_which_nothing_starts_work_by_itself_shows_nothing_of_it() -> None:
    result = one(old(cluster(settings={}, wide=ClusterWide())), answering())
    assert (result.status, result.old) == (Status.PASS, "–")


@pytest.mark.parametrize(("libraries", "status"), [("worker_spi", Status.BLOCKER), ("auto_explain", Status.PASS)])
def test_workers_that_the_series_cannot_hold_back_stop_the_move(libraries: str, status: Status) -> None:
    here = old(cluster(series="9.3", settings={"shared_preload_libraries": libraries}))
    result = one(here, answering("9.3"))
    assert (result.status, "worker_spi" in result.message) == (status, libraries == "worker_spi")


@pytest.mark.parametrize(("library", "status"), [("login_hook", Status.BLOCKER), ("auto_explain", Status.PASS)])
def test_libraries_of_a_roles_sessions_stop_the_move(library: str, status: Status) -> None:
    loaded = ClusterWide(settings=(Setting("session_preload_libraries", library, "database or role"),))
    assert one(old(cluster(wide=loaded)), answering()).status is status


def test_a_setting_that_new_does_not_take_stops_the_move() -> None:
    refused = answering(settings=(("max_worker_processes=0", "invalid value"),))
    result = one(old(), refused)
    assert (result.status, result.new) == (Status.BLOCKER, "invalid value")


def test_binaries_that_were_not_asked_for_the_settings() -> None:
    assert one(old(), new(trials=(trial(settings=()),))).status is Status.UNKNOWN
