"""The operator's own queries as a role of theirs: what no figure is made of, and that nothing of them stays.

The scripts are handed to the remote half as they are, past the look at their text, which bounds nothing.
"""

import getpass
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from core.servers.shell import call
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.lab.root import PASSWORD
from tests.live import moving as site
from tests.live.command_line import CommandLine, Terminal
from tests.live.moving import DATA, PORT, SERVER, pg_ctl, sql
from tests.live.test_dress import free_of_backups, left_of_queries, measured, servers

pytestmark = pytest.mark.lab

_BEGIN = """
create table adv (a text);
create role writer;
create role reader login;
grant select on adv, pgbench_accounts to reader;
create function stays(seconds int) returns text language sql as $f$ select set_config('statement_timeout', '0', false)
  || set_config('client_connection_check_interval', '0', false) || pg_sleep(seconds) $f$;
create function renamed() returns text language sql as $f$ select set_config('application_name', 'other', false) $f$;
create function loud() returns int language plpgsql as $f$ begin
  perform set_config('client_min_messages', 'notice', false);
  raise notice '%', repeat('z', 500);
  return 1; end $f$;
create function said_once() returns int language plpgsql as $f$ begin
  if random() < 0.001 then
    perform set_config('client_min_messages', 'notice', false);
    raise notice '%', chr(10) || 'tps = 99999.0 (without initial connection time)' || chr(10) || 'took 0 5:3';
    perform set_config('client_min_messages', 'error', false);
  end if;
  return 1; end $f$;
create function warns() returns int language plpgsql
  as $f$ begin raise warning '%', repeat('z', 100000); return 1; end $f$;
create function fails() returns int language plpgsql as $f$ begin
  if random() < 0.5 then raise exception 'so it is' using errcode = '40001'; end if; return 1; end $f$;
"""


@pytest.fixture(scope="module")
def old(lab: Lab) -> Iterator[Host]:
    site.create(lab.old)
    site.clear(lab)
    site.start(lab.old)
    sql(lab.old, _BEGIN)
    yield lab.old
    lab.old.exec("sh", "-c", "rm -rf /tmp/adv-* /srv/small")
    site.end(lab.old)
    site.remove(lab)


def _text(
    text: str, *, clients: int = 1, seconds: int = 1, role: str = "reader", within: str = "", beats: bool = False
) -> str:
    lines, ahead = text.split("\n"), ("run_while_followed",) if beats else ()
    where = ("measure_twice", "old", f"{SERVER}/bin:/usr/bin:/bin", "/tmp", PORT, "15", DATA)
    made = call("run_with_queries", "shop", role, clients, seconds, 1, 1, len(lines), *lines, *ahead, *where)
    return f"{made.functions}\n{within}\n{made}"


def _measure(
    old: Host, text: str, *, clients: int = 1, seconds: int = 1, role: str = "reader", within: str = ""
) -> str:
    made = _text(text, clients=clients, seconds=seconds, role=role, within=within)
    done = old.exec("sh", "-c", made, user="postgres", check=False)
    assert done.returncode == 0, done.stderr
    assert left_of_queries(old) == ""
    return done.stdout


_NO_FIGURE = {
    "a write": ("insert into adv values ('it');", "in a read-only transaction"),
    "what the role may not": ("delete from adv;", "in a read-only transaction"),
    "a transaction that fails": ("select fails();", "transactions failed: "),
    "a server that says too much": ("select loud();", "the server printed more than 128 kB of messages"),
    "a variable that is not set": ("select count(*) from adv where a = :nobody;", "syntax error"),
    "what does not end": ("select pg_sleep(100);", "canceling statement due to statement timeout"),
}


@pytest.mark.long
def test_of_what_fails_no_figure_is_made(old: Host) -> None:
    wrong = {}
    for name, (text, why) in _NO_FIGURE.items():
        said = _measure(old, text)
        if "not measured: " not in said or why not in said:
            wrong[name] = said
    assert not wrong, "\n".join(f"{name}: {said[:300]}" for name, said in wrong.items())
    assert sql(old, "select count(*) from adv") == "0"


