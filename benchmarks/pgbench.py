"""pgbench inside the product against the same pgbench typed by hand, by turns on one host: run as root, prints both.

    python benchmarks/pgbench.py [PAIRS]

Both make a cluster of the same binaries on the same disk, fill it at the same scale, start it with cold caches for each
run, and run the same pgbench: select-only, then TPC-B. The disk's reads are capped and enough clients wait for them
that the cap, not what the machine does besides, bounds both. The product is right when the ratio of the medians is
within 3 % of one.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.benchmarks.model import Outcome, Parameter, Repetition, Run, Suite, Volume, Workload
from core.benchmarks.pgbench.output import parse_pgbench
from core.benchmarks.runs import MoveContext, run_suite
from core.facts.collect import collect
from core.facts.model import Facts
from core.jobs import Job
from core.servers.connection import Server, connect
from core.servers.profiles import Profile
from core.sides import Side
from tests.lab import clusters
from tests.lab import lab as labs
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable

DISK = "/srv/pg"
RATE = "transactions_per_second"
READ_IOPS = 300
SCALE, CLIENTS, SECONDS = 8, 8, 10
SETTINGS = ("full_page_writes = off", "autovacuum = off", "shared_buffers = 128MB")
TESTS = ("select", "tpcb")
TOLERANCE = 0.03
PAIRS = 4

# As a DBA types it, as root for the caches and as postgres for the rest.
BY_HAND = f"""
set -e
folder={DISK}/by-hand
trap 'runuser -u postgres -- pg_ctl -D $folder/data -m immediate stop >/dev/null 2>&1 || :; rm -rf "$folder"' EXIT
PATH={clusters.PREFIX}/bin:$PATH; export PATH PGHOST=$folder PGPORT=5499 PGDATABASE=postgres
install -d -m 700 -o postgres "$folder"; cd "$folder"
as_postgres() {{ runuser -u postgres -- "$@"; }}
as_postgres initdb -D data -A trust -E UTF8 --locale=C >/dev/null
printf '%s\\n' "listen_addresses = ''" "port = 5499" "unix_socket_directories = '$folder'" >>data/postgresql.conf
printf '%s\\n' '{"' '".join(SETTINGS)}' >>data/postgresql.conf
as_postgres pg_ctl -D data -l log -w start >/dev/null
as_postgres pgbench -i -s {SCALE} >/dev/null 2>&1
as_postgres pg_ctl -D data -w -m fast stop >/dev/null
for options in '-n -S' ''; do
    as_postgres pg_ctl -D data -l log -w start >/dev/null
    sync; echo 3 >/proc/sys/vm/drop_caches
    as_postgres pgbench $options -c {CLIENTS} -T {SECONDS} 2>&1
    as_postgres pg_ctl -D data -w -m fast stop >/dev/null
done
"""


class Unrecorded:
    """A journal that keeps nothing."""

    def run_started(self, run: Run) -> int:  # noqa: ARG002
        """Nothing."""
        return 1

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        """Nothing."""

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Transactions a second of one test, run once each way."""

    product: float
    by_hand: float


def in_the_product(server: Server, facts: Facts) -> list[float]:
    """One repetition of each test as `pghaul bench` runs it."""
    stated: dict[str, Parameter] = {"scale": SCALE, "clients": CLIENTS, "runtime_seconds": SECONDS}
    stated |= {"settings": "; ".join(SETTINGS[:2])}  # the third is its own parameter, and its default
    workloads = tuple(Workload(test, test, "pgbench", RATE, {**stated, "test": test}) for test in TESTS)
    suite = Suite("pgbench", "pgbench", 1, workloads)
    runs = run_suite(
        server,
        Volume(Side.OLD, server.name, DISK, DISK),
        suite,
        facts,
        Unrecorded(),
        Job(),
        move="pgbench",
        context=MoveContext("15"),
    )
    failed = [run.repetitions[-1].message for run in runs if run.outcome is not Outcome.DONE]
    if failed:
        raise SystemExit(f"the run failed: {failed[0]}")
    return [run.repetitions[-1].metrics[RATE] for run in runs]


def by_hand(host: Host) -> list[float]:
    """The same by hand, past ssh."""
    return [result.metrics[RATE] for result in parse_pgbench(host.exec("sh", "-c", BY_HAND).stdout).results]


def ratio(pairs: Sequence[Pair]) -> float:
    """The product's median over that by hand."""
    return statistics.median(pair.product for pair in pairs) / statistics.median(pair.by_hand for pair in pairs)


def right(pairs: Sequence[Pair]) -> bool:
    """Whether the product measures what one measures by hand."""
    return abs(ratio(pairs) - 1) <= TOLERANCE


def table(test: str, pairs: Sequence[Pair]) -> str:
    """Every pair of a test, the medians, their ratio and the verdict."""
    lines = [f"{test:10}{'product':>14}{'by hand':>14}   transactions a second"]
    lines += [f"pair {number:<5}{pair.product:14.2f}{pair.by_hand:14.2f}" for number, pair in enumerate(pairs, 1)]
    medians = (statistics.median(values) for values in zip(*((p.product, p.by_hand) for p in pairs), strict=True))
    lines.append(f"{'median':10}{''.join(f'{median:14.2f}' for median in medians)}")
    verdict = "right" if right(pairs) else f"WRONG: more than {TOLERANCE:.0%} off"
    return "\n".join([*lines, f"ratio of the medians {ratio(pairs):.4f}: {verdict}\n"])


def main() -> int:
    """Measure by turns, the first of each pair changing; 0 when the ratio is within 3 %."""
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    with labs.lab("benchmark-pgbench", scale=1) as lab, tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config"
        config.write_text(f"UserKnownHostsFile {lab.known_hosts}\nGlobalKnownHostsFile /dev/null\n")
        os.environ["PGHAUL_SSH_CONFIG"] = str(config)
        measured = _measured(lab, wanted)
    for test, pairs in measured.items():
        sys.stdout.write(table(test, pairs))
    return 0 if all(right(pairs) for pairs in measured.values()) else 1


def _measured(lab: Lab, wanted: int) -> dict[str, list[Pair]]:
    profile = Profile("old", lab.old.address, user=lab.old.user, identity_file=str(lab.key))
    with connect(profile, LabAsker(lab.known_hosts), Job()) as server:
        facts = collect(server, Job(), folders=[clusters.DATA])
        clusters.control(lab.old, "stop")
        lab.cap_disk("old", read_iops=READ_IOPS)
        pairs: dict[str, list[Pair]] = {test: [] for test in TESTS}
        for number in range(wanted):
            hand_first = by_hand(lab.old) if number % 2 else []
            product = in_the_product(server, facts)
            hand = hand_first or by_hand(lab.old)
            for test, ours, theirs in zip(TESTS, product, hand, strict=True):
                pairs[test].append(Pair(ours, theirs))
                sys.stdout.write(f"pair {number + 1} of {wanted}: {test} {ours:.2f} by hand {theirs:.2f}\n")
                sys.stdout.flush()
    return pairs


if __name__ == "__main__":
    raise SystemExit(main())
