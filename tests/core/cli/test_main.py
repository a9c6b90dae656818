"""The command line without servers: usage, exit codes, the history's nouns, outputs for people and for programs."""

import argparse
import errno
import io
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from core import settings, this_workstation
from core.cli.bugs import LARGEST
from core.cli.main import main
from core.cli.terminal import Listener, failure
from core.errors import InputError
from core.facts.host_environment import HostEnvironment, Scheduled
from core.facts.model import Facts, FileSystem
from core.history.example import MOVE
from core.history.seal import KEY_FILE
from core.history.store import Store
from core.jobs import CommandStarted, Note
from core.migration.model.estimate import method_title
from tests.core.history import samples


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def add_servers(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("old", "new"):
        assert run(capsys, "server", "add", name, "192.0.2.1", "--user", "dba")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("server",),
        ("facts",),
        ("bench", "m", "--side", "left"),
        ("history", "list", "--limit", "-1"),
        ("history", "list", "--limit", "9" * 30),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_right(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert "usage: pghaul" in err


def test_version_and_help_end_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[0] == 0
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "pghaul estimate spring" in out


def test_a_server_is_described_listed_and_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    assert "pghaul server add " in run(capsys, "server", "list")[1]
    add_servers(capsys)
    code, out, _ = run(capsys, "server", "list", "--json")
    assert code == 0
    assert [server["name"] for server in json.loads(out)["servers"]] == ["new", "old"]
    assert run(capsys, "server", "remove", "old")[0] == 0
    assert "old" not in run(capsys, "server", "list")[1]


def test_a_name_is_taken_once_unless_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    add_servers(capsys)
    code, _, err = run(capsys, "server", "add", "old", "192.0.2.9")
    assert code == 2
    assert "hint:" in err
    assert run(capsys, "server", "add", "old", "192.0.2.9", "--replace")[0] == 0
    assert "192.0.2.9" in run(capsys, "server", "list")[1]


def test_a_move_knows_its_volumes_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    add_servers(capsys)
    cluster = """/srv/it's $(touch x) "ö"/data"""
    code, _, _ = run(capsys, "move", "add", "spring", "--old", "old", "--new", "new", "--cluster", cluster)
    assert code == 0
    move = json.loads(run(capsys, "move", "show", "spring", "--json")[1])["move"]
    assert move["cluster"] == move["target"] == cluster
    assert move["old_volume"] == """/srv/it's $(touch x) "ö\""""


def test_a_move_knows_the_limit_of_its_pre_copy(capsys: pytest.CaptureFixture[str]) -> None:
    add_servers(capsys)
    words = ("move", "add", "spring", "--old", "old", "--new", "new", "--cluster", "/pg", "--replace")
    for said, kept in (((), None), (("--precopy-limit", "50"), 50_000_000)):
        assert run(capsys, *words, *said)[0] == 0
        assert json.loads(run(capsys, "move", "show", "spring", "--json")[1])["move"]["precopy_limit"] == kept
        assert ("50.0 MB/s" in run(capsys, "move", "show", "spring")[1]) is bool(kept)
    for wrong in ("0", "-1", "much", "1.5"):
        code, _, refused = run(capsys, *words, "--precopy-limit", wrong)
        assert code == 2
        assert f"'{wrong}' is not a whole number of MB/s, which must be 1 or more" in refused


def test_a_move_tells_what_of_it_was_recorded_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add_servers(capsys)
    words = ("--old", "old", "--new", "new", "--cluster", "/pg", "--target", "/pg")
    for name in ("given", "own"):
        assert run(capsys, "move", "add", name, *words)[0] == 0
    hook = ("stop-applications", "--side", "old", "--command", "true")
    assert run(capsys, "move", "hook", "given", *hook)[0] == 0
    yours = [line.split() for line in run(capsys, "move", "list")[1].splitlines()]
    shown_before = run(capsys, "move", "show", "given")[1]
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "of another user"))
    lines = run(capsys, "move", "list")[1].splitlines()
    assert [line.split()[0] for line in lines[2:] if line.split() not in yours] == ["given"]
    (added,) = set(run(capsys, "move", "show", "given")[1].splitlines()) - set(shown_before.splitlines())
    assert added.endswith(": hook stop-applications")
    assert json.loads(run(capsys, "move", "show", "own", "--json")[1])["from_elsewhere"] == []


