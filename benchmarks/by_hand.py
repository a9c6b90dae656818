"""The estimate of a copy against that copy done by hand, on two hosts with real caps: run as root, prints both.

    python benchmarks/by_hand.py [GIGABYTES]

For each setting: `estimated` is the copy stage of the cold copy, from probes alone; `by hand` an `rsync -a` over ssh as
a DBA would type it who knows the compression that the probes chose, from cold caches, with the sync behind it without
which nobody may trust the copy; `by the plan` the time of the plan's own copy commands, for comparison. The cluster is
the lab's own, stopped.

An estimate is right within 25 % of the copy by hand where both mean the same: where new's disk keeps up. Behind a slow
disk of new the two part ways, so that row is printed and not judged: see NEW_DISK.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core import units
from core.facts.collect import collect
from core.facts.model import Facts
from core.jobs import Job
from core.migration.checks import run_checks
from core.migration.estimate import estimate, spec_of
from core.migration.model import step_ids
from core.migration.model.estimate import Estimate
from core.migration.model.move import Move
from core.migration.model.plan import Phase, Plan, Step, call_of, functions_file
from core.migration.model.probe import Probe
from core.migration.plan import make_plan
from core.migration.probing.probes import probe
from core.migration.transports.choice import choose_transport
from core.migration.transports.rsync_versions import compression_options, oldest_version
from core.servers.connection import Server, connect
from core.servers.profiles import Profile
from core.servers.shell import command
from core.sides import Side
from tests.lab import clusters
from tests.lab import lab as labs
from tests.lab.caches import LITTLE, PLENTY, cold_caches, touch_disks
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable

TARGET = "/srv/pg/estimate"
TOLERANCE = 0.25


@dataclass(frozen=True, slots=True)
class Setting:
    """Caps of the lab: bytes a second of old's and new's disk (0: none), and the wire as tc has it."""

    title: str
    old_disk: int = 0
    new_disk: int = 0
    wire: str = "1gbit"
    not_judged: str = ""
    """Why the copy by hand is no measure of this estimate; empty: it is."""


NEW_DISK = (
    "not judged: by hand new's memory takes what its disk does not, and the sync writes it out afterwards; "
    "the estimate is of the plan's copy, which has new write while more arrives"
)

SETTINGS = (
    Setting("1 Gbit/s, disks without a cap"),
    Setting("1 Gbit/s, old disk 60 MB/s", old_disk=60_000_000),
    Setting("1 Gbit/s, new disk 60 MB/s", new_disk=60_000_000, not_judged=NEW_DISK),
)


@dataclass(frozen=True, slots=True)
class ByHand:
    """A plain rsync: until it ended, and until all was on new's disk. Seconds."""

    rsync: float
    flushed: float


@dataclass(frozen=True, slots=True)
class Row:
    """What one setting came to. Seconds."""

    setting: Setting
    estimated: float
    planned: float
    by_hand: ByHand

    @property
    def ratio(self) -> float:
        """The estimate over the copy by hand."""
        return self.estimated / self.by_hand.flushed

    @property
    def right(self) -> bool:
        """The estimate is within the tolerance, or not judged."""
        return bool(self.setting.not_judged) or abs(self.ratio - 1) <= TOLERANCE


class Unrecorded:
    """A journal that keeps nothing."""

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Nothing."""


def cap(lab: Lab, setting: Setting) -> None:
    """Put the setting's caps on both hosts, on which no PostgreSQL runs."""
    lab.cap_memory(PLENTY if setting.new_disk else LITTLE)
    lab.shape(setting.wire)
    lab.cap_disk("old", read_bps=setting.old_disk)
    lab.cap_disk("new", write_bps=setting.new_disk)


def copy_by_hand(lab: Lab, source: str, options: Sequence[str] = ("-a",)) -> ByHand:
    """rsync of a stopped cluster from old to new over ssh, as root on old; nothing is left behind."""
    lab.old.exec("install", "-m", "600", "/dev/stdin", "/root/by-hand", input=lab.key.read_text())
    lab.old.exec("install", "-m", "600", "/dev/stdin", "/root/by-hand.hosts", input=lab.known_hosts.read_text())
    ssh = command("ssh", "-i", "/root/by-hand", "-o", "UserKnownHostsFile=/root/by-hand.hosts").text
    login = f"{lab.new.user}@{lab.new.address}"
    copy = command("rsync", *options, "-e", ssh, "--rsync-path=sudo rsync", f"{source}/", f"{login}:{TARGET}-by-hand/")
    cold_caches()
    try:
        begun = time.monotonic()
        lab.old.exec("sh", "-c", copy.text)
        copied = time.monotonic()
        lab.new.exec("sync", "-f", f"{TARGET}-by-hand")
        return ByHand(copied - begun, time.monotonic() - begun)
    finally:
        lab.new.exec("rm", "-rf", f"{TARGET}-by-hand")
        lab.old.exec("rm", "-f", "/root/by-hand", "/root/by-hand.hosts")


def run_step(old: Server, new: Server, plan: Plan, step: Step, source: str) -> str:
    """Run one step of a plan with what another one printed as its input; what it printed."""
    at = old if step.side is Side.OLD else new
    given = source + (functions_file(plan.functions) if step.remote is not None and step.remote.takes_functions else "")
    return at.run(call_of(plan, step.call), Job(), user=step.user, stdin=given.encode(), deadline=600).stdout


