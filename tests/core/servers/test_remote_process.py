"""The text that runs on a server, run here: by each shell that a login user may have, without SSH around it."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import paramiko
import pytest

from core.servers import remote_process
from core.servers.remote_process import BoundedOutput
from core.servers.shell import Secret, Shell, command
from tests.shells import sh

MARK = "pghaul-0123"
NASTY = 'it\'s $(touch x) "ö" `id` \\ *'


@dataclass
class Started:
    """A command under way: its process, its group, and what it has been given to read."""

    process: subprocess.Popen[bytes]
    group: int
    since: str

    @property
    def alive(self) -> bool:
        """Whether any process of the group is left that has not ended."""
        stats = [_stat(path) for path in Path("/proc").glob("[0-9]*/stat")]
        return any(group == self.group and state != "Z" for state, group in stats)


def _stat(path: Path) -> tuple[str, int]:
    try:
        state, _, group = path.read_text().rpartition(")")[2].split()[:3]
    except (OSError, ValueError):
        return "Z", 0
    return state, int(group)


@contextmanager
def started(
    shell: Shell, *, login: str = "sh", words: tuple[str, ...] = (), stdin: bytes = b"", lifeline: float = 0
) -> Iterator[Started]:
    """What sshd does: the login shell, in a session of its own, with the line; then the first bytes of input."""
    line, first = remote_process.line(words, shell, MARK, lifeline=lifeline, grace=1)
    process = subprocess.Popen(
        [login, "-c", line],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        bufsize=0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(first + stdin)
        process.stdin.flush()
        seen = b""
        while (found := re.search(rb"pghaul-0123 (\d+) (\d+)\n", seen)) is None:
            byte = process.stdout.read(1)
            assert byte, "the command has not begun"
            seen += byte
        yield Started(process, int(found[1]), found[2].decode())


def output(shell: Shell, **options: object) -> tuple[int, bytes, bytes]:
    with started(shell, **options) as begun:  # type: ignore[arg-type]  # handed on as they are
        if not options.get("lifeline"):
            out, err = begun.process.communicate()
        else:
            assert begun.process.stdout is not None
            assert begun.process.stderr is not None
            out, err = begun.process.stdout.read(), begun.process.stderr.read()
            begun.process.wait()
        return begun.process.returncode, out, err


@pytest.mark.parametrize("login", ["dash", "bash"])
@pytest.mark.parametrize("lifeline", [0, 60])
def test_the_command_runs_under_any_login_shell(login: str, lifeline: float) -> None:
    made = command("printf", "%s|%s", NASTY, "x")
    assert output(made, login=login, lifeline=lifeline) == (0, f"{NASTY}|x".encode(), b"")


@pytest.mark.parametrize("lifeline", [0, 60])
def test_status_output_and_surroundings(lifeline: float) -> None:
    made = sh('echo "$LC_ALL $# ${PATH%%:*}"; echo oops >&2; exit 7')
    assert output(made, lifeline=lifeline) == (7, b"C 0 /usr/local/sbin\n", b"oops\n")
    assert output(command("sh", "-c", "kill -KILL $$"), lifeline=lifeline)[0] == 128 + 9


def test_an_input_reaches_the_command_to_its_last_byte() -> None:
    data = os.urandom(100_000)
    assert output(command("cat"), stdin=data) == (0, data, b"")
    assert output(command("cat"), lifeline=60) == (0, b"", b"")


def test_a_command_that_is_cut_off_on_its_way_does_not_run(tmp_path: Path) -> None:
    text = sh("touch @whole@\necho @long@\n", whole=tmp_path / "half", long="x" * 1000)
    line, first = remote_process.line((), text, MARK, lifeline=0)
    ended = subprocess.run(["sh", "-c", line], input=first[:-500], capture_output=True, check=False, timeout=10)
    assert ended.returncode == 1
    assert not (tmp_path / "half").exists()


def test_a_secret_is_on_no_command_line() -> None:
    made = sh("test -n @secret@ && ps axo args", secret=Secret("hunter2"))
    for lifeline in (0, 60):
        status, listing, _ = output(made, lifeline=lifeline)
        assert status == 0
        assert b"pghaul-0123" in listing
        assert b"hunter2" not in listing


def test_much_text_and_several_lines_travel() -> None:
    long = "x" * 300_000
    assert output(command("printf", "%s", long))[1] == long.encode()
    lines = Shell("printf '%s' 'a\nb\n'", "…")
    assert output(lines, lifeline=60)[1] == b"a\nb\n"


def test_a_group_of_its_own_even_where_the_server_makes_none() -> None:
    line, first = remote_process.line((), command("true"), MARK, lifeline=0)
    done = subprocess.run(
        ["sh", "-c", f"sh -c '{line.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'; :"],
        input=first,
        capture_output=True,
        check=True,
    )
    found = re.search(rb"pghaul-0123 (\d+) \d+\n", done.stdout)
    assert found is not None
    assert int(found[1]) != os.getpgrp()


@pytest.mark.slow
def test_the_end_of_the_lifeline_ends_the_whole_group() -> None:
    with started(sh("sleep 1000 & sleep 1001"), lifeline=600) as begun:
        assert begun.alive
        assert begun.process.stdin is not None
        begun.process.stdin.close()
        begun.process.wait()
        assert begun.process.returncode == -15
    assert_gone(begun)


@pytest.mark.slow
def test_the_deadline_holds_on_the_server_too() -> None:
    with started(sh("sleep 1000 & sleep 1001"), lifeline=1) as begun:
        begun.process.wait()
    assert_gone(begun)


@pytest.mark.slow
def test_what_ignores_term_is_killed() -> None:
    with started(sh("trap '' TERM; sleep 1000 & sleep 1001"), lifeline=600) as begun:
        ending = remote_process.kill_script(begun.group, begun.since, grace=1)
        killing = subprocess.Popen(["sh", "-c", f"{ending.functions}\n{ending.text}"])
        begun.process.wait()  # as sshd does: nobody waits for a process that nobody buries
        assert killing.wait() == 0
        assert not begun.alive


def test_a_number_that_was_used_again_is_left_alone() -> None:
    with started(sh("sleep 1000"), lifeline=600) as begun:
        ending = remote_process.kill_script(begun.group, str(int(begun.since) - 1), grace=1)
        done = subprocess.run(["sh", "-c", f"{ending.functions}\n{ending.text}"], check=False)
        assert (done.returncode, begun.alive) == (0, True)
        os.killpg(begun.group, signal.SIGKILL)


def test_what_runs_on_without_its_leader_is_not_said_to_have_ended() -> None:
    """Whoever runs short of memory loses processes one by one."""
    words = ["sh", "-c", "sleep 1000 >/dev/null & read -r line </proc/$$/stat; echo $line"]
    with subprocess.Popen(words, start_new_session=True, stdout=subprocess.PIPE, text=True) as leader:
        assert leader.stdout is not None
        since = leader.stdout.readline().rpartition(")")[2].split()[19]
    ending = remote_process.kill_script(leader.pid, since, grace=1)
    done = subprocess.run(
        ["sh", "-c", f"{ending.functions}\n{ending.text}"], check=False, capture_output=True, text=True
    )
    os.killpg(leader.pid, signal.SIGKILL)
    assert done.returncode == 1
    assert (
        f"the first process of group {leader.pid} has ended, but others of the group are still running" in done.stderr
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts /proc as a host has it that hides processes")
def test_a_host_that_hides_root_s_processes_runs_what_it_is_told(tmp_path: Path) -> None:
    """Behind sudo the leader is root's, and what became another user cannot look at it."""
    line, first = remote_process.line(("runuser", "-u", "nobody", "--"), sh("id -un"), MARK, lifeline=0, grace=1)
    (tmp_path / "first").write_bytes(first)
    hidden = f'mount -t proc -o hidepid=2 proc /proc && exec sh -c "$1" <"{tmp_path}/first"'
    words = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", hidden, "sh", line]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "nobody", done.stderr


