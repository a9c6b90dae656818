"""How long a move stops the cluster when warm passes go before: run as root, prints both sides.

    python benchmarks/stopping.py [GIGABYTES]

Old is under load, 50 transactions a second, until it is stopped by `pghaul execute`. The stop counts from the step that
stops old until new takes connections, by the time of its lock file, which says so then: the step that opens it takes
another 1.5 s where pg_ctlcluster tries three times whether it does. Beside it stands `rsync -atp --delete` of the
stopped cluster, the copy of an article of 2007, for which clients waited throughout.

    load on one of ten tables   at most 12 % of that copy
    load on all ten, evenly     at most 30 %

The program itself takes less than 200 MB of memory, and less than 10 MB go to and from the workstation.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.by_hand import copy_by_hand
from benchmarks.copying import SCALE_OF_A_GIGABYTE, fill
from core import units
from core.migration.model import step_ids
from tests.lab import clusters, network
from tests.lab import lab as labs
from tests.lab.caches import SOME, cold_caches, touch_disks
from tests.lab.demo import host_key_fingerprint
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable

PROJECT = Path(__file__).resolve().parents[1]
MOVE = "stopping"
SPACE = "/srv/pg/space-of-new"
SCRIPT = "/srv/pg/load.sql"
MEMORY = 200e6
TRAFFIC = 10e6


@dataclass(frozen=True, slots=True)
class Load:
    """Which of the ten tables is written to, and what part of the cold copy the stop may take."""

    title: str
    tables: int
    most: float


LOADS = (Load("load on one of ten tables", 1, 0.12), Load("load on all ten", 10, 0.30))


def measure(load: Load, gigabytes: float, folder: Path) -> bool:
    """One move in a lab of its own; whether stop, memory and traffic are within their bounds."""
    scale = round(SCALE_OF_A_GIGABYTE * gigabytes)
    with labs.lab("benchmark-stopping", scale=1) as lab:
        lab.shape("1gbit")
        lab.cap_memory(SOME)
        touch_disks(lab)
        fill(lab, gigabytes, "--partitions", "10")
        cold = copy_by_hand(lab, clusters.DATA, ("-atp", "--delete")).flushed
        clusters.control(lab.old, "start")
        describe(lab, folder)
        cold_caches()
        before = _traffic(lab)
        with busy(lab, scale, load):
            memory = pghaul(folder, "execute", MOVE, "--confirm", clusters.DATA, "--manual-steps-done").memory
        carried = _traffic(lab) - before
        opened = float(lab.new.exec("stat", "-c", "%.3Y", f"{clusters.NEW_DATA}/postmaster.pid").stdout)
        shown = json.loads(pghaul(folder, "execute", MOVE, "--status", "--json").stdout)["execution"]
    stopped = opened - _stopping(shown)
    sys.stdout.write(f"{load.title}\n")
    for run in shown["steps"]:
        took = (datetime.fromisoformat(run["ended_at"]) - datetime.fromisoformat(run["started_at"])).total_seconds()
        sys.stdout.write(f"  {took:8.1f} s  {run['title']}\n")
    sys.stdout.write(f"  {cold:8.1f} s  rsync -atp --delete of the stopped cluster\n")
    good = _judged("of it the stop", stopped / cold, load.most, f"{stopped / cold:.0%} ({stopped:.1f} s)")
    good = _judged("memory of the largest process", memory, MEMORY, units.size(memory)) and good
    return _judged("to and from the workstation", carried, TRAFFIC, units.size(carried)) and good


@contextmanager
def busy(lab: Lab, scale: int, load: Load) -> Iterator[None]:
    """Fifty updates a second, until old is stopped."""
    most = scale * 100_000 * load.tables // 10
    text = f"\\set aid random(1, {most})\nUPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n"
    lab.old.exec("tee", SCRIPT, input=text)
    with pgbench(lab, "-c", "4", "-R", "50", "-T", "3600", "-f", SCRIPT):
        yield


@contextmanager
def pgbench(lab: Lab, *words: str) -> Iterator[None]:
    """Old works for pgbench, called with these words."""
    program = ("env", "PGHOST=/tmp", f"{clusters.PREFIX}/bin/pgbench", "-n")
    running = subprocess.Popen(
        lab.old.command(*program, *words, clusters.DATABASE, user="postgres"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        running.terminate()
        running.wait(30)


def describe(lab: Lab, folder: Path) -> float:
    """Both servers, the move and its probes, as a DBA enters them; the seconds of `pghaul probe` alone."""
    for host in (lab.old, lab.new):
        pghaul(folder, "server", "add", host.name, host.address, "--user", host.user, "--identity", str(host.key))
        pghaul(folder, "server", "test", host.name, "--host-key", host_key_fingerprint(host))
    ends = ("--old", "old", "--new", "new", "--cluster", clusters.DATA, "--target", clusters.NEW_DATA)
    volumes = ("--old-volume", "/srv/pg", "--new-volume", "/srv/pg", "--tablespace", f"{clusters.SPACE}={SPACE}")
    pghaul(folder, "move", "add", MOVE, *ends, *volumes)
    begun = time.monotonic()
    pghaul(folder, "probe", MOVE)
    return time.monotonic() - begun


@dataclass(frozen=True, slots=True)
class Ran:
    """What pghaul wrote, and the most bytes of memory that it had."""

    stdout: str
    memory: int


def pghaul(folder: Path, *arguments: str) -> Ran:
    """A command of pghaul, with a history in `folder`; raises RuntimeError with what it said."""
    settings = {"PGHAUL_DATA": str(folder / "history"), "PGHAUL_CONFIG": str(folder / "own")}
    settings["PGHAUL_SSH_CONFIG"] = str(folder / "config")
    words = [sys.executable, "-m", "gui.entry", *arguments]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(words, cwd=PROJECT, env={**os.environ, **settings}, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        stdout = out.read()
        if process.returncode != 0:
            raise RuntimeError(f"pghaul {' '.join(arguments)}: {stdout[-3000:]}{err.read()[-3000:]}")
    return Ran(stdout, usage.ru_maxrss * 1024)


def _traffic(lab: Lab) -> int:
    """Bytes that the workstation has sent and received: what passes between the hosts does not count on the bridge."""
    counters = Path("/sys/class/net") / network.bridge_name(lab.subnet) / "statistics"
    return sum(int((counters / f"{way}_bytes").read_text()) for way in ("rx", "tx"))


def _stopping(execution: dict[str, Any]) -> float:
    """Return when the step that stops the old cluster began, in seconds since the epoch."""
    number = next(step["number"] for step in execution["plan"]["steps"] if step["id"] == step_ids.STOP_OLD_CLUSTER)
    began = next(run["started_at"] for run in execution["steps"] if run["number"] == number and not run["back"])
    return datetime.fromisoformat(began).timestamp()


def _judged(what: str, value: float, most: float, shown: str) -> bool:
    verdict = "kept" if value <= most else "MISSED"
    limit = f"{most:.0%}" if most < 1 else units.size(most)
    sys.stdout.write(f"  {shown} {what}, at most {limit}: {verdict}\n")
    sys.stdout.flush()
    return value <= most


def main() -> int:
    """Measure each load; 0 when every bound is kept."""
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    results = []
    for load in LOADS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "config").write_text(f'UserKnownHostsFile "{folder / "known_hosts"}"\n')
            results.append(measure(load, gigabytes, folder))
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
