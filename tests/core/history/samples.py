"""A move as the history holds it after a day's work: 1.2 TB from ageing SAS disks to new storage."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from core.benchmarks.model import Outcome, Parameter, Repetition, Run, Volume, Workload
from core.facts.model import (
    BlockDevice,
    Cluster,
    ControlData,
    Database,
    Facts,
    FileSystem,
    Gap,
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
from core.migration.model.estimate import Estimate, Method, Span, Stage
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.move import Hook, HookCommand, Move
from core.migration.model.plan import OperatorTask, Plan, RemoteCall, Step, Timing
from core.migration.model.probe import Probe, Quantity
from core.servers.profiles import Profile, Rights
from core.sides import Side

START = datetime(2026, 3, 14, 20, 0, tzinfo=UTC)
OLD = Profile("gannon-old", "10.0.0.35", user="dba", rights=Rights.SUDO)
NEW = Profile("gannon-new", "10.0.0.36", user="dba", port=2222, jump="bastion", rights=Rights.SUDO_POSTGRES)
MOVE = Move(
    name="gannon to the new storage",
    old=OLD.name,
    new=NEW.name,
    cluster="/srv/pg/15/data",
    target="/var/lib/postgresql/15/main",
    old_volume="/srv/pg",
    new_volume="/var/lib/postgresql",
    tablespace_targets={"/srv/pg/space": "/var/lib/postgresql/space"},
)
SIZE = 1_220_000_000_000

_DIRECT: dict[str, Parameter] = {
    "operation": "randwrite",
    "block_bytes": 8192,
    "jobs": 5,
    "size_bytes": 5 * 2**30,
    "runtime_seconds": 10.0,
}
WORKLOADS = (
    Workload("fio-random-write-direct", "Random writes, direct", "fio", "write_iops", {**_DIRECT, "direct": True}),
    Workload("fio-random-write-buffered", "Random writes, buffered", "fio", "write_iops", {**_DIRECT, "direct": False}),
    Workload(
        "fio-sequential-write-direct",
        "Sequential writes, direct",
        "fio",
        "write_bytes_per_second",
        {**_DIRECT, "operation": "write", "direct": True},
    ),
    Workload("dd-write", "One stream written", "dd", "write_bytes_per_second", {"size_bytes": 64 * 2**30}),
    Workload("dd-read", "One stream read", "dd", "read_bytes_per_second", {"size_bytes": 64 * 2**30}),
)
_FIGURES: dict[str, tuple[float, float, dict[str, tuple[float, float]]]] = {
    "fio-random-write-direct": (7118, 18200, {"write_latency_mean_seconds": (0.000645, 0.000262)}),
    "fio-random-write-buffered": (59112, 83840, {}),
    "fio-sequential-write-direct": (83.9e6, 412e6, {"write_latency_p99_seconds": (0.0042, 0.00081)}),
    "dd-write": (438e6, 391e6, {}),
    "dd-read": (512e6, 1.31e9, {}),
}
_SPREAD = (0.0, -0.021, 0.034)


def facts(side: Side) -> Facts:
    """The facts of one side."""
    old = side is Side.OLD
    profile, cluster = (OLD, _old_cluster()) if old else (NEW, None)
    return Facts(
        server=profile.name,
        taken_at=START + timedelta(minutes=1 if old else 2),
        seconds=0.84,
        round_trips=2,
        system=System(
            profile.name,
            "Rocky Linux 8.9 (Green Obsidian)" if old else "Debian GNU/Linux 12 (bookworm)",
            "4.18.0-513.el8.x86_64" if old else "6.1.0-28-amd64",
            "x86_64",
            distribution="rocky" if old else "debian",
            distribution_version="8.9" if old else "12",
            libc="glibc 2.28" if old else "glibc 2.36",
            init="systemd",
            time_zone="Europe/Berlin",
            clock=START,
        ),
        processor=Processor("Intel Xeon 5160 @ 3.00GHz", 2, 4, 4) if old else Processor("AMD EPYC 9354", 1, 32, 64),
        memory=Memory(32 * 2**30, 20 * 2**30, 4 * 2**30) if old else Memory(256 * 2**30, 250 * 2**30, 0),
        block_devices=(
            BlockDevice("sdb" if old else "nvme0n1", "disk", 16 * 10**11, rotational=old, scheduler="mq-deadline"),
        ),
        file_systems=(
            FileSystem("/", "/dev/sda1", "ext4", ("rw",), 10**11, 5 * 10**10, 6_000_000, 5_800_000),
            FileSystem("/srv/pg", "/dev/sdb", "ext4", ("rw", "noatime"), 1_600_000_000_000, 330_000_000_000)
            if old
            else FileSystem(
                "/var/lib/postgresql", "/dev/nvme0n1", "xfs", ("rw", "noatime"), 4_000_000_000_000, 3_990_000_000_000
            ),
        ),
        network_links=(NetworkLink("eth0", "up", 1_000_000_000 if old else 10_000_000_000, 1500, (profile.address,)),),
        tools=(Tool("fio", "/usr/bin/fio", "3.33"), Tool("rsync", "/usr/bin/rsync", "3.2.7"), Tool("zstd", None, None)),
        clusters=(cluster,) if cluster else (),
        gaps=(Gap("arrays", "md arrays", "no /proc/mdstat"),),
        raw={"uname": "Linux gannon 4.18.0\n" * 40, "strange": "a \x00 and \N{GREEK SMALL LETTER PI}"},
    )


def _old_cluster() -> Cluster:
    control = ControlData(
        1300, 202209061, "7312345678901234567", "in production", 8192, 8192, 16 * 2**20, 131072, 8, True, 1, "4F2/10028"
    )
    return Cluster(
        MOVE.cluster,
        "15",
        "15.5",
        running=True,
        port=5432,
        owner="postgres",
        name="15/data",
        found_by=("postmaster", "systemd"),
        bin_directory="/usr/pgsql-15/bin",
        control=control,
        size_bytes=SIZE,
        files=9_812,
        tablespaces=(Tablespace(16400, "pg_tblspc/16400", "/srv/pg/space", 210_000_000_000, 1200),),
        settings={"shared_buffers": "8GB", "data_checksums": "on"},
        databases=(Database("gannon", 1_100_000_000_000, 900, 320_000_000_000, 290_000_000_000),),
        leftovers=("postmaster.pid",),
    )


def runs(side: Side) -> tuple[Run, ...]:
    """Every workload, three repetitions each, on one side."""
    return tuple(_run(side, workload, hour) for hour, workload in enumerate(WORKLOADS))


def _run(side: Side, workload: Workload, hour: int) -> Run:
    old = side is Side.OLD
    mount_point = MOVE.old_volume if old else MOVE.new_volume
    started = START + timedelta(hours=hour, minutes=0 if old else 30)
    before, after, both = _FIGURES[workload.name]
    figure = before if old else after
    others = {name: values[0 if old else 1] for name, values in both.items()}
    repetitions = tuple(
        Repetition(
            number=number,
            started_at=started + timedelta(minutes=number),
            seconds=12.5,
            outcome=Outcome.DONE,
            metrics={
                workload.headline: figure * (1 + spread),
                **{name: value * (1 - spread) for name, value in others.items()},
                "duration_seconds": 10.0,
            },
            command=f"LC_ALL=C {workload.tool} --directory={mount_point}/.pghaul-bench/7f3a --name={workload.name}",
            raw=f"{workload.name}: (groupid=0, jobs=5): err= 0: pid=2447\n" * 30,
            cached=number == 3 and workload.tool == "dd",
        )
        for number, spread in enumerate(_SPREAD, start=1)
    )
    return Run(
        move=MOVE.name,
        volume=Volume(side, OLD.name if old else NEW.name, mount_point, f"{mount_point}/.pghaul-bench/7f3a"),
        workload=workload,
        started_at=started,
        outcome=Outcome.DONE,
        ended_at=started + timedelta(minutes=5),
        repetitions=repetitions,
        tool_version="fio-3.33" if workload.tool == "fio" else "dd (coreutils) 8.32",
    )


def probes() -> tuple[Probe, ...]:
    """One of each quantity, but for those of a dump & restore."""
    measured = {
        Quantity.READ: (171e6, "dd of 42 relation files, cold", "dd if=/srv/pg/15/data/base/16385/2619 of=/dev/null"),
        Quantity.WIRE: (117e6, "iperf3, 1 stream", "iperf3 -c 10.0.0.36 -J"),
        Quantity.SSH: (
            104e6,
            "aes128-gcm@openssh.com, 1 stream",
            "head -c 1G /dev/zero | ssh 10.0.0.36 'cat >/dev/null'",
        ),
        Quantity.WRITE: (391e6, "dd, 4 GiB with fdatasync", "dd if=/dev/zero of=/var/lib/postgresql/.pghaul/w bs=1M"),
        Quantity.SUMS: (1.2e9, "sha256 of zeros by openssl, 4 processes", "sum_probe openssl 4 1000"),
        Quantity.SUSTAINED: (180e6, "random bytes, flushed every 67 MB", "sustained_write /srv/pg/.pghaul 1000 8"),
        Quantity.END_TO_END: (92.4e6, "rsync of 42 relation files", "rsync -a --numeric-ids files 10.0.0.36:"),
        Quantity.CHANGES: (
            2e6,
            "watch of the old cluster: WAL and file times, 33 observations",
            "watch_changes /srv/pg 28800",
        ),
    }
    return tuple(
        Probe(quantity, rate, int(rate * 8), 8.0, method, command, f"{quantity}: raw\n", START + timedelta(hours=6))
        for quantity, (rate, method, command) in measured.items()
    )


def checks() -> tuple[CheckResult, ...]:
    """A blocker, an unknown, a warning, passes."""
    return (
        CheckResult(
            "collation",
            "Same sort order",
            Status.BLOCKER,
            "glibc 2.28",
            "glibc 2.36",
            "text sorts differently on the new server: 1 204 of 91 000 probe strings change places",
            "rebuild the 212 listed indexes on new before clients connect: about 2 h 10 min",
            documentation="https://www.postgresql.org/docs/15/collation.html",
        ),
        CheckResult(
            "extension-libraries",
            "Extension libraries",
            Status.UNKNOWN,
            "postgis-3.so",
            "",
            "the libraries on new could not be listed: permission denied",
            "let the login user read /usr/lib/postgresql/15/lib",
            blocking=True,
        ),
        CheckResult(
            "stopped",
            "Server stopped",
            Status.WARNING,
            "in production",
            "",
            "the old cluster still runs",
            "the plan stops it",
            blocking=False,
        ),
        *(
            CheckResult(identifier, title, Status.PASS, old, new, message)
            for identifier, title, old, new, message in (
                ("series", "Same release series", "15.5", "15.18", "15.18 can open what 15.5 wrote"),
                ("architecture", "Same architecture", "x86_64", "x86_64", "same processor architecture"),
                (
                    "control",
                    "Same binary layout",
                    "1300, 202209061",
                    "1300, 202209061",
                    "same control and catalog version",
                ),
                ("space", "Room on the new server", "1.1 TiB", "3.6 TiB", "leaves 2.5 TiB free"),
            )
        ),
    )


def estimate() -> Estimate:
    """Cold copy against dump and restore."""
    hour = 3600.0

    def spans(low: float, likely: float, high: float) -> Span:
        return Span(low * hour, likely * hour, high * hour)

    return Estimate(
        (
            Method(
                "cold-copy",
                spans(3.2, 3.8, 4.9),
                spans(3.2, 3.8, 4.9),
                (
                    Stage("stop and prove the stop", Span(10, 30, 120), "old disk"),
                    Stage("copy", spans(3.1, 3.67, 4.7), "wire"),
                    Stage("verify and start", Span(120, 240, 600), "new disk"),
                ),
                ("rsync over ssh, 1 stream, no compression",),
            ),
            Method(
                "warm-copy",
                spans(4.0, 4.8, 6.4),
                spans(0.4, 0.7, 1.5),
                (
                    Stage("warm pass", spans(3.3, 3.9, 5.0), "wire"),
                    Stage("final pass", spans(0.4, 0.65, 1.4), "old disk"),
                    Stage("verify and start", Span(120, 240, 600), "new disk"),
                ),
                ("18 GiB change an hour: assumed, not measured",),
            ),
            Method(
                "dump-restore",
                spans(16, 24, 41),
                spans(16, 24, 41),
                (
                    Stage("dump", spans(6, 9.3, 14), "old cpu"),
                    Stage("load", spans(3, 4, 8), "new disk"),
                    Stage("indexes", spans(5, 8, 14), "new cpu"),
                    Stage("analyze", spans(2, 2.7, 5), "new cpu"),
                ),
                ("calibrated by nothing: no earlier dump and restore is known",),
                ("one table holds 29 % of the data: parallel jobs gain little",),
            ),
        ),
        made_at=START + timedelta(hours=7),
    )


def plan() -> Plan:
    """The steps of a cold copy."""
    steps = (
        Step(
            id="step-1",
            title="Tell the users",
            action=OperatorTask(),
            reason="the cluster will be down for about 4 h",
            undo="tell them it is off",
            timing=Timing(expected_seconds=None),
            number=1,
            server="",
        ),
        Step(
            id="step-2",
            title="Stop the cluster",
            action=RemoteCall(
                side=Side.OLD,
                user="postgres",
                call="/usr/pgsql-15/bin/pg_ctl -D /srv/pg/15/data -m fast -w -t 600 stop",
            ),
            reason="a copy of a running cluster cannot be started",
            undo="/usr/pgsql-15/bin/pg_ctl -D /srv/pg/15/data -w start",
            downtime=True,
            timing=Timing(expected_seconds=30.0),
            number=2,
            server=OLD.name,
        ),
        Step(
            id="step-3",
            title="Copy the files",
            action=RemoteCall(
                side=Side.OLD,
                user="root",
                call="rsync -aHSX --numeric-ids --no-inc-recursive --info=progress2 --exclude=/postmaster.pid "
                "-e 'ssh -c aes128-gcm@openssh.com -o Compression=no' /srv/pg/15/data/ "
                "postgres@10.0.0.36:/var/lib/postgresql/15/main/",
            ),
            reason="the measured bottleneck is the wire: one stream fills it",
            undo="remove /var/lib/postgresql/15/main on new",
            downtime=True,
            timing=Timing(expected_seconds=13_200.0),
            number=3,
            server=OLD.name,
        ),
        Step(
            id=step_ids.CUTOVER,
            title="Let clients in on new",
            action=RemoteCall(side=Side.NEW, user="postgres", call="systemctl start postgresql@15-main"),
            reason="from here on new holds what clients write",
            undo="stop new, start old: what was written on new is lost",
            downtime=True,
            timing=Timing(expected_seconds=20.0),
            number=4,
            server=NEW.name,
        ),
    )
    return Plan(
        MOVE.name,
        "rsync over ssh, 1 stream",
        "the wire carries 117 MB/s, ssh 104 MB/s: one stream is enough",
        steps,
        START + timedelta(hours=8),
        ("the sort order differs: rebuild the listed indexes before step 4",),
    )


def execution() -> Execution:
    """A rehearsal as it is when it begins."""
    begun = START + timedelta(hours=2)
    return Execution(0, MOVE.name, Kind.REHEARSAL, State.RUNNING, "c0ffee", "dba@desk", begun, None, plan())


def step_run(number: int = 1, attempt: int = 1) -> StepRun:
    """A try at a step that has just begun."""
    return StepRun(0, number, f"step {number}", attempt, START + timedelta(hours=2, minutes=number))


HOOK = HookCommand(Hook.MOVE_ADDRESS, "workstation", "ip address | head\n'it''s ours'", None)


def waiver() -> Waiver:
    """Of a warning that came out otherwise since: it holds no more."""
    return Waiver("libc", "tested on a copy", "dba@desk", START, Status.WARNING, "glibc 2.31", "glibc 2.35")


def set_up(store: Store) -> None:
    """Both servers and the move, of which nothing is known yet."""
    store.add_profile(OLD)
    store.add_profile(NEW)
    store.add_move(MOVE)


def fill(store: Store) -> None:
    """Everything above, as the actions would record it."""
    set_up(store)
    for side in Side:
        store.save_facts(facts(side))
        for run in runs(side):
            store.run_started(run)
    for probe in probes():
        store.probe_taken(MOVE.name, probe)
    store.save_checks(MOVE.name, checks())
    store.add_waiver(MOVE.name, waiver())
    store.save_estimate(MOVE.name, estimate())
    store.save_plan(MOVE.name, plan())
    number = store.execution_started(execution())
    step = store.step_started(number, step_run())
    ended = START + timedelta(hours=3)
    store.step_ended(replace(step_run(), id=step, ended_at=ended, exit_status=0, bytes=17, output="what it said"))
    store.execution_changed(number, State.STOPPED, "the cable was cut")
    store.save_hook(MOVE.name, HOOK)
    command = "LC_ALL=C sudo -n -u root -- sh -c 'sync; echo 3 > /proc/sys/vm/drop_caches'"
    started = CommandStarted(OLD.name, "root", command, START + timedelta(hours=1), title="drop caches")
    store.record_command(MOVE.name, started)
    store.record_command(MOVE.name, CommandEnded(OLD.name, command, 0, 0.31))
