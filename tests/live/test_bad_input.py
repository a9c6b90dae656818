"""What is wrong with servers, rights, volumes and names, by the command line: a sentence, a hint, and nothing left."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import clusters
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("clean_hosts")]

NASTY = """/srv/pg/it's $(touch x) "ö\""""


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(lab, asker, capsys)


def assert_refused(outcome: tuple[int, str, str], code: int, *said: str) -> None:
    """One sentence that names the thing, a hint, nothing on stdout, no traceback."""
    ended, out, err = outcome
    assert (ended, out) == (code, ""), err
    sentence = err[err.rindex("pghaul: ") :]
    assert "hint: " in sentence
    for text in said:
        assert re.search(text, sentence), sentence


def test_a_wrong_address(cli: CommandLine) -> None:
    cli("server", "add", "old", "nowhere.invalid", "--user", "dba")
    assert_refused(cli.connecting("server", "test", "old"), 3, r"nowhere\.invalid")


def test_a_refused_port(cli: CommandLine) -> None:
    cli.describe(cli.lab.old, "--port", "1")
    assert_refused(cli.connecting("facts", "old"), 3, r"port 1 refuses")


def test_a_wrong_key(cli: CommandLine, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    cli.describe(cli.lab.old, "--identity", str(key))
    assert_refused(cli.connecting("facts", "old"), 3, "dba")


def test_a_key_that_is_not_there(cli: CommandLine, tmp_path: Path) -> None:
    key = tmp_path / "missing"
    key.touch()
    cli.describe(cli.lab.old, "--identity", str(key))
    key.unlink()
    assert_refused(cli.connecting("facts", "old"), 3, "missing")


def test_an_unknown_host_key_that_nobody_can_be_asked_about(cli: CommandLine) -> None:
    cli.describe(cli.lab.old)
    assert_refused(cli("facts", "old"), 3, "SHA256:")


def test_a_changed_host_key(cli: CommandLine, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    known = Path(os.environ["HOME"]) / ".ssh" / "known_hosts"
    known.write_text(f"{cli.lab.old.address} {other.with_suffix('.pub').read_text()}")
    cli.describe(cli.lab.old)
    refused = cli.connecting("facts", "old")
    assert_refused(refused, 3, "SHA256:.*SHA256:", "known_hosts")
    assert known.read_text().count("\n") == 1


def test_rights_that_do_not_work_are_said_with_their_reason(cli: CommandLine) -> None:
    cli.describe(cli.lab.old, "--rights", "sudo-postgres", user="pgonly")
    code, out, err = cli.connecting("server", "test", "old")
    assert code == 0, err  # root was not promised
    assert "they fail: old: a command must run as root, but the profile allows sudo only to postgres" in out
    assert "(to read the clusters): they work" in out
    cli.describe(cli.lab.old, user="plain")
    code, out, err = cli.connecting("server", "test", "old")
    assert code == 1, err
    assert "they fail: old: sudo asks plain for a password to become root" in out
    assert out.count("hint: ") == 2


def test_a_wrong_password(cli: CommandLine) -> None:
    """Typed on a real terminal, three times at most; the password is nowhere in the output."""
    cli.describe(cli.lab.old, "--identity", "/dev/null")
    key = sorted(cli.asker.fingerprints)
    arguments = ["facts", "old", *(word for one in key for word in ("--host-key", one))]
    code, shown = typed(arguments, answer="wrong one")
    assert code == 3, shown
    assert "hint: " in shown
    assert "wrong one" not in shown


def typed(arguments: list[str], *, answer: str) -> tuple[int, str]:
    """Run the program on a terminal of its own and type the answer at each password prompt; exit code and screen."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "gui.entry", *arguments])
    shown, until = "", time.monotonic() + 60
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:  # Linux's way to say that the other end is closed
            break
        shown += data.decode(errors="replace")
        if re.search(r"(?i)pass(word|phrase)[^\n]*: $", shown):
            os.write(terminal, f"{answer}\n".encode())
            shown += "\n"
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


def test_no_sudo(cli: CommandLine) -> None:
    """Facts name what is missing; what needs the right is refused before anything starts."""
    cli.set_up()
    cli.describe(cli.lab.old, "--rights", "sudo", user="nosudo")
    code, out, err = cli.connecting("facts", "old", "--json")
    assert code == 0, err
    assert any("sudo" in gap["reason"] or "root" in gap["reason"] for gap in json.loads(out)["gaps"]), out
    assert_refused(cli.connecting("bench", "m", "--suite", "quick", "--side", "old"), 2, "nosudo|/srv/pg")


def test_a_benchmark_tool_that_is_not_there(cli: CommandLine, without_fio: None) -> None:  # noqa: ARG001
    cli.set_up()
    assert_refused(cli.connecting("bench", "m", "--suite", "quick", "--side", "old"), 2, "fio")


@pytest.fixture
def without_fio(lab: Lab) -> Iterator[None]:
    lab.old.exec("mv", "/usr/bin/fio", "/usr/bin/fio.away")
    yield
    lab.old.exec("mv", "/usr/bin/fio.away", "/usr/bin/fio")


def test_no_postgresql_in_the_folder(cli: CommandLine) -> None:
    cli.set_up(cluster="/srv/pg/nothing")
    code, out, err = cli.connecting("check", "m", "--json")
    assert code == 1, err
    found = {check["id"]: check for check in json.loads(out)["checks"]}
    assert found["cluster-exists"]["status"] == "blocker"
    assert_refused(cli.connecting("plan", "m"), 2, "/srv/pg/nothing")


def test_a_full_disk(cli: CommandLine, full_disk: None) -> None:  # noqa: ARG001
    cli.set_up()
    assert_refused(cli.connecting("bench", "m", "--suite", "quick", "--side", "old"), 2, "47.. MiB free")


@pytest.fixture
def full_disk(lab: Lab) -> Iterator[None]:
    free = lab.old.exec("df", "--output=avail", "-B1", "/srv/pg").stdout.split()[1]
    lab.old.exec("fallocate", "-l", str(int(free) - 50_000_000), "/srv/pg/filler")
    yield
    lab.old.exec("rm", "/srv/pg/filler")


def test_a_volume_that_does_not_exist(cli: CommandLine) -> None:
    cli.set_up(clusters.DATA, "--old-volume", "/nowhere")
    assert_refused(cli.connecting("bench", "m", "--suite", "quick", "--side", "old"), 2, "/nowhere", "/srv/pg")


@pytest.fixture
def nasty_cluster(lab: Lab) -> Iterator[str]:
    """A stopped cluster in a folder whose name is a trap."""
    lab.old.exec("install", "-d", "-o", "postgres", "-g", "postgres", NASTY)
    initdb = f"{clusters.PREFIX}/bin/initdb"
    lab.old.exec(initdb, "-D", NASTY, "--locale=C.UTF-8", "-U", "postgres", user="postgres")
    yield NASTY
    lab.old.exec("rm", "-r", NASTY)


def test_a_data_folder_whose_name_is_a_trap(cli: CommandLine, nasty_cluster: str) -> None:
    cli.set_up(cluster=nasty_cluster)
    code, out, err = cli.connecting("check", "m", "--json")
    assert code in {0, 1}, err
    assert {c["id"]: c for c in json.loads(out)["checks"]}["cluster-exists"]["status"] == "pass"
    code, out, err = cli.connecting("plan", "m")
    assert code == 0, err
    code, out, err = cli.connecting("facts", "old", "--cluster", nasty_cluster, "--json")
    assert code == 0, err
    cluster = next(c for c in json.loads(out)["clusters"] if c["data_directory"] == nasty_cluster)
    assert cluster["control"]["state"] == "shut down"
    assert cluster["files"] > 500
