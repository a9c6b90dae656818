"""The check that new has what starts it, after a restart of the host too."""

from dataclasses import replace
from typing import Any

import pytest

from core.facts.cluster_configuration import ConfigurationFile, Mention
from core.facts.host_environment import Limits, Process
from core.facts.model import Facts, Gap, Tool
from core.facts.starters import Service
from core.migration.checks import run_checks
from core.migration.model.checks import CheckResult, Status
from tests.core.migration.builders import DATA, TARGET, cluster, move, new, old

DEBIAN = Service(TARGET, "15/main", "postgresql@15-main.service", debian=True, enabled=True)
UNIT = Service(TARGET, "own", "own.service", enabled=True)
OUTSIDE = {"config_file": "/etc/pg/postgresql.conf"}


def one(there: Facts, *, enabled: bool = True, **changes: Any) -> CheckResult:
    made = cluster(unit="old.service", **changes)
    here = old(made, services=(Service(made.data_directory, "old", "old.service", enabled=enabled),))
    return of(here, there)


@pytest.mark.parametrize("service", [DEBIAN, UNIT, replace(UNIT, enabled=False)])
def test_a_service_that_comes_up_with_the_host_or_will(service: Service) -> None:
    assert one(new(services=(service,))).status is Status.PASS


def test_one_that_nobody_enabled() -> None:
    result = one(new(services=(replace(UNIT, enabled=False),)), enabled=False)
    assert result.status is Status.WARNING
    assert (result.old, result.new) == ("old.service, not enabled", "own.service, not enabled")


def test_none_where_old_has_one() -> None:
    result = one(new())
    assert result.status is Status.WARNING
    assert (result.old, result.new) == ("old.service, enabled", "pg_ctl only")
    assert "pg_createcluster" in result.hint


def test_none_on_either() -> None:
    result = of(old(), new())
    assert (result.status, result.new) == (Status.PASS, "pg_ctl only")


@pytest.mark.parametrize(
    ("restart", "status"),
    [
        ("always", Status.BLOCKER),
        ("on-success", Status.BLOCKER),
        ("on-failure", Status.WARNING),
        (None, Status.WARNING),
    ],
)
def test_a_unit_that_nothing_matches_stops_the_move_where_systemd_would_undo_the_stop(
    restart: str | None, status: Status
) -> None:
    made = cluster(running=True, process=Process(Limits(1, 1), "systemd", "shop.service", restart))
    assert of(old(made), new()).status is status
    unread = old(made, gaps=(Gap("units", "systemd units", "/etc/systemd/system/shop.service may not be read"),))
    assert of(unread, new()).status is Status.UNKNOWN
    matched = old(replace(made, unit="shop.service"), gaps=unread.gaps)
    assert of(matched, new()).status is not Status.UNKNOWN


def of(here: Facts, there: Facts) -> CheckResult:
    return next(each for each in run_checks(move(), here, there) if each.id == "start-on-new")


@pytest.mark.parametrize(
    ("service", "changes", "command"),
    [
        (replace(DEBIAN, name="16/main"), {}, "pg_dropcluster 16 main"),
        (DEBIAN, OUTSIDE, "pg_renamecluster"),
        (UNIT, OUTSIDE, "-c config_file=/etc/pg/postgresql.conf"),
        (UNIT, {"config_file": f"{DATA}/own.conf"}, f"-c config_file={TARGET}/own.conf"),
    ],
)
def test_one_that_would_not_find_its_configuration(service: Service, changes: dict[str, Any], command: str) -> None:
    result = one(new(services=(service,)), **changes)
    assert result.status is Status.BLOCKER
    assert command in result.hint


def test_a_unit_of_the_configuration_finds_it() -> None:
    file = "/srv/conf/postgresql.conf"
    read = ConfigurationFile(file, "settings", "required", "file", mentions=(Mention(1, "data_directory"),))
    apart: dict[str, Any] = {
        "config_file": file,
        "configuration_files": (read,),
        "settings": {"data_directory": TARGET},
    }
    result = one(new(services=(replace(UNIT, data_directory="/srv/conf"),)), **apart)
    assert (result.status, result.new) == (Status.PASS, "own.service, enabled")


