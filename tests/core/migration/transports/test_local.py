"""A move within one server: no key, no ssh, and both folders by the cluster's owner."""

from dataclasses import replace

from core.facts.model import Facts
from core.migration.estimate import estimate, spec_of
from core.migration.model import step_ids
from core.migration.model.plan import Plan
from core.migration.model.transport import Route, Transport
from core.migration.plan import make_plan
from core.migration.transports.choice import is_on_one_server
from tests.core.migration.builders import cluster, facts, move, old, profile


def one_server(owner: str = "postgres") -> tuple[Facts, Facts]:
    """The facts of one host, read through two profiles."""
    first = old(cluster(owner=owner, running=True))
    system = replace(first.system, boot_id="b", machine_id="m") if first.system is not None else None
    first = replace(first, system=system)
    return first, replace(first, server="new", clusters=facts("new").clusters)


def plan(both: tuple[Facts, Facts]) -> Plan:
    estimated = estimate(spec_of(move(), both[0], []))
    return make_plan(move(), profile("old"), profile("new"), *both, (), (), estimated, seed="0123")


def test_one_server_copies_from_folder_to_folder() -> None:
    both = one_server()
    assert is_on_one_server(move(), *both, profile("new"))
    made = plan(both)
    assert made.transport == Transport(route=Route.LOCAL).name
    commands = "\n".join(step.call for step in made.steps)
    assert "ssh" not in commands
    assert "_key" not in commands
    assert dict(made.settings)["copy_route"] == "local"
    names = [step.id for step in made.steps]
    assert names.index(step_ids.CREATE_COPY_FOLDER) < names.index("remove-copy-folder")


def test_the_owner_must_be_the_same_and_the_hosts_one() -> None:
    assert not is_on_one_server(move(), *one_server("pgadmin"), profile("new"))
    assert not is_on_one_server(move(), old(), facts("new"), profile("new"))
    assert "allow-key" in "\n".join(step.id for step in plan(one_server("pgadmin")).steps)
