"""Tablespaces in whose folder another major version, and what the data directory leads to, have their place, too."""

import json
from collections.abc import Iterator

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine, Terminal
from tests.live.moving import DATA, SPACE, TARGET, WAL, sql

pytestmark = [pytest.mark.lab, pytest.mark.long]

_THEIRS = f"{SPACE}/PG_13_202007201"
_BESIDE = f"""
mkdir -m 700 '{_THEIRS}' '{SPACE}/PG_15_202204151'
echo theirs >'{_THEIRS}/file'; echo beta >'{SPACE}/PG_15_202204151/16384'
chown -R postgres: '{SPACE}'
"""
_OF_NEW = f"""
mkdir -p '{SPACE}/PG_12_1'; chmod 750 '{SPACE}'
echo mine >'{SPACE}/PG_12_1/file'; chown -R postgres: '{SPACE}'
"""
_ROWS = "select count(*) from pgbench_accounts"


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Iterator[Lab]:
    site.create(lab.old, spread=True)
    yield lab
    site.remove(lab)


@pytest.fixture
def cli(cluster: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    site.clear(cluster)
    made = CommandLine(cluster, asker, capsys)
    site.describe(made, spread=True)
    cluster.old.exec("sh", "-c", _BESIDE)
    yield made
    for host in (cluster.old, cluster.new):
        site.end(host)


def execute(cli: CommandLine, *options: str) -> None:
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, *options)
    assert code == 0, err


def started(cli: CommandLine, arrange: str = "true") -> None:
    cli.lab.old.exec("sh", "-c", f"set -e; {arrange}")
    site.start(cli.lab.old)
    for host in (cli.lab.old, cli.lab.new):
        cli.connecting("facts", host.name)


def kept(host: Host) -> bool:
    mode = host.exec("stat", "-c", "%a", SPACE).stdout
    return (host.exec("cat", f"{SPACE}/PG_12_1/file").stdout, mode) == ("mine\n", "750\n")


def test_theirs_may_go_while_the_old_server_is_stopped(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the new server has of another version in that folder stays, and who could read it there still can."""
    cli.lab.new.exec("sh", "-c", _OF_NEW)
    started(cli)
    cli("move", "hook", "m", "stop-applications", "--side", "old", "--command", "true")
    monkeypatch.setattr("sys.stdin", Terminal(lambda: cli.lab.old.exec("rm", "-rf", _THEIRS)))
    execute(cli, "--verify", "all")
    assert sql(cli.lab.new, _ROWS) == "100000"
    assert cli.lab.new.exec("ls", SPACE).stdout.count("\n") == 2
    assert kept(cli.lab.new)


def test_a_file_beside_to_which_a_link_leads_is_brought(cli: CommandLine) -> None:
    hba = f"{DATA}/pg_hba.conf"
    started(cli, f"mv {hba} '{SPACE}/hba'; ln -s '{SPACE}/hba' {hba}; chown -h postgres: {hba}")
    execute(cli, "--manual-steps-done")
    assert cli.lab.new.exec("readlink", f"{TARGET}/pg_hba.conf").stdout.strip() == f"{SPACE}/hba"
    assert cli.lab.new.exec("test", "-e", _THEIRS, check=False).returncode == 1
    assert sql(cli.lab.new, _ROWS) == "100000"


def test_wal_beside_is_weighed_and_brought_also_behind_a_rehearsal(cli: CommandLine) -> None:
    """Neither what is theirs there, nor what the new server got there meanwhile, is touched."""
    link, wal = f"{DATA}/pg_wal", f"{SPACE}/wal of 15"
    big = f"head -c 300000000 /dev/zero >'{_THEIRS}/big'; chown postgres: '{_THEIRS}/big'"
    started(cli, f"{big}; mv {WAL} '{wal}'; ln -sfn '{wal}' {link}; chown -h postgres: {link}")
    _, out, _ = cli.connecting("facts", "old", "--json")
    found = next(each for each in json.loads(out)["clusters"] if each["data_directory"] == DATA)
    assert found["size_bytes"] < 300_000_000
    code, _, err = cli.connecting("execute", "m", "--rehearsal", "--manual-steps-done")
    assert code == 0, err
    cli.lab.new.exec("sh", "-c", _OF_NEW)
    cli.connecting("facts", "new")
    execute(cli, "--manual-steps-done", "--verify", "all")
    assert sql(cli.lab.new, _ROWS) == "100000"
    assert kept(cli.lab.new)
    assert cli.lab.new.exec("ls", SPACE).stdout.count("\n") == 3


def test_a_relation_s_file_beside_stops_the_move_before_it_begins(cli: CommandLine) -> None:
    """Its link would arrive, and lead nowhere."""
    started(
        cli,
        f"cd '{SPACE}'; mkdir big; file=$(find PG_15_* -type f -size +5M | head -n 1); mv \"$file\" big/rows; "
        f'ln -s \'{SPACE}/big/rows\' "$file"; chown -hR postgres: big "$file"',
    )
    assert sql(cli.lab.old, _ROWS) == "100000"
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    link = cli.lab.old.exec("sh", "-c", f"cd '{SPACE}'; find PG_15_* -type l").stdout.strip()
    said = f"{SPACE} contains the link {link}, which leads to {SPACE}/big/rows."
    assert (code, said in err) == (1, True), err
    assert sql(cli.lab.old, _ROWS) == "100000"
    assert cli.lab.new.exec("sh", "-c", f"find '{SPACE}' -type l").stdout == ""
