"""What starts new, by what its host has for the target, else as old was registered."""

from dataclasses import replace
from typing import Any

import pytest

from core.facts.host_environment import Limits, Process
from core.facts.model import Cluster, System, Tool
from core.facts.services import Service
from core.migration.findings.services import service_at_work, service_for, service_of
from tests.core.migration.builders import TARGET, cluster, new, old

DEBIAN = Service(TARGET, "15/spring", "postgresql@15-spring.service", debian=True, enabled=True)
UNIT = Service(TARGET, "postgresql-15", "postgresql-15.service", enabled=False)
OF_DEBIAN: dict[str, Any] = {"name": "15/main", "found_by": ("pg_lsclusters",), "unit": "postgresql@15-main.service"}
CTL = Tool("pg_ctlcluster", "/usr/bin/pg_ctlcluster", None)


@pytest.mark.parametrize("service", [DEBIAN, UNIT])
def test_what_names_the_target_starts_it(service: Service) -> None:
    other = replace(UNIT, data_directory="/elsewhere")
    found = service_for(f"{TARGET}/", cluster(**OF_DEBIAN), new(services=(other, service), tools=(CTL,)))
    assert found == service


def test_else_it_is_registered_as_on_old() -> None:
    there = new(tools=(CTL,))
    made = service_for(TARGET, cluster(**OF_DEBIAN), there)
    assert made == Service(TARGET, "15/main", "postgresql@15-main.service", debian=True)
    assert service_for(TARGET, cluster(), there) is None
    assert service_for(TARGET, cluster(**OF_DEBIAN), new()) is None


def test_a_name_that_another_cluster_has_is_not_taken() -> None:
    other = replace(DEBIAN, data_directory="/elsewhere", name="15/main")
    assert service_for(TARGET, cluster(**OF_DEBIAN), new(tools=(CTL,), services=(other,))) is None


def test_units_do_not_count_where_no_systemd_runs() -> None:
    bare = System("new", "Debian", "6.1.0", "x86_64", init="sleep")
    assert service_for(TARGET, cluster(), new(system=bare, services=(UNIT,))) is None
    assert service_for(TARGET, cluster(), new(system=bare, services=(DEBIAN,))) == DEBIAN
    assert service_of(cluster(unit="own.service"), old(system=bare)) is None


def test_what_starts_old_and_whether_by_itself() -> None:
    found = service_of(cluster(unit="own.service", unit_user="ann"), old(services=(replace(UNIT, enabled=True),)))
    assert found is not None
    assert (found.unit, found.user, found.debian, found.enabled) == ("own.service", "ann", False, None)
    known = replace(UNIT, unit="own.service", enabled=True)
    found = service_of(cluster(unit="own.service"), old(services=(known,)))
    assert found is not None
    assert found.enabled


def in_unit(unit: str | None) -> Cluster:
    return cluster(unit="own.service", running=True, process=Process(Limits(1024, None), "init", unit))


def test_a_server_that_was_started_by_hand_is_not_its_units() -> None:
    assert service_at_work(in_unit("own.service"), old()) is not None
    assert service_at_work(in_unit("ssh.service"), old()) is None
    assert service_at_work(cluster(unit="own.service"), old()) is not None
