"""Detached jobs on a real host: they outlive the connection, are found again, followed, ended and removed."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest

from core.errors import Cancelled, CommandError, InputError
from core.jobs import Job
from core.servers import remote_jobs
from core.servers.connection import Server, connect
from core.servers.profiles import Profile
from core.servers.remote_jobs import RemoteJob, RemoteState
from core.servers.shell import Secret, command, environment
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.shells import sh

pytestmark = pytest.mark.lab

COUNT = "for number in 1 2 3; do echo line $number; sleep 0.3; done; echo oops >&2; exit 7"


@pytest.fixture(autouse=True)
def _removed(clean_hosts: None, old_server: Server) -> Iterator[None]:  # noqa: ARG001  it looks after this one
    """No job of a test is left, however the test ended; and then nothing else is."""
    yield
    for each in remote_jobs.find(old_server, Job()):
        remote_jobs.kill(old_server, each, Job())
        remote_jobs.remove(old_server, each, Job())


@pytest.mark.parametrize("user", [None, "postgres", "root"])
def test_a_job_outlives_its_connection(old_profile: Profile, asker: LabAsker, user: str | None) -> None:
    with connect(old_profile, asker, Job()) as server:
        begun = remote_jobs.start(server, sh(COUNT), Job(), title="it's “counting”", user=user)
        assert remote_jobs.state(server, begun, Job()).running
    with connect(old_profile, asker, Job()) as server:
        assert remote_jobs.find(server, Job()) == (begun,)
        output = bytearray()
        done = remote_jobs.follow(server, begun, Job(), on_output=output.extend)
        assert done.exit_status == 7
        assert done.stdout == output.decode() == "line 1\nline 2\nline 3\noops\n"
        remote_jobs.remove(server, begun, Job())
        assert remote_jobs.find(server, Job()) == ()


def test_a_job_that_ended_while_nobody_was_connected(lab: Lab, old_profile: Profile, asker: LabAsker) -> None:
    with connect(old_profile, asker, Job()) as server:
        begun = remote_jobs.start(server, sh("sleep 0.5; echo done; exit 3"), Job(), title="short")
    wait_until(lambda: lab.old.exec("test", "-e", f"{begun.folder}/exit", check=False).returncode == 0, "its end")
    with connect(old_profile, asker, Job()) as server:
        assert remote_jobs.state(server, begun, Job()) == RemoteState(running=False, exit_status=3, log_bytes=5)
        assert remote_jobs.follow(server, begun, Job()).stdout == "done\n"
        assert remote_jobs.follow(server, begun, Job(), offset=2).stdout == "ne\n"


def test_when_a_job_ended_is_known_to_who_comes_later(old_server: Server) -> None:
    begun = remote_jobs.start(old_server, command("sleep", 60), Job(), title="unseen")
    assert remote_jobs.ended_ago(old_server, begun, Job()) is None
    remote_jobs.kill(old_server, begun, Job())
    old_server.run(command("touch", "-d", "1 hour ago", "--", f"{begun.folder}/exit"), Job())
    ago = remote_jobs.ended_ago(old_server, begun, Job())
    assert ago is not None
    assert 3600 <= ago < 3700
    remote_jobs.remove(old_server, begun, Job())


def test_all_of_a_large_log_arrives(old_server: Server) -> None:
    begun = remote_jobs.start(old_server, sh("head -c 10000000 /dev/zero; sleep 0.3; echo end"), Job(), title="large")
    received = bytearray()
    remote_jobs.follow(old_server, begun, Job(), on_output=received.extend)
    assert len(received) == 10_000_004
    assert received.endswith(b"end\n")


def test_kill_ends_the_whole_group(lab: Lab, old_server: Server) -> None:
    begun = remote_jobs.start(old_server, sh("sleep 2001 & sleep 2002"), Job(), title="long", user="root")
    with pytest.raises(CommandError, match="long is still running"):
        remote_jobs.remove(old_server, begun, Job())
    remote_jobs.kill(old_server, begun, Job())
    assert lab.old.exec("pgrep", "-f", "sleep 200[12]", check=False).stdout == ""
    now = remote_jobs.state(old_server, begun, Job())
    assert (now.running, now.exit_status) == (False, 143)
    remote_jobs.kill(old_server, begun, Job())  # once more does no harm


def test_kill_ends_what_ignores_term(lab: Lab, old_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_jobs, "GRACE", 1)
    begun = remote_jobs.start(old_server, sh("trap '' TERM; sleep 2003"), Job(), title="stubborn")
    remote_jobs.kill(old_server, begun, Job())
    assert lab.old.exec("pgrep", "-f", "sleep 2003", check=False).stdout == ""
    assert remote_jobs.state(old_server, begun, Job()).exit_status == 137


def test_cancelling_who_follows_kills_the_job(lab: Lab, old_server: Server) -> None:
    begun = remote_jobs.start(old_server, sh("echo begun; sleep 2004"), Job(), title="long")
    job = Job()
    with pytest.raises(Cancelled):
        remote_jobs.follow(old_server, begun, job, on_output=lambda _: job.cancel())
    assert lab.old.exec("pgrep", "-f", "sleep 2004", check=False).stdout == ""
    assert not remote_jobs.state(old_server, begun, Job()).running


def test_the_deadline_kills_the_job(lab: Lab, old_server: Server) -> None:
    begun = remote_jobs.start(old_server, command("sleep", "2005"), Job(), title="long")
    with pytest.raises(CommandError, match=r"\blong\b.* 0 s\b"):
        remote_jobs.follow(old_server, begun, Job(), deadline=0.3)
    assert lab.old.exec("pgrep", "-f", "sleep 2005", check=False).stdout == ""


def test_cancelling_while_it_starts_leaves_nothing(lab: Lab, old_server: Server) -> None:
    job = Job()
    cancelling = job.relay(lambda _: job.cancel())  # the command is announced, and then begun
    with pytest.raises(Cancelled):
        remote_jobs.start(old_server, command("sleep", "2008"), cancelling, title="regretted")
    assert lab.old.exec("pgrep", "-f", "sleep 2008", check=False).stdout == ""
    assert remote_jobs.find(old_server, Job()) == ()


def test_a_look_that_fails_does_not_kill_the_job(lab: Lab, old_server: Server) -> None:
    begun = remote_jobs.start(old_server, command("sleep", "2009"), Job(), title="long")
    lab.old.exec("mv", f"{begun.folder}/log", f"{begun.folder}/away")
    with pytest.raises(CommandError, match=r"log cannot be read"):
        remote_jobs.follow(old_server, begun, Job())
    lab.old.exec("mv", f"{begun.folder}/away", f"{begun.folder}/log")
    assert remote_jobs.state(old_server, begun, Job()).running
    remote_jobs.kill(old_server, begun, Job())


def test_a_restarted_host_is_not_mistaken_for_a_running_job(lab: Lab, old_server: Server) -> None:
    begun = remote_jobs.start(old_server, command("sleep", "2006"), Job(), title="long")
    group = lab.old.exec("cat", f"{begun.folder}/group").stdout.split()
    lab.old.exec("cp", "/dev/stdin", f"{begun.folder}/group", input=f"{group[0]} {group[1]} another-boot\n")
    assert remote_jobs.state(old_server, begun, Job()) == RemoteState(running=False, exit_status=None, log_bytes=0)
    with pytest.raises(CommandError, match="ended without an exit status") as caught:
        remote_jobs.follow(old_server, begun, Job())
    assert "restarted" in caught.value.hint
    assert lab.old.exec("pgrep", "-f", "sleep 2006").returncode == 0  # nothing was killed by a stale number
    lab.old.exec("cp", "/dev/stdin", f"{begun.folder}/group", input=" ".join(group) + "\n")


def test_a_number_used_again_is_not_mistaken_either(lab: Lab, old_server: Server) -> None:
    begun = remote_jobs.start(old_server, command("true"), Job(), title="short")
    remote_jobs.follow(old_server, begun, Job())
    boot = lab.old.exec("cat", f"{begun.folder}/group").stdout.split()[2]
    lab.old.exec("cp", "/dev/stdin", f"{begun.folder}/group", input=f"1 1 {boot}\n")
    lab.old.exec("rm", f"{begun.folder}/exit")
    assert not remote_jobs.state(old_server, begun, Job()).running


def test_a_keeper_that_was_killed_alone_hides_nothing(lab: Lab, old_server: Server) -> None:
    begun = remote_jobs.start(old_server, sh("sleep 2007; :"), Job(), title="orphan")
    leader = lab.old.exec("cat", f"{begun.folder}/group").stdout.split()[0]
    lab.old.exec("kill", "-KILL", leader)
    assert remote_jobs.state(old_server, begun, Job()).running
    remote_jobs.kill(old_server, begun, Job())
    assert lab.old.exec("pgrep", "-f", "sleep 2007", check=False).stdout == ""


def test_a_secret_is_never_written_down(old_server: Server) -> None:
    telling = environment({"TOKEN": Secret("hunter2")}, command("true"))
    with pytest.raises(InputError, match="a command with a secret cannot be detached"):
        remote_jobs.start(old_server, telling, Job(), title="telling")
    assert remote_jobs.find(old_server, Job()) == ()


def test_a_job_reads_its_own_input_to_the_last_byte(old_server: Server) -> None:
    begun = remote_jobs.start(old_server, command("sha256sum"), Job(), title="sum", stdin=b"x\0y" * 70_000)
    expected = sha256(b"x\0y" * 70_000).hexdigest()
    assert remote_jobs.follow(old_server, begun, Job()).stdout == f"{expected}  -\n"
    remote_jobs.remove(old_server, begun, Job())


def test_jobs_of_others_are_left_alone(lab: Lab, old_server: Server) -> None:
    lab.old.exec("mkdir", "-m", "755", "/var/tmp/pghaul-job.Foreign", user="nosudo")
    lab.old.exec("sh", "-c", "echo {} >/var/tmp/pghaul-job.Foreign/about", user="nosudo")
    try:
        assert remote_jobs.find(old_server, Job()) == ()
    finally:
        lab.old.exec("rm", "-r", "/var/tmp/pghaul-job.Foreign")


def test_what_is_no_jobs_folder_is_never_removed(old_server: Server) -> None:
    wrong = RemoteJob("old", "/var/tmp/../etc", "x", "root", None, "x")
    for action in (remote_jobs.remove, remote_jobs.kill, remote_jobs.state):
        with pytest.raises(InputError, match="not the folder of a detached job"):
            action(old_server, wrong, Job())


def test_a_removed_job_is_told(old_server: Server) -> None:
    missing = RemoteJob("old", "/var/tmp/pghaul-job.Missing", "x", "dba", None, "x")
    with pytest.raises(CommandError, match=r"pghaul-job\.Missing"):
        remote_jobs.state(old_server, missing, Job())


def test_the_job_keeps_the_users_umask_and_needs_no_home(lab: Lab, old_profile: Profile, asker: LabAsker) -> None:
    with connect(replace(old_profile, name="old"), asker, Job()) as server:
        begun = remote_jobs.start(server, sh("umask; cat; echo $LC_ALL"), Job(), title="surroundings")
        assert remote_jobs.follow(server, begun, Job()).stdout == "0022\nC\n"
    assert lab.old.exec("stat", "-c", "%a %U", begun.folder).stdout == "700 dba\n"


def test_two_jobs_at_once(old_server: Server) -> None:
    begun = [remote_jobs.start(old_server, sh(COUNT), Job(), title=f"job {number}") for number in range(2)]
    found: dict[str, str] = {}

    def one(each: RemoteJob) -> None:
        found[each.title] = remote_jobs.follow(old_server, each, Job()).stdout

    threads = [threading.Thread(target=one, args=[each]) for each in begun]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(["job 0", "job 1"], "line 1\nline 2\nline 3\noops\n")
