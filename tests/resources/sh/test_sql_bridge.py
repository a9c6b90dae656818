"""The bridge to a Unix socket, by each program that a server may have, against a real socket."""

import contextlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.servers.shell import call
from core.text import complaint

NEEDED = ("sh",)


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Path]:
    """A server that sends back what it gets, in a folder with a difficult name, until the other side ends."""
    folder = tmp_path / 'it\'s "ö" $(x)'
    folder.mkdir()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / ".s.PGSQL.5433"))
    listener.listen()

    def serve() -> None:
        with contextlib.suppress(OSError):  # nobody came, and the listener was shut down
            near, _ = listener.accept()
            with near:
                while data := near.recv(65536):
                    near.sendall(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield folder
    listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    listener.close()


def system(program: str) -> str | None:
    """The system's own program, not a wrapper that stands ahead of it on PATH."""
    return shutil.which(program, path=os.defpath)


def run(folder: Path | str, tmp_path: Path, *programs: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """With nothing on PATH but these programs."""
    path = tmp_path / "path"
    path.mkdir()
    for program in (*NEEDED, *programs):
        (path / program).symlink_to(system(program) or "/nonexistent")
    made = call("sql_bridge", 5433, str(folder), "/nonexistent")
    text = f"{made.functions}\n{made.text}"
    return subprocess.run(
        ["sh", "-c", text], input=data, capture_output=True, check=False, env={"PATH": str(path)}, timeout=30
    )


@pytest.mark.parametrize("program", ["perl", "python3", "socat"])
def test_every_byte_passes_in_both_directions(tmp_path: Path, request: pytest.FixtureRequest, program: str) -> None:
    if system(program) is None:
        pytest.skip(f"{program} is not installed")
    folder = request.getfixturevalue("echo")
    if program == "socat":  # its own address syntax takes no such name
        plain = tmp_path / "plain"
        plain.symlink_to(folder)
        folder = plain
    data = os.urandom(1 << 20)
    done = run(folder, tmp_path, program, data=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == data


def test_a_missing_socket_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, tmp_path, "perl")
    assert (done.returncode, done.stderr) == (1, b"pghaul: the socket /nonexistent/.s.PGSQL.5433 does not exist\n")


@pytest.mark.parametrize("program", ["perl", "python3"])
def test_a_socket_that_nobody_serves_is_named(tmp_path: Path, program: str) -> None:
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / ".s.PGSQL.5433"))
    dead.close()
    done = run(tmp_path, tmp_path, program)
    assert done.returncode != 0
    assert complaint(done.stderr.decode()) == f"{tmp_path}/.s.PGSQL.5433: Connection refused"


def test_no_program_at_all_is_said(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / ".s.PGSQL.5433"))
    done = run(tmp_path, tmp_path)
    listener.close()
    assert (done.returncode, done.stderr) == (127, b"pghaul: none of perl, python3 and socat is installed\n")
