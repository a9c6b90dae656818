"""A server started with options is started again with them, on either side; one that does not start says why."""

import json
import sys

import pytest

from core.errors import BlockedError
from core.migration.model import step_ids
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine

pytestmark = pytest.mark.lab

_PORT = 5483
_SOCKETS = f"{site.ROOT}/sockets"
_KEYS = f"{site.ROOT}/keys"
_SEEN = "select current_setting('work_mem'), (select count(*) from pg_prepared_xacts)"


@pytest.fixture
def command(cluster: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(cluster, asker, capsys)


class Undecided:
    """A person at the terminal who does what is asked until new runs, and nothing from then on."""

    def __init__(self, new: Host) -> None:
        self._new = new

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        runs = self._new.exec("test", "-e", f"{site.TARGET}/postmaster.pid", check=False).returncode == 0
        return "no\n" if runs else "done\n"


@pytest.mark.long
def test_the_options_of_old_are_those_of_new_and_of_old_after_a_rollback(
    cluster: Lab, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without max_prepared_transactions no server starts with what a prepared transaction has left."""
    with site.nothing_left(cluster):
        restart(cluster.old, f"-p {_PORT} -c max_prepared_transactions=5 -c work_mem=5MB -N 50")
        said(cluster.old, "begin; create table held (n int); prepare transaction 'held'")
        described(command)
        monkeypatch.setattr(sys, "stdin", Undecided(cluster.new))
        code, _, err = execute(command)
        assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
        code, out, err = command("execute", "m", "--rollback")
        assert code == 0, err
        assert "as before" in out + err
        assert said(cluster.old, _SEEN) == "5MB|1"
        code, _, err = execute(command, "--manual-steps-done")
        assert code == 0, err
        assert said(cluster.new, _SEEN) == "5MB|1"
        said(cluster.new, "commit prepared 'held'")


@pytest.mark.long
def test_a_lost_socket_folder_is_named_before_the_cutover_and_the_old_server_runs_again(
    cluster: Lab, command: CommandLine
) -> None:
    """The start for local connections does not need the folder: its own socket is in another one."""
    with site.nothing_left(cluster):
        for host in (cluster.old, cluster.new):
            host.exec("install", "-d", "-o", "postgres", _SOCKETS)
        restart(cluster.old, f"-p {_PORT} -c unix_socket_directories=/tmp,{_SOCKETS}")
        described(command)
        with site.lost_behind_the_stop(cluster, _SOCKETS):
            code, _, err = execute(command, "--manual-steps-done")
        assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER), err
        assert f"postgres cannot create a file in the folder {_SOCKETS}" in err
        code, out, err = command("execute", "m", "--rollback")
        assert code == 0, err
        assert "as before" in out + err
        assert said(cluster.old, "show unix_socket_directories") == f"/tmp,{_SOCKETS}"
        cluster.new.exec("install", "-d", "-o", "postgres", _SOCKETS)
        with site.lost_behind_the_stop(cluster, _SOCKETS):
            code, _, err = execute(command, "--manual-steps-done")
        assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER), err
        cluster.new.exec("install", "-d", "-o", "postgres", _SOCKETS)
        code, _, err = execute(command, "--resume", "--manual-steps-done")
        assert code == 0, err
        assert said(cluster.new, "show unix_socket_directories") == f"/tmp,{_SOCKETS}"


_LINE = f'{site.SERVER}/bin/postgres "-D" "{site.DATA}"'
_GARBLED = {
    "a NUL": rf'{_LINE} "-c" "work_mem=5MB\000"\n',
    "NUL only": r"\000\000\000\000",
    "empty": "",
    "two lines": rf'{_LINE} "-c" "search_path=a\nb"\n',
    "a quotation mark": rf'{_LINE} "-c" "search_path="a", b"\n',
    "no last quotation mark": rf'{_LINE} "-c" "work_mem=5MB\n',
    "a megabyte": rf'{_LINE} "-c" "search_path=%1048576s"\n',
}
"""What printf writes into postmaster.opts, which tells nobody for certain with which options the server was started."""
_RAN = "/tmp/ran"


def garble(old: Host, form: str) -> None:
    old.exec("sh", "-c", 'printf "$0" >"$1"', form, f"{site.DATA}/postmaster.opts", user="postgres")


@pytest.mark.long
def test_options_that_cannot_be_read_keep_a_move_from_the_stop(cluster: Lab, command: CommandLine) -> None:
    with site.nothing_left(cluster):
        described(command)
        for name in ("a NUL", "a quotation mark"):
            garble(cluster.old, _GARBLED[name])
            code, _, err = execute(command, "--manual-steps-done")
            assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.CHECK_RESTARTABLE), f"{name}: {err}"
            assert "cannot be read back from" in err, name
            assert "restart it without these options, and go on with --resume" in err, name
            assert site.sql(cluster.old, "select 1") == "1", name
            assert command("execute", "m", "--rollback")[0] == 0, name
        restart(cluster.old, "-c work_mem=5MB")
        code, _, err = execute(command, "--manual-steps-done")
        assert code == 0, err


@pytest.mark.long
def test_options_that_are_lost_after_the_stop_are_told_by_the_rollback(
    cluster: Lab, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site.nothing_left(cluster):
        described(command)
        monkeypatch.setattr(sys, "stdin", Undecided(cluster.new))
        code, _, err = execute(command)
        assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
        for name, form in _GARBLED.items():
            garble(cluster.old, form)
            code, _, err = command("execute", "m", "--rollback")
            assert code not in (0, None), name
            assert f"cannot be read from {site.DATA}/postmaster.opts. Start it yourself with the options" in err, name
        site.pg_ctl(cluster.old, "-l", "/dev/null", "start")  # as the sentence says
        code, out, err = command("execute", "m", "--rollback")
        assert code == 0, out + err
        assert site.sql(cluster.old, "select 1") == "1"


@pytest.mark.long
def test_nothing_in_an_option_is_run(cluster: Lab, command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a shell, nor is a byte lost that is no UTF-8."""
    value = rf"\303\050; touch {_RAN}; $(touch {_RAN}) `touch {_RAN}` it's"
    kept = rf'grep -c "$(printf "%b" "\0303\0050; touch {_RAN}")" "$0"'
    with site.nothing_left(cluster):
        described(command)
        garble(cluster.old, rf'{_LINE} "-c" "log_line_prefix={value}"\n')
        monkeypatch.setattr(sys, "stdin", Undecided(cluster.new))
        code, _, err = execute(command)
        assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
        code, out, err = command("execute", "m", "--rollback")
        assert code == 0, out + err
        assert cluster.old.exec("env", "LC_ALL=C", "sh", "-c", kept, f"{site.DATA}/postmaster.opts").stdout == "1\n"
        for host in (cluster.old, cluster.new):
            assert host.exec("test", "-e", _RAN, check=False).returncode == 1


@pytest.mark.long
def test_a_server_that_does_not_start_says_why_and_old_runs_again(cluster: Lab, command: CommandLine) -> None:
    """The new server has lost its certificate. PostgreSQL's own words are in the message, and its log is kept."""
    request = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "400", "-subj", "/CN=db")
    with site.nothing_left(cluster):
        for host in (cluster.old, cluster.new):
            host.exec("install", "-d", "-o", "postgres", _KEYS)
            host.exec(*request, "-keyout", f"{_KEYS}/key", "-out", f"{_KEYS}/certificate", user="postgres")
        restart(cluster.old, f"-p {_PORT} -c ssl=on -c ssl_key_file={_KEYS}/key -c ssl_cert_file={_KEYS}/certificate")
        described(command)
        with site.lost_behind_the_stop(cluster, _KEYS):
            code, _, err = execute(command, "--manual-steps-done")
        assert code != 0
        assert command.last_step() == step_ids.START_LOCALLY
        fatal = f'FATAL:  could not load server certificate file "{_KEYS}/certificate"'
        assert fatal in err
        assert fatal in cluster.new.exec("cat", f"{site.TARGET}/pghaul-start.log").stdout
        code, out, err = command("execute", "m", "--rollback")
        assert code == 0, err
        assert "as before" in out + err
        assert said(cluster.old, "show ssl_key_file") == f"{_KEYS}/key"


@pytest.mark.long
def test_what_the_environment_of_old_gives_is_a_blocker_until_its_files_do(cluster: Lab, command: CommandLine) -> None:
    """A setting in a file is stronger than such a variable: of the port in it nothing is said."""
    old = cluster.old
    with site.nothing_left(cluster):
        site.pg_ctl(old, "-m", "fast", "stop")
        variables = ("PGCLIENTENCODING=LATIN1", "PGPORT=5999", f"PGDATA={site.DATA}")
        start = (f"{site.SERVER}/bin/pg_ctl", "-w", "-s", "-l", "/dev/null", "start")
        old.exec("env", *variables, *start, user="postgres")
        site.describe(command)
        assert check(command) == ("blocker", "client_encoding=LATIN1")
        old.exec("sh", "-c", 'echo "client_encoding = LATIN1" >>"$1"', "sh", f"{site.DATA}/postgresql.conf")
        assert check(command)[0] == "pass"
        old.exec("sed", "-i", "$ d", f"{site.DATA}/postgresql.conf")
        site.pg_ctl(old, "-m", "fast", "-l", "/dev/null", "restart")


@pytest.mark.long
def test_both_servers_are_started_with_a_configuration_file_of_another_name(
    cluster: Lab, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder has no postgresql.conf: without the option, neither server would start."""
    old, seen = cluster.old, "select current_setting('config_file'), current_setting('work_mem')"
    with site.nothing_left(cluster):
        old.exec("sh", "-c", 'cd "$0" && mv postgresql.conf own.conf && echo "work_mem = 7MB" >>own.conf', site.DATA)
        restart(old, f"-p {_PORT} -c config_file={site.DATA}/own.conf")
        described(command)
        monkeypatch.setattr(sys, "stdin", Undecided(cluster.new))
        code, _, err = execute(command)
        assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
        assert said(cluster.new, seen) == f"{site.TARGET}/own.conf|7MB"
        code, out, err = command("execute", "m", "--rollback")
        assert code == 0, err
        assert "runs again, with the same port, options and settings as before" in out + err
        assert said(old, seen) == f"{site.DATA}/own.conf|7MB"
        code, out, err = execute(command, "--manual-steps-done")
        assert code == 0, err
        assert "warning: The setting" not in out + err
        assert said(cluster.new, seen) == f"{site.TARGET}/own.conf|7MB"


@pytest.mark.long
def test_debians_tools_start_the_new_cluster_with_the_access_rules_of_the_old_one(
    cluster: Lab, command: CommandLine
) -> None:
    """Unless its configuration names them, pg_ctlcluster takes the rules of its own folder in /etc."""
    data = f"{site.ROOT}/moved"
    create = f"pg_createcluster 15 moved --datadir={data} --port={site.PORT} --start-conf=manual >/dev/null"
    with site.nothing_left(cluster):
        cluster.new.exec("sh", "-c", f"{create} && find {data} -mindepth 1 -delete")
        try:
            site.describe(command, data)
            read(command)
            code, out, err = command("check", "m", "--all")
            assert code in (0, 1), out + err
            code, out, err = execute(command, "--manual-steps-done")
            assert code == 0, err
            rules = "select current_setting('hba_file'), current_setting('ident_file')"
            assert site.sql(cluster.new, rules) == f"{data}/pg_hba.conf|{data}/pg_ident.conf"
            assert "hba_file" not in out
        finally:
            cluster.new.exec("sh", "-c", "pg_dropcluster --stop 15 moved; rm -rf /etc/postgresql/15/moved")


def check(command: CommandLine) -> tuple[str, str]:
    """The status of the check, and what it saw on old."""
    read(command)
    code, out, err = command("check", "m", "--json")
    assert code in (0, 1), err
    found = {each["id"]: each for each in json.loads(out)["checks"]}["start-options"]
    return found["status"], found["old"]


def restart(old: Host, options: str) -> None:
    site.pg_ctl(old, "-m", "fast", "stop")
    site.pg_ctl(old, "-l", "/dev/null", "-o", options, "start")


def said(host: Host, text: str) -> str:
    program = f"{site.SERVER}/bin/psql" if host.name == "old" else "psql"
    folder = site.socket_of_new(host) if host.name == "new" else "/tmp"
    words = ("-XqAt", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", str(_PORT), "-d", "shop")
    return host.exec(program, *words, user="postgres", input=text).stdout.strip()


def described(command: CommandLine) -> None:
    site.describe(command)
    read(command)
    code, out, err = command("check", "m", "--all")
    assert code in (0, 1), out + err


def read(command: CommandLine) -> None:
    """The facts of both servers."""
    for side in ("old", "new"):
        code, _, err = command.connecting("facts", side)
        assert code == 0, err


def execute(command: CommandLine, *words: str) -> tuple[int, str, str]:
    return command("execute", "m", "--confirm", site.DATA, *words)
