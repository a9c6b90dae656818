"""What facts may cost a server that serves: its memory and its slots; and a session that it ends."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.lab.clusters import PREFIX
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine

pytestmark = pytest.mark.lab

ROOT, PORT = "/srv/pg/crowd", "5499"
_CREATE = f"""
set -eu
cd {PREFIX}/bin
./initdb -D {ROOT}/data -U postgres --locale=C.UTF-8 --auth=trust -N >/dev/null
cat >>{ROOT}/data/postgresql.conf <<S
port = {PORT}
unix_socket_directories = '/tmp'
listen_addresses = ''
max_connections = 10
max_wal_senders = 0
max_locks_per_transaction = 1000
fsync = off
autovacuum = off
log_connections = on
S
./pg_ctl -D {ROOT}/data -s -w -l {ROOT}/log start
./psql -h /tmp -p {PORT} -XAtqc 'create database crowd' postgres
for part in $(seq "$0"); do
  create="execute ''create table t'' || n || ''_$part (n int primary key)''"
  echo "do 'begin for n in 1..800 loop $create; end loop; end';"
done | ./psql -h /tmp -p {PORT} -Xq -d crowd
"""
"""With 1,600 relations for each part that is asked for."""
_PARTS = 10
"""16,000 relations: with an entry of each, a session grows by 45 MB."""
_MOST_KILOBYTES = 20_000
_TERMINATE = """do 'begin loop
  perform pg_sleep(0.002), pg_stat_clear_snapshot();
  exit when (select bool_or(pg_terminate_backend(pid)) from pg_stat_activity
    where application_name = ''pghaul'' and datname = ''crowd'' and query like ''%detail%'');
end loop; end'"""


@pytest.fixture(scope="module", params=[_PARTS])
def crowd(lab: Lab, request: pytest.FixtureRequest) -> Iterator[Host]:
    lab.old.exec("install", "-d", "-o", "postgres", "-g", "postgres", ROOT)
    lab.old.exec("sh", "-c", _CREATE, str(request.param), user="postgres")
    yield lab.old
    lab.old.exec(f"{PREFIX}/bin/pg_ctl", "-D", f"{ROOT}/data", "-s", "-w", "-m", "fast", "stop", user="postgres")
    lab.old.exec("rm", "-r", ROOT)


@pytest.fixture
def command(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    made = CommandLine(lab, asker, capsys)
    made.describe(lab.old)
    return made


@contextmanager
def session(host: Host, statement: str) -> Iterator["subprocess.Popen[str]"]:
    words = [f"{PREFIX}/bin/psql", "-h", "/tmp", "-p", PORT, "-XAtq", "-d", "postgres"]
    with subprocess.Popen(
        host.command(*words, user="postgres"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as made:
        assert made.stdin is not None
        made.stdin.write(f"{statement};\n")
        made.stdin.flush()
        yield made
        made.stdin.close()


@pytest.mark.long
def test_facts_take_little_memory_of_a_server_of_many_relations(crowd: Host, command: CommandLine) -> None:
    look = (
        f"until [ -e {ROOT}/over ]; do for each in $(pgrep -f '^postgres: postgres crowd'); do "
        "sed -n 's/^RssAnon:[^0-9]*//p' /proc/$each/status 2>/dev/null; done; done | sort -n | tail -n 1"
    )
    with subprocess.Popen(crowd.command("sh", "-c", look), stdout=subprocess.PIPE, text=True) as watch:
        code, out, err = command.connecting("facts", "old", "--json")
        crowd.exec("touch", f"{ROOT}/over")
        most, _ = watch.communicate()
    assert code == 0, err
    (cluster,) = [each for each in json.loads(out)["clusters"] if each["data_directory"] == f"{ROOT}/data"]
    (database,) = [each for each in cluster["databases"] if each["name"] == "crowd"]
    assert database["relations"] > 16_000
    assert database["catalogs"]["tables"] == 8_000
    assert 0 < int(most.split()[0]) < _MOST_KILOBYTES


@pytest.mark.parametrize("crowd", [1], indirect=True)
def test_a_session_that_the_server_ends_is_said_loudly(crowd: Host, command: CommandLine) -> None:
    with session(crowd, _TERMINATE):
        code, _, err = command.connecting("facts", "old")
    assert code == 3, err
    assert f"SQL of {ROOT}/data: the server ended pghaul's session" in err
    assert "check the log of PostgreSQL" in err
    code, out, err = command("facts", "old", "--last")
    assert code == 0, err
    assert "catalogs of crowd" in out


@pytest.mark.long
def test_the_slots_of_clients_are_left_to_them(crowd: Host, command: CommandLine) -> None:
    """Seven slots of ten are for clients: five are in use."""
    with ExitStack() as clients:
        for _ in range(5):
            opened = clients.enter_context(session(crowd, "select 'here'"))
            assert opened.stdout is not None
            assert opened.stdout.readline() == "here\n"
        before = _connections(crowd)
        code, out, err = command.connecting("facts", "old")
        assert code == 0, err
        assert "of 7 sessions that the server allows its clients, 2 are free, and pghaul leaves 2" in out
        assert _connections(crowd) == before
    code, out, err = command.connecting("facts", "old")
    assert code == 0, err
    assert "pghaul leaves 2" not in out


def _connections(host: Host) -> int:
    return host.exec("cat", f"{ROOT}/log").stdout.count("application_name=pghaul")
