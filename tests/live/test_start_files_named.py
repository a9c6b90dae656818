"""Facts of a stopped cluster whose last start named its files: postmaster.opts tells them."""

from collections.abc import Iterator

import pytest

from core.facts.collect import collect
from core.facts.model import Cluster
from core.jobs import Job
from core.migration.checks import run_checks
from core.migration.model.checks import Status
from core.migration.model.move import Move
from core.servers.connection import Server
from tests.lab.extra import PROGRAMS, Extra, extra
from tests.lab.lab import Lab

pytestmark = pytest.mark.lab

_ELSEWHERE = "/srv/pg/conf of named"
_CONFIG, _HBA = f"{_ELSEWHERE}/own.conf", f"{_ELSEWHERE}/hba.conf"
_ARRANGE = """
set -eu
sed 's/^port = .*/port = 5478/' "$0/postgresql.conf" >"$1/own.conf"
cp "$1/own.conf" "$1/postgresql.conf"
cp "$0/pg_hba.conf" "$1/hba.conf"
"""


@pytest.fixture
def cluster(lab: Lab) -> Iterator[Extra]:
    """A running cluster, and files of its owner's outside of its data directory, with another port."""
    with extra(lab.old, "named", 5477) as made:
        lab.old.exec("install", "-d", "-o", "postgres", _ELSEWHERE)
        lab.old.exec("sh", "-c", _ARRANGE, made.folder, _ELSEWHERE, user="postgres")
        try:
            yield made
        finally:
            lab.old.exec("rm", "-rf", _ELSEWHERE)


def restarted(cluster: Extra, *options: str, folder: str = "") -> None:
    """Start it with these options of the server program, and stop it again."""
    words = [f"{PROGRAMS['old']}/pg_ctl", "-D", folder or cluster.folder, "-s", "-w", "-l", "/dev/null"]
    cluster.control("-m", "fast", "stop")
    cluster.host.exec(*words, "-o", " ".join(options), "start", user="postgres")
    cluster.control("-m", "fast", "stop")


def read(server: Server, cluster: Extra) -> tuple[Cluster, Status, str]:
    """The cluster, and what the check of its files says."""
    facts = collect(server, Job(), folders=[cluster.folder])
    found = facts.cluster(cluster.folder)
    assert found is not None
    assert not found.running
    move = Move("m", server.name, "new", cluster.folder, "/srv/pg/target", "/srv/pg", "/srv/pg")
    (result,) = [each for each in run_checks(move, facts, facts) if each.id == "start-files"]
    return found, result.status, result.message


def test_files_that_the_last_start_named(old_server: Server, cluster: Extra) -> None:
    restarted(cluster, f"-c 'config_file={_CONFIG}' --hba-file='{_HBA}'", f"-c data_directory={cluster.folder}")
    found, status, _ = read(old_server, cluster)
    assert found.start_files == {"config_file": _CONFIG, "hba_file": _HBA}
    assert (found.config_file, found.hba_file, found.port) == (_CONFIG, _HBA, 5478)
    paths = {each.path for each in found.configuration_files or ()}
    assert {_CONFIG, _HBA} <= paths
    assert f"{cluster.folder}/postgresql.conf" not in paths
    assert status is Status.PASS

    cluster.host.exec("rm", _CONFIG)
    found, status, message = read(old_server, cluster)
    assert found.lost_start_files == {"config_file": _CONFIG}
    assert (found.config_file, found.port) == (f"{cluster.folder}/postgresql.conf", 5477)
    assert (status, f"config_file = {_CONFIG}" in message) == (Status.WARNING, True)


def test_a_folder_of_configuration_that_the_last_start_named(old_server: Server, cluster: Extra) -> None:
    """-D leads to it, and the file there to the data."""
    cluster.host.exec(
        "tee", "-a", f"{_ELSEWHERE}/postgresql.conf", user="postgres", input=f"data_directory = '{cluster.folder}'\n"
    )
    cluster.host.exec("mv", _HBA, f"{_ELSEWHERE}/pg_hba.conf")
    cluster.host.exec("touch", f"{_ELSEWHERE}/pg_ident.conf", user="postgres")
    restarted(cluster, folder=_ELSEWHERE)
    found, status, _ = read(old_server, cluster)
    assert (found.config_file, found.port) == (f"{_ELSEWHERE}/postgresql.conf", 5478)
    assert (found.hba_file, status) == (f"{_ELSEWHERE}/pg_hba.conf", Status.PASS)


@pytest.mark.parametrize("options", ["", "-c config_file=own.conf"], ids=["none", "relative"])
def test_files_that_no_start_named(old_server: Server, cluster: Extra, options: str) -> None:
    """A relative path tells nobody where the file is: it counts as lost."""
    restarted(cluster)
    if options:
        line = f'{PROGRAMS["old"]}/postgres "-D" "{cluster.folder}" "-c" "config_file=own.conf"\n'
        cluster.host.exec("tee", f"{cluster.folder}/postmaster.opts", user="postgres", input=line)
    found, status, _ = read(old_server, cluster)
    assert (found.start_files, found.port) == ({}, 5477)
    assert found.lost_start_files == ({"config_file": "own.conf"} if options else {})
    assert status is (Status.WARNING if options else Status.PASS)


def test_a_copy_of_another_cluster_does_not_get_its_files(old_server: Server, cluster: Extra, lab: Lab) -> None:
    """It has the other one's postmaster.opts, which leads to the data directory of that one."""
    restarted(cluster, f"-c 'config_file={_CONFIG}'")
    copy = Extra(lab.old, "/srv/pg/copy of named", 5477)
    lab.old.exec("cp", "-a", cluster.folder, copy.folder)
    try:
        found, _, _ = read(old_server, copy)
    finally:
        lab.old.exec("rm", "-rf", copy.folder)
    assert (found.start_files, found.lost_start_files, found.port) == ({}, {}, 5477)
