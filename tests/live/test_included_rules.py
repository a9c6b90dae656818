"""A line of an included access file that no server reads, on real servers: the file is named that contains it."""

from collections.abc import Iterator

import pytest

from core.errors import CommandError
from core.facts.catalog import BrokenMap
from core.facts.collect import collect
from core.jobs import Job
from core.servers.connection import Server
from core.servers.shell import call
from tests.lab.extra import extra
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine
from tests.live.released import DATA, PORT, TARGET, released

pytestmark = [pytest.mark.lab, pytest.mark.long]

_HBA, _INCLUDED = f"{DATA}/pg_hba.conf", f"{DATA}/access/rules.conf"
_WRONG = "host all all 192.0.2.0/24 hunter2"


@pytest.fixture(params=[("14.23", _HBA), ("16.2", _INCLUDED), ("18.6", _INCLUDED)], ids=["14", "16", "18"])
def wrong(lab: Lab, request: pytest.FixtureRequest) -> Iterator[tuple[str, str, str]]:
    """The major version, the folder of its programs, and the file whose second line no server reads."""
    version, file = request.param
    with released(lab, version) as programs:
        arrange = f"""
        set -eu
        mkdir {DATA}/access
        rules=$(cat {_HBA})
        printf '%s\\n' 'include_if_exists access/none.conf' 'include access/rules.conf' "$rules" >{_HBA}
        [ {file} != {_HBA} ] || printf '%s\\n' '# access' '{_WRONG}' "$rules" >{_HBA}
        printf '%s\\n' '# more rules' '{_WRONG}' >{_INCLUDED}
        """
        lab.old.exec("sh", "-c", arrange, user="postgres")
        yield version.partition(".")[0], programs, file


def test_the_checks_name_the_file_that_contains_the_line(
    lab: Lab,
    asker: LabAsker,
    capsys: pytest.CaptureFixture[str],
    old_server: Server,
    wrong: tuple[str, str, str],
) -> None:
    series, programs, file = wrong
    cli = CommandLine(lab, asker, capsys)
    cli.set_up(DATA, target=TARGET)
    for host in (lab.old, lab.new):
        code, _, err = cli.connecting("facts", host.name)
        assert code == 0, err
    _, said, _ = cli.connecting("check", "m")
    assert f"{file} line 2: invalid authentication method" in " ".join(said.split())
    assert "hunter2" not in said
    assert said.count("line 2: invalid") == said.count(f"{file} line 2: invalid")
    words = (f"{programs}:/usr/bin:/bin", DATA, "-", series, "/tmp", PORT, 20)
    with pytest.raises(CommandError, match=f": {file} line 2: invalid authentication method. It was not stopped"):
        old_server.run(call("check_restartable", *words), Job(), user="postgres")


def test_a_user_name_map_that_no_server_reads(lab: Lab, old_server: Server) -> None:
    """Before 16, only pg_ident.conf itself can contain it."""
    with extra(lab.old, "maps", 5479) as cluster:
        cluster.append("pg_ident.conf", "\nodd hunter2\n")
        found = collect(old_server, Job(), folders=[cluster.folder]).cluster(cluster.folder)
        lines = len(cluster.host.exec("cat", f"{cluster.folder}/pg_ident.conf").stdout.splitlines())
    assert found is not None
    assert found.wide is not None
    assert found.wide.broken_maps == (BrokenMap(lines, "missing entry at end of line"),)
    with released(lab, "16.2"):
        arrange = f"""
        set -eu
        echo 'include maps.conf' >>{DATA}/pg_ident.conf
        printf '%s\\n' '# maps' 'good one two' 'odd hunter2' >{DATA}/maps.conf
        """
        lab.old.exec("sh", "-c", arrange, user="postgres")
        found = collect(old_server, Job(), folders=[DATA]).cluster(DATA)
    assert found is not None
    assert found.wide is not None
    assert found.wide.broken_maps == (BrokenMap(3, "missing entry at end of line", f"{DATA}/maps.conf"),)


@pytest.mark.parametrize("removed", ["pg_ident.conf", "pg_hba.conf"])
def test_the_catalogs_are_read_although_an_access_file_was_removed_since_the_start(
    lab: Lab, old_server: Server, removed: str
) -> None:
    with extra(lab.old, "removed", 5479) as cluster:
        cluster.host.exec("mv", f"{cluster.folder}/{removed}", f"{cluster.folder}/aside")
        found = collect(old_server, Job(), folders=[cluster.folder]).cluster(cluster.folder)
        cluster.host.exec("mv", f"{cluster.folder}/aside", f"{cluster.folder}/{removed}")
    assert found is not None
    assert found.wide is not None
    assert found.wide.settings
    assert (found.wide.hba is None) is (removed == "pg_hba.conf")
