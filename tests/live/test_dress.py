"""A dress rehearsal: the copied cluster is started on new while old serves its clients, then the real move."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from core.errors import CommandError
from core.migration.model import step_ids
from tests.lab.fixtures import LabAsker
from tests.lab.footprint import differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, ROOT, TARGET, load, pg_ctl, sql

pytestmark = pytest.mark.lab

_SLOW = "16mbit"
_FENCED = f"{TARGET}/pghaul-fence/global/pg_control"


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.long)], ids=["plain", "spread"])
def cli(
    lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Iterator[CommandLine]:
    site.create(lab.old, spread=request.param)
    site.clear(lab)
    site.start(lab.old)
    made = CommandLine(lab, asker, capsys)
    site.describe(made, spread=request.param)
    yield made
    for host in (lab.old, lab.new):
        site.end(host)
    site.remove(lab)


def output_of(status: str, name: str) -> str:
    """What the step of that name printed, by the document of `execute --status`."""
    execution = json.loads(status)["execution"]
    number = next(step["number"] for step in execution["plan"]["steps"] if step["id"] == name)
    return "".join(run["output"] for run in execution["steps"] if run["number"] == number)


def free_of_backups(old: Host) -> bool:
    """Neither a slot nor a session of pghaul's is there, whose end ends its backup."""
    sessions = "select count(*) from pg_stat_activity where application_name = 'pghaul'"
    return sql(old, f"select (select count(*) from pg_replication_slots) + ({sessions})") == "0"


def servers(new: Host) -> str:
    """The processes of servers in the target, a line each."""
    look = f'for p in /proc/[0-9]*; do [ ! "$p/cwd" -ef "{TARGET}" ] || grep -H postgres $p/comm; done; true'
    return new.exec("sh", "-c", look).stdout


def left_of_queries(host: Host) -> str:
    """The processes of pgbench that measure, and the folders of their scripts."""
    look = (
        "pgrep -af '[p]gbench.*pghaul-queries|[m]easure_twice'; "
        "ls -d /var/tmp/pghaul-queries.* /var/tmp/pghaul-job.* 2>/dev/null; true"
    )
    return host.exec("sh", "-c", look).stdout


def measured(status: str) -> dict[str, dict[str, Any]]:
    """The runs of the queries, by the document of `execute --status`."""
    return {run["run"]: run for run in json.loads(status)["queries"]["runs"]}


