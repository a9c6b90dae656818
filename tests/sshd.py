"""This machine as servers that are reached over real ssh, by an sshd of the test's own."""

import fcntl
import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.servers.profiles import Profile, Rights

SSHD = Path("/usr/sbin/sshd")
_CONFIG = """
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
"""
with_ssh_and_fio = pytest.mark.skipif(
    not (shutil.which("fio") and SSHD.exists()), reason="fio or sshd is not installed"
)
"""For a test that measures by fio over ssh."""


@contextmanager
def this_machine(folder: Path, *names: str) -> Iterator[tuple[Profile, ...]]:
    """The profiles of this machine as servers of these names, whose host key is known, while their sshd runs.

    One test at a time has them, also of other checkouts on this machine: only one benchmark at a time can measure a
    machine, and another one is refused.
    """
    with turn(), _started(folder) as port:
        yield tuple(
            Profile(
                name,
                "127.0.0.1",
                user=getpass.getuser(),
                port=port,
                identity_file=str(folder / "user"),
                rights=Rights.NONE,
            )
            for name in names
        )


@contextmanager
def turn() -> Iterator[None]:
    """Let no other test measure this machine, also of other checkouts.

    The lock is on a folder that each of them sees. That on `/` is the benchmark's own.
    """
    descriptor = os.open("/usr", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _started(folder: Path) -> Iterator[int]:
    """The port of an sshd that takes the key `user` in the folder."""
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "sshd").write_text(_CONFIG.format(port=port, folder=folder))
    known = Path(os.environ["HOME"]) / ".ssh" / "known_hosts"
    known.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with known.open("a") as lines:
        lines.write(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "sshd"], stderr=subprocess.PIPE, text=True)
    try:
        assert sshd.stderr is not None
        assert any("Server listening on" in line for line in sshd.stderr)
        yield port
    finally:
        sshd.terminate()
        sshd.communicate()
