"""Commands on real hosts: their output, rights and end, and that nothing of them stays on the server."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import AuthenticationError, Cancelled, CommandError, UnreachableError
from core.jobs import CommandEnded, CommandStarted, Event, Job, Note
from core.redaction import MASK
from core.servers import connection, remote_process, running, secrets
from core.servers.connection import Server, connect
from core.servers.profiles import Profile, Rights, ToKeep
from core.servers.secrets import session_secrets
from core.servers.shell import Secret, command, environment
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import LabError, killed_at_the_end, wait_until
from tests.lab.root import PASSWORD
from tests.shells import sh

pytestmark = pytest.mark.lab

NASTY = 'it\'s $(touch x) "ö" `id` \\ *'


class Person:
    """Knows the host keys, answers secrets from a list."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:  # noqa: ARG002
        return True

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:  # noqa: ARG002
        self.asked.append(kind)
        return self.answers.pop(0)


@pytest.fixture(autouse=True)
def _forgetful(plain_profile: Profile) -> Iterator[None]:
    yield
    session_secrets.forget_server(plain_profile.name)


def running_on(host: Host, words: str) -> bool:
    """Whether a process with these words runs on the host."""
    return host.exec("pgrep", "-f", "-x", words, check=False).returncode == 0


def gone(host: Host, words: str) -> None:
    wait_until(lambda: not running_on(host, words), f"{words} on {host.name} to end", seconds=10)


def cancel_when(condition: Callable[[], bool], job: Job) -> threading.Thread:
    def work() -> None:
        wait_until(condition, "the command to begin", seconds=30)
        job.cancel()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_any_argument_arrives(old_server: Server) -> None:
    done = old_server.run(command("printf", "%s", NASTY), Job())
    assert (done.stdout, done.stderr, done.exit_status) == (NASTY, "", 0)


def test_much_of_both_outputs(old_server: Server) -> None:
    both = sh("head -c 5000000 /dev/zero >&2; head -c 3000000 /dev/zero; head -c 5000000 /dev/zero >&2")
    done = old_server.run(both, Job())
    assert (len(done.stdout), len(done.stderr)) == (3_000_000, 10_000_000)


