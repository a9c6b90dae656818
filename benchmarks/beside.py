"""What a server pays for being looked at, probed and rehearsed: run as root, prints a line for each command.

    python benchmarks/beside.py [GIGABYTES]

Old works for pgbench at full speed, reading and writing, while pghaul does its work beside it; both hosts and the
workstation share the cores of one machine, so this is what it costs at the worst. Each command stands between two
stretches of pgbench alone, whose mean is its measure: transactions a second, and the latency of 99 % of them.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.copying import fill
from benchmarks.stopping import MOVE, describe, pgbench, pghaul
from tests.lab import clusters
from tests.lab import lab as labs
from tests.lab.caches import touch_disks
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable

ALONE = 15.0
"""Seconds of pgbench alone before and behind each command."""
LOG = "/tmp/pgbench-log"  # noqa: S108  on a host of the lab
WORDS = ("-c", "2", "-T", "7200", "-l", "--log-prefix", LOG)
"""At full speed; each transaction stands in LOG."""
COMMANDS = {
    "facts": ("facts", "old"),
    "check": ("check", MOVE),
    "probe": ("probe", MOVE),
    "rehearsal": ("execute", MOVE, "--rehearsal", "--start-over", "--manual-steps-done"),
    "dress rehearsal": ("execute", MOVE, "--dress-rehearsal", "--start-over", "--manual-steps-done"),
}


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, by the clock of this machine, which is the hosts' too."""

    since: float
    until: float

    @property
    def seconds(self) -> float:
        return self.until - self.since


@dataclass(frozen=True, slots=True)
class Served:
    """What pgbench got in a window: transactions a second, and milliseconds that 99 % took at the most."""

    tps: float
    latest: float


def served(lab: Lab, window: Window) -> Served:
    """By its log: of each transaction the time that it took, in µs, and the second and µs in which it ended."""
    within = f"$5 + $6 / 1e6 >= {window.since:.6f} && $5 + $6 / 1e6 < {window.until:.6f} {{ print $3 }}"
    found = lab.old.exec("sh", "-c", f"awk '{within}' {LOG}.*", user="postgres").stdout.split()
    took = sorted(map(int, found))
    return Served(len(took) / window.seconds, took[int(len(took) * 0.99)] / 1000)


def alone() -> Window:
    """A stretch in which nothing of pghaul's runs."""
    since = time.time()
    time.sleep(ALONE)
    return Window(since, time.time())


def main() -> int:
    """Print what each command costs; 2: there is no lab here."""
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    with tempfile.TemporaryDirectory() as folder, labs.lab("benchmark-beside", scale=1) as lab:
        lab.shape("1gbit")
        touch_disks(lab)
        fill(lab, gigabytes)
        clusters.control(lab.old, "start")
        (Path(folder) / "config").write_text(f'UserKnownHostsFile "{folder}/known_hosts"\n')
        describe(lab, Path(folder))
        with pgbench(lab, *WORDS):
            time.sleep(ALONE)  # until its cache is warm
            before = alone()
            for title, words in COMMANDS.items():
                since = time.time()
                pghaul(Path(folder), *words)
                during, after = Window(since, time.time()), alone()
                own = [served(lab, each) for each in (before, after)]
                beside, tps, latest = served(lab, during), sum(o.tps for o in own) / 2, sum(o.latest for o in own) / 2
                rate = f"{beside.tps:6.0f} of {tps:6.0f} tps ({beside.tps / tps - 1:+.0%})"
                late = f"99 % within {beside.latest:6.1f} ms, alone {latest:6.1f} ms"
                sys.stdout.write(f"{title:16} {during.seconds:6.1f} s   {rate}   {late}\n")
                sys.stdout.flush()
                before = after
    return 0


if __name__ == "__main__":
    sys.exit(main())
