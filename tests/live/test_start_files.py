"""Files that a start reads, also those edited meanwhile, and where clients find the new cluster after the cutover."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import BlockedError
from core.migration.model import step_ids
from core.migration.model.move import EditedSettings
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, PORT, ROOT, SERVER, TARGET, pg_ctl, sql
from tests.live.test_start_options import Undecided

pytestmark = pytest.mark.lab

_CONF, _HBA = f"{DATA}/postgresql.conf", f"{DATA}/pg_hba.conf"
_OWN = f"{ROOT}/conf"
"""A folder of the owner's on both hosts, outside of the data directory."""
_ELSEWHERE = "port = 5488\nlisten_addresses = '127.0.0.1'\n"
"""Nothing of it is read by the running server, and the new one would listen by it."""
_TYPO = "shared_bufers = 160MB"


@pytest.fixture
def cli(
    lab: Lab,
    clean_hosts: None,  # noqa: ARG001
    asker: LabAsker,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[CommandLine]:
    """The cluster is open to the network, but lets nobody in there."""
    site.create(lab.old)
    site.clear(lab)
    append(lab.old, _CONF, "listen_addresses = '*'")
    site.start(lab.old)
    made = CommandLine(lab, asker, capsys)
    site.describe(made)
    yield made
    for host in (lab.old, lab.new):
        pg_ctl(host, "-m", "immediate", "stop", check=False)
    site.remove(lab)


def append(host: Host, file: str, lines: str) -> None:
    host.exec("sh", "-c", f"cat >>'{file}'", user="postgres", input=f"{lines.rstrip()}\n")


def take_back(host: Host, file: str, pattern: str) -> None:
    host.exec("sed", "-i", f"/{pattern}/d", file, user="postgres")


def finding(cli: CommandLine, check: str) -> str:
    """The lines of a check, which reads the facts of both servers again."""
    _, out, err = cli.connecting("check", "m", "--all")
    assert out, err
    assert "hunter2" not in out
    lines = out.splitlines()
    at = next(number for number, line in enumerate(lines) if f"[{check}]" in line)
    return "\n".join(lines[at : at + 4])


def mend_on_new(lab: Lab) -> None:
    """What the sentence says: set as the old server had it, and restarted."""
    take_back(lab.new, f"{TARGET}/postgresql.conf", "5488")
    take_back(lab.new, f"{TARGET}/postgresql.conf", "127.0.0.1")
    pg_ctl(lab.new, "-l", "/dev/null", "-m", "fast", "restart")


@pytest.mark.long
def test_what_a_start_reads_comes_along_whether_it_sets_anything_or_not(cli: CommandLine) -> None:
    """Files that are included without a setting in force, and a list that pg_hba.conf names: no start does without."""
    old, new = cli.lab.old, cli.lab.new
    for host in (old, new):
        host.exec("mkdir", "-p", f"{_OWN}/more.d", user="postgres")
    append(old, f"{_OWN}/more.d/a.conf", "# nothing is set here")
    append(old, f"{_OWN}/more.d/b.conf", "include '../up.conf'")
    append(old, f"{_OWN}/up.conf", "# nothing is set here either")
    append(old, f"{_OWN}/one.conf", "work_mem = '5MB'")
    append(old, f"{_OWN}/dbas", "postgres")
    append(old, _CONF, f"include_dir = '{_OWN}/more.d'\ninclude '{_OWN}/one.conf'\nwork_mem = '6MB'")
    append(old, _HBA, f"local all @{_OWN}/dbas trust")
    pg_ctl(old, "-l", "/dev/null", "restart")
    append(new, f"{_OWN}/one.conf", "new = 'own'")
    code, out, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, out + err
    assert sql(new, "show work_mem") == "6MB"
    for each in ("more.d/a.conf", "more.d/b.conf", "up.conf", "one.conf", "dbas"):
        assert new.exec("cat", f"{_OWN}/{each}").stdout == old.exec("cat", f"{_OWN}/{each}").stdout


@pytest.mark.long
def test_a_path_inside_the_old_data_directory_is_a_blocker(cli: CommandLine) -> None:
    """By the path of a link that leads there, too."""
    old = cli.lab.old
    old.exec("ln", "-s", DATA, f"{_OWN}-led", user="postgres")
    append(old, _CONF, f"hba_file = '{_HBA}'\nident_file = '{_OWN}-led/pg_ident.conf'")
    pg_ctl(old, "-l", "/dev/null", "restart")
    said = finding(cli, "moved-paths")
    old.exec("rm", f"{_OWN}-led")
    assert (said.startswith("BLOCKER"), f"hba_file ({_CONF} line " in said) == (True, True), said
    assert f"ident_file ({_CONF} line " in said
    take_back(old, _CONF, "^hba_file")
    take_back(old, _CONF, "^ident_file")
    pg_ctl(old, "-l", "/dev/null", "restart")
    assert finding(cli, "moved-paths").startswith("PASS")


@pytest.mark.long
def test_a_file_that_no_server_starts_with_is_a_blocker(cli: CommandLine) -> None:
    old = cli.lab.old
    append(old, _CONF, _TYPO)
    said = finding(cli, "start-files")
    assert said.startswith("BLOCKER"), said
    assert f'unrecognized configuration parameter "shared_bufers" in file "{_CONF}" line ' in said
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert (code, "The move cannot begin. " in err, "No server would start with" in err) == (1, True, True), err
    take_back(old, _CONF, "shared_bufers")
    append(old, _HBA, "host all all 10.0.0.0/8 scrm-hunter2")
    said = finding(cli, "start-files")
    assert "BLOCKER" in said, said
    assert f"{_HBA} line " in said
    site.end(old)
    append(old, _CONF, _TYPO)
    said = finding(cli, "start-files")  # of a stopped cluster too
    assert ("BLOCKER" in said, "shared_bufers" in said) == (True, True), said
    take_back(old, _CONF, "shared_bufers")
    take_back(old, _HBA, "hunter2")
    assert "PASS" in finding(cli, "start-files")
    site.start(old)
    append(old, _CONF, "primary_conninfo = 'password=hunter2'")
    assert "in force: primary_conninfo (its values may be secret). " in finding(cli, "pending-settings")


@pytest.mark.long
def test_edits_after_every_check_are_looked_at_after_the_cutover(cli: CommandLine) -> None:
    old, new = cli.lab.old, cli.lab.new
    lines = _ELSEWHERE.replace("\n", "\\n")
    spoil = f'[ -e {ROOT}/spoiled ] || {{ touch {ROOT}/spoiled; printf "{lines}{_TYPO}\\n" >>{_CONF}; }}'
    cli("move", "hook", "m", "stop-applications", "--side", "old", "--as", "postgres", "--command", spoil)
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert (code, "could not be started again with its configuration files: unrecognized" in err) == (1, True), err
    assert sql(old, "select 1") == "1"
    take_back(old, _CONF, "shared_bufers")
    code, _, err = cli.connecting("execute", "m", "--resume", "--confirm", DATA, "--manual-steps-done")
    assert code == 1, err
    assert f"the old server listened on 0.0.0.0 port {PORT}" in err
    assert "listens on 127.0.0.1 port 5488" in err
    assert cli.connecting("execute", "m", "--rollback")[0] == 1
    mend_on_new(cli.lab)
    # nobody gets in from outside, and yet the cluster is known
    code, _, err = cli.connecting("execute", "m", "--resume", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, err
    _, out, _ = cli("execute", "m", "--status", "-v")
    assert sql(new, "show port") == str(PORT), out


_SHOWN = "select current_setting('port'), current_setting('listen_addresses'), current_setting('work_mem')"
_HOLDS = {
    EditedSettings.IN_FORCE: (PORT, f"{PORT}|*|4MB"),
    EditedSettings.FILE: (5488, "5488|127.0.0.1|6MB"),
}
"""At which port each choice has a server, and what that says."""


def at_port(host: Host, port: int) -> str:
    """What the server says that listens at that port."""
    psql = f"{SERVER}/bin/psql" if host.name == "old" else "psql"
    asked = (psql, "-XAtq", "-h", "/tmp", "-p", str(port), "-c", _SHOWN, "shop")
    return host.exec(*asked, user="postgres").stdout.strip()


def choose(cli: CommandLine, chosen: EditedSettings) -> None:
    """Edits by which clients would not find the new server keep a move from its stop, until it is chosen what holds."""
    old = cli.lab.old
    append(old, _CONF, f"{_ELSEWHERE}work_mem = '6MB'")
    said = finding(cli, "pending-settings")
    assert said.startswith("BLOCKER"), said
    assert f"port is '{PORT}' in force and '5488' in the file" in said
    assert "listen_addresses is '*' in force and '127.0.0.1' in the file" in said
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert (code, "The move cannot begin" in err) == (1, True), err
    assert sql(old, "select 1") == "1"
    code, out, _ = cli("move", "edited", "m", chosen.value)
    assert code == 0, out


def test_values_that_mean_the_same_are_no_edits_and_others_have_their_units(cli: CommandLine) -> None:
    """In force are 16MB, which are 2048 blocks, and 4MB, 5min, 64MB and 0."""
    same = "shared_buffers = 2048\nwork_mem = 4096kB\ncheckpoint_timeout = 300\nmax_wal_size = '0.0625GB'\n"
    append(cli.lab.old, _CONF, f"{same}vacuum_cost_delay = '0s'\nunix_socket_permissions = 511")
    said = finding(cli, "pending-settings")
    assert said.startswith("PASS"), said
    append(cli.lab.old, _CONF, "shared_buffers = '160MB'\ncheckpoint_timeout = 5400\nvacuum_cost_delay = '500us'")
    said = finding(cli, "pending-settings")
    for edit in (
        "shared_buffers is '16MB' in force and '160MB' in the file",
        "checkpoint_timeout is '5min' in force and '90min' in the file",
        "vacuum_cost_delay is '0' in force and '0.5ms' in the file",
    ):
        assert edit in said, said
    assert "work_mem" not in said


@pytest.mark.long
@pytest.mark.parametrize("chosen", EditedSettings)
def test_of_edits_the_new_server_has_what_was_chosen(cli: CommandLine, chosen: EditedSettings) -> None:
    choose(cli, chosen)
    port, values = _HOLDS[chosen]
    code, out, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, out + err
    assert "Check whether this is intended" not in out + err
    new = cli.lab.new
    assert at_port(new, port) == values
    pg_ctl(new, "-l", "/dev/null", "-m", "fast", "restart")
    assert at_port(new, port) == values
    assert "5488" in new.exec("cat", f"{TARGET}/postgresql.conf").stdout


@pytest.mark.long
@pytest.mark.parametrize("chosen", EditedSettings)
def test_of_edits_the_old_server_has_what_was_chosen_after_a_rollback(
    cli: CommandLine, chosen: EditedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(cli, chosen)
    port, values = _HOLDS[chosen]
    monkeypatch.setattr(sys, "stdin", Undecided(cli.lab.new))
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA)
    assert (code, cli.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
    code, out, err = cli.connecting("execute", "m", "--rollback")
    assert code == 0, out + err
    assert "runs again, but not as before. See the warnings above" in out + err
    said = {
        EditedSettings.IN_FORCE: f"started with listen_addresses=*, port={PORT}, work_mem=4096 on its command line",
        EditedSettings.FILE: "The value of the files is in force, as was chosen",
    }
    assert said[chosen] in out + err
    assert at_port(cli.lab.old, port) == values


_OF_SESSIONS = (
    *("search_path", "statement_timeout", "lock_timeout"),
    *("default_transaction_read_only", "synchronous_commit", "jit"),
)
"""Settings that sessions of ours set themselves."""
_EDITS = "search_path = 'app'\nstatement_timeout = 7s\nlock_timeout = 3s\ndefault_transaction_read_only = on\njit = off"


def of_sessions(host: Host) -> str:
    return sql(host, "; ".join(f"show {each}" for each in _OF_SESSIONS))


@pytest.mark.long
def test_of_what_our_sessions_set_and_without_a_file_of_alter_system_new_has_what_was_in_force(
    cli: CommandLine,
) -> None:
    old, new = cli.lab.old, cli.lab.new
    old.exec("rm", f"{DATA}/postgresql.auto.conf")
    pg_ctl(old, "-l", "/dev/null", "restart")
    append(old, _CONF, f"{_EDITS}\nsynchronous_commit = off")
    before = of_sessions(old)
    assert cli("move", "edited", "m", "in-force")[0] == 0
    said = finding(cli, "pending-settings")
    assert all(f"{each} is '" in said for each in _OF_SESSIONS), said
    code, out, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, out + err
    assert "Check whether this is intended" not in out + err
    assert of_sessions(new) == before


@pytest.mark.long
def test_a_rollback_gives_the_old_server_what_its_options_can_tell(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says what they cannot. While it is not at its end, nobody chooses otherwise."""
    old, new = cli.lab.old, cli.lab.new
    append(old, _CONF, "log_line_prefix = '%m \"%u\" '")
    pg_ctl(old, "-l", "/dev/null", "restart")
    append(old, _CONF, f"log_line_prefix = '%m '\n{_EDITS}")
    assert cli("move", "edited", "m", "in-force")[0] == 0
    assert "Only log_line_prefix, search_path would have the value in the file" in finding(cli, "pending-settings")
    monkeypatch.setattr(sys, "stdin", Undecided(new))
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA)
    assert (code, cli.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
    assert "log_line_prefix = '%m \"%u\" '" in new.exec("cat", f"{TARGET}/postgresql.auto.conf").stdout
    code, _, err = cli("move", "edited", "m", "file")
    assert (code, "cannot be changed now" in err) == (2, True), err
    code, out, err = cli.connecting("execute", "m", "--rollback")
    assert code == 0, out + err
    assert "statement_timeout=0 on its command line" in out + err
    for each in ("log_line_prefix", "search_path"):
        assert f"The setting {each} is " in out + err
    assert "runs again, but not as before" in out + err
    assert sql(old, "show statement_timeout; show log_line_prefix; show search_path") == "0\n%m \napp"
    assert cli("move", "edited", "m", "file")[0] == 0


@pytest.mark.long
def test_an_edit_that_is_taken_back_does_not_hinder_a_rollback(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(cli.lab.old, _CONF, "port = 5488")
    assert cli("move", "edited", "m", "file")[0] == 0
    for host in (cli.lab.old, cli.lab.new):
        cli.connecting("facts", host.name)
    monkeypatch.setattr(sys, "stdin", Undecided(cli.lab.new))
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA)
    assert (code, cli.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
    take_back(cli.lab.old, _CONF, "5488")
    code, out, err = cli.connecting("execute", "m", "--rollback")
    assert code == 0, out + err
    assert sql(cli.lab.old, "show port") == str(PORT)


@pytest.mark.long
def test_the_script_ends_where_clients_do_not_find_the_cluster(cli: CommandLine, tmp_path: Path) -> None:
    for host in (cli.lab.old, cli.lab.new):
        cli.connecting("facts", host.name)
    cli.connecting("check", "m", "--all")
    append(cli.lab.old, _CONF, _ELSEWHERE)
    append(cli.lab.old, _HBA, f"host all all {cli.lab.old.address}/32 trust")
    path = tmp_path / "move.sh"
    code, _, err = cli.connecting("plan", "m", "--script", str(path))
    assert code == 0, err
    programs = tmp_path / "programs"
    programs.mkdir()
    ssh = programs / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F /dev/null -o UserKnownHostsFile="{cli.lab.known_hosts}" "$@"\n')
    ssh.chmod(0o755)

    def run(*options: str, answers: str) -> str:
        done = subprocess.run(
            ["sh", str(path), *options], input=answers + "yes\n" * 20, capture_output=True, text=True,
            check=False, cwd=tmp_path, env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        )  # fmt: skip
        return f"{done.stdout}{done.stderr}\nended with {done.returncode}"

    said = run(answers=f"yes\nyes\n{DATA}\n")
    assert "listens on 127.0.0.1 port 5488" in said, said
    assert said.endswith("ended with 1")
    mend_on_new(cli.lab)
    said = run("--from", said.rpartition("--from ")[2].split()[0], answers="yes\n")
    assert said.endswith("ended with 0"), said
    assert f"{cli.lab.new.address} port {PORT}: the cluster answers with its system identifier" in said