def test_the_copy_itself_starts_while_old_serves_and_moves_then(cli: CommandLine, tmp_path: Path) -> None:
    old, new = cli.lab.old, cli.lab.new
    sql(old, "create table before_it (a int); insert into before_it select generate_series(1, 1000)")
    sql(old, "create role reader login; grant select on all tables in schema public to reader")
    before = footprint(old)
    one, two = tmp_path / "one account.sql", tmp_path / "it's@two.sql"
    one.write_text("\\set a random(1, 100000)\nselect abalance from pgbench_accounts where aid = :a;\n")
    two.write_text("select sum(a), 'it''s' from before_it;\n")
    queries = ["--queries", f"{one}@3", "--queries", str(two), "--queries-as", "reader", "--queries-seconds", "1"]
    queries.append("--queries-on-old")
    with load(old):
        code, out, err = cli.connecting("execute", "m", "--dress-rehearsal", "--manual-steps-done", *queries)
        pg_ctl(old, "reload")  # it runs on
        sql(old, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgbench'")
    assert code == 0, out + err
    _, status, _ = cli("execute", "m", "--status", "--json")
    for run in measured(status).values():
        assert run["why"] == "", run
        of_all, *each = run["metrics"]
        assert len(each) == 2
        assert "latency_p95_seconds" in of_all
        assert of_all["latency_p50_seconds"] > 5e-6  # nothing of a server takes less: not what pgbench logs as 0
        assert all(metric > 0 for metrics in (of_all, *each) for metric in metrics.values())
    assert set(measured(status)) == {"old first", "old warm", "new cold", "new warm"}
    assert re.search(
        r"^all scripts +transactions a second +[1-9].* /s +[1-9].* /s +[1-9].* /s +.* × \(", out, re.MULTILINE
    )
    assert "it's@two.sql (weight 1) ran as the role reader in the database shop" in out
    assert (left_of_queries(old), left_of_queries(new)) == ("", "")
    looked = output_of(status, step_ids.REHEARSE_START)
    assert re.search(r"^database shop: [1-9]\d* relations, \d+ libraries, 0 dictionaries$", looked, re.MULTILINE), (
        looked
    )
    assert re.search(r"ready after \d+ seconds, ", looked, re.MULTILINE), looked
    assert "bytes of WAL were kept" in output_of(status, step_ids.REHEARSE_PASS)
    cost = json.loads(status)["account"]["dress"]
    assert cost["wal_bytes"] > 0
    assert all(cost[part]["transactions"] > 0 < cost[part]["seconds"] for part in ("before", "during")), cost
    assert "sessions of clients waited for its disks" in out
    assert free_of_backups(old)
    assert [line for line in differences(before, footprint(old)) if ROOT not in line] == []
    assert new.exec("test", "-e", _FENCED, check=False).returncode == 0
    assert servers(new) == ""
    for left in ("backup_label", "standby.signal", "postmaster.pid", "pghaul-fence/dress", "pghaul-fence/dressed"):
        assert new.exec("test", "-e", f"{TARGET}/{left}", check=False).returncode != 0, left
    code, out, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, out + err
    assert sql(new, "select count(*), pg_is_in_recovery() from before_it") == "1000|f"


@pytest.mark.parametrize("cli", [False], indirect=True)
def test_a_database_that_would_fail_there_is_found(cli: CommandLine) -> None:
    """A dictionary whose file new lacks: whoever uses it there would be the first to know.

    What its sessions would load from a folder in which anybody writes is not loaded there, and said.
    """
    old, new = cli.lab.old, cli.lab.new
    file = f"{site.SERVER}/share/postgresql/tsearch_data/pghaul_test.syn"
    old.exec("sh", "-c", f"echo 'a b' >'{file}'")
    for host in (old, new):
        host.exec("mkdir", "-m", "777", "/srv/open")
    library = "/srv/open/auto_explain.so"
    old.exec("cp", f"{site.SERVER}/lib/postgresql/dict_snowball.so", library)
    new.exec("sh", "-c", f"echo no library >{library}")
    try:
        sql(old, f"alter role postgres set session_preload_libraries = '{library}', 'auto_explain'")
        sql(old, "alter role postgres set dynamic_library_path = '/srv/open:$libdir'")
        sql(old, "create text search dictionary own (template = synonym, synonyms = 'pghaul_test')")
        code, _, err = cli.connecting("execute", "m", "--dress-rehearsal", "--manual-steps-done")
        assert code == 1, output_of(cli("execute", "m", "--status", "--json")[1], step_ids.REHEARSE_START)
        assert "pghaul_test.syn" in err
        looked = output_of(cli("execute", "m", "--status", "--json")[1], step_ids.REHEARSE_START)
        assert "warning: 2 libraries or library folders in settings of roles" in looked
        assert free_of_backups(old)
        assert servers(new) == ""
    finally:
        for host in (old, new):
            host.exec("rm", "-rf", file, "/srv/open")


def files_arrive(lab: Lab) -> bool:
    return lab.new.exec("find", TARGET, "-type", "f", "-size", "+100k", check=False).stdout != ""


def backup_is_open(lab: Lab) -> bool:
    return sql(lab.old, "select count(*) from pg_replication_slots") == "1"


def fill(lab: Lab, moment: Callable[[Lab], bool]) -> None:
    """Leave nothing free on the new server when that moment has come."""
    wait_until(lambda: moment(lab), "the copy", seconds=200)
    rest = (
        'fallocate -l "$(($(df --output=avail -B1M "$0" | tail -n 1) - 4))M" "$0/filler"; '
        'head -c 100M /dev/zero >>"$0/filler" 2>/dev/null; true'
    )
    lab.new.exec("sh", "-c", rest, "/srv/pg")


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "moment", "told"),
    [
        (["--dress-rehearsal"], backup_is_open, "No space left on device"),
        # the receiver dies at once, and its reason does not reach the old server
        ([], files_arrive, "Check whether the disk is full"),
    ],
    ids=["dress rehearsal", "pre-copy"],
)
def test_a_disk_of_the_new_server_that_fills_up_leaves_old_as_it_was(
    cli: CommandLine, kind: list[str], moment: Callable[[Lab], bool], told: str
) -> None:
    """The old cluster serves on, its backup ends, nothing is kept for it; with space the copy goes on."""
    old, new = cli.lab.old, cli.lab.new
    before = footprint(old)
    cli.lab.shape(_SLOW)
    filling = Thread(target=fill, args=(cli.lab, moment))
    filling.start()
    try:
        code, out, err = cli.connecting("execute", "m", *kind, "--confirm", DATA, "--manual-steps-done")
        filling.join()
        assert code == CommandError.exit_code, out + err
        assert told in err, err[-1500:]
        assert "--resume" in err
        assert sql(old, "select 1") == "1"
        assert free_of_backups(old)
        assert [line for line in differences(before, footprint(old)) if ROOT not in line] == []
        assert servers(new) == ""
    finally:
        cli.lab.shape("off")
        filling.join()
        new.exec("rm", "-f", "/srv/pg/filler")
    code, out, err = cli.connecting("execute", "m", "--resume", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, out + err
    assert sql(old if kind else new, "select count(*) from pgbench_accounts") == "100000"
    assert not kind or free_of_backups(old)
