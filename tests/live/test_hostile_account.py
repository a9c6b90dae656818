"""A local account on both servers that watches, plants and races, beside the whole job: facts to the end of a move.

Nothing of hers may run as another user, and nothing outside of the product's own places may change.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.history.store import Store
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, NEW_BIN, NEW_OTHER, OTHER, PORT, SERVER, TARGET, sql

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

_HOME = "/home/mallory"
_RAN = "/var/tmp/mallory-ran"
_PROGRAMS = (
    "awk bonnie++ cat cp date dd df dirname find fio grep head id ls lsblk mkdir mv openssl pg_controldata pg_ctl ps "
    "psql readlink rm rsync sed sh sha256sum sort stat sysbench systemctl tar tr uname xargs"
)

_TELLS = rf"""#!/bin/sh
echo "$(/usr/bin/id -un) ran $0 $*" >>{_RAN}
exec "/usr/bin/${{0##*/}}" "$@"
"""
_PLANT = rf"""
set -eu
cd {_HOME}
mkdir -p pg/bin .local
for each in {_PROGRAMS}; do
  cat >pg/bin/$each <<'TELLS'
{_TELLS}TELLS
done
chmod 755 pg/bin/*
cp /bin/bash pg/bin/postgres
initdb=$(ls {NEW_BIN}/initdb {SERVER}/bin/initdb 2>/dev/null | head -n 1)
"$initdb" -D data -U postgres -N >/dev/null
printf 'port = %s\nident_file = /etc/shadow\nhba_file = %s\n' {PORT} '{_HOME}/data/pg_hba.conf' >>data/postgresql.conf
ln -s /etc data/pg_tblspc/16400
ln -s /root data/pg_tblspc/16401
(cd data && exec ../pg/bin/postgres -c 'while :; do sleep 1; done' -D {_HOME}/data >/dev/null 2>&1) &
printf '%s\n' $! {_HOME}/data 1700000000 {PORT} /tmp '' 0 'ready   ' >data/postmaster.pid
"""
"""A cluster of her own making, whose server is a shell with programs beside it that tell who ran them."""

_RACE = f"""
cd {_HOME}
while [ -e race ]; do
  echo >>turns
  for each in /tmp/pghaul* /var/tmp/pghaul* /run/pghaul* /srv/pg/pghaul* {site.ROOT}/* /dev/shm/pghaul*; do
    [ -e "$each" ] || continue
    rm -rf "$each" 2>/dev/null || :
    ln -s /etc "$each" 2>/dev/null || ln -s /etc/passwd "$each/mallory" 2>/dev/null || :
  done
  sleep 0.02
done
"""

_SHORT = """
title = "a short look"
repetitions = 1
most_repetitions = 1

[[workload]]
name = "fio-random-read-direct"
title = "random read, 8 kB, direct"
tool = "fio"
headline = "read_iops"
[workload.parameters]
pattern = "randread"
direct = true
jobs = 1
size_bytes = 16777216
runtime_seconds = 1
"""

_LOOK = (
    "find /boot /etc /root /usr/local/bin /usr/local/sbin /usr/sbin /var/spool -xdev "
    "-printf '%p %y %m %u %s %T@ %l\\n' | sort"
)
"""What is none of the product's, and root's alone."""


def told(host: Host) -> set[str]:
    """Who has run a program of hers, as it tells itself."""
    return {line.split()[0] for line in host.exec("cat", _RAN).stdout.splitlines()}


def turns(host: Host) -> int:
    """How often she has gone round with her links."""
    return len(host.exec("cat", f"{_HOME}/turns").stdout.splitlines())


def places(host: Host) -> set[str]:
    return set(host.exec("sh", "-c", _LOOK).stdout.splitlines())


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """A cluster that runs, and she is at work on both hosts."""
    site.create(lab.old, spread=True)
    site.clear(lab)
    site.start(lab.old)
    for host in (lab.old, lab.new):
        host.exec("useradd", "-m", "mallory")
        host.exec("chmod", "755", _HOME)  # her trap is open to everybody
        host.exec("install", "-m", "666", "/dev/null", _RAN)
        host.exec("sh", "-c", _PLANT, user="mallory")
        host.exec("touch", f"{_HOME}/race", user="mallory")
        host.exec("sh", "-c", f"({_RACE}) >/dev/null 2>&1 &", user="mallory")
    made = CommandLine(lab, asker, capsys)
    made.describe(lab.old)
    made.describe(lab.new)
    yield made
    for host in (lab.old, lab.new):
        host.exec("rm", "-f", f"{_HOME}/race")
        host.exec("pkill", "-KILL", "-u", "mallory", check=False)
        host.exec("find", "/tmp", "/var/tmp", "/dev/shm", "-user", "mallory", "-delete", check=False)
        host.exec("userdel", "-r", "mallory", check=False)
        host.exec("rm", "-f", _RAN)
    site.remove(lab)


@pytest.mark.long
def test_nothing_of_hers_runs_as_another_user_and_nothing_else_changes(cli: CommandLine, tmp_path: Path) -> None:
    before = {host.name: places(host) for host in (cli.lab.old, cli.lab.new)}
    for host in (cli.lab.old, cli.lab.new):  # whoever ran one of her programs would be told of
        for user in ("mallory", "nobody", "root"):
            host.exec(f"{_HOME}/pg/bin/id", user=user)
        assert told(host) == {"mallory", "nobody", "root"}
        host.exec("truncate", "-s", "0", _RAN)
        host.exec(f"{_HOME}/pg/bin/id", user="mallory")
    raced = {host.name: turns(host) for host in (cli.lab.old, cli.lab.new)}
    ends = ("--old", "old", "--new", "new", "--old-volume", "/srv/pg", "--new-volume", "/srv/pg")
    roots = ("--cluster", DATA, "--target", TARGET, "--tablespace", f"{OTHER}={NEW_OTHER}")
    assert cli("move", "add", "m", *ends, *roots)[0] == 0
    assert cli("move", "hook", "m", "stop-applications", "--side", "old", "--command", "true")[0] == 0
    (tmp_path / "short.toml").write_text(_SHORT)
    for words in (
        ("facts", "old"),
        ("facts", "new"),
        ("bench", "m", "--suite", str(tmp_path / "short.toml")),
        ("check", "m"),
        ("probe", "m"),
        ("plan", "m"),
        ("execute", "m", "--confirm", DATA, "--manual-steps-done"),
    ):
        code, out, err = cli.connecting(*words)
        assert code == 0 or words[0] == "check", (words, out, err)
    with Store.open(Path(os.environ["PGHAUL_DATA"])) as store:
        seen = [store.facts(host.name) for host in (cli.lab.old, cli.lab.new)]
    assert [facts is not None and facts.cluster(f"{_HOME}/data") is not None for facts in seen] == [True, True]
    assert sql(cli.lab.new, "select count(*) from pgbench_accounts") == "100000"
    for host in (cli.lab.old, cli.lab.new):
        assert told(host) == {"mallory"}
        assert turns(host) > raced[host.name] + 50  # she was at it all the while
        assert sorted(places(host) ^ before[host.name]) == []
