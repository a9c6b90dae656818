"""A proxy command, by the rules of this system and by those of Windows: real programs, and a real sshd."""

import contextlib
import os
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core import this_workstation
from core.errors import UnreachableError
from core.jobs import Job
from core.servers.connection import connect
from core.servers.profiles import Nobody
from core.servers.proxy_command import Proxy
from core.servers.shell import command
from tests.sshd import SSHD, this_machine

RELAY = """
import os, socket, sys, threading
wire = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def send():
    while block := os.read(0, 4096):
        wire.sendall(block)
    wire.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while block := wire.recv(4096):
    os.write(1, block)
"""
"""What leads from its input and output to a port of this machine, as `nc` does."""


@pytest.fixture(params=["this system", "Windows"], autouse=True)
def _rules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "Windows":
        monkeypatch.setattr(this_workstation, "on_windows", lambda: True)


@pytest.fixture(autouse=True)
def _ends_whole() -> Iterator[None]:
    """No thread, program or file of a proxy is left behind."""
    before = children(), files()
    yield
    assert [thread.name for thread in threading.enumerate() if thread.name == "proxy command"] == []
    assert (children() - before[0], files() - before[1]) == (set(), set())


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def files() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}


def program(folder: Path, *words: str) -> str:
    """The path of a program that runs these words: without a shell, this system takes a line for one path."""
    path = folder / "proxy"
    path.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(not SSHD.exists(), reason="sshd is not installed")
def test_commands_run_through_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with this_machine(tmp_path, "db1") as (profile,):
        proxy = program(tmp_path, sys.executable, "-c", RELAY, str(profile.port))
        config = Path(os.environ["HOME"]) / ".ssh" / "proxied"
        config.write_text(f"Host *\n  ProxyCommand {proxy}\n  UserKnownHostsFile {config.with_name('known_hosts')}\n")
        monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))
        before = children()
        with connect(profile, Nobody(), Job()) as server:
            assert len(children() - before) == 1
            assert server.run(command("head", "-c", "1000000", "/dev/zero"), Job()).stdout == "\0" * 1_000_000


def test_what_is_sent_comes_back_whole_and_the_end_is_seen(tmp_path: Path) -> None:
    sent = os.urandom(2_000_000)
    with closing(Proxy(program(tmp_path, "cat"), "db1")) as proxy:

        def send() -> None:
            proxy.wire.sendall(sent)
            proxy.wire.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        with proxy.wire.makefile("rb") as answer:
            assert answer.read() == sent
        sender.join()


@pytest.mark.parametrize("_rules", ["this system"], indirect=True)  # on Windows, they come from a console alone
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_proxy_outlives_what_a_terminal_sends_to_all(number: signal.Signals, tmp_path: Path) -> None:
    before = children()
    with closing(Proxy(program(tmp_path, "cat"), "db1")) as proxy:
        (running,) = children() - before
        os.kill(int(running), number)
        proxy.wire.sendall(b"there")
        assert proxy.wire.recv(5) == b"there"


def test_a_proxy_that_ends_ends_the_connection(tmp_path: Path) -> None:
    with closing(Proxy(program(tmp_path, "false"), "db1")) as proxy:
        assert proxy.wire.recv(1) == b""


@pytest.mark.parametrize("words", [("sleep", "1000"), ("cat", "/dev/zero")], ids=["deaf", "unheard"])
def test_a_proxy_that_reads_nothing_is_ended(words: tuple[str, ...], tmp_path: Path) -> None:
    with closing(Proxy(program(tmp_path, *words), "db1")) as proxy:
        proxy.wire.setblocking(False)
        with contextlib.suppress(BlockingIOError):  # until all that lies between is full
            while True:
                proxy.wire.sendall(bytes(65536))


def test_a_program_that_is_not_there_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "nc")
    if this_workstation.on_windows():
        with pytest.raises(UnreachableError, match=r"^db1: the ProxyCommand .* cannot be started: .*ENOENT") as caught:
            Proxy(missing, "db1")
        assert caught.value.lasting
    else:
        with closing(Proxy(missing, "db1")) as proxy:
            assert proxy.wire.recv(1) == b""
        assert missing in capfd.readouterr().err  # the shell says it


@pytest.mark.parametrize("terminal", [True, False])
def test_what_a_proxy_complains_about_is_for_the_terminal(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if not terminal:  # as in the window on Windows
        monkeypatch.setattr(sys, "stderr", None)
    with closing(Proxy(program(tmp_path, "sh", "-c", "echo refused >&2"), "db1")) as proxy:
        assert proxy.wire.recv(1) == b""
    assert capfd.readouterr().err == ("refused\n" if terminal else "")
