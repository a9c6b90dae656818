"""Set-ups that people have, and what becomes of their move: found before the downtime, or moved as they are."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, PORT, ROOT, SERVER, TARGET, sql

pytestmark = [pytest.mark.lab, pytest.mark.long]

_DICTIONARY = f"{SERVER}/share/postgresql/tsearch_data/set_ups.syn"
_KEY = "openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=old -keyout server.key -out server.crt 2>/dev/null"


@dataclass(frozen=True)
class Case:
    """A set-up of the old server, whose cluster runs by then.

    Attributes:
        settings: lines of postgresql.conf, in force.
        rules: lines of pg_hba.conf.
        arrange: sh, as root.
        statements: SQL.
    """

    settings: str = ""
    rules: str = ""
    arrange: str = ""
    statements: str = ""


@dataclass(frozen=True)
class Found(Case):
    """One that a check names.

    Attributes:
        check, status: which, and how it ends.
        says: what stands in its message, or in what it saw of the old or of the new server.
    """

    check: str = ""
    status: str = "blocker"
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Moved(Case):
    """One that arrives.

    Attributes:
        new: sh of what holds on the new server afterwards, as its owner.
        database: where its SQL is asked.
    """

    new: str = "true"
    database: str = "shop"


FOUND = {
    "log directory": Found(
        settings=f"logging_collector = on\nlog_directory = '{DATA}/own-log'",
        check="moved-paths",
        says=("log_directory",),
    ),
    "TLS files": Found(
        arrange=f"cd '{DATA}' && {_KEY} && chown postgres: server.* && chmod 600 server.key",
        settings=f"ssl = on\nssl_cert_file = '{DATA}/server.crt'\nssl_key_file = '{DATA}/server.key'",
        check="moved-paths",
        says=("ssl_cert_file", "ssl_key_file"),
    ),
    "closed database with a locale of its own": Found(
        statements="create database closed; update pg_database set datallowconn = false, "
        "datcollate = 'de_AT.UTF-8', datctype = 'de_AT.UTF-8' where datname = 'closed'",
        check="locales",
        says=("de_AT.UTF-8",),
    ),
    "closed database": Found(
        statements="create database closed; update pg_database set datallowconn = false where datname = 'closed'",
        check="closed-databases",
        status="warning",
        says=("closed",),
    ),
    "dictionary": Found(
        arrange=f"echo 'a b' >'{_DICTIONARY}'",
        statements="create text search dictionary own (template = synonym, synonyms = 'set_ups')",
        check="named-things",
        status="warning",
        says=("set_ups.syn",),
    ),
    "foreign table on a file": Found(
        statements="create foreign data wrapper file_fdw; create server files foreign data wrapper file_fdw; "
        "create foreign table prices (line text) server files options (filename '/srv/prices.csv')",
        check="named-things",
        status="warning",
        says=("/srv/prices.csv",),
    ),
    "rule for a host name": Found(
        rules="host all all app1.invalid trust",
        check="named-things",
        status="warning",
        says=("app1.invalid", "pg_hba.conf"),
    ),
    "time zone of a role": Found(
        arrange=f"cp {SERVER}/share/postgresql/timezone/UTC {SERVER}/share/postgresql/timezone/Own",
        statements="create role far; alter role far set timezone = 'Own'",
        check="named-things",
        status="warning",
        says=("Own", "far"),
    ),
}

MOVED = {
    "folder of another group": Moved(arrange=f"chown postgres:root '{DATA}'", new=f"test -O '{TARGET}'"),
    "no database postgres": Moved(
        statements="update pg_database set datistemplate = false where datname = 'postgres'; drop database postgres",
        new=f"psql -XAtqc 'select count(*) from pg_database' -h /tmp -p {PORT} shop | grep -x 3",
    ),
    "database whose removal was interrupted": Moved(
        statements="create database half; update pg_database set datconnlimit = -2 where datname = 'half'",
        new=f"psql -XAtqc \"select datconnlimit from pg_database where datname = 'half'\" -h /tmp -p {PORT} shop"
        " | grep -x -e -2",
    ),
}


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    site.create(lab.old)
    try:
        site.clear(lab)
        append(lab.old, f"{DATA}/postgresql.conf", "listen_addresses = '*'")
        site.start(lab.old)
        made = CommandLine(lab, asker, capsys)
        site.describe(made)
        yield made
    finally:
        site.remove(lab)


def append(host: Host, file: str, lines: str) -> None:
    host.exec("sh", "-c", f"cat >>'{file}'", user="postgres", input=f"{lines}\n")


def arranged(old: Host, case: Case) -> None:
    if case.arrange:
        old.exec("sh", "-c", case.arrange)
    append(old, f"{DATA}/postgresql.conf", case.settings)
    append(old, f"{DATA}/pg_hba.conf", case.rules)
    site.pg_ctl(old, "-l", "/dev/null", "restart")
    if case.statements:
        for statement in case.statements.split("; "):
            sql(old, statement)


def checked(cli: CommandLine, *words: str) -> dict[str, dict[str, str]]:
    """The results by their ids."""
    _, out, err = cli.connecting("check", "m", "--json", *words)
    assert out, err
    return {each["id"]: each for each in json.loads(out)["checks"]}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found_before_the_downtime(cli: CommandLine, name: str) -> None:
    case, old = FOUND[name], cli.lab.old
    arranged(old, case)
    result = checked(cli)[case.check]
    said = f"{result['message']} {result['old']} {result['new']}"
    assert (result["status"], [each for each in case.says if each not in said]) == (case.status, []), said
    if case.status == "blocker":
        code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
        assert (code, "The move cannot begin" in err) == (1, True), err
    assert sql(old, "select 1") == "1"


def test_a_plain_cluster_has_none_of_it(cli: CommandLine) -> None:
    results = checked(cli)
    assert {results[case.check]["status"] for case in FOUND.values()} == {"pass"}


@pytest.mark.parametrize("name", MOVED)
def test_it_is_moved_as_it_is(cli: CommandLine, name: str) -> None:
    case, new = MOVED[name], cli.lab.new
    arranged(cli.lab.old, case)
    before = sql(cli.lab.old, "select count(*) from pgbench_accounts")
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, err
    assert sql(new, "select count(*) from pgbench_accounts") == before
    done = new.exec("sh", "-c", f"cd / && {case.new}", user="postgres", check=False)
    assert done.returncode == 0, done


@contextmanager
def little_room(old: Host) -> Iterator[None]:
    """In /tmp, where its socket lies too."""
    site.end(old)
    old.exec("mount", "-t", "tmpfs", "-o", "size=1m,mode=1777", "little", "/tmp")
    try:
        site.start(old)
        yield
        site.end(old)
    finally:
        old.exec("umount", "-l", "/tmp")


def test_too_little_room_for_lists_of_files_is_a_blocker(cli: CommandLine) -> None:
    with little_room(cli.lab.old):
        result = checked(cli)["lists"]
        assert (result["status"], "/tmp" in result["message"]) == ("blocker", True), result
    assert result["status"] != checked(cli)["lists"]["status"]


_BESIDE = f"{ROOT}/beside"


def beside_a_container(cli: CommandLine, make: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Facts of the cluster, whose server is in a container, and of the host's own one.

    Both have the same name of their socket, each in a namespace of its own.

    Args:
        make: sh for the other cluster, as its owner.
    """
    old = cli.lab.old
    site.end(old)
    old.exec("sh", "-c", f"set -eu; cd /; {make}; cp {DATA}/postgresql.conf {_BESIDE}", user="postgres")
    append(old, f"{_BESIDE}/postgresql.conf", "cluster_name = 'not-the-container'")
    inside = (
        "mount -t tmpfs -o mode=1777 own /tmp; mount -t proc proc /proc; "
        f"runuser -u postgres -- {SERVER}/bin/pg_ctl -D {DATA} -w -s -l /dev/null start; "
        f"echo ready; read -r line; runuser -u postgres -- {SERVER}/bin/pg_ctl -D {DATA} -m fast -w -s stop"
    )
    words = old.command("unshare", "--mount", "--pid", "--net", "--fork", "sh", "-c", inside)
    old.exec(f"{SERVER}/bin/pg_ctl", "-D", _BESIDE, "-w", "-s", "-l", "/dev/null", "start", user="postgres")
    try:
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as container:
            assert container.stdout is not None
            assert container.stdout.readline() == "ready\n"
            try:
                _, out, _ = cli.connecting("facts", "old", "--json")
            finally:
                container.communicate("end\n", timeout=60)
    finally:
        old.exec(f"{SERVER}/bin/pg_ctl", "-D", _BESIDE, "-m", "immediate", "-s", "stop", user="postgres")
    found = {each["data_directory"]: each for each in json.loads(out)["clusters"]}
    return found[DATA], found[_BESIDE]