def copy_by_plan(old: Server, new: Server, plan: Plan, targets: Sequence[str]) -> float:
    """Run the plan's steps up to its copy and the flush behind it, take the copy's time, and undo all of it."""
    outputs: dict[str, str] = {}
    taken = 0.0
    wanted = [
        step for step in plan.steps if step.number <= next(s.number for s in plan.steps if s.id == step_ids.FLUSH_NEW)
    ]
    try:
        for step in wanted:
            if step.remote is None or step.id == step_ids.FENCE_OLD:
                continue
            copying = step.phase is Phase.COPY or step.id == step_ids.FLUSH_NEW
            if step_ids.family_of(step.id, step_ids.COPY):
                cold_caches()
            source = outputs.get(step.reads, "")
            begun = time.monotonic()
            done = run_step(old, new, plan, step, source)
            taken += time.monotonic() - begun if copying else 0.0
            outputs[step.id] = done
    finally:
        close = [step for step in plan.steps if step.id in {step_ids.REMOVE_KEY_NEW, step_ids.REMOVE_KEY_OLD}]
        for step in close:
            run_step(old, new, plan, step, "")
        new.run(command("rm", "-rf", "--", *targets), Job(), user="root")
    return taken


def estimated(
    old: Server, new: Server, old_facts: Facts, new_facts: Facts, move: Move
) -> tuple[Estimate, tuple[Probe, ...]]:
    """Probe the pair as `pghaul probe` does, then estimate."""
    probes = probe(old, new, old_facts, new_facts, move, "0123", Unrecorded(), Job())
    return estimate(spec_of(move, old_facts, probes)), probes


def copy_seconds(made: Estimate) -> float:
    """The likely seconds of the cold copy's copy stage."""
    cold = made.method("cold-copy")
    return next(stage.seconds.likely for stage in cold.stages if stage.name == "copy") if cold is not None else 0.0


def size_of(facts: Facts, folder: str) -> int:
    """Bytes of the cluster in that folder; 0 where the facts know none."""
    cluster = facts.cluster(folder)
    return (cluster.size_bytes if cluster is not None else 0) or 0


def server(lab: Lab, side: str, asker: LabAsker) -> Server:
    """A connection to one host."""
    host = lab.host(side)
    return connect(Profile(side, host.address, user=host.user, identity_file=str(lab.key)), asker, Job())


def fill(lab: Lab, megabytes: int) -> None:
    """Let old's cluster grow by a table, without WAL, and stop it."""
    rows = f"SELECT n, repeat(md5(n::text), 25) FROM generate_series(1, {megabytes * 1200}) n"
    query = f"CREATE UNLOGGED TABLE filler AS {rows}"
    psql = f"{clusters.PREFIX}/bin/psql"
    lab.old.exec("env", "PGHOST=/tmp", psql, "-X", "-q", "-c", query, clusters.DATABASE, user="postgres")
    clusters.control(lab.old, "stop")


def main() -> int:
    """Measure every setting; 0 when each estimate that is judged is within 25 % of the copy by hand."""
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    with labs.lab("benchmark-estimate") as lab, tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config"
        config.write_text(f"UserKnownHostsFile {lab.known_hosts}\nGlobalKnownHostsFile /dev/null\n")
        os.environ["PGHAUL_SSH_CONFIG"] = str(config)
        fill(lab, max(1, int(gigabytes * 1000) - 220))
        touch_disks(lab)
        asker = LabAsker(lab.known_hosts)
        with server(lab, "old", asker) as old, server(lab, "new", asker) as new:
            rows = [_measure(lab, old, new, setting) for setting in SETTINGS]
    sys.stdout.write(table(rows))
    return 0 if all(row.right for row in rows) else 1


def table(rows: Sequence[Row]) -> str:
    """The rows for people, with the verdict on each."""
    head = f"{'':32}{'estimated':>10}{'by hand':>10}{'(rsync)':>10}{'by plan':>10}{'est/hand':>10}\n"
    return head + "".join(_line(row) for row in rows)


def _line(row: Row) -> str:
    seconds = (row.estimated, row.by_hand.flushed, row.by_hand.rsync, row.planned)
    verdict = "right" if row.right else f"WRONG: more than {TOLERANCE:.0%} off"
    if row.setting.not_judged:
        verdict = f"\n    {row.setting.not_judged}"
    return f"{row.setting.title:32}{''.join(f'{each:8.1f} s' for each in seconds)}{row.ratio:10.2f}  {verdict}\n"


def _measure(lab: Lab, old: Server, new: Server, setting: Setting) -> Row:
    cap(lab, setting)
    move = Move(
        "estimate", "old", "new", clusters.DATA, TARGET, "/srv/pg", "/srv/pg", {clusters.SPACE: f"{TARGET}-space"}
    )
    old_facts, new_facts = collect(old, Job(), folders=[move.cluster]), collect(new, Job(), folders=[TARGET])
    size = size_of(old_facts, move.cluster)
    cold_caches()
    made, probes = estimated(old, new, old_facts, new_facts, move)
    plan = make_plan(
        move,
        old.profile,
        new.profile,
        old_facts,
        new_facts,
        run_checks(move, old_facts, new_facts),
        probes,
        made,
        seed="0123",
    )
    planned = copy_by_plan(old, new, plan, [TARGET, f"{TARGET}-space"])
    transport = choose_transport(probes).transport
    shrunk = compression_options(oldest_version(old_facts, new_facts), transport.compression)
    hand = copy_by_hand(lab, clusters.DATA, ("-a", *shrunk))
    lab.restore()
    sys.stdout.write(
        f"{setting.title}: {units.size(size)}, {transport.name}\n"
        + "".join(f"  probe {each.quantity}: {units.rate(each.bytes_per_second)}\n" for each in probes)
    )
    sys.stdout.flush()
    return Row(setting, copy_seconds(made), planned, hand)


if __name__ == "__main__":
    raise SystemExit(main())