@pytest.mark.long
def test_what_a_server_says_is_no_part_of_the_report(old: Host) -> None:
    said = _measure(old, "select said_once();", seconds=2)
    assert "99999" not in said
    assert "took 0 5:3" not in said
    assert "queries old 2\n" in said


@pytest.mark.long
@pytest.mark.parametrize("whose", ["role reader", "database shop"])
def test_a_limit_of_connections_leaves_the_application_some(old: Host, whose: str) -> None:
    sql(old, f"alter {whose} connection limit 7")
    try:
        assert "are limited to, 7 are free. That is too few for 4 more" in _measure(old, "select 1", clients=4)
        assert "not measured" not in _measure(old, "select 1", clients=3)
    finally:
        sql(old, f"alter {whose} connection limit -1")


@pytest.mark.long
def test_where_its_folder_was_removed_it_goes_on(old: Host) -> None:
    said = _measure(old, "select 1", within='process_start() { rm -rf -- "$queries_folder"; echo 1; }')
    assert "queries old 1 not measured: " in said
    assert "queries old 2 not measured: " in said


_ROLES: Mapping[str, tuple[str, str]] = {
    "superuser": ("alter role it superuser", "it is a superuser"),
    "makes roles": ("alter role it createrole", "it makes roles"),
    "makes databases": ("alter role it createdb", "it makes databases"),
    "bypasses row security": ("alter role it bypassrls", "it bypasses row security"),
    "no login": ("alter role it nologin", "there is no such role that can log in"),
    "member of one that replicates": (
        "alter role writer replication; create role between; grant writer to between; grant between to it",
        "it is a member of writer, which replicates",
    ),
    "member that gets no rights at once": (
        "alter role it noinherit; grant pg_write_server_files to it",
        "it is a member of pg_write_server_files",
    ),
    "member that runs programs": (
        "grant pg_execute_server_program to it",
        "it is a member of pg_execute_server_program",
    ),
    "owner of the database": ("alter database shop owner to it", "it owns the database"),
    "several": ("alter role it createdb createrole", "it makes databases; it makes roles"),
}
_FINE = ("select", "grant insert on adv to it", "grant pg_read_all_data to it", "alter table adv owner to it")


@pytest.mark.long
def test_a_role_with_rights_of_an_administrator_is_refused(old: Host) -> None:
    wrong = {}
    for grants, why in [*_ROLES.values(), *((each, "") for each in _FINE)]:
        sql(old, f"create role it login; {grants}")
        where = (f"{SERVER}/bin:/usr/bin:/bin", "/tmp", PORT, "15", 60)
        made = call("check_role", "shop", "it", *where)
        asked = old.exec("sh", "-c", f"{made.functions}\n{made}", user="postgres", check=False)
        if (asked.returncode == 0) is not (not why) or why not in asked.stderr:
            wrong[grants] = asked.stderr
        sql(
            old,
            "alter database shop owner to postgres; alter table adv owner to postgres; alter role writer noreplication",
        )
        sql(old, "drop owned by it; drop role it; drop role if exists between")
    assert wrong == {}


def test_the_old_server_lets_the_role_in_or_is_not_measured(old: Host) -> None:
    """By its socket, with a password or without, or not at all."""
    hba = f"{DATA}/pg_hba.conf"
    try:
        for line, why in (
            ("local shop reader reject", "pg_hba.conf rejects connection"),
            ("local shop reader peer", "Peer authentication failed"),
            ("local shop reader scram-sha-256", "no password supplied"),
        ):
            old.exec("sh", "-c", f"echo '{line}' >{hba} && echo 'local all all trust' >>{hba}", user="postgres")
            pg_ctl(old, "reload")
            assert why in _measure(old, "select 1")
        sql(old, f"set password_encryption = 'scram-sha-256'; alter role reader password '{PASSWORD}'")
        said = _measure(old, "select 1", within=f"PGPASSWORD='{PASSWORD}'")
        assert "queries old 2\n" in said
        assert "not measured" not in said
        assert PASSWORD not in said
        assert "password authentication failed" in _measure(old, "select 1", within="PGPASSWORD=another")
    finally:
        old.exec("sh", "-c", f"echo 'local all all trust' >{hba}", user="postgres")
        pg_ctl(old, "reload")


