"""Calls of the remote half run here, by a real shell, without SSH around them."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from core.servers.shell import Shell
from tests.core.migration.builders import runnable

_NOTE = """folder=@notes@
printf '%s\\0' "$@" >"$(mktemp -- "$folder/XXXXXXXX")\""""


def run(
    shell: Shell, *, given: str = "", folder: Path | None = None, programs: Path | None = None, dialect: str = "dash"
) -> subprocess.CompletedProcess[str]:
    """Run it in a folder, with that standard input; `programs`: a folder of those that stand in for real ones."""
    return subprocess.run(
        [dialect, "-c", runnable(shell)],
        input=given,
        cwd=folder,
        env=environment(programs),
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def environment(programs: Path | None = None) -> Mapping[str, str]:
    """As a server's: with `programs` ahead of the others."""
    path = os.environ["PATH"] if programs is None else f"{programs}:{os.environ['PATH']}"
    return {**os.environ, "LC_ALL": "C", "PATH": path}


def program(path: Path, body: str) -> None:
    """A program of sh that stands in for a real one."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def asked_of_rsync(shell: Shell, folder: Path) -> list[list[str]]:
    """The words of every rsync that the call runs; none of them copies anything. `folder`: one for what it needs."""
    notes = folder / "notes"
    notes.mkdir()
    program(folder / "programs/rsync", _NOTE.replace("@notes@", str(notes)))
    done = run(shell, programs=folder / "programs")
    assert done.returncode == 0, done.stderr
    found = [path.read_text().split("\0")[:-1] for path in notes.iterdir()]
    for path in (*notes.iterdir(), notes):
        path.rmdir() if path.is_dir() else path.unlink()
    return found
