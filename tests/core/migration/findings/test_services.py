"""What starts a cluster on its own host."""

from typing import Any

import pytest

from core.facts.cluster_configuration import ConfigurationFile, Mention
from core.facts.host_environment import Limits, Process
from core.facts.starters import Service
from core.migration.findings.services import (
    access_rule_paths,
    access_rules_beside_configuration,
    active_unit,
    debian_settings,
    find_service,
    service_of_target,
    unknown_unit,
)
from tests.core.migration.builders import DATA, TARGET, cluster, new, old

RUNS = Process(Limits(1, 1), "systemd", "shop.service")
UNIT = Service("/etc/pg-shop", "shop", "shop.service", enabled=True)


def test_a_unit_that_names_the_folder_of_the_configuration_is_the_one_that_the_server_runs_in() -> None:
    made = cluster(running=True, process=RUNS)
    facts = old(made, services=(UNIT,))
    found = find_service(made, facts)
    assert found is not None
    assert (found.unit, found.enabled, active_unit(made, facts)) == ("shop.service", True, "shop.service")


@pytest.mark.parametrize(
    ("target", "folder", "mentioned", "in_force", "found"),
    [
        (DATA, "/srv/conf", "data_directory", DATA, True),
        (DATA, "/srv/conf", "data_directory", "/srv/link", False),  # new has no such link
        (DATA, "/srv/conf", "hba_file", DATA, False),  # an option of the start says where the data is
        ("/srv/elsewhere", "/srv/conf", "data_directory", DATA, False),
        (DATA, "/etc/shop", "data_directory", DATA, False),  # new's own is used, which may name another cluster
    ],
)
def test_a_unit_of_new_s_that_names_the_folder_of_the_configuration_is_the_target_s(
    target: str, folder: str, mentioned: str, in_force: str, found: bool
) -> None:
    file, unit = f"{folder}/postgresql.conf", Service(folder, "shop", "shop.service", enabled=True)
    read = ConfigurationFile(file, "settings", "required", "file", mentions=(Mention(1, mentioned),))
    made = cluster(config_file=file, configuration_files=(read,), settings={"data_directory": in_force})
    assert service_of_target(target, made, new(services=(unit,))) == (unit if found else None)
    of_target = Service(target, "own", "own.service")
    assert service_of_target(target, made, new(services=(unit, of_target))) == of_target


def test_a_line_of_new_s_own_file_tells_no_target() -> None:
    """Only what the move brings is old's: what it includes from a folder of the system's is not."""
    file = "/srv/conf/postgresql.conf"
    main = ConfigurationFile(file, "settings", "required", "file", mentions=(Mention(1, "port"),))
    included = ConfigurationFile(
        "/etc/shop.conf", "settings", "required", "file", mentions=(Mention(1, "data_directory"),)
    )
    made = cluster(config_file=file, configuration_files=(main, included), settings={"data_directory": DATA})
    unit = Service("/srv/conf", "shop", "shop.service", enabled=True)
    assert service_of_target(DATA, made, new(services=(unit,))) is None


def test_a_unit_of_something_else_is_not_taken_for_the_cluster_s() -> None:
    made = cluster(running=True, process=RUNS)
    assert find_service(made, old(made)) is None
    another = cluster(data_directory="/srv/pg/shop", unit="shop.service")
    facts = old(made, another, services=(UNIT,))
    assert (find_service(made, facts), active_unit(made, facts)) == (None, None)


def test_of_several_units_that_name_the_folder_it_is_the_one_that_the_server_runs_in() -> None:
    made = cluster(running=True, process=RUNS, unit="package.service")
    package = Service(made.data_directory, "package", "package.service")
    shop = Service(made.data_directory, "shop", "shop.service", enabled=True)
    facts = old(made, services=(package, shop))
    found = find_service(made, facts)
    assert found is not None
    assert (found.unit, active_unit(made, facts), unknown_unit(made, facts)) == (
        "shop.service",
        "shop.service",
        None,
    )


def test_a_unit_of_the_server_that_nothing_matches_is_told_and_no_session() -> None:
    systemd = old(cluster()).system
    assert systemd is not None
    assert systemd.init == "systemd"
    assert unknown_unit(cluster(running=True, process=RUNS), old(cluster())) == "shop.service"
    matched = cluster(running=True, process=RUNS, unit="shop.service")
    assert unknown_unit(matched, old(matched)) is None
    for unit in ("user@1000.service", "ssh.service", "cron.service", None):
        by_hand = cluster(running=True, process=Process(Limits(1, 1), "systemd", unit))
        assert unknown_unit(by_hand, old(by_hand)) is None


@pytest.mark.parametrize(
    ("target", "in_force", "led"),
    [
        (DATA, DATA, {}),
        (DATA, "/srv/link", {"data_directory": DATA}),
        (
            TARGET,
            DATA,
            {
                "data_directory": TARGET,
                "hba_file": "/srv/rules/shop.conf",
                "ident_file": f"{TARGET}/pg_ident.conf",
                "external_pid_file": "/run/postgresql/15-main.pid",
            },
        ),
    ],
)
def test_debian_s_configuration_is_led_to_the_target_and_to_the_rules_of_the_old_cluster(
    target: str, in_force: str, led: dict[str, str]
) -> None:
    """Where the data directory alone is named otherwise, all else stays as it is."""
    settings = {"data_directory": in_force, "ident_file": f"{in_force}/pg_ident.conf"}
    made = cluster(hba_file="/srv/rules/shop.conf", settings=settings)
    service = Service(target, "15/main", "postgresql@15-main.service", debian=True)
    assert debian_settings(target, made, service) == led
    assert access_rule_paths(target, made) == {
        "hba_file": "/srv/rules/shop.conf",
        "ident_file": f"{target}/pg_ident.conf",
    }
    assert access_rule_paths(target, cluster()) == {"hba_file": None, "ident_file": None}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, ["hba_file=/srv/conf/pg_hba.conf", "ident_file=/srv/conf/pg_ident.conf"]),
        ({"hba_file": "/srv/rules/pg_hba.conf"}, ["ident_file=/srv/conf/pg_ident.conf"]),  # its configuration says so
        ({"hba_file": None, "settings": {}}, []),
        ({"config_file": f"{DATA}/postgresql.conf"}, []),
        ({"name": "15/main", "found_by": ("pg_lsclusters",)}, []),
    ],
)
def test_rules_beside_the_configuration_are_named_to_a_start_with_the_data_directory(
    changes: dict[str, Any], named: list[str]
) -> None:
    apart: dict[str, Any] = {
        "config_file": "/srv/conf/postgresql.conf",
        "hba_file": "/srv/conf/pg_hba.conf",
        "settings": {"ident_file": "/srv/conf/pg_ident.conf"},
    }
    assert access_rules_beside_configuration(cluster(**{**apart, **changes})) == named
