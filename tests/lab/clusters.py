"""Real PostgreSQL clusters: old runs 15.5 as built from source, new has Debian's 15 prepared and empty."""

import os
import subprocess
from pathlib import Path

from tests.lab.binaries import binaries as built
from tests.lab.hosts import Host
from tests.lab.machine import CACHE

VERSION = "15.5"
PREFIX = "/usr/local/pgsql"
DATA = "/srv/pg/data"
SPACE = "/srv/pg/space1"
NEW_DATA = "/srv/pg/15/main"
DATABASE = "shop"
ROLE, ROLE_PASSWORD = "app", "app s3cret"

_CONFIGURATION = """
listen_addresses = '*'
unix_socket_directories = '/tmp'
max_wal_size = '2GB'
"""
_ACCESS = """\
local all postgres peer
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
host all all ::1/128 scram-sha-256
host all all samenet scram-sha-256
"""
_CREATE = f"""
set -eu
cd {PREFIX}/bin
./initdb -D {DATA} -U postgres --data-checksums --locale=C.UTF-8 --encoding=UTF8 --auth=peer --auth-host=scram-sha-256
printf '%s' "$CONFIGURATION" >>{DATA}/postgresql.conf
printf '%s' "$ACCESS" >{DATA}/pg_hba.conf
./pg_ctl -D {DATA} -l /dev/null -w start -o '-c fsync=off -c max_wal_size=8GB'
./psql -X -q -v ON_ERROR_STOP=1 -h /tmp <<S
CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE_PASSWORD}';
CREATE DATABASE {DATABASE} OWNER {ROLE};
CREATE TABLESPACE space1 OWNER {ROLE} LOCATION '{SPACE}';
S
./pgbench -i -q -s "$SCALE" -h /tmp {DATABASE}
./psql -X -q -v ON_ERROR_STOP=1 -h /tmp {DATABASE} <<S
CREATE TABLE archive (id int PRIMARY KEY, note text NOT NULL) TABLESPACE space1;
INSERT INTO archive SELECT n, md5(n::text) || repeat(' é', n % 20) FROM generate_series(1, 50000) n;
CREATE INDEX archive_note ON archive (note) TABLESPACE space1;
ALTER TABLE archive OWNER TO {ROLE};
GRANT ALL ON ALL TABLES IN SCHEMA public TO {ROLE};
S
./psql -X -q -h /tmp -c 'VACUUM ANALYZE' {DATABASE}
./pg_ctl -D {DATA} -w -m fast stop
# as of a cluster at rest: what was changed in the last hour is assumed to change again
find {DATA} {SPACE} -type f -exec touch -d '2 days ago' {{}} +
"""
_ON_NEW = f"""
set -eu
pg_createcluster 15 main --datadir={NEW_DATA} --start-conf=manual -- --data-checksums --locale=C.UTF-8
find {NEW_DATA} -mindepth 1 -delete
"""


def binaries() -> Path:
    """The installed tree of PostgreSQL 15.5 as it goes under PREFIX."""
    return built(VERSION)


def start_old(old: Host, scale: int) -> None:
    """Put the cluster on old's data disk and start it; made once per scale, then unpacked from the cache."""
    old.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", DATA, SPACE)
    old.exec("install", "-m", "640", "-o", "postgres", "-g", "postgres", "/dev/null", "/var/log/postgresql.log")
    archive = CACHE / f"cluster-{VERSION}-{scale}.tar"
    if archive.exists():
        unpack(old, archive, "/srv/pg")
    else:
        _create(old, scale)
        pack(old, archive, "/srv/pg", "data", "space1")
    control(old, "start")


def control(old: Host, action: str) -> None:
    """Start or stop (`fast`) old's cluster, as its owner would."""
    words = ["-l", "/var/log/postgresql.log", "start"] if action == "start" else ["-m", "fast", action]
    old.exec(f"{PREFIX}/bin/pg_ctl", "-D", DATA, "-w", "-s", *words, user="postgres")


def prepare_new(new: Host) -> None:
    """Debian's layout with an empty data directory on the data disk, as a DBA leaves it for files to come."""
    new.exec("sh", "-c", _ON_NEW)


def _create(old: Host, scale: int) -> None:
    values = [f"SCALE={scale}", f"CONFIGURATION={_CONFIGURATION}", f"ACCESS={_ACCESS}"]
    old.exec("env", *values, "sh", "-c", _CREATE, user="postgres")


def pack(host: Host, archive: Path, folder: str, *names: str) -> None:
    """Keep what lies in a host's folder by these names, for other labs, times to the nanosecond."""
    CACHE.mkdir(parents=True, exist_ok=True)
    partial = archive.with_suffix(f".{os.getpid()}")
    try:
        with partial.open("wb") as target:
            subprocess.run(host.command("tar", "-C", folder, "--format=posix", "-c", *names), stdout=target, check=True)
        partial.rename(archive)
    finally:
        partial.unlink(missing_ok=True)


def unpack(host: Host, archive: Path, folder: str) -> None:
    """Put it back into a host's folder, owners and modes as they were."""
    with archive.open("rb") as source:
        subprocess.run(host.command("tar", "-C", folder, "-x", "-p"), stdin=source, check=True)