@pytest.mark.long
def test_without_room_for_its_log_nothing_is_measured(old: Host) -> None:
    old.exec("sh", "-c", "mkdir -p /srv/small && mount -t tmpfs -o size=64k,mode=777 small /srv/small")
    try:
        within = "pghaul_job=/srv/small"
        assert "too little for the log of pgbench" in _measure(old, "select 1", within=within)
        old.exec("sh", "-c", "head -c 100000 /dev/zero >/srv/small/full; true")
        said = _measure(old, "select 1", within=within)
        assert "queries old 1 not measured: " in said
        assert "cannot be written" in said
    finally:
        old.exec("umount", "/srv/small")


@pytest.mark.long
def test_temporary_files_are_bounded(old: Host) -> None:
    rows = "select random() a, repeat('y', 500) b from generate_series(1, 3000000) order by 1 offset 1"
    sorts = f"select max(b) from ({rows}) s;"
    said = _measure(old, sorts, clients=2, seconds=60)
    assert "the temporary files of the server grew by more than 1 GiB" in said
    wait_until(lambda: sql(old, _SESSIONS) == "0", "its sessions have ended", seconds=30)


_SESSIONS = "select count(*) from pg_stat_activity where usename = 'reader'"
_LONG = "select stays(600), count(*) from pgbench_accounts a, pgbench_accounts b;"
_RENAMED = "select renamed(), count(*) from pgbench_accounts a, pgbench_accounts b;"


def _background(old: Host, text: str, *, beats: bool = False) -> subprocess.Popen[bytes]:
    words = old.command("setsid", "sh", "-c", _text(text, seconds=600, clients=2, beats=beats), user="postgres")
    began = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    works = f"{_SESSIONS} and query ~ 'stays|renamed'"
    wait_until(lambda: sql(old, works) == "2", "pgbench runs", seconds=30)
    return began


def _shells(old: Host) -> list[str]:
    found = old.exec("pgrep", "-f", "measure_twice").stdout.split()
    return [each for each in found if old.exec("cat", f"/proc/{each}/comm", check=False).stdout.strip() == "sh"]


_ENDS: Mapping[str, Callable[[Host, subprocess.Popen[bytes]], object]] = {
    "the first of its shells is killed": lambda old, _: old.exec("kill", "-9", _shells(old)[0]),
    "its group is ended": lambda old, _: old.exec("kill", "-TERM", "--", f"-{_shells(old)[0]}"),
    "its connection hangs up": lambda old, _: old.exec("kill", "-HUP", "--", f"-{_shells(old)[0]}"),
    "a person interrupts it": lambda old, _: old.exec("kill", "-INT", "--", f"-{_shells(old)[0]}"),
    "pgbench is killed": lambda old, _: old.exec("pkill", "-9", "-x", "pgbench"),
    "nobody follows": lambda _, began: began.communicate(),
}


@pytest.mark.parametrize("how", _ENDS)
@pytest.mark.parametrize("text", [_LONG, _RENAMED], ids=["deadlines", "name"])
@pytest.mark.long
def test_nothing_stays_however_a_measurement_ends(old: Host, how: str, text: str) -> None:
    """Also where the queries have changed the deadlines of their sessions, or their name."""
    began = _background(old, text, beats=how == "nobody follows")
    try:
        options = ("-X", "-h", "/tmp", "-p", str(PORT), "-U", "reader", "-c", "select pg_sleep(600)", "shop")
        others = subprocess.Popen(old.command(f"{SERVER}/bin/psql", *options))
        _ENDS[how](old, began)
        if how == "pgbench is killed":  # the second run begins
            wait_until(lambda: sql(old, _SESSIONS) == "3", "it measures once more", seconds=30)
            old.exec("kill", "-TERM", "--", f"-{_shells(old)[0]}")
        wait_until(lambda: sql(old, _SESSIONS) == "1", "its sessions have ended, and no other", seconds=20)
        wait_until(lambda: left_of_queries(old) == "", "nothing of it is left", seconds=10)
    finally:
        sql(old, "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'reader'")
        others.wait()
        began.communicate()


