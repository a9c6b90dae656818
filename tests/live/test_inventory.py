"""A move beside clients that work until the stop, of a server that runs with other settings than its files have."""

from collections.abc import Iterator

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine, Terminal
from tests.live.moving import DATA, NEW_BIN, PORT, SERVER, TARGET, pg_ctl, sql

pytestmark = pytest.mark.lab

_QUEUE = 400
_TABLES = """
do $$ begin for n in 1..{queue} loop
  execute format('create table queue%s (id int primary key, said text)', n);
end loop; end $$;
"""
_DROPPED = """
do $$ begin for n in 1..{queue} loop execute format('drop table if exists queue%s', n); end loop; end $$;
checkpoint;
"""
_WORK = """
create procedure work() language plpgsql as $$ begin
  for n in 1..1000000 loop execute format('create table made%s (id int)', n); commit; perform pg_sleep(0.005); end loop;
end $$;
"""
_AT_WORK = (
    f"setsid {SERVER}/bin/psql -Xq -h /tmp -p {PORT} -U postgres -c 'call work()' shop >/dev/null 2>&1 </dev/null &"
)


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """A cluster that archives, was started with an option, and whose file was edited since."""
    made = CommandLine(lab, asker, capsys)
    site.create(lab.old)
    try:
        site.clear(lab)
        conf = f"{DATA}/postgresql.conf"
        lab.old.exec(
            "tee", "-a", conf, input="archive_mode = on\narchive_command = '/bin/true'\nmax_connections = 90\n"
        )
        pg_ctl(lab.old, "-l", "/dev/null", "-o", "-c max_connections=137", "start")
        lab.old.exec("tee", "-a", conf, input="work_mem = 8MB\n")
        sql(lab.old, _WORK)
        site.describe(made)
        yield made
    finally:
        site.remove(lab)


@pytest.mark.long
def test_what_clients_and_options_explain_is_told_and_stops_no_move(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = cli.lab.old, cli.lab.new
    cli("move", "hook", "m", "stop-applications", "--side", "old", "--as", "postgres", "--command", _AT_WORK)
    sql(old, _TABLES.format(queue=_QUEUE))
    dropped = Terminal(lambda: sql(old, _DROPPED.format(queue=_QUEUE)), "\n")  # asked for the cluster's name
    monkeypatch.setattr("sys.stdin", dropped)
    code, _, err = cli.connecting("execute", "m")
    assert (code, "was not confirmed" in err) == (1, True), err
    code, out, err = cli.connecting("execute", "m", "--resume", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, err
    assert "files of relations in the data directory, " in err
    assert "clients dropped or emptied tables meanwhile" in err
    assert "clients created or dropped some after the inventory was taken" in err
    warned = {line.split()[3] for line in err.splitlines() if line.startswith("warning: The setting ")}
    assert warned == {"work_mem"}
    assert sql(new, "show max_connections") == "137"  # its start took the option along
    assert any("work_mem" in line and '"8192 kB"' in line for line in out.splitlines())
    assert sql(new, "show archive_command") == "/bin/true"
    assert int(sql(new, "select count(*) from pg_class where relname ~ '^made'")) > 0
    _, status, _ = cli("execute", "m", "--status", "--json")
    site.give_up(cli.lab, status)
    assert sql(old, "show max_connections") == "137"
    again = new.exec("sh", "-c", f"{NEW_BIN}/pg_ctl -D {TARGET} -w -l /dev/null start", user="postgres", check=False)
    assert again.returncode != 0, again
