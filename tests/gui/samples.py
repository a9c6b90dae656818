"""A history as two real servers would leave it, written through the store's own face."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from core.benchmarks.model import Outcome, Repetition, Run, Volume, Workload
from core.facts.model import (
    BlockDevice,
    Cluster,
    ControlData,
    Database,
    Facts,
    FileSystem,
    Gap,
    Link,
    Memory,
    NetworkLink,
    Processor,
    System,
    Tablespace,
    Tool,
)
from core.history.store import Store
from core.jobs import CommandEnded, CommandStarted
from core.migration.model import step_ids
from core.migration.model.checks import CheckResult, Status, Waiver
from core.migration.model.estimate import Effort, Estimate, Help, Method, Span, Stage
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe, Quantity
from core.servers.profiles import Profile, Rights
from core.sides import Side
from tests.steps import make_step

MORNING = datetime(2026, 3, 14, 3, 12, 9, tzinfo=UTC)
ODD_FOLDER = """/srv/pg/it's $(touch x) "ö" <b>&amp;"""
MOVE = Move("spring", "db-old", "db-new", "/srv/pg/data", "/srv/pg/15/main", "/srv/pg", "/srv/pg", {"/srv/ts": "/fast"})
OLD = Profile("db-old", "192.0.2.11", user="dba", port=2222, copy_address="10.0.0.11")
NEW = Profile("db-new", "db-new.example.org", jump="dba@jump.example.org:22", rights=Rights.SUDO_PASSWORD)


