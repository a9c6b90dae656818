"""A small cluster of its own on the lab's hosts, and executions of its move: for the tests that carry plans out.

The plain one has its files in one folder; the spread one has its WAL and two tablespaces elsewhere, and takes twice as
long to move.
"""

import hashlib
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread

from core.facts.collect import collect
from core.facts.model import Cluster, Facts
from core.history.store import Store
from core.jobs import Event, Job
from core.migration.estimate import estimate, spec_of
from core.migration.execution.runner import Runner, new_execution
from core.migration.execution.step_runner import StepRunner
from core.migration.findings.data_roots import data_roots
from core.migration.model.checks import CheckResult
from core.migration.model.execution import Execution, Kind, StopAnswer
from core.migration.model.move import Move, Verify
from core.migration.model.plan import Plan, Step
from core.migration.model.probe import Probe
from core.migration.plan import make_plan
from core.servers.connection import Server
from core.servers.profiles import Profile
from core.servers.remote_process import GRACE
from tests.lab.clusters import PREFIX, pack, unpack
from tests.lab.extra import put_tree
from tests.lab.footprint import differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import CACHE, LabError, wait_until
from tests.live.command_line import CommandLine

ROOT = "/srv/pg/move"
DATA, WAL, SPACE, OTHER = f"{ROOT}/data", f"{ROOT}/wal", f"{ROOT}/space a", f"{ROOT}/space b"
TARGET, NEW_OTHER = f"{ROOT}/15 main", f"{ROOT}/elsewhere"
TEMPLATE = "/srv/pg/template"
ASIDE = "/var/lib/pghaul"
"""Where a move keeps the configuration files of the new server that it has replaced."""
SERVER = "/opt/pgsql-moved"
"""The programs of old's cluster: 15.8 where that is to be had, else the 15.5 of the lab."""
PORT = 5477
MOVE = Move("to new", "old", "new", DATA, TARGET, "/srv/pg", "/srv/pg")
SPREAD = replace(MOVE, tablespace_targets={OTHER: NEW_OTHER})
NEW_BIN = "/usr/lib/postgresql/15/bin"

_CREATE = f"""
set -eu
cd {SERVER}/bin
./initdb -D {DATA} %(initdb)s -U postgres --data-checksums --locale=C.UTF-8 --auth=trust --wal-segsize=1 -N >/dev/null
cat >>{DATA}/postgresql.conf <<S
port = {PORT}
unix_socket_directories = '/tmp'
listen_addresses = ''
max_wal_size = '64MB'
shared_buffers = '16MB'
S
./pg_ctl -D {DATA} -s -w -l /dev/null start
./psql -X -q -v ON_ERROR_STOP=1 -h /tmp -p {PORT} -U postgres postgres <<S
%(sql)s
CREATE DATABASE shop;
S
./pgbench -i -q -s 1 -h /tmp -p {PORT} -U postgres %(pgbench)s shop 2>/dev/null
# or autovacuum would, in the middle of a move
./vacuumdb -q -z -a -h /tmp -p {PORT} -U postgres
./pg_ctl -D {DATA} -s -w -m fast stop
"""
_SPREAD = {
    "initdb": f"-X {WAL}",
    "sql": f"CREATE TABLESPACE a LOCATION '{SPACE}'; CREATE TABLESPACE b LOCATION '{OTHER}';",
    "pgbench": "--tablespace=a --index-tablespace=b",
}


def sql(host: Host, text: str, database: str = "shop", target: str = TARGET) -> str:
    """What psql prints, as the superuser on that host."""
    folder = socket_of_new(host, target) if host.name == "new" else "/tmp"
    words = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", str(PORT), database]
    program = f"{SERVER}/bin/psql" if host.name == "old" else "psql"
    return host.exec(program, *words[1:], user="postgres", input=text).stdout.strip()


def socket_of_new(host: Host, target: str = TARGET) -> str:
    """The folder of its Unix socket by its lock file, since the local-only start has one of its own."""
    return host.exec("sed", "-n", "5p", f"{target}/postmaster.pid", check=False).stdout.strip() or "/tmp"


