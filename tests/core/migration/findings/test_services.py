"""What starts a cluster on its own host."""

from core.facts.host_environment import Limits, Process
from core.facts.services import Service
from core.migration.findings.services import service_of, unit_at_work
from tests.core.migration.builders import cluster, old

RUNS = Process(Limits(1, 1), "systemd", "shop.service")
UNIT = Service("/etc/pg-shop", "shop", "shop.service", enabled=True)


def test_a_unit_that_names_the_folder_of_the_configuration_is_the_one_that_the_server_runs_in() -> None:
    made = cluster(running=True, process=RUNS)
    facts = old(made, services=(UNIT,))
    found = service_of(made, facts)
    assert found is not None
    assert (found.unit, found.enabled, unit_at_work(made, facts)) == ("shop.service", True, "shop.service")


def test_a_unit_of_something_else_is_not_taken_for_the_cluster_s() -> None:
    made = cluster(running=True, process=RUNS)
    assert service_of(made, old(made)) is None
    another = cluster(data_directory="/srv/pg/shop", unit="shop.service")
    facts = old(made, another, services=(UNIT,))
    assert (service_of(made, facts), unit_at_work(made, facts)) == (None, None)
