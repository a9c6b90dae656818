"""`make demo`: the whole main job on two real hosts, by the commands that a DBA would type.

The lab caps both data disks and the link; what fio reads back is held against the caps at the end. Last comes the move
itself, proven and opened. History, plan, two reports (for who decides, and what was planned against what it took) and a
picture of each page of the window are left in demo/, the lab is gone when this ends, however it ends.
"""

import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.lab import clusters
from tests.lab.hosts import Host
from tests.lab.lab import Lab, lab
from tests.lab.machine import lab_unavailable

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / "demo"
PICTURES = str(Path(__file__).with_name("pictures.py"))
MOVE = "demo"
SCALE = 20
"""pgbench scale of the cluster on old: about 15 MB each."""
TOLERANCE = 0.03


@dataclass(frozen=True, slots=True)
class Caps:
    """What the lab lets a data disk do: the ground truth that fio has to read back."""

    read_bytes_per_second: int
    write_bytes_per_second: int
    read_iops: int
    write_iops: int


CAPS = {
    "old": Caps(80_000_000, 60_000_000, 900, 1200),
    "new": Caps(240_000_000, 150_000_000, 3000, 2500),
}


class DemoFailedError(Exception):
    """A step of the demo did not do what it should."""


def pghaul(*arguments: str, accept: tuple[int, ...] = (0,)) -> str:
    """Show a command, run it, show what it prints; its standard output."""
    print(f"\n$ pghaul {shlex.join(arguments)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "gui.entry", *arguments], check=False, cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode not in accept:
        raise DemoFailedError(f"pghaul {arguments[0]} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def main() -> int:
    """Run the demo; 0 when every figure is right."""
    reason = lab_unavailable()
    if reason is not None:
        print(f"the demo needs two hosts that this machine cannot give: {reason}", file=sys.stderr)
        return 1
    started = time.monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    os.environ["PGHAUL_DATA"] = str(FOLDER / "history")
    os.environ["PGHAUL_CONFIG"] = str(FOLDER / "config")
    ssh_config = FOLDER / "ssh_config"  # the hosts' keys stay out of ~/.ssh/known_hosts
    ssh_config.write_text(f'UserKnownHostsFile "{FOLDER / "known_hosts"}"\n')
    os.environ["PGHAUL_SSH_CONFIG"] = str(ssh_config)
    with lab("demo", scale=SCALE) as hosts:
        problems = the_main_job(hosts)
    print(f"\nhistory   {FOLDER / 'history' / 'history.sqlite3'}")
    print(f"reports   {FOLDER / 'plan.pdf'} from before the move, {FOLDER / 'moved.pdf'} with what it took")
    print(f"runbook   {FOLDER / 'demo.md'}, as a script {FOLDER / 'demo.sh'}")
    print(f"pictures  {FOLDER / 'pages'}")
    print(f"took {time.monotonic() - started:.0f} s")
    for problem in problems:
        print(f"WRONG: {problem}", file=sys.stderr)
    return 1 if problems else 0


def the_main_job(lab: Lab) -> list[str]:
    """Describe, read, measure, compare, check, probe, estimate, plan, report, move; what came out wrong."""
    for host in (lab.old, lab.new):
        caps = CAPS[host.name]
        lab.cap_disk(
            host.name, caps.read_bytes_per_second, caps.write_bytes_per_second, caps.read_iops, caps.write_iops
        )
        key = host_key_fingerprint(host)
        pghaul("server", "add", host.name, host.address, "--user", host.user, "--identity", str(host.key))
        print(pghaul("server", "test", host.name, "--host-key", key))
        print(pghaul("facts", host.name))
    lab.shape("1gbit")
    print(
        pghaul(
            "move",
            "add",
            MOVE,
            "--old",
            "old",
            "--new",
            "new",
            "--cluster",
            clusters.DATA,
            "--target",
            clusters.NEW_DATA,
            "--old-volume",
            "/srv/pg",
            "--new-volume",
            "/srv/pg",
        )
    )
    print(pghaul("bench", MOVE, "--suite", "quick", "--forecast"))
    print(pghaul("bench", MOVE, "--suite", "quick"))
    print(pghaul("compare", MOVE))
    print(pghaul("diagnose", MOVE))
    print(pghaul("check", MOVE, accept=(0, 1)))
    print(pghaul("probe", MOVE))
    print(pghaul("estimate", MOVE))
    pghaul("plan", MOVE, "--runbook", str(FOLDER / "demo.md"), "--script", str(FOLDER / "demo.sh"))
    pghaul("report", "plan", MOVE, "-o", str(FOLDER / "plan.pdf"))
    cluster = json.loads(pghaul("plan", MOVE, "--json"))["cluster"]
    print(pghaul("execute", MOVE, "--confirm", cluster, "--yes-to-hooks"))
    print(pghaul("estimate", MOVE, "--record"))
    pghaul("report", "execution", MOVE, "-o", str(FOLDER / "moved.pdf"))
    pictures()
    return held_against_caps(json.loads(pghaul("history", "runs", MOVE, "--json"))["runs"])


def host_key_fingerprint(host: Host) -> str:
    """What a DBA reads on the server's own console and compares: `SHA256:…`."""
    printed = host.exec("ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key.pub").stdout
    return printed.split()[1]


def held_against_caps(runs: list[dict[str, Any]]) -> list[str]:
    """Print each fio median beside the cap that determines it; sentences on those that are off by more than 3 %."""
    problems = []
    print(f"\n{'ground truth against fio':44} {'cap':>12} {'fio':>14} {'off':>8}")
    for run in runs:
        headline, side = run["workload"]["headline"], run["volume"]["side"]
        cap = float(getattr(CAPS[side], headline))
        median = statistics.median(repetition["metrics"][headline] for repetition in run["repetitions"])
        off = median / cap - 1
        print(f"{side}: {run['workload']['title']:39} {cap:12,.0f} {median:14,.0f} {off:+8.2%}")
        if abs(off) > TOLERANCE:
            problems.append(f"{side}: {run['workload']['title']}: fio read {median:,.0f} where the cap is {cap:,.0f}")
    return problems


def pictures() -> None:
    """A picture of each page of the window with the demo's history, on a virtual screen."""
    folder = FOLDER / "pages"
    print("\na picture of each page of the window:", flush=True)
    subprocess.run(
        ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", sys.executable, PICTURES, MOVE, str(folder)],
        cwd=PROJECT,
        check=True,
        timeout=120,
    )


if __name__ == "__main__":
    sys.exit(main())