def test_the_cluster_of_a_container_is_not_taken_for_another_one_at_its_port(cli: CommandLine) -> None:
    contained, beside = beside_a_container(cli, f"{SERVER}/bin/initdb -N -U postgres --wal-segsize=1 -D {_BESIDE}")
    assert (bool(beside["databases"]), contained["databases"]) == (True, [])
    assert ("not-the-container" in json.dumps(beside), "not-the-container" in json.dumps(contained)) == (True, False)


def test_the_cluster_of_a_container_is_not_taken_for_its_clone_at_its_port(cli: CommandLine) -> None:
    contained, beside = beside_a_container(cli, f"cp -a {DATA} {_BESIDE}")
    assert (bool(beside["databases"]), contained["databases"]) == (True, [])
    assert "not-the-container" not in json.dumps(contained)


@pytest.fixture
def of_shop(cli: CommandLine) -> Iterator[CommandLine]:
    """The cluster is that of another account, which both servers have."""
    hosts = (cli.lab.old, cli.lab.new)
    sql(cli.lab.old, "create role shop superuser login")
    site.end(cli.lab.old)
    for host in hosts:
        cli.describe(host, "--database-user", "shop")
        host.exec("useradd", "--system", "--shell", "/bin/sh", "shop")
        host.exec("chown", "-R", "shop:", ROOT)
    words = ("env", f"PGDATA={DATA}", f"{SERVER}/bin/pg_ctl", "-w", "-s", "-l", "/dev/null", "start")
    cli.lab.old.exec(*words, user="shop")
    yield cli
    for host in hosts:
        site.end(host)
        host.exec("userdel", "shop")


def test_a_cluster_of_another_account_is_moved(of_shop: CommandLine) -> None:
    before = sql(of_shop.lab.old, "select count(*) from pgbench_accounts")
    code, _, err = of_shop.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, err
    assert sql(of_shop.lab.new, "select count(*) from pgbench_accounts") == before
    assert of_shop.lab.new.exec("stat", "-c", "%U", TARGET).stdout == "shop\n"


def test_a_data_directory_that_is_not_there_is_said_once(cli: CommandLine) -> None:
    site.end(cli.lab.old)
    cli.lab.old.exec("rm", "-r", DATA)
    results = checked(cli)
    assert results["cluster-exists"]["status"] == "blocker"
    _, out, _ = cli.connecting("check", "m", "--all")
    told = Counter(each["message"] for each in results.values())
    assert max(told.values()) > 1
    assert {out.count(message) for message, times in told.items() if times > 1} == {1}, out