def test_moves_are_listed_and_shown_though_the_key_of_the_seal_cannot_be_used(
    capsys: pytest.CaptureFixture[str],
) -> None:
    add_servers(capsys)
    run(capsys, "move", "add", "spring", "--old", "old", "--new", "new", "--cluster", "/pg", "--target", "/pg")
    run(capsys, "move", "hook", "spring", "stop-applications", "--side", "old", "--command", "true")
    (settings.config_folder() / KEY_FILE).chmod(0o640)
    for words in (("list",), ("show", "spring")):
        code, out, err = run(capsys, "move", *words)
        assert (code, "spring" in out) == (0, True)
        assert KEY_FILE in err


def test_who_may_have_read_the_history_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        store.path.chmod(0o644)
        store.path.parent.chmod(0o755)
    assert run(capsys, "move", "list")[2].startswith("warning: ")
    assert not run(capsys, "move", "list")[2]


def test_a_move_shows_the_scheduled_jobs_of_both_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    add_servers(capsys)
    words = ("move", "add", "spring", "--old", "old", "--new", "new", "--cluster", "/pg", "--target", "/pg")
    assert run(capsys, *words)[0] == 0
    assert "scheduled jobs" not in run(capsys, "move", "show", "spring")[1]
    job = Scheduled("/etc/cron.d/backup", "postgres", "0 3 * * * postgres PGPASSWORD=*** pg_dump \x1b[2Jshop")
    with Store.open() as store:
        for server, jobs in (("old", (job,)), ("new", None)):
            store.save_facts(Facts(server, datetime.now(UTC), 1.0, 1, host_environment=HostEnvironment(schedule=jobs)))
    out = run(capsys, "move", "show", "spring")[1]
    assert "  /etc/cron.d/backup  -    postgres  0 3 * * * postgres PGPASSWORD=*** pg_dump ?[2Jshop\n" in out
    assert re.search(r"\bnew\b", out.partition("pg_dump ?[2Jshop\n")[2].partition("\n")[0])


def test_a_volume_is_the_mount_point_that_the_facts_know(capsys: pytest.CaptureFixture[str]) -> None:
    """The target's parent folder is often not there yet: no benchmark could start in it."""
    add_servers(capsys)
    mounted = tuple(FileSystem(point, "/dev/sda", "ext4", (), 1, 1) for point in ("/", "/srv", "/srv/fast"))
    with Store.open() as store:
        store.save_facts(Facts("new", datetime.now(UTC), 1.0, 1, file_systems=mounted))
    words = ("move", "add", "spring", "--old", "old", "--new", "new", "--cluster", "/pg/15/main", "--json")
    for target, volume in (("/srv/fast/pg/15/main", "/srv/fast"), ("/srv/faster", "/srv"), ("/var/lib/pg", "/")):
        move = json.loads(run(capsys, *words, "--target", target, "--replace")[1])
        assert (move["old_volume"], move["new_volume"]) == ("/pg/15", volume)
    named = run(capsys, *words, "--target", "/srv/fast/pg", "--new-volume", "/mnt/", "--replace")[1]
    assert json.loads(named)["new_volume"] == "/mnt"


@pytest.mark.parametrize(
    "arguments",
    [
        ("move", "add", "m", "--old", "old", "--new", "new", "--cluster", "relative/folder"),
        ("move", "add", "m", "--old", "nobody", "--new", "new", "--cluster", "/srv/pg"),
        ("move", "show", "unknown"),
        ("facts", "unknown"),
        ("bench", "unknown"),
        ("compare", "unknown"),
        ("compare", "1", "two"),
        ("check", "unknown"),
        ("check",),
        ("estimate",),
        ("estimate", "--spec", "/nowhere/spec.toml"),
        ("plan", "unknown"),
        ("report", "unknown", "-o", "x.pdf"),
        ("parse", "fio", "/nowhere"),
    ],
)
def test_wrong_input_ends_with_2_and_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    add_servers(capsys)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("pghaul: ")
    assert "Traceback" not in err


