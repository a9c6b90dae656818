"""Configuration that lies outside the data directory, by the command line: brought, taken back, left alone in /etc."""

from collections.abc import Iterator

import pytest

from core.migration.model import step_ids
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine, Terminal
from tests.live.moving import ASIDE, DATA, PORT, SERVER, TARGET, pg_ctl, sql

pytestmark = pytest.mark.lab

FOLDER = "/opt/moved"
FILE, HBA, IDENT = f"{FOLDER}/moved.conf", f"{FOLDER}/hba.conf", "/etc/moved-ident.conf"
_OUTSIDE = f"""
set -eu
mv {DATA}/postgresql.conf {FILE}
mv {DATA}/pg_hba.conf {HBA}
mv {DATA}/pg_ident.conf {IDENT}
printf "data_directory = '%s'\\nhba_file = '%s'\\nident_file = '%s'\\n" {DATA} {HBA} {IDENT} >>{FILE}
"""


@pytest.fixture
def cli(
    lab: Lab,
    clean_hosts: None,  # noqa: ARG001
    asker: LabAsker,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[CommandLine]:
    """The cluster runs with its configuration in a folder of its own and in /etc; new has a file of one name too."""
    site.create(lab.old)
    site.clear(lab)
    for host in (lab.old, lab.new):
        host.exec("install", "-d", "-o", "postgres", FOLDER)
    lab.old.exec("sh", "-c", _OUTSIDE)
    lab.old.exec(
        *("env", f"PGDATA={DATA}", f"{SERVER}/bin/pg_ctl", "-w", "-s", "-l", "/dev/null"),
        *("-o", f"-c config_file={FILE}", "start"),
        user="postgres",
    )
    lab.new.exec("sh", "-c", f"echo theirs >{FILE}", user="postgres")
    made = CommandLine(lab, asker, capsys)
    site.describe(made)
    made("move", "hook", "m", "stop-applications", "--side", "old", "--command", "true")
    yield made
    for host in (lab.old, lab.new):
        pg_ctl(host, "-m", "immediate", "stop", check=False)
        host.exec("rm", "-rf", FOLDER, IDENT)
    site.remove(lab)


def held(cli: CommandLine) -> str:
    """What new has in those places, and where things are put aside."""
    look = f"cat {FILE}; ls -l {FOLDER} {IDENT}; ls {ASIDE}; true"
    return cli.lab.new.exec("sh", "-c", f"({look}) 2>&1").stdout


@pytest.mark.long
def test_it_is_brought_taken_back_and_brought_again_but_nothing_into_etc(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = cli.lab.new.exec("ls", "/etc").stdout
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert (code, f"the database user cannot read {IDENT} on the new server" in err) == (3, True), err
    cli.lab.new.exec("sh", "-c", f"echo '# theirs' >{IDENT}")
    before = held(cli)
    assert before.startswith("theirs\n")
    monkeypatch.setattr("sys.stdin", Terminal(lambda: None, "no\n"))
    code, _, err = cli.connecting("execute", "m", "--resume", "--confirm", DATA)
    assert (code, cli.last_step()) == (1, step_ids.DECIDE), err
    assert f"port = {PORT}\n" in held(cli)
    code, _, err = cli.connecting("execute", "m", "--rollback")
    assert code == 0, err
    assert (held(cli), cli.lab.new.exec("ls", "/etc").stdout.replace("moved-ident.conf\n", "")) == (before, names)
    code, _, err = cli.connecting("execute", "m", "--start-over", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, err
    assert sql(cli.lab.new, "show config_file; show hba_file; show data_directory").split("\n") == [FILE, HBA, TARGET]
    kept = cli.lab.new.exec("sh", "-c", f"tar -xOf {ASIDE}/*.tar").stdout
    assert kept == "theirs\n"
    assert cli.lab.new.exec("cat", IDENT).stdout == "# theirs\n"