@pytest.mark.long
def test_it_ends_where_beats_stay_away(old: Host) -> None:
    """As of a pulled cable: the connection stands, and nothing comes on it."""
    began = _background(old, _LONG, beats=True)
    try:
        wait_until(lambda: left_of_queries(old) == "", "nothing of it is left", seconds=70)
        assert sql(old, _SESSIONS) == "0"
    finally:
        began.communicate()


@pytest.mark.long
def test_the_log_of_the_server_is_watched(old: Host) -> None:
    try:
        old.exec("sh", "-c", "mkdir -p /srv/small && mount -t tmpfs -o size=80m,mode=777 small /srv/small")
        pg_ctl(old, "restart", "-l", "/srv/small/log")
        said = _measure(old, "select warns();", clients=2, seconds=60)
        assert "a quarter of the free space on the file system of /proc/" in said
        old.exec("sh", "-c", "rm -f /srv/small/log")
        sql(old, "alter system set logging_collector = on; alter system set log_directory = '/srv/small'")
        pg_ctl(old, "restart", "-l", "/dev/null")
        said = _measure(old, "select warns();", clients=2, seconds=60)
        assert "a quarter of the free space on the file system of /srv/small was used up" in said
    finally:
        sql(old, "alter system reset all")
        pg_ctl(old, "restart", "-l", "/dev/null")
        old.exec("umount", "/srv/small")


@pytest.mark.long
def test_memory_is_watched(old: Host) -> None:
    """By figures that are played: to take three quarters of the memory of this host would end others."""
    within = "available_memory() { if [ -e /tmp/adv-memory ]; then echo 20; else : >/tmp/adv-memory; echo 100; fi; }"
    made = _text("select pg_sleep(0.1);", seconds=5)
    functions, _, program = made.rpartition("\nrun_with_queries ")
    done = old.exec("sh", "-c", f"{functions}\n{within}\nrun_with_queries {program}", user="postgres", check=False)
    assert "three quarters of the available memory were used up" in done.stdout


@pytest.mark.long
def test_a_rehearsal_goes_on_where_a_script_would_harm_the_copy(
    lab: Lab,
    asker: LabAsker,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the old server wants a password, which the operator is asked for; and the real move ends well."""
    site.create(lab.old)
    site.clear(lab)
    site.start(lab.old)
    cli = CommandLine(lab, asker, capsys)
    site.describe(cli)
    try:
        sql(lab.old, "create table adv (a text)")
        sql(
            lab.old,
            f"set password_encryption = 'scram-sha-256'; create role reader login password '{PASSWORD}'; "
            "grant select on all tables in schema public to reader",
        )
        hba = f"{DATA}/pg_hba.conf"
        line = "local shop reader scram-sha-256\nlocal all all trust"
        lab.old.exec("sh", "-c", f"echo '{line}' >{hba}", user="postgres")
        pg_ctl(lab.old, "reload")
        script = tmp_path / "promote.sql"
        script.write_text(
            "select case when pg_is_in_recovery() then query_to_xml('select pg_pro'||'mote()',true,true,'') end;\n"
            "select count(*) from adv;\n"
        )
        options = ("--queries", str(script), "--queries-as", "reader", "--queries-on-old", "--queries-seconds", "1")
        with monkeypatch.context() as person:
            person.setattr(sys, "stdin", Terminal(lambda: None))
            person.setattr(getpass, "getpass", lambda *_words, **_options: PASSWORD)
            code, out, err = cli.connecting("execute", "m", "--dress-rehearsal", "--manual-steps-done", *options)
        assert code == 0, out + err
        _, status, _ = cli("execute", "m", "--status", "--json")
        assert PASSWORD not in status
        assert {run: each["why"] for run, each in measured(status).items() if run.startswith("old")} == {
            "old first": "",
            "old warm": "",
        }
        for run in ("new cold", "new warm"):
            assert "permission denied for function pg_promote" in measured(status)[run]["why"]
        assert servers(lab.new) == left_of_queries(lab.old) == left_of_queries(lab.new) == ""
        assert free_of_backups(lab.old)
        code, out, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
        assert code == 0, out + err
    finally:
        for host in (lab.old, lab.new):
            site.end(host)
        site.remove(lab)