def put_server(old: Host) -> None:
    """15.8 where it is to be had, which is a server alone, and beside it the programs of 15.5 that it lacks."""
    with suppress(LabError):
        put_tree(old, "15.8", SERVER)
    beside = (
        'mkdir -p "$0/bin"; for each in "$1"/bin/*; do [ -e "$0/bin/${each##*/}" ] || ln -s "$each" "$0/bin/"; done'
    )
    old.exec("sh", "-c", beside, SERVER, PREFIX)


def create(old: Host, *, spread: bool = False) -> None:
    """The cluster, stopped, and a copy of it to begin anew from; made once, then unpacked from the cache."""
    put_server(old)
    for folder in (ROOT, TEMPLATE):
        old.exec("install", "-d", "-o", "postgres", "-g", "postgres", folder)
    version = old.exec(f"{SERVER}/bin/postgres", "-V").stdout
    script = _CREATE % (_SPREAD if spread else dict.fromkeys(_SPREAD, ""))
    archive = CACHE / f"moved-{hashlib.sha256(f'{version}{script}'.encode()).hexdigest()[:12]}.tar"
    if archive.exists():
        unpack(old, archive, ROOT)
    else:
        for folder in (DATA, WAL, SPACE, OTHER) if spread else (DATA,):
            old.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", folder)
        old.exec("sh", "-c", script, user="postgres")
        pack(old, archive, ROOT, ".")
    old.exec("cp", "-a", f"{ROOT}/.", TEMPLATE)


def pg_ctl(host: Host, *words: str, check: bool = True) -> None:
    """pg_ctl on the cluster of that host, as its owner."""
    program, folder = (f"{SERVER}/bin/pg_ctl", DATA) if host.name == "old" else (f"{NEW_BIN}/pg_ctl", TARGET)
    host.exec("env", f"PGDATA={folder}", program, "-w", "-s", *words, user="postgres", check=check)


def end(host: Host) -> None:
    """End the server of the cluster there, and remove its private socket folder.

    By a signal: pg_ctl needs PG_VERSION, which may be behind the fence.
    """
    data = DATA if host.name == "old" else TARGET
    ended = (
        'if read -r server 2>/dev/null <"$0/postmaster.pid"; then '
        'kill -QUIT "$server"; while kill -0 "$server"; do sleep 0.1; done; fi; '
        'if read -r folder 2>/dev/null <"$0/pghaul-fence/socket"; then rm -rf -- "$folder"; fi'
    )
    host.exec("sh", "-c", ended, data, check=False)


def unfence(old: Host) -> None:
    """What a person does who wants old again."""
    fence = f"{DATA}/pghaul-fence"
    old.exec("mv", f"{fence}/global/pg_control", f"{DATA}/global/", user="postgres")
    old.exec("rm", "-r", fence, user="postgres")


def start(old: Host) -> None:
    pg_ctl(old, "-l", "/dev/null", "start")


def describe(cli: CommandLine, target: str = TARGET, *, spread: bool = False) -> None:
    """Both hosts, and the move of the cluster as `m`."""
    cli.set_up(DATA, *(("--tablespace", f"{OTHER}={NEW_OTHER}") if spread else ()), target=target)


@contextmanager
def running(cli: CommandLine) -> Iterator[CommandLine]:
    """The cluster runs on the old server, and `m` is its move; afterwards no trace of it."""
    create(cli.lab.old)
    try:
        clear(cli.lab)
        start(cli.lab.old)
        describe(cli)
        yield cli
    finally:
        remove(cli.lab)


def processes(host: Host) -> set[str]:
    """The processes of a host's servers besides their sessions, by the names that they give themselves."""
    return set(re.findall(r"^postgres: ([a-z ]+?) *$", host.exec("ps", "-eo", "args").stdout, re.MULTILINE))


def move_of(cluster: Cluster | None) -> Move:
    """The move that these facts of the cluster are of."""
    return SPREAD if cluster is not None and any(each.location == OTHER for each in cluster.tablespaces) else MOVE


