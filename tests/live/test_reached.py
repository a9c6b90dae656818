"""Where clients find the new cluster after the cutover: what the old server sees, and what a person takes on."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.migration.execution.status import SENTENCES, MoveStatus
from core.migration.model import step_ids
from core.this_workstation import whoami
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, NEW_BIN, PORT, SERVER, TARGET, sql

pytestmark = pytest.mark.lab

_OTHER_CLUSTER, _OTHER_PORT = "/srv/pg/other", 5491
_NAMES = ("line\nbreak", "ends in a break\n", "tab\there", "quote'\"s", "back\\slash\\n", "größe 数", " blanks ", "a=b")
_CHAIN = "table inet reached {{\n chain in {{\n type {}\n tcp dport {} {}\n }}\n}}\n"
_REJECTED = _CHAIN.format("filter hook input priority 0;", PORT, "reject with tcp reset")
_ELSEWHERE = _CHAIN.format("nat hook prerouting priority -100;", PORT, f"redirect to :{_OTHER_PORT}")
_WHY = "the application network  alone is let in, at pgbouncer"


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """The cluster is open to the network, and lets the old server in."""
    site.create(lab.old)
    site.clear(lab)
    for file, line in (("postgresql.conf", "listen_addresses = '*'"), ("pg_hba.conf", "host all all all trust")):
        lab.old.exec("sh", "-c", f"echo \"$0\" >>'{DATA}/{file}'", line, user="postgres")
    made = CommandLine(lab, asker, capsys)
    made.describe(lab.old)
    made.describe(lab.new)
    ends = ("--old", "old", "--new", "new", "--old-volume", "/srv/pg", "--new-volume", "/srv/pg")
    roots = ("--cluster", DATA, "--target", TARGET)
    code, _, err = made("move", "add", "m", *ends, *roots)
    assert code == 0, err
    yield made
    for host in (lab.old, lab.new):
        site.pg_ctl(host, "-m", "immediate", "stop", check=False)
    site.remove(lab)


@contextmanager
def rules(host: Host, text: str) -> Iterator[None]:
    host.exec("nft", "-f", "-", input=text)
    try:
        yield
    finally:
        host.exec("nft", "delete", "table", "inet", "reached")


@contextmanager
def another_cluster(host: Host) -> Iterator[None]:
    """It lets everybody in."""
    host.exec("install", "-d", "-o", "postgres", "-g", "postgres", _OTHER_CLUSTER)
    made = (
        f"{NEW_BIN}/initdb -N -A trust -D '{_OTHER_CLUSTER}' >/dev/null && "
        f"echo host all all all trust >>'{_OTHER_CLUSTER}/pg_hba.conf'"
    )
    host.exec("sh", "-c", made, user="postgres")
    options = f"-p {_OTHER_PORT} -c listen_addresses=* -c unix_socket_directories={_OTHER_CLUSTER}"
    control = (f"{NEW_BIN}/pg_ctl", "-D", _OTHER_CLUSTER, "-w", "-s")
    host.exec(*control, "-l", "/dev/null", "-o", options, "start", user="postgres")
    try:
        yield
    finally:
        host.exec(*control, "-m", "immediate", "stop", user="postgres")
        host.exec("rm", "-rf", "--", _OTHER_CLUSTER)


@contextmanager
def with_ipv6(host: Host, number: int) -> Iterator[None]:
    """An address that the other host has a route to."""
    link = host.exec("sh", "-c", f"ip -o -4 addr show | grep -F ' {host.address}/'").stdout.split()[1]
    address = f"fd77::{number}/64"
    host.exec("ip", "-6", "addr", "add", address, "dev", link, "nodad")
    try:
        yield
    finally:
        host.exec("ip", "-6", "addr", "del", address, "dev", link)


def start_capable(old: Host) -> None:
    """Start the server so that it may lock memory, as systemd's AmbientCapabilities does."""
    user = ("--reuid", "postgres", "--regid", "postgres", "--init-groups")
    may = ("--inh-caps", "+ipc_lock", "--ambient-caps", "+ipc_lock")
    start = (f"{SERVER}/bin/pg_ctl", "-D", DATA, "-w", "-s", "-l", "/dev/null", "start")
    old.exec("setpriv", *user, *may, *start)


def execute(cli: CommandLine, *words: str) -> tuple[int, str, str]:
    return cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done", *words)


def checked(cli: CommandLine) -> None:
    for host in (cli.lab.old, cli.lab.new):
        code, _, err = cli.connecting("facts", host.name)
        assert code == 0, err
    code, out, err = cli.connecting("check", "m", "--all")
    assert code in (0, 1), out + err