def test_another_cluster_of_old_s_name_keeps_its_configuration() -> None:
    """Debian keeps one folder a name: what comes from old would take the place of the other's."""
    debian: dict[str, Any] = {
        "name": "15/main",
        "found_by": ("pg_lsclusters",),
        "config_file": "/etc/postgresql/15/main/postgresql.conf",
    }
    elsewhere = replace(DEBIAN, data_directory="/srv/pg/other")
    result = one(new(services=(elsewhere,)), **debian)
    assert result.status is Status.BLOCKER
    assert "15/main" in result.message
    assert "/srv/pg/other" in result.message
    assert "pg_renamecluster" in result.hint
    assert one(new(services=(DEBIAN, replace(elsewhere, name="15/more"))), **debian).status is Status.PASS


_NAMED: dict[str, Any] = {
    "name": "15/main",
    "found_by": ("pg_lsclusters",),
    "config_file": "/etc/postgresql/15/main/postgresql.conf",
}
_ELSEWHERE = replace(DEBIAN, data_directory="/srv/link")


def of_debian(there: Facts) -> CheckResult:
    tool = Tool("pg_ctlcluster", "/usr/bin/pg_ctlcluster", None)
    return one(replace(there, services=(_ELSEWHERE,), tools=(*there.tools, tool)), **_NAMED)


def test_a_stopped_cluster_of_old_s_name_keeps_its_configuration() -> None:
    other = cluster(data_directory="/srv/pg/other", **_NAMED)
    assert of_debian(new(other)).status is Status.BLOCKER
    assert of_debian(
        new(gaps=(Gap("identity", "version of /srv/link", "it may not be read", "/srv/link"),))
    ).status is (Status.BLOCKER)


def test_its_name_is_free_where_it_is_the_target_behind_a_link_or_its_data_is_gone() -> None:
    target = cluster(data_directory=TARGET, **_NAMED)
    gone = Gap("place", "data directory /srv/link", "there is no such folder", "/srv/link", absent=True)
    for there in (new(target), new(gaps=(gone,))):
        result = of_debian(there)
        assert (result.status, result.new) == (Status.WARNING, "postgresql@15-main.service, not enabled")


_FILE = "/srv/conf/postgresql.conf"
_APART: dict[str, Any] = {
    "config_file": _FILE,
    "hba_file": "/srv/rules/hba.conf",
    "settings": {"data_directory": TARGET},
}


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"config_file": _FILE}, _FILE),
        ({"hba_file": "/srv/rules/hba.conf"}, "/srv/rules/hba.conf"),
        (
            {"configuration_files": (ConfigurationFile("/srv/rules/hba.conf", "rules", "required", "file"),)},
            "/srv/rules/hba.conf",
        ),
    ],
)
def test_another_cluster_of_new_keeps_its_configuration(changes: dict[str, Any], what: str, *, running: bool) -> None:
    """Whether it runs or not: what the move puts aside it could not be started with again."""
    other = cluster(**{"data_directory": "/srv/pg/other", "running": running, "config_file": None, **changes})
    result = one(new(other), **_APART)
    assert result.status is Status.BLOCKER
    assert f"in /srv/pg/other, is configured by {what}" in result.message
    named = replace(UNIT, config_file=_FILE)
    for free in (replace(other, data_directory=TARGET), cluster(data_directory="/srv/pg/other", running=running)):
        assert one(new(free, services=(named,)), **_APART).status is Status.PASS


def test_another_cluster_that_runs_on_new_keeps_its_unit() -> None:
    """Its unit may name the folder of the configuration: to start it would do nothing, and then it would be stopped."""
    named = replace(UNIT, config_file=_FILE)
    other = cluster(
        data_directory="/srv/pg/other", running=True, process=Process(Limits(1, 1), "systemd", "own.service")
    )
    result = one(new(other, services=(named,)), **_APART)
    assert result.status is Status.BLOCKER
    assert "in /srv/pg/other, runs with own.service" in result.message
    for free in (replace(other, running=False, process=None), replace(other, data_directory=TARGET)):
        assert one(new(free, services=(named,)), **_APART).status is Status.PASS