def assert_gone(begun: Started) -> None:
    """The watcher itself leaves last, after the grace period."""
    deadline = 5
    subprocess.run(
        ["timeout", str(deadline), "sh", "-c", f"while kill -s 0 -- -{begun.group} 2>/dev/null; do sleep 0.1; done"],
        check=False,
    )
    assert not begun.alive


def test_output_that_arrives_while_a_channel_is_closed_goes_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The number of a closed descriptor is free at once: another file may have got it."""
    channel = paramiko.Channel(1)
    channel.fileno()
    files: list[int] = []

    def close(number: int) -> None:
        os_close(number)
        files.append(os.open(tmp_path / "file", os.O_CREAT | os.O_WRONLY))
        channel.in_buffer.feed(b"late")
        channel.in_stderr_buffer.feed(b"late")

    os_close = os.close
    with monkeypatch.context() as patched:
        patched.setattr("paramiko.pipe.os.close", close)
        remote_process.close_channel(channel)
    assert len(files) == 2
    for number in files:
        os.close(number)
    assert (tmp_path / "file").read_bytes() == b""


# Output within its bound.


def test_what_fits_is_kept_whole() -> None:
    kept = BoundedOutput(limit=10)
    kept.add(b"12345")
    kept.add(b"67890")
    assert (kept.text(), kept.dropped) == ("1234567890", 0)


def test_what_does_not_fit_is_counted() -> None:
    kept = BoundedOutput(limit=4)
    for part in (b"123", b"456", b"7"):
        kept.add(part)
    assert (bytes(kept.data), kept.dropped) == (b"1234", 3)
    assert re.fullmatch(r"1234\n\[3 [^\]]+\]", kept.text())


def test_what_is_no_utf8_never_breaks_a_reader() -> None:
    kept = BoundedOutput()
    kept.add(b"a\xff\xc3")
    kept.add(b"\xb6")  # the second half of an ö
    assert kept.text() == "a\ufffdö"


def test_a_prompt_can_be_taken_out() -> None:
    kept = BoundedOutput()
    kept.add(b"lecture\n[prompt]rest")
    kept.remove(b"[prompt]")
    kept.remove(b"absent")
    assert kept.text() == "lecture\nrest"