@pytest.mark.long
def test_a_closed_way_is_taken_on_with_a_reason_and_another_cluster_never_is(cli: CommandLine, tmp_path: Path) -> None:
    """With databases whose names break lines, which the lists of every step must carry."""
    old, new = cli.lab.old, cli.lab.new
    site.start(old)
    for name in _NAMES:
        quoted = name.replace('"', '""')
        sql(old, f'create database "{quoted}" template template0')
    checked(cli)
    with another_cluster(new), rules(new, _ELSEWHERE):
        for words in ((), ("--resume", "--client-route", _WHY)):
            code, _, err = execute(cli, "--verify", "all", *words) if not words else execute(cli, *words)
            assert (code, f"another cluster answers at {new.address} port {PORT}" in err) == (1, True), err
    with rules(new, _REJECTED):
        code, _, err = execute(cli, "--resume")
        assert code == 1, err
        at = f"{new.address} port {PORT} (the connection was refused)"
        closed = f"the old server cannot reach the new cluster at {at}"
        assert closed in err
        assert "only the way from the old server is closed" in err
        assert "--resume --client-route 'HOW'" in err
        code, out, err = execute(cli, "--resume", "--client-route", _WHY)
        assert code == 0, err
    accepted = f"{closed[:1].upper()}{closed[1:]}. Accepted by {whoami()}: {' '.join(_WHY.split())}"
    end = out.partition("\nDowntime ")[2]
    assert accepted in end, out
    # it was gone on with behind the cutover, of which one moment is said everywhere
    cutover = re.search(r"until the cutover \((\d\d:\d\d:\d\d UTC)\)", end)
    assert cutover is not None, end
    assert cutover[1] in cli("execute", "m", "--rollback")[2]
    assert cutover[1] in json.loads(cli("plan", "m", "--json")[1])["warnings"][0]["message"]
    report = tmp_path / "m.html"
    code, _, err = cli("report", "m", "-o", str(report))
    assert (code, "Accepted by" in report.read_text()) == (0, True), err
    found = json.loads(sql(new, "select json_agg(datname::text) from pg_database where not datistemplate"))
    assert set(_NAMES) < set(found)


_START_OLD = (
    f"mv '{DATA}/pghaul-fence/global/pg_control' '{DATA}/global/' && "
    f"'{SERVER}/bin/pg_ctl' -D '{DATA}' -w -s -l /dev/null start && false"
)
"""Somebody starts the old server once the new one is open; then a step is left."""


@pytest.mark.long
def test_ipv6_is_reached_too_where_the_sockets_of_a_server_cannot_be_seen(cli: CommandLine) -> None:
    """The kernel hides what a program with capabilities does, also from its own user."""
    old, new = cli.lab.old, cli.lab.new
    with with_ipv6(old, 1), with_ipv6(new, 2):
        start_capable(old)
        checked(cli)
        cli("move", "hook", "m", "tell-pooler", "--side", "old", "--as", "postgres", "--command", _START_OLD)
        code, out, err = execute(cli)
        assert code == 3, out + err
        assert f"The sockets of the server in {DATA} cannot be examined" in err
        _, out, _ = cli("execute", "m", "--status", "--json")
        execution = json.loads(out)["execution"]
        number = next(step["number"] for step in execution["plan"]["steps"] if step["id"] == step_ids.CHECK_REACHABLE)
        looked = next(run for run in execution["steps"] if run["number"] == number)
        for address in (new.address, "fd77:0:0:0:0:0:0:2"):
            assert f"{address} port {PORT}: the cluster answers with its system identifier" in looked["output"]
        cli("move", "hook", "m", "tell-pooler", "--none")
        code, _, err = execute(cli, "--resume")
        assert (code, f"the old server was started again in {DATA}" in err) == (1, True), err
        assert SENTENCES[MoveStatus.OLD_STARTED] in err


_CONTROL = f"mv '{DATA}/pghaul-fence/global/pg_control' '{DATA}/global/'"
_PG_CTL = f"'{SERVER}/bin/pg_ctl' -D '{DATA}' -w -s -l /dev/null"


@pytest.mark.long
@pytest.mark.parametrize(
    ("done", "warned"),
    [
        ("true", False),
        (f"{_CONTROL} && {_PG_CTL} start && {_PG_CTL} -m fast stop", True),
    ],
    ids=["a file is edited", "it is started and stopped"],
)
def test_what_happens_to_old_once_new_is_open_keeps_no_step_from_being_done(
    cli: CommandLine, done: str, warned: bool
) -> None:
    """Nothing is copied from it any more. That clients may have written to it is said."""
    site.start(cli.lab.old)
    checked(cli)
    later = f"[ -e '{DATA}/later' ] || {{ touch '{DATA}/later' && {done} && false; }}"
    cli("move", "hook", "m", "tell-pooler", "--side", "old", "--as", "postgres", "--command", later)
    code, out, err = execute(cli)
    assert code == 3, out + err
    code, out, err = execute(cli, "--resume")
    assert (code, "The old server was started again after its stop, and has ended since" in out + err) == (0, warned), (
        err
    )
