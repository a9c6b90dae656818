"""The configuration files of the old cluster, as PostgreSQL reads them: what comes along, and what must not."""

import json
from collections.abc import Iterator

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, ROOT, pg_ctl, sql

pytestmark = pytest.mark.lab

_CONF, _HBA = f"{DATA}/postgresql.conf", f"{DATA}/pg_hba.conf"
_OWN = f"{ROOT}/conf"
"""A folder of the owner's on both hosts, outside of the data directory."""


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    site.create(lab.old)
    site.clear(lab)
    append(lab.old, _CONF, "listen_addresses = '*'")
    site.start(lab.old)
    made = CommandLine(lab, asker, capsys)
    site.describe(made)
    yield made
    for host in (lab.old, lab.new):
        pg_ctl(host, "-m", "immediate", "stop", check=False)
    site.remove(lab)


def append(host: Host, file: str, lines: str) -> None:
    host.exec(
        "sh", "-c", f"mkdir -p '{file.rpartition('/')[0]}' && cat >>'{file}'", user="postgres", input=f"{lines}\n"
    )


def checked(cli: CommandLine, check: str) -> dict[str, str]:
    """The result of a check, with facts that are read anew."""
    _, out, err = cli.connecting("check", "m", "--json")
    found = [each for each in json.loads(out)["checks"] if each["id"] == check]
    assert found, (out, err)
    return dict(found[0])


def execute(cli: CommandLine, *words: str) -> tuple[int, str]:
    code, out, err = cli.connecting("execute", "m", *words, "--confirm", DATA, "--yes-to-hooks")
    return code, out + err


def test_what_a_start_reads_comes_along_whether_it_sets_anything_or_not(cli: CommandLine) -> None:
    """Files that are included without a setting in force, and a list that pg_hba.conf names: no start does without."""
    old, new = cli.lab.old, cli.lab.new
    append(old, f"{_OWN}/more.d/a.conf", "# nothing is set here")
    append(old, f"{_OWN}/one.conf", "work_mem = '5MB'")
    append(old, f"{_OWN}/dbas", "postgres")
    append(old, _CONF, f"include_dir = '{_OWN}/more.d'\ninclude '{_OWN}/one.conf'\nwork_mem = '6MB'")
    append(old, _HBA, f"local all @{_OWN}/dbas trust")
    pg_ctl(old, "-l", "/dev/null", "restart")
    append(new, f"{_OWN}/one.conf", "new = 'own'")
    code, said = execute(cli)
    assert code == 0, said
    assert sql(new, "show work_mem") == "6MB"
    for each in ("more.d/a.conf", "one.conf", "dbas"):
        assert new.exec("cat", f"{_OWN}/{each}").stdout == old.exec("cat", f"{_OWN}/{each}").stdout


def test_a_path_inside_the_old_data_directory_is_a_blocker(cli: CommandLine) -> None:
    old = cli.lab.old
    append(old, _CONF, f"hba_file = '{_HBA}'")
    pg_ctl(old, "-l", "/dev/null", "restart")
    result = checked(cli, "moved-paths")
    assert (result["status"], f"hba_file ({_CONF} line " in result["message"]) == ("blocker", True), result
    old.exec("sed", "-i", "/^hba_file/d", _CONF, user="postgres")
    pg_ctl(old, "-l", "/dev/null", "restart")
    assert checked(cli, "moved-paths")["status"] == "pass"