def give_up(lab: Lab, status: str) -> None:
    """What the document of `execute --status` shows to make old the only server again, as a person types it."""
    logged_in = "cd / && XDG_RUNTIME_DIR=/run/user/$(id -u) && export XDG_RUNTIME_DIR && "
    for step in json.loads(status)["execution"]["plan"]["back_with_loss"]:
        call = step["action"]
        host = lab.old if call["side"] == "old" else lab.new
        host.exec("sh", "-c", logged_in + " && ".join(call["native"]), user=call["user"])


def clear(lab: Lab) -> None:
    """Both sides as before any execution: old's cluster anew from its template, nothing of ours anywhere."""
    for host in (lab.old, lab.new):
        end(host)
        host.exec("rm", "-rf", "--", ROOT, ASIDE)
    lab.old.exec("cp", "-a", TEMPLATE, ROOT)
    lab.new.exec("install", "-d", "-o", "postgres", "-g", "postgres", ROOT)


def remove(lab: Lab) -> None:
    """No trace of the cluster."""
    for host in (lab.old, lab.new):
        end(host)
        host.exec("rm", "-rf", "--", ROOT, TEMPLATE, SERVER, ASIDE)


def contents(host: Host) -> str:
    """The sum of every file of the cluster on old, fenced or not."""
    look = f"cd {ROOT} && find . -type f ! -name new-was-opened -exec sha256sum {{}} + | sort"
    return host.exec("sh", "-c", look).stdout.replace("/pghaul-fence/", "/")


def hashes(host: Host) -> str:
    """Sum, mode, owner and time of every file and folder of the cluster on old."""
    look = f"cd {ROOT} && find . -type f -exec sha256sum {{}} + | sort; find . -printf '%m %u %T@ %p %l\\n' | sort -k 4"
    return host.exec("sh", "-c", look).stdout


@contextmanager
def load(old: Host) -> Iterator[None]:
    """pgbench at work on old, until it is stopped."""
    words = old.command(
        f"{SERVER}/bin/pgbench", "-n", "-c", "2", "-T", "300", "-R", "30", "-h", "/tmp", "-p", str(PORT), "shop",
        user="postgres",
    )  # fmt: skip
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.wait(60)


