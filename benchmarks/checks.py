"""How long a full check of a large cluster takes: 50 databases, 20,000 relations, on the two real hosts of tests/lab.

    python benchmarks/checks.py [PASSES]

Facts of old, facts of new with a trial cluster of its binaries, and all checks, over open connections. Target: 10 s.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.facts.collation_order import libc_locales
from core.facts.collect import collect
from core.jobs import Job
from core.migration.checks import run_checks
from core.migration.model.move import Move
from core.migration.probing.trial_cluster import with_trial_cluster
from core.servers.connection import Server, connect
from core.servers.profiles import Profile, Rights
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab, lab
from tests.lab.machine import lab_unavailable
from tests.lab.many import DATA, many

DATABASES, RELATIONS = 50, 400
PASSES = 3
TARGET = 10.0
MOVE = Move("large", "old", "new", DATA, "/srv/pg/target", "/srv/pg", "/srv/pg")


def main() -> int:
    """Measure; 0 when the median is under the target."""
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    passes = int(sys.argv[1]) if len(sys.argv) > 1 else PASSES
    with (
        lab("benchmark-checks") as hosts,
        many(hosts.old, DATABASES, RELATIONS),
        tempfile.TemporaryDirectory() as folder,
    ):
        config = Path(folder) / "config"
        config.write_text(f"UserKnownHostsFile {hosts.known_hosts}\nGlobalKnownHostsFile /dev/null\n")
        os.environ["PGHAUL_SSH_CONFIG"] = str(config)
        with _connected(hosts, hosts.old) as old, _connected(hosts, hosts.new) as new:
            taken = [_pass(old, new) for _ in range(passes)]
    median = statistics.median(taken)
    sys.stdout.write(
        f"full check: median {median:.1f} s, {min(taken):.1f} to {max(taken):.1f} in {passes} passes; "
        f"target {TARGET:.0f} s\n"
    )
    return 0 if median < TARGET else 1


def _connected(hosts: Lab, host: Host) -> Server:
    profile = Profile(host.name, host.address, user=host.user, identity_file=str(hosts.key), rights=Rights.SUDO)
    return connect(profile, LabAsker(hosts.known_hosts), Job())


def _pass(old: Server, new: Server) -> float:
    """Seconds of one full check; prints what it looked at."""
    started = time.monotonic()
    here = collect(old, Job(), folders=[MOVE.cluster])
    read = time.monotonic()
    cluster = here.cluster(MOVE.cluster)
    if cluster is None:
        raise SystemExit(f"the cluster was not read: {here.gaps}")
    there = collect(new, Job(), folders=[MOVE.target], locales=libc_locales(cluster))
    there = with_trial_cluster(new, there, cluster.series, Job(), of=cluster)
    results = run_checks(MOVE, here, there)
    seconds = time.monotonic() - started
    relations = sum(database.relations or 0 for database in cluster.databases)
    sys.stdout.write(
        f"{len(cluster.databases)} databases, {relations} relations, {len(results)} checks: {seconds:.1f} s, "
        f"of which old {read - started:.1f} s\n"
    )
    return seconds


if __name__ == "__main__":
    sys.exit(main())
