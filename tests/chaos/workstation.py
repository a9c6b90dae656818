"""The DBA's workstation: `pghaul` as a program of its own, with a history on a small disk of its own and a clock."""

import json
import os
import shlex
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos import cluster
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import run

PROJECT = Path(__file__).resolve().parents[2]
MOVE = "spring"
_SIZE = "48M"
_PATIENCE = 240.0
"""Seconds after which a command counts as one that does not end."""
_LOOK = 0.03
_KNOWN = "select max(number) from execution_steps where not back"


class HangsError(Exception):
    """A command of pghaul did not end."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command came out."""

    status: int
    said: str


@dataclass
class Workstation:
    """One workstation of a lab.

    Attributes:
        folder: what lies on the workstation; `disk`: its own small disk, with the history.
        process: the command that runs now.
        log: what was typed and said so far in this round.
    """

    folder: Path
    process: subprocess.Popen[str] | None = None
    log: list[str] = field(default_factory=list)

    @property
    def disk(self) -> Path:
        return self.folder / "disk"

    @property
    def clock(self) -> Path:
        """How many seconds its clock is off, as clock.c reads it; not there: it is right."""
        return self.folder / "clock"

    @property
    def environment(self) -> dict[str, str]:
        known = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "SSH_", "XDG_"))}
        faked = {"LD_PRELOAD": str(self.folder / "clock.so"), "CHAOS_CLOCK": str(self.clock)}
        own = {
            "HOME": str(self.folder),
            "PGHAUL_DATA": str(self.disk / "history"),
            "PGHAUL_SSH_CONFIG": str(self.folder / "ssh_config"),
        }
        return known | own | (faked if self.clock.exists() else {})

    def set_clock(self, seconds: int) -> None:
        """Put it that far off; it can be stepped while a command runs that began with a clock."""
        with self.clock.open("r+b" if self.clock.exists() else "wb") as file:
            file.write(struct.pack("l", seconds))

    def pghaul(self, *words: str, meanwhile: Callable[[], None] = lambda: None) -> Ended:
        """Run a command to its end; `meanwhile` is called again and again as long as it runs.

        Raises:
            HangsError: it did not end, and was killed.
        """
        self.log.append(f"$ pghaul {shlex.join(words)}")
        end = time.monotonic() + _PATIENCE
        with (self.folder / "said").open("w+") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gui.entry", *words],
                cwd=PROJECT, env=self.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, text=True,
            )  # fmt: skip
            try:
                while self.process.poll() is None:
                    if time.monotonic() > end:
                        raise HangsError(f"pghaul {shlex.join(words)} did not end within {_PATIENCE:.0f} s")
                    meanwhile()
                    time.sleep(_LOOK)
            finally:
                self.process.kill()
                self.process.wait()
                said.seek(0)
                text = said.read()
                self.log.append(f"{text}[{self.process.returncode}]")
        return Ended(self.process.returncode, text)

    def execute(self, *options: str, meanwhile: Callable[[], None] = lambda: None) -> Ended:
        """Carry the move out, or go on with it, as a person who answers beforehand."""
        return self.pghaul(
            "execute", MOVE, *options, "--confirm", cluster.NAME, "--manual-steps-done", meanwhile=meanwhile
        )

    def execution(self) -> dict[str, Any] | None:
        """Return the latest execution and its `next_options`, as `--status` shows them; None where none was begun."""
        ended = self.pghaul("execute", MOVE, "--status", "--json", "--quiet")
        text = self.log.pop()
        self.log.pop()
        if ended.status != 0:
            self.log.append(text)
            return None
        document = json.loads(ended.said)
        return {**document["execution"], "next_options": document["next_options"]}

    def step(self) -> int:
        """The highest step that was begun; 0: none."""
        try:
            with sqlite3.connect(f"file:{self.disk}/history/history.sqlite3?mode=ro", uri=True) as history:
                return int(history.execute(_KNOWN).fetchone()[0] or 0)
        except sqlite3.Error:  # it is being written, or its disk is full
            return 0

    def keep(self) -> None:
        """The history as it is now is the one that `begin_anew` begins with."""
        shutil.copytree(self.disk / "history", self.folder / "kept")

    def begin_anew(self) -> None:
        """The right time, room on the disk, a history that knows the move and no execution."""
        self.clock.unlink(missing_ok=True)
        for each in self.disk.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        shutil.copytree(self.folder / "kept", self.disk / "history")
        self.log.clear()


def set_up(lab: Lab) -> Workstation:
    """A workstation that knows both servers and the move; its disk goes with the lab's folder."""
    made = Workstation(lab.folder / "workstation")
    made.disk.mkdir(parents=True)
    run("mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=700", "pghaul-lab", made.disk)
    run("cc", "-shared", "-fPIC", "-O1", "-Wall", "-o", made.folder / "clock.so", Path(__file__).with_name("clock.c"))
    (made.folder / "ssh_config").write_text(f'UserKnownHostsFile "{made.folder}/known_hosts"\n')
    for host in (lab.old, lab.new):
        _must(made, "server", "add", host.name, host.address, "--user", host.user, "--identity", str(host.key))
        _must(made, "server", "test", host.name, "--host-key", _host_key(host))
    ends = ("--old", "old", "--new", "new", "--old-volume", "/srv/pg", "--new-volume", "/srv/pg")
    _must(made, "move", "add", MOVE, *ends, "--cluster", cluster.DATA, "--target", cluster.DATA)
    made.keep()
    return made


def _host_key(host: Host) -> str:
    return host.exec("ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key.pub").stdout.split()[1]


def _must(workstation: Workstation, *words: str) -> None:
    ended = workstation.pghaul(*words)
    if ended.status != 0:
        raise RuntimeError(f"pghaul {shlex.join(words)}: {ended.said}")
