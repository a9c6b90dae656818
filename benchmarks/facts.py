"""How long the facts of one lab host take: the median of several passes over an open connection, both hosts.

    python benchmarks/facts.py [PASSES]

Needs the two real hosts of tests/lab (Linux, root), puts them up and takes them down. The target is 1.5 s.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.facts.collect import collect
from core.jobs import Job
from core.servers.connection import connect
from core.servers.profiles import Profile, Rights
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab, lab
from tests.lab.machine import lab_unavailable

PASSES = 15
TARGET = 1.5


def main() -> int:
    """Measure both hosts; 0 when both medians are under the target."""
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    passes = int(sys.argv[1]) if len(sys.argv) > 1 else PASSES
    with lab("benchmark-facts") as hosts, tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config"
        config.write_text(f"UserKnownHostsFile {hosts.known_hosts}\nGlobalKnownHostsFile /dev/null\n")
        os.environ["PGHAUL_SSH_CONFIG"] = str(config)
        medians = [_measure(hosts, host, passes) for host in (hosts.old, hosts.new)]
    return 0 if max(medians) < TARGET else 1


def _measure(hosts: Lab, host: Host, passes: int) -> float:
    profile = Profile(host.name, host.address, user=host.user, identity_file=str(hosts.key), rights=Rights.SUDO)
    with connect(profile, LabAsker(hosts.known_hosts), Job()) as server:
        taken = [collect(server, Job()) for _ in range(passes)]
    seconds = [facts.seconds for facts in taken]
    median = statistics.median(seconds)
    sys.stdout.write(
        f"facts of {host.name}: median {median:.3f} s, {min(seconds):.3f} to {max(seconds):.3f} in {passes} passes; "
        f"{taken[-1].round_trips} round trips, {len(taken[-1].clusters)} clusters; target {TARGET} s\n"
    )
    return median


if __name__ == "__main__":
    sys.exit(main())
