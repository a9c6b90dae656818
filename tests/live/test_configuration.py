"""Configuration that lies outside the data directory, by the command line: one file of /etc, replaced and put back."""

from collections.abc import Iterator

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine, Terminal
from tests.live.moving import DATA, NEW_OTHER, OTHER, PORT, SERVER, TARGET, pg_ctl, sql

pytestmark = pytest.mark.lab

FILE, HBA = "/etc/moved.conf", "/etc/moved-hba.conf"
_OUTSIDE = f"""
set -eu
mv {DATA}/postgresql.conf {FILE}
mv {DATA}/pg_hba.conf {HBA}
printf "data_directory = '%s'\\nhba_file = '%s'\\nident_file = '%s/pg_ident.conf'\\n" {DATA} {HBA} {DATA} >>{FILE}
"""


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """The cluster runs with its configuration in /etc; new has a file of that name too."""
    site.create(lab.old)
    site.clear(lab)
    lab.old.exec("sh", "-c", _OUTSIDE)
    lab.old.exec(
        *("env", f"PGDATA={DATA}", f"{SERVER}/bin/pg_ctl", "-w", "-s", "-l", "/dev/null"),
        *("-o", f"-c config_file={FILE}", "start"),
        user="postgres",
    )
    lab.new.exec("sh", "-c", f"echo theirs >{FILE}")
    made = CommandLine(lab, asker, capsys)
    made.describe(lab.old)
    made.describe(lab.new)
    ends = ("--old", "old", "--new", "new", "--old-volume", "/srv/pg", "--new-volume", "/srv/pg")
    roots = ("--cluster", DATA, "--target", TARGET, "--tablespace", f"{OTHER}={NEW_OTHER}")
    code, _, err = made("move", "add", "m", *ends, *roots)
    assert code == 0, err
    made("move", "hook", "m", "stop-applications", "--side", "old", "--command", "true")
    yield made
    for host in (lab.old, lab.new):
        pg_ctl(host, "-m", "immediate", "stop", check=False)
        host.exec("rm", "-rf", FILE, HBA, "/var/lib/pghaul")
    site.remove(lab)


def held(cli: CommandLine) -> str:
    """What new has in those places, and where things are put aside."""
    look = f"cat {FILE}; ls /etc/moved*; ls /var/lib/pghaul; true"
    return cli.lab.new.exec("sh", "-c", f"({look}) 2>&1").stdout


def test_one_file_of_etc_is_brought_taken_back_and_brought_again(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = cli.lab.new.exec("ls", "/etc").stdout
    before = held(cli)
    assert before.startswith("theirs\n")
    monkeypatch.setattr("sys.stdin", Terminal(lambda: None, "no\n"))
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA)
    assert (code, "was not done: decide" in err) == (1, True), err
    assert f"port = {PORT}\n" in held(cli)
    code, _, err = cli.connecting("execute", "m", "--rollback")
    assert code == 0, err
    assert (held(cli), cli.lab.new.exec("ls", "/etc").stdout) == (before, names)
    code, _, err = cli.connecting("execute", "m", "--anew", "--confirm", DATA, "--yes-to-hooks")
    assert code == 0, err
    assert sql(cli.lab.new, "show config_file; show hba_file; show data_directory").split("\n") == [FILE, HBA, TARGET]
    kept = cli.lab.new.exec("sh", "-c", "tar -xOf /var/lib/pghaul/*.tar").stdout
    assert kept == "theirs\n"