def facts(server: str, *, new: bool = False) -> Facts:
    mount = FileSystem("/srv/pg", "/dev/sdb1", "xfs" if new else "ext4", ("rw", "relatime"), 2 << 40, 1 << 40, 100, 90)
    return Facts(
        server=server,
        taken_at=MORNING,
        seconds=0.84,
        round_trips=2,
        system=System(
            server,
            f"Debian GNU/Linux {13 if new else 12}",
            "6.1.0-18-amd64",
            "x86_64",
            libc="glibc 2.36",
            init="systemd",
        ),
        processor=Processor("AMD EPYC 9354P" if new else "Intel Xeon E5410", 1, 32 if new else 8, 64 if new else 8),
        memory=Memory((256 if new else 32) << 30, 20 << 30, 0),
        block_devices=(BlockDevice("sdb", "disk", 2 << 40, rotational=not new, scheduler="mq-deadline"),),
        file_systems=(FileSystem("/", "/dev/sda1", "ext4", ("rw",), 50 << 30, 30 << 30), mount),
        network_links=(NetworkLink("eth0", "up", 1_000_000_000, 1500, ("192.0.2.11",)),),
        tools=(Tool("fio", "/usr/bin/fio", "3.33"), Tool("iperf3", None, None)),
        clusters=(cluster(), replace(cluster(), data_directory=ODD_FOLDER, running=False, port=None, name=None)),
        gaps=(Gap("block-devices", "block devices", "not installed"),) if new else (),
        raw={"os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'},
    )


def cluster() -> Cluster:
    control = ControlData(
        1300, 202209061, "7300000000000000001", "in production", 8192, 8192, 16 << 20, 131072, 8, True, 0, "0/1", {}
    )
    return Cluster(
        "/srv/pg/data",
        "15",
        "15.5",
        running=True,
        port=5432,
        owner="postgres",
        name="15/main",
        found_by=("postmaster",),
        control=control,
        size_bytes=1220 * 10**9,
        files=48_211,
        tablespaces=(Tablespace(16400, "pg_tblspc/16400", "/srv/ts", 10 << 30, 12),),
        links=(Link("pg_wal", "/srv/wal", dangling=False),),
        settings={"shared_buffers": "8GB"},
        databases=(Database("shop", 1 << 40),),
    )


def _runs(store: Store) -> None:
    figures = {
        "fio-random-read-direct": ("read_iops", (903, 905, 899), (7998, 8011, 8003)),
        "fio-random-write-direct": ("write_iops", (760, 741, 755), (3990, 4005, 3977)),
        "fio-sequential-read-direct": ("read_bytes_per_second", (80.6e6, 80.2e6, 80.9e6), (300e6, 299e6, 301e6)),
        "dd-write": ("bytes_per_second", (58.1e6, 57.0e6, 60.2e6), (200.2e6, 199e6, 201e6)),
    }
    for name, (metric, *sides) in figures.items():
        tool = name.split("-")[0]
        workload = Workload(name, name.replace("-", " "), tool, metric, {"block_bytes": 8192})
        for side, server, values in zip(Side, (OLD.name, NEW.name), sides, strict=True):
            volume = Volume(side, server, "/srv/pg", "/srv/pg/pghaul-bench")
            run_id = store.run_started(Run(MOVE.name, volume, workload, MORNING))
            for number, value in enumerate(values, 1):
                at = MORNING + timedelta(minutes=number)
                metrics = {metric: float(value), "read_latency_p99_seconds": 0.0021}
                store.repetition_ended(
                    run_id, Repetition(number, at, 61.2, Outcome.DONE, metrics, f"{tool} --x", "raw output\n")
                )
            store.run_ended(run_id, Outcome.DONE, MORNING + timedelta(minutes=5), "3.33")


CHECKS = (
    CheckResult(
        "server-stopped", "Old server is stopped", Status.BLOCKER, "in production", "–",
        "the old cluster runs: copying it now would give a broken copy", "stop it in the last step of the plan",
    ),
    CheckResult(
        "libc", "C library", Status.UNKNOWN, "glibc 2.36", "not known", "the C library of new could not be read",
        "read the facts again",
    ),
    CheckResult(
        "free-space", "Free space", Status.WARNING, "1.1 TiB needed", "1.0 TiB free", "the target is nearly too small",
        "free 100 GiB", blocking=False,
    ),
    CheckResult("series", "Same release series", Status.PASS, "15", "15", "both are of the series 15"),
)  # fmt: skip
EVERY_CHECK = (
    *CHECKS,
    replace(CHECKS[1], pending=True),
    replace(CHECKS[2], waiver=Waiver(CHECKS[2].id, "tested", "me@here", MORNING, CHECKS[2].status, "", "")),
)
"""One of each group."""
ESTIMATE = Estimate(
    (
        Method(
            "cold-copy", Span(9000, 14400, 21000), Span(9000, 14400, 21000),
            (Stage("copy", Span(8900, 14300, 20000), "old disk"), Stage("verify", Span(100, 100, 1000), "files")),
            ("the link is 1 Gbit/s",),
        ),
        Method(
            "dump-restore", Span(60000, 86400, 100000), Span(60000, 86400, 100000),
            (
                Stage("dump", Span(30000, 33000, 36000), "old cpu"),
                Stage("indexes", Span(20000, 30600, 40000), "new cpu"),
            ),
            ("the link is 1 Gbit/s", "indexes are 30 % of the size"), ("one table dominates",),
        ),
    ),
    MORNING,
    planned="cold-copy",
    helps=(
        Help(
            "a disk of the new server that writes twice as fast (10.5 MB/s instead of 5.25 MB/s)",
            5400, 5400, "new disk", Effort.PURCHASE,
        ),
        Help("compression", 2100, 0, "old cpu"),
    ),
)  # fmt: skip
PLAN = Plan(
    MOVE.name,
    "rsync over ssh",
    "the wire at 112 MB/s is slower than both disks",
    (
        make_step(
            "step-1", "Copy while the old cluster runs", call="precopy_pass data /srv/pg/data /srv/pg",
            native=("rsync -a /srv/pg/data/ new:/srv/pg/",), reason="shortens the stop", undo="remove the target",
            expected_seconds=14400.0, number=1, server=OLD.name,
        ),
        make_step(
            "step-2", "Stop the old cluster", call="stop_cluster folder pg_ctl /srv/pg/data",
            native=("pg_ctl stop -m fast", "pg_controldata"), reason="no change", undo="pg_ctl start", downtime=True,
            expected_seconds=30.0, number=2, server=OLD.name,
        ),
        make_step(
            step_ids.CUTOVER, "Start the new cluster", Side.NEW, "systemctl start postgresql@15-main", user="root",
            reason="go on there", downtime=True, expected_seconds=5.0, number=3, server=NEW.name,
        ),
    ),
    MORNING,
    ("old is not fenced",),
)  # fmt: skip


def fill(store: Store) -> None:
    """Everything that a move leaves."""
    store.add_profile(OLD)
    store.add_profile(NEW)
    store.save_facts(facts(OLD.name))
    store.save_facts(facts(NEW.name, new=True))
    store.add_move(MOVE)
    _runs(store)
    for quantity, rate in ((Quantity.READ, 81.5e6), (Quantity.WIRE, 112e6), (Quantity.WRITE, 198e6)):
        probe = Probe(quantity, rate, 1 << 30, (1 << 30) / rate, "dd of 42 files, cold", "dd if=…", "raw", MORNING)
        store.probe_taken(MOVE.name, probe)
    store.save_checks(MOVE.name, CHECKS)
    store.save_estimate(MOVE.name, ESTIMATE)
    store.save_plan(MOVE.name, PLAN)
    for number, command in enumerate(("uname -a", f"ls -- '{ODD_FOLDER}'", "fio --name=x")):
        store.record_command(MOVE.name, CommandStarted(OLD.name, "dba", command, MORNING))
        store.record_command(MOVE.name, CommandEnded(OLD.name, command, number, 0.2))
