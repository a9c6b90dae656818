"""The fixtures that many files share: the cluster of a move, the facts of both sides, the move, the command line.

A file that needs something else has a fixture of the same name, which then holds in this file alone.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.facts.model import Facts
from core.servers.connection import Server
from core.servers.profiles import Profile
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import Moving


@pytest.fixture(scope="module")
def cluster(lab: Lab, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """The hosts with the cluster, which is stopped; with any parameter it has tablespaces, and WAL elsewhere."""
    site.create(lab.old, spread=hasattr(request, "param"))
    yield lab
    site.remove(lab)


@pytest.fixture(scope="module")
def facts(cluster: Lab, old_server: Server, new_server: Server) -> tuple[Facts, Facts]:
    """Of the running cluster; every test begins with the same one."""
    site.clear(cluster)
    site.start(cluster.old)
    return site.read_facts({"old": old_server, "new": new_server}.__getitem__)


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """The command line; the cluster runs, and its move is described as `m`."""
    with site.running(CommandLine(lab, asker, capsys)) as made:
        yield made


@pytest.fixture
def move(
    cluster: Lab,
    facts: tuple[Facts, Facts],
    old_profile: Profile,
    new_profile: Profile,
    old_server: Server,
    new_server: Server,
    tmp_path: Path,
) -> Iterator[Moving]:
    """The move of the running cluster; afterwards nothing of pghaul may be on the hosts."""
    servers = {"old": old_server, "new": new_server}
    with site.undisturbed(cluster, tmp_path, (old_profile, new_profile), servers.__getitem__, facts) as made:
        yield made