def test_the_history_names_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    add_servers(capsys)
    path = Path(run(capsys, "history", "where")[1].strip())
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_commands_of_the_history_say_what_they_were_for(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
        store.record_command(None, CommandStarted("gannon-old", "dba", "sh -c 'true\x1b[2J'"))
    untitled, titled, _ = run(capsys, "history", "commands")[1].split("\n\n")
    assert untitled.endswith("dba@gannon-old no exit status\nsh -c 'true\\x1b[2J'")
    heading, command = titled.split("\n")
    assert re.search(r"root@gannon-old drop caches, .*\b0$", heading)
    assert command.endswith("drop_caches'")


@pytest.mark.slow
def test_each_line_of_the_history_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
        store.save_checks(samples.MOVE.name, ())
        store.record_report(samples.MOVE.name, Path("spring.pdf"))
        entries = store.entries()
    shown = {
        (entry.kind, entry.reference): run(capsys, "history", "show", entry.kind, str(entry.reference))
        for entry in entries
    }
    assert {code for code, _, _ in shown.values()} == {0}
    assert "\n7 checks, 1 blocker, 1 unknown" in shown["checks", 1][1]
    assert "0 checks" in shown["checks", 2][1]
    assert method_title("cold-copy") in shown["estimate", 1][1]
    assert samples.probes()[0].command in shown["probe", 1][1]
    listed = run(capsys, "history", "list")[1]
    assert re.search(r" checks +2 ", listed)
    out = run(capsys, "history", "show", "checks", "1", "--json")[1]
    assert [check["id"] for check in json.loads(out)["checks"]] == [check.id for check in samples.checks()]
    assert run(capsys, "history", "show", "checks", "3")[0] == 2
    assert run(capsys, "history", "show", "nothing", "1")[0] == 2


def test_every_check_is_listed_with_what_it_compares(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--list", "--json")
    assert code == 0
    checks = json.loads(out)["checks"]
    assert len({check["id"] for check in checks}) == len(checks) > 5
    assert all(check["title"] and check["compares"] for check in checks)


def test_an_estimate_from_a_file_needs_no_server(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text("[cluster]\nsize_bytes = 1_220_000_000_000\n[copy]\nobserved_bytes_per_second = 50_000_000\n")
    code, out, _ = run(capsys, "estimate", "--spec", str(spec), "--json")
    assert code == 0
    methods = {method["method"]: method for method in json.loads(out)["methods"]}
    assert methods["cold-copy"]["duration_seconds"]["likely"] == pytest.approx(1_220_000_000_000 / 50e6, rel=0.15)
    assert run(capsys, "estimate", "--spec", str(spec))[0] == 0


@pytest.mark.parametrize("shape", [(), ("--json",)], ids=["text", "json"])
def test_facts_are_masked_like_reports(capsys: pytest.CaptureFixture[str], shape: tuple[str, ...]) -> None:
    """Also where other servers and people are named; what is in hexadecimal no mask can look into."""
    named = ("pluto", "neptune.example.org", "ada", "192.0.2.77", "dba@example.org", "acme_app", b"acme_app".hex())
    for name in ("pluto", "neptune.example.org"):
        assert run(capsys, "server", "add", name, "192.0.2.1", "--user", "ada")[0] == 0
    jobs = (Scheduled("/etc/crontab", "ada", "pg_dump -h neptune.example.org | mail dba@example.org # 192.0.2.77"),)
    with Store.open(settings.data_folder()) as store:
        raw = {"/srv/pg/data: catalog": f"role|{b'acme_app'.hex()}", "tools": "psql -U acme_app"}
        of_host = HostEnvironment(schedule=jobs)
        store.save_facts(Facts("pluto", datetime.now(UTC), 1.0, 1, raw=raw, host_environment=of_host))
    assert "neptune.example.org" in run(capsys, "facts", "pluto", "--last", *shape)[1]
    code, out, _ = run(capsys, "facts", "pluto", "--last", "--mask", *shape)
    assert code == 0
    assert [each for each in named if each in out] == []
    assert re.search(r"pg_dump -h server-\d \| mail person-\d # address-1", out)


BUGS = {
    "what nobody foresaw": RuntimeError("unforeseen"),
    "a system call": OSError(errno.ENOENT, "No such file or directory", "/somewhere"),
    "a wrong value": KeyError("missing"),
    "text that no encoding takes": ValueError("\udcff"),
}


PLACES: dict[str, tuple[type, str]] = {
    "in the command": (Store, "moves"),
    "while the arguments are parsed": (argparse.ArgumentParser, "parse_args"),
}


def bug(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    place: tuple[type, str] = (Store, "moves"),
) -> str:
    """Return what a command says that ends with this, raised by the method `place`."""

    def fails(*_: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(*place, fails)
        code, out, err = run(capsys, "move", "list")
    assert (code, out) == (70, "")
    return err


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("error", BUGS.values(), ids=BUGS)
def test_a_bug_ends_with_70_and_is_whole_on_the_terminal_and_in_the_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception, place: tuple[type, str]
) -> None:
    said = [bug(capsys, monkeypatch, error, place) for _ in range(2)]
    log = settings.data_folder() / "bugs.log"
    entries = log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert entries.count("UTC: pghaul move list\n") == 2
    assert len(re.findall(rf"^(?:\w+\.)*{type(error).__name__}: ", entries, re.MULTILINE)) == 2
    for err in said:
        first, _, traceback = err.partition("\n\n")
        assert first.startswith("pghaul: ")
        assert str(log) in first
        assert re.search(rf'^  File "{re.escape(__file__)}", line \d+, in fails$', traceback, re.MULTILINE)
        assert traceback.splitlines()[-1].startswith(type(error).__name__)
        assert all(line in entries for line in traceback.splitlines()[:-1])


def test_ctrl_c_while_the_arguments_are_parsed_cancels_with_4(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(argparse.ArgumentParser, "parse_args", interrupted)
        assert run(capsys, "move", "list") == (4, "", "pghaul: cancelled\n")


def test_the_log_of_bugs_contains_no_secret_and_does_not_grow_without_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = settings.data_folder() / "bugs.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"x" * (LARGEST + 1))
    bug(capsys, monkeypatch, RuntimeError("PGPASSWORD=hunter2 psql"))
    assert log.stat().st_size < LARGEST
    assert "hunter2" not in log.read_text()
    assert "RuntimeError: " in log.read_text()


def link_to_file(log: Path) -> None:
    (log.parent / "victim").touch()
    log.symlink_to("victim")


UNWRITABLE_LOGS: dict[str, Callable[[Path], None]] = {
    "a folder": Path.mkdir,
    "a link to a file": link_to_file,
    "a link to nothing": lambda log: log.symlink_to("victim"),
    "a pipe that nobody reads": os.mkfifo,
    "a pipe that is read": os.mkfifo,
}


@contextmanager
def reader_of(pipe: Path) -> Iterator[None]:
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield
        with suppress(BlockingIOError):
            assert os.read(handle, 1) == b""
    finally:
        os.close(handle)


@pytest.mark.parametrize("kind", UNWRITABLE_LOGS)
def test_a_log_that_cannot_be_written_is_not_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    log = settings.data_folder() / "bugs.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    UNWRITABLE_LOGS[kind](log)
    with reader_of(log) if kind == "a pipe that is read" else nullcontext():
        err = bug(capsys, monkeypatch, RuntimeError("unforeseen"))
    assert str(log) not in err
    assert err.endswith("\nRuntimeError: unforeseen\n")
    assert [path.name for path in log.parent.glob("victim")] == (["victim"] if kind == "a link to a file" else [])
    assert all(not path.read_bytes() for path in log.parent.glob("victim"))


@pytest.mark.skipif(os.name != "posix", reason="the database of users is one of POSIX")
def test_a_bug_of_a_user_without_a_home_directory_is_whole_on_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder of data can be named then: what failed is the bug, and its log must not fail as well."""
    import pwd

    def has_no_entry(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", has_no_entry)
    for name in ("HOME", "PGHAUL_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    code, out, err = run(capsys, "move", "list")
    assert (code, out) == (70, "")
    assert err.startswith("pghaul: this is a bug in pghaul.")
    assert err.count("Traceback (most recent call last)") == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_and_a_closed_terminal_cancel_with_4(number: signal.Signals) -> None:
    """A connection to a server that never says a word is cancelled."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = str(silent.getsockname()[1])
        assert main(["server", "add", "far", "127.0.0.1", "--port", port, "--user", "x"]) == 0
        words = [sys.executable, "-m", "gui.entry", "server", "test", "far"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = silent.accept()
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
            connection.close()
    assert process.returncode == 4, err
    assert "cancelled" in err


def test_a_reader_that_went_away_stops_no_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pghaul … 2>&1 | head`: what is said meanwhile is lost, but the work and its cleaning up go on."""
    reading, writing = os.pipe()
    os.close(reading)
    with monkeypatch.context() as patched, os.fdopen(writing, "w", closefd=False) as gone:
        patched.setattr(sys, "stderr", gone)
        listener = Listener()
        listener(Note("nobody reads this"))
        listener(CommandStarted("old", "root", "true"))
        os.dup2(os.open(os.devnull, os.O_WRONLY), writing)  # else closing would complain about what is buffered
    assert capsys.readouterr().out == ""


class Unread(io.RawIOBase):
    """A pipe whose reader has gone, as Windows tells of it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.number

    def write(self, _data: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")


@pytest.mark.parametrize(("windows", "code"), [(True, 0), (False, 70)])
def test_on_windows_a_reader_that_went_away_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, windows: bool, code: int
) -> None:
    """Elsewhere, an invalid argument is one."""
    with (tmp_path / "out").open("wb") as out, monkeypatch.context() as patched:
        # no history is opened under the rules of Windows: `check --list` needs none
        patched.setattr(this_workstation, "on_windows", lambda: windows)
        patched.setattr(sys, "stdout", io.TextIOWrapper(cast("BinaryIO", Unread(out.fileno())), write_through=True))
        assert main(("check", "--list")) == code
        patched.setattr(sys.stdout, "close", lambda: None)
    assert ("bug" in capsys.readouterr().err) == (code == 70)


@pytest.mark.slow
def test_a_file_takes_every_character_in_whatever_encoding_the_system_prefers(tmp_path: Path) -> None:
    """A file or a pipe has the language's encoding on Windows, and with such a locale elsewhere."""
    assert main(("history", "example", str(tmp_path / "example"))) == 0
    for encoding in ("cp1252", "iso8859-1", "ascii"):
        variables = {**os.environ, "PYTHONIOENCODING": encoding, "PGHAUL_DATA": str(tmp_path / "example")}
        words = [sys.executable, "-m", "gui.entry", "compare", MOVE]
        ended = subprocess.run(words, env=variables, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr.decode()
        assert "±" in ended.stdout.decode()


@pytest.mark.parametrize(
    ("verbose", "title", "said"),
    [
        (False, "drop caches", "root@old: drop caches\n"),
        (True, "drop caches", "root@old: drop caches\nroot@old$ sync\necho 3\n"),
        (False, "", "root@old$ sync…\n"),
        (True, "", "root@old$ sync\necho 3\n"),
    ],
)
def test_a_command_is_shown_by_what_it_is_for(
    capsys: pytest.CaptureFixture[str], verbose: bool, title: str, said: str
) -> None:
    Listener(verbose=verbose)(CommandStarted("old", "root", "sync\necho 3", title=title))
    assert capsys.readouterr().err == said


def test_text_of_a_server_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Listener()(Note("a\x1b[31mb"))
    assert capsys.readouterr().err == "a\\x1b[31mb\n"
    error = InputError("a\x1b[2Jb", "c\x07")
    assert failure(error) == "pghaul: a\\x1b[2Jb\n  hint: c\\x07"
    error.add_note("d\x07")
    assert failure(error) == "pghaul: a\\x1b[2Jb\n  hint: c\\x07\n  d\\x07"


@pytest.mark.slow
def test_the_command_line_loads_no_qt() -> None:
    code = (
        "import sys; from gui.entry import main; sys.argv = ['pghaul', 'move', 'list']; "
        "code = main(); sys.exit(code or 'PySide6' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
