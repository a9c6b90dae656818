"""The commands that the pages tell a reader to type, and which test runs each of them.

tests/test_documented_commands.py runs those that need no server, and tests/live/test_documented_commands.py those that
need two. ELSEWHERE is the list of those that neither runs.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).parents[1]
PAGES = sorted([*(TOP / "docs").rglob("*.md"), *TOP.glob("*.md")])

_CONNECTING = {"server test", "server install", "facts", "bench", "check", "probe", "diagnose", "execute", "survey"}
_WITHOUT_SERVER = {"bench --list", "probe --forecast", "execute --status", "check --waive", "check --unwaive"}
_LONGEST_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Commands that are not run as a page has them.

    Attributes:
        commands: which, as a regular expression.
        reason: why not.
        tests: the file that tests what they do. It runs each of them, and names each of their options.
    """

    commands: str
    reason: str
    tests: str


ELSEWHERE = (
    Elsewhere(r"make .*|python -m installer\.desktop", "builds packages, or runs tests or the demo", "Makefile"),
    Elsewhere(r"\.venv/bin/python -m pytest .*", "runs tests", "tests/test_run.py"),
    Elsewhere(
        r"\.venv/bin/python -m (core|installer)\..*", "writes a page that a test compares", "tests/test_pages.py"
    ),
    Elsewhere(r"sh installer/environment\.sh", "makes .venv", "tests/installer/test_scripts.py"),
    Elsewhere(r"sudo (apt|dnf) .*|tar -xf .*", "needs the packages", "tests/installer/test_package.py"),
    Elsewhere(r"(pipx|uv tool) install .*", "needs the wheel", "tests/installer/test_wheel.py"),
    Elsewhere(r"(PGHAUL_DATA=\S+ )?pghaul", "opens the window", "tests/gui/test_entry.py"),
    Elsewhere(r"\./move\.sh( --(from|only|back).*)?", "moves a cluster", "tests/live/test_script.py"),
    Elsewhere(r"pghaul server test db2", "the page describes jump hosts", "tests/live/test_documents.py"),
    Elsewhere(r"pghaul probe .*--(watch|sustained).*", "takes minutes or hours", "tests/core/cli/test_probing.py"),
    Elsewhere(r"pghaul bench .*/mnt/.*", "needs further disks", "tests/core/cli/test_bench_volumes.py"),
    Elsewhere(r"pghaul diagnose .*/mnt/.*", "needs further disks", "tests/core/cli/test_bench_servers.py"),
    Elsewhere(r"pghaul execute .*--start-at.*", "waits for the night", "tests/live/test_schedule.py"),
    Elsewhere(r"pghaul execute .*--amcheck.*", "needs an extension", "tests/live/test_dress_amcheck.py"),
    Elsewhere(r"pghaul execute .*--queries.*", "needs queries and a role", "tests/live/test_dress.py"),
    Elsewhere(r"pghaul execute .*--client-route.*", "needs a firewall", "tests/live/test_reached.py"),
    Elsewhere(r"pghaul execute .*--verify all", "needs another move", "tests/live/test_reached.py"),
    Elsewhere(r"pghaul execute .*--take-over.*", "needs a foreign execution", "tests/core/cli/test_execution.py"),
    Elsewhere(r"pghaul execute \S+ --(resume|rollback|start-over)", "needs a failure", "tests/live/test_left_locks.py"),
    Elsewhere(r"pghaul execute .*--cancel", "needs a running execution", "tests/live/test_execution.py"),
)


def lines(text: str) -> Iterator[str]:
    """Yield each line of the `sh` blocks, without its comment."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            yield re.split(r"(?:^|\s)#\s", line)[0]


def typed(text: str) -> Iterator[str]:
    """Yield each command of pghaul in the `sh` blocks: also in a pipeline, or behind variables of the environment."""
    for line in lines(text):
        for part in re.split(r"\s+[|>]\s*", line):
            found = re.fullmatch(r"(?:[A-Z_]+=\S+ )*((?:\.venv/bin/)?pghaul(?: .*)?)", part.strip())
            if found:
                yield found[1]


def commands(page: Path) -> list[str]:
    """Return the lines of a page that are run as they stand."""
    found = (line.strip() for line in lines(page.read_text(encoding="utf-8")))
    return [line for line in found if line and not any(re.fullmatch(each.commands, line) for each in ELSEWHERE)]


def connects(line: str) -> bool:
    """Whether the command needs a server."""
    words = shlex.split(line)
    if words[0] != "pghaul" or not {words[1], " ".join(words[1:3])} & _CONNECTING:
        return False
    return not {f"{words[1]} {option}" for option in words[2:]} & _WITHOUT_SERVER


def run(line: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Let a shell run a line in the folder, by the pghaul of this checkout; nobody is there to answer."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "pghaul").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gui.entry "$@"\n')
    (programs / "pghaul").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    environment: Mapping[str, str] = {**os.environ, "PATH": path, "PYTHONPATH": str(TOP), **variables}
    return subprocess.run(
        ["sh", "-e", "-c", line],
        check=False,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LONGEST_SECONDS,
    )