@dataclass
class Person:
    """A DBA at the terminal: knows the cluster's name, and does what `at` says when it comes to a step.

    Attributes:
        at: what happens when the plan asks for a step of theirs, by its id.
        asked: what they were asked, a step by its id; `connected`: who was connected when they were asked last.
        passes: how many warm passes they want before the stop.
    """

    name: str = DATA
    at: dict[str, Callable[[], None]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    connected: tuple[str, ...] = ()
    passes: int = 0

    def announce(self, cluster: str) -> None:
        pass

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        self.asked.append(f"stop {cluster}")
        self.connected = tuple(connected)
        if warm and self.passes:
            self.passes -= 1
            return StopAnswer.WARM_FIRST
        return StopAnswer.STOP if self.name == cluster else StopAnswer.DECLINED

    def withdraw_confirmation(self) -> None:
        pass

    def wants_to_end(self) -> bool:
        return False

    def confirm_manual_step(self, step: Step) -> bool:
        self.asked.append(step.id)
        self.at.get(step.id, lambda: None)()
        return True

    def accept_finding(self, found: str) -> str:  # noqa: ARG002
        return ""

    def confirm_take_over(self, move: str, shown: str) -> bool:
        self.asked.append(f"take over {move}: {shown}")
        return False


@dataclass
class Moving:
    """A move under test: its plan from real facts, and its executions in a history of its own.

    Attributes:
        move: as the plan is told it; `probes`: what chooses its transport; `checks`: what was waived.
    """

    store: Store
    connect: Callable[[str], Server]
    facts: tuple[Facts, Facts]
    events: list[Event] = field(default_factory=list)
    move: Move = MOVE
    probes: tuple[Probe, ...] = ()
    checks: tuple[CheckResult, ...] = ()

    def plan(self, verify: Verify = Verify.CHANGED) -> Plan:
        estimated = estimate(spec_of(self.move, self.facts[0], self.probes))
        profiles = [self.store.profile(side) for side in ("old", "new")]
        hooks, ends = self.store.hooks(self.move.name), (profiles[0], profiles[1], *self.facts)
        return make_plan(self.move, *ends, self.checks, self.probes, estimated, hooks, verify, seed="0123")

    def runner(
        self, execution: int, person: Person | None = None, listener: Callable[[Event], None] | None = None
    ) -> Runner:
        job = Job(listener or self.events.append)
        return Runner(StepRunner(execution, self.store, self.connect, person or Person(), job))

    def begin(self, kind: Kind = Kind.REAL, verify: Verify = Verify.CHANGED) -> int:
        return self.store.execution_started(new_execution(self.plan(verify), kind))

    def about(self, execution: int, name: str) -> str:
        """What an error says of the step of that id, for `match`."""
        step = self.store.execution(execution).plan.step(name)
        assert step is not None, name
        return re.escape(step.title)

    def title(self, name: str) -> str:
        """By which an event tells of the step of that id."""
        made = self.plan()
        return next(step.title for step in (*made.steps, *made.way_back) if step.id == name)

    def execute(self, person: Person | None = None, kind: Kind = Kind.REAL) -> Execution:
        number = self.begin(kind)
        self.runner(number, person).carry_out()
        return self.store.execution(number)


def moving(
    folder: Path, old: Profile, new: Profile, connect: Callable[[str], Server], facts: tuple[Facts, Facts]
) -> Moving:
    """A history of its own with the move."""
    store = Store.open(folder)
    store.add_profile(old)
    store.add_profile(new)
    move = move_of(facts[0].cluster(DATA))
    store.add_move(move)
    return Moving(store, connect, facts, move=move)


@contextmanager
def lost_behind_the_stop(lab: Lab, folder: str, data: str = DATA) -> Iterator[None]:
    """Take a folder away from the new server once the old one is stopped: no trial start can know of it."""

    def lose() -> None:
        running = ("test", "-e", f"{data}/postmaster.pid")
        wait_until(lambda: lab.old.exec(*running, check=False).returncode != 0, "old is stopped", seconds=300)
        lab.new.exec("rm", "-r", folder)

    loser = Thread(target=lose)
    loser.start()
    try:
        yield
    finally:
        loser.join()


@contextmanager
def nothing_left(lab: Lab) -> Iterator[None]:
    """Old running meanwhile; afterwards nothing of ours may be on the hosts, but the cluster itself."""
    clear(lab)
    looks = {host.name: footprint(host) for host in (lab.old, lab.new)}
    start(lab.old)
    yield
    for host in (lab.old, lab.new):
        end(host)
        left: list[str] = []

        def as_before(host: Host = host, left: list[str] = left) -> bool:
            left[:] = [line for line in differences(looks[host.name], footprint(host)) if ROOT not in line]
            return not left

        with suppress(LabError):
            wait_until(
                as_before, f"{host.name} to be as before", seconds=GRACE + 3
            )  # what was told to end has that long
        assert left == [], f"{host.name}: {left}"


@contextmanager
def undisturbed(
    lab: Lab,
    folder: Path,
    profiles: tuple[Profile, Profile],
    connect: Callable[[str], Server],
    facts: tuple[Facts, Facts],
) -> Iterator[Moving]:
    """The move with old running; afterwards nothing of ours may be on the hosts, but the cluster itself."""
    with nothing_left(lab):
        made = moving(folder, *profiles, connect, facts)
        yield made
        made.store.close()


def read_facts(connect: Callable[[str], Server], target: str | None = None) -> tuple[Facts, Facts]:
    """The facts of both sides; `target`: looked into on new."""
    folders = [] if target is None else [target]
    old = collect(connect("old"), Job(), folders=[DATA])
    cluster = old.cluster(DATA)
    places = [] if cluster is None else [root.target for root in data_roots(move_of(cluster), cluster)[1:]]
    return old, collect(connect("new"), Job(), folders=folders, targets=places)