def test_output_without_end_is_stopped(lab: Lab, old_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BoundedOutput", lambda: remote_process.BoundedOutput(1 << 20))
    with pytest.raises(CommandError, match="wrote more than"):
        old_server.run(command("yes", "pghaul endless"), Job())
    gone(lab.old, "yes pghaul endless")
    received: list[int] = []
    shown = old_server.run(
        command("head", "-c", 3 << 20, "/dev/zero"), Job(), on_stdout=lambda data: received.append(len(data))
    )
    assert sum(received) == 3 << 20
    assert "more bytes were not kept" in shown.stdout


def test_output_that_is_no_text(old_server: Server) -> None:
    assert old_server.run(command("printf", r"\303\050\377"), Job()).stdout == "\ufffd(\ufffd"


def test_an_input_is_delivered(old_server: Server) -> None:
    data = os.urandom(3_000_000)
    received = bytearray()
    old_server.run(command("cat"), Job(), user="postgres", stdin=data, on_stdout=received.extend)
    assert bytes(received) == data


def test_an_input_that_nobody_reads_does_no_harm(old_server: Server) -> None:
    assert old_server.run(command("true"), Job(), stdin=b"x" * 5_000_000).exit_status == 0


def test_a_login_shell_that_talks(lab: Lab, old_server: Server) -> None:
    lab.old.exec("sh", "-c", "echo 'echo hello from bashrc; echo and >&2' >/home/dba/.bashrc")
    try:
        assert old_server.run(command("echo", "x"), Job()).stdout == "x\n"
    finally:
        lab.old.exec("rm", "/home/dba/.bashrc")


def test_an_unknown_command(old_server: Server) -> None:
    with pytest.raises(CommandError, match=r"`no-such-program x` .*\b127\b.*not found") as caught:
        old_server.run(command("no-such-program", "x"), Job())
    assert caught.value.exit_status == 127
    assert caught.value.exit_status == 127
    assert " old" in caught.value.hint


def test_the_tool_states_which_exit_statuses_are_fine(old_server: Server) -> None:
    assert old_server.run(command("false"), Job(), accept=(0, 1)).exit_status == 1
    with pytest.raises(CommandError, match=r"cannot access '/nope'") as caught:
        old_server.run(command("ls", "/nope"), Job())
    assert (caught.value.exit_status, caught.value.command) == (2, "ls /nope")


def test_what_is_reported_masks_secrets(old_server: Server) -> None:
    events: list[Event] = []
    told = environment({"TOKEN": Secret("hunter2")}, sh('echo "$TOKEN" >&2; false'))
    with pytest.raises(CommandError) as caught:
        old_server.run(told, Job(events.append), user="root", title="tell a secret")
    started, ended = events
    assert isinstance(started, CommandStarted)
    assert isinstance(ended, CommandEnded)
    assert started.title == "tell a secret"
    assert (started.user, ended.exit_status) == ("root", 1)
    assert started.command == ended.command == caught.value.command
    assert MASK in started.command
    assert "hunter2" not in started.command


def test_nothing_secret_in_what_the_server_logs_or_lists(lab: Lab, old_server: Server) -> None:
    secret = Secret("hunter2")
    listed = old_server.run(sh("ps axo args; : @secret@", secret=secret), Job(), user="root").stdout
    assert "hunter2" not in listed
    assert lab.old.exec("grep", "-rs", "hunter2", "/var/log", check=False).stdout == ""


@pytest.mark.parametrize(("user", "trap"), [(None, ""), ("postgres", ""), ("root", ""), ("root", "trap '' TERM; ")])
def test_cancel_ends_the_whole_tree(lab: Lab, old_server: Server, user: str | None, trap: str) -> None:
    job, words = Job(), "sleep 1234"
    thread = cancel_when(lambda: running_on(lab.old, words), job)
    with pytest.raises(Cancelled):
        old_server.run(sh("sh -c @inner@ & sleep 1235", inner=f"{trap}{words}; :"), job, user=user)
    thread.join()
    assert not running_on(lab.old, words)
    assert not running_on(lab.old, "sleep 1235")


@pytest.mark.parametrize("user", [None, "postgres", "root"])
@pytest.mark.parametrize("stdin", [b"", b"x", b"x" * (4 << 20)], ids=["no input", "little input", "much input"])
def test_what_is_cancelled_while_it_starts_does_not_run_on(
    lab: Lab, old_server: Server, user: str | None, stdin: bytes
) -> None:
    """It runs already when the cancel is seen, and its word that it has begun was not read yet."""

    class Late(Job):
        def check(self) -> None:
            with suppress(LabError):  # not all that it needs was sent yet
                wait_until(lambda: running_on(lab.old, "sleep 1242"), "the command to begin", seconds=0.5)
                raise Cancelled

    with pytest.raises(Cancelled):
        old_server.run(sh("sleep 1242; cat"), Late(), user=user, stdin=stdin)
    assert not running_on(lab.old, "sleep 1242")


def test_the_deadline_ends_the_whole_tree(lab: Lab, old_server: Server) -> None:
    with pytest.raises(CommandError, match=r" 1 s\b") as caught:
        old_server.run(sh("sleep 1236 & sleep 1237"), Job(), user="root", deadline=1)
    assert caught.value.exit_status is None
    assert not running_on(lab.old, "sleep 123[67]")


def test_a_daemon_that_keeps_the_output_open_is_not_waited_for(lab: Lab, old_server: Server) -> None:
    assert old_server.run(sh("echo begun; setsid sleep 1238 &"), Job(), deadline=30).stdout == "begun\n"
    lab.old.exec("pkill", "-f", "sleep 1238")


def test_a_command_that_a_signal_ended(old_server: Server) -> None:
    assert old_server.run(sh("sh -c 'kill -KILL $$'"), Job(), accept=(137,)).exit_status == 137


def test_a_killed_workstation_leaves_nothing_running(lab: Lab, old_profile: Profile) -> None:
    program = (
        "import sys\n"
        "from core.servers.connection import connect\nfrom core.jobs import Job\n"
        "from core.servers.profiles import Nobody, Profile\nfrom tests.shells import sh\n"
        "class Trust(Nobody):\n    def accept_host_key(self, *_): return True\n"
        "server = connect(Profile('old', sys.argv[1], user='dba', identity_file=sys.argv[2]), Trust(), Job())\n"
        "server.run(sh('sleep 1239 & sleep 1240'), Job(), user='root', deadline=900)\n"
    )
    words = [sys.executable, "-c", program, old_profile.address, str(old_profile.identity_file)]
    with killed_at_the_end(subprocess.Popen(words, cwd=Path(__file__).parents[2])):
        wait_until(lambda: running_on(lab.old, "sleep 1240"), "the command to begin", seconds=30)
    gone(lab.old, "sleep 1239")
    gone(lab.old, "sleep 1240")


def test_a_pulled_cable_is_noticed(
    lab: Lab, old_profile: Profile, asker: LabAsker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # sooner than the default, so that other connections outlive the cut
    monkeypatch.setattr(connection, "INTERVAL", 0.5)
    monkeypatch.setattr(connection, "PATIENCE", 1.5)
    with connect(old_profile, asker, Job()) as server:
        timer = threading.Timer(0.5, lab.cut, ["old"])
        timer.start()
        with pytest.raises(UnreachableError, match=r"^old .*`sleep 1241`"):
            server.run(command("sleep", "1241"), Job(), deadline=60)
        timer.join()
        assert not server.connected
        with pytest.raises(UnreachableError):
            server.run(command("true"), Job())
    lab.mend("old")
    lab.old.exec("pkill", "-f", "sleep 1241")


def test_many_threads_share_one_connection(old_server: Server) -> None:
    def one(number: int) -> str:
        return old_server.run(sh("sleep 0.2; echo @number@", number=number), Job()).stdout

    with ThreadPoolExecutor(14) as pool:
        assert list(pool.map(one, range(14))) == [f"{number}\n" for number in range(14)]


def test_rights_by_sudo(old_server: Server) -> None:
    for user in ("root", "postgres"):
        assert old_server.run(command("id", "-un"), Job(), user=user).stdout == f"{user}\n"
        assert old_server.can_become(user, Job())
    assert not old_server.can_become("no-such-user", Job())
    with pytest.raises(CommandError, match="no-such-user"):
        old_server.run(command("id"), Job(), user="no-such-user")


def test_a_sudo_password_is_asked_for_once(plain_profile: Profile) -> None:
    person = Person(PASSWORD)
    with connect(plain_profile, person, Job()) as server:
        assert server.run(command("id", "-un"), Job(), user="root").stdout == "root\n"
        assert server.run(command("cat"), Job(), user="postgres", stdin=b"in\n").stdout == "in\n"
        with pytest.raises(CommandError, match=r" 1 s\b"):
            server.run(command("sleep", "1242"), Job(), user="root", deadline=1)
    assert person.asked == ["sudo"]


def test_a_sudo_password_is_kept_once_sudo_has_accepted_it(
    plain_profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []
    monkeypatch.setattr(secrets, "remembered", lambda _key: None)
    monkeypatch.setattr(secrets, "remember", lambda key, value: kept.append(f"{key.kind} {value}"))
    with connect(plain_profile, Person(ToKeep("wr0ng"), ToKeep(PASSWORD)), Job()) as server:
        server.run(command("id", "-un"), Job(), user="root")
    assert kept == [f"sudo {PASSWORD}"]


def test_the_sudo_password_never_reaches_the_command(
    lab: Lab, plain_profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sudo needs none here: a password sent unasked would become the command's input."""
    lab.old.exec("sh", "-c", "echo 'plain ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/zz")
    monkeypatch.setattr(secrets, "remember", lambda key, value: pytest.fail(f"{key} {value}: nobody has accepted it"))
    try:
        with connect(plain_profile, Person(ToKeep(PASSWORD)), Job()) as server:
            assert server.run(command("cat"), Job(), user="root", stdin=b"mine").stdout == "mine"
            assert server.run(command("cat"), Job(), user="root").stdout == ""
    finally:
        lab.old.exec("rm", "/etc/sudoers.d/zz")


def test_a_wrong_sudo_password_is_asked_for_again(plain_profile: Profile) -> None:
    person = Person("wr0ng", PASSWORD)
    with connect(plain_profile, person, Job()) as server:
        assert server.run(command("id", "-un"), Job(), user="root").stdout == "root\n"
    assert person.asked == ["sudo", "sudo"]


def test_wrong_sudo_passwords_have_an_end(plain_profile: Profile) -> None:
    person = Person("wr0ng", "wr0ng", "wr0ng")
    with connect(plain_profile, person, Job()) as server:
        with pytest.raises(AuthenticationError, match="sudo did not accept the password of plain") as caught:
            server.run(command("id"), Job(), user="root")
        assert "wr0ng" not in str(caught.value)


def test_wrong_sudo_passwords_are_not_asked_for_again_in_the_same_job(plain_profile: Profile) -> None:
    person, job = Person("wr0ng", "wr0ng", "wr0ng", PASSWORD), Job()
    with connect(plain_profile, person, job) as server:
        assert [server.can_become(user, job) for user in ("root", "postgres")] == [False, False]
        assert len(person.asked) == 3
        assert server.can_become("postgres", Job())


def test_no_sudo_password_given(plain_profile: Profile) -> None:
    with (
        connect(plain_profile, Person(None), Job()) as server,
        pytest.raises(AuthenticationError, match="needs the sudo password of plain, but none was given"),
    ):
        server.run(command("id"), Job(), user="root")


@pytest.mark.parametrize(
    ("user", "rights", "sentence", "hint"),
    [
        ("plain", Rights.SUDO, "sudo asks plain for a password to become root", "sudo with a password"),
        ("nosudo", Rights.SUDO, "sudo asks nosudo for a password", "sudo with a password"),
        ("nosudo", Rights.SUDO_PASSWORD, "sudo does not allow nosudo", "sudoers"),
        ("pgonly", Rights.SUDO, "sudo (asks pgonly for a password|does not allow pgonly)", "sudo"),
        ("pgonly", Rights.SUDO_POSTGRES, "the profile allows sudo only to postgres", "rights"),
        ("nosudo", Rights.NONE, "the profile does not allow nosudo to run commands as other users", "log in as root"),
    ],
)
def test_missing_rights(plain_profile: Profile, user: str, rights: Rights, sentence: str, hint: str) -> None:
    profile = replace(plain_profile, user=user, rights=rights)
    with connect(profile, Person(PASSWORD), Job()) as server:
        with pytest.raises(AuthenticationError, match=sentence) as caught:
            server.run(command("id"), Job(), user="root")
        assert hint in caught.value.hint
        assert server.run(command("id", "-un"), Job()).stdout == f"{user}\n"


def test_postgres_alone(pgonly_profile: Profile, asker: LabAsker) -> None:
    with connect(pgonly_profile, asker, Job()) as server:
        assert server.run(command("id", "-un"), Job(), user="postgres").stdout == "postgres\n"
        assert not server.can_become("root", Job())


def test_a_server_without_sudo(lab: Lab, new_server: Server) -> None:
    lab.new.exec("mv", "/usr/bin/sudo", "/usr/bin/sudo.away")
    try:
        with pytest.raises(AuthenticationError, match="sudo is not installed, so dba cannot run commands as root"):
            new_server.run(command("id"), Job(), user="root")
    finally:
        lab.new.exec("mv", "/usr/bin/sudo.away", "/usr/bin/sudo")


def test_what_cannot_be_ended_is_told(lab: Lab, old_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Event] = []
    monkeypatch.setattr("core.servers.remote_process.kill_script", lambda *_: sh("exit 1"))
    with pytest.raises(CommandError):
        old_server.run(command("sleep", "1.7"), Job(events.append), deadline=0.3)
    gone(lab.old, "sleep 1.7")
    lab.old.exec("pkill", "-x", "-f", "sleep 5")  # the server's own watcher, which waits to KILL what is left
    assert any(isinstance(event, Note) and "could not be ended" in event.text for event in events)


def test_a_lost_connection_is_said_with_what_ended_it(lab: Lab, old_profile: Profile, asker: LabAsker) -> None:
    chain = "add table inet cut; add chain inet cut in { type filter hook input priority 0; }"
    with connect(old_profile, asker, Job()) as server:
        port = server.run(command("sh", "-c", "echo $SSH_CONNECTION"), Job()).stdout.split()[1]
        assert "ETIMEDOUT" in server.lost("waiting", TimeoutError("too late")).message  # of what did not end it
        lab.old.exec("nft", f"{chain}; add rule inet cut in tcp sport {port} reject with tcp reset")
        try:
            for _ in range(2):  # what comes later finds no connection any more
                with pytest.raises(UnreachableError, match=r"was lost while .*: .*\(ECONNRESET\)"):
                    server.run(command("true"), Job())
        finally:
            lab.old.exec("nft", "delete table inet cut")


def test_beats_come_as_long_as_somebody_follows(old_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BEAT_SECONDS", 0.1)
    done = old_server.run(command("head", "-n", "3"), Job(), beats=True, deadline=20.0)
    assert done.stdout == "\n\n\n"
