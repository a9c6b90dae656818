"""pgbench against a temporary cluster on real servers: what it measures, and that nothing stays however it ends."""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest

from core.benchmarks.forecasts import MoveContext
from core.benchmarks.model import Outcome, Parameter, Repetition, Run, Suite, Volume, Workload
from core.benchmarks.runs import remove_leftovers, run_suite
from core.errors import Cancelled, UnreachableError
from core.facts.collect import collect
from core.facts.model import Facts
from core.jobs import CommandStarted, Event, Job, Progress
from core.servers import connection
from core.servers.connection import Server, connect
from core.servers.profiles import Asker, Profile
from core.sides import Side
from tests.lab import clusters
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import wait_until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("clean_hosts", "no_shared_memory_stays")]
DISK = "/srv/pg"


class Journal:
    """Keeps the repetitions and outcomes."""

    def __init__(self) -> None:
        self.repetitions: list[Repetition] = []
        self.outcomes: list[Outcome] = []
        self.stopped = ""

    def run_started(self, run: Run) -> int:
        assert run.outcome is None
        return 1

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        assert run_id == 1
        self.repetitions.append(repetition)

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        assert run_id == 1
        assert ended_at.tzinfo is not None
        assert tool_version is None or tool_version.startswith("15.")
        self.stopped = stopped
        self.outcomes.append(outcome)


def pgbench(headline: str = "transactions_per_second", **parameters: Parameter) -> Suite:
    stated = {"scale": 1, "clients": 2, "transactions": 50, "shared_buffers_bytes": 2**24, **parameters}
    return Suite("test", "test", 1, (Workload("pgbench", "pgbench", "pgbench", headline, stated),))


def volume(side: Side, folder: str = DISK) -> Volume:
    return Volume(side, str(side), DISK, folder)


def segments(host: Host) -> set[str]:
    """Shared memory of System V and POSIX."""
    return set(host.exec("sh", "-c", "ipcs -m | cut -d ' ' -f 1-3; ls /dev/shm").stdout.splitlines())


@pytest.fixture
def no_shared_memory_stays(lab: Lab) -> Iterator[None]:
    """Nothing is added; what a killed server left, the next one whose folder has the same inode may take away."""
    hosts = (lab.old, lab.new)
    before = {host.name: segments(host) for host in hosts}
    yield
    added = {host.name: segments(host) - before[host.name] for host in hosts}
    assert added == {"old": set(), "new": set()}


@pytest.fixture(scope="module")
def old_facts(old_server: Server) -> Facts:
    return collect(old_server, Job(), folders=[clusters.DATA])


@pytest.fixture(scope="module")
def new_facts(new_server: Server) -> Facts:
    return collect(new_server, Job())


@pytest.mark.long
def test_a_drift_on_new(new_server: Server, new_facts: Facts) -> None:
    suite = pgbench("final_transactions_per_second", test="drift", warm_ups=1, updates=2, settings="autovacuum = off")
    journal, context = Journal(), MoveContext("15")
    (run,) = run_suite(new_server, volume(Side.NEW), suite, new_facts, journal, Job(), move="m", context=context)
    (repetition,) = run.repetitions
    assert (run.outcome, run.tool_version, repetition.message) == (Outcome.DONE, "15.18", "")
    metrics = repetition.metrics
    initial, final = metrics["initial_transactions_per_second"], metrics["final_transactions_per_second"]
    assert metrics["transactions"] == 4 * 100
    assert metrics["decrease_fraction"] == pytest.approx((initial - final) / initial)
    assert 0 < metrics["tpcb_transactions_per_second"] < initial
    assert repetition.raw.count("tps = ") == 5
    assert not repetition.disturbed


def test_a_script_of_ones_own_in_a_folder_with_an_odd_name(lab: Lab, old_server: Server, old_facts: Facts) -> None:
    folder = f"{DISK}/it's $(touch x) ü"
    lab.old.exec("mkdir", folder)
    script = (
        "\\set aid random(1, 100000 * :scale)\nSELECT 'it''s', abalance\n FROM pgbench_accounts WHERE aid = :aid;\n"
    )
    suite = pgbench(test="script", script=script, warm_ups=1)
    (run,) = run_suite(
        old_server, volume(Side.OLD, folder), suite, old_facts, Journal(), Job(), move="m", context=MoveContext("15")
    )
    assert run.outcome is Outcome.DONE
    assert run.tool_version == clusters.VERSION
    assert run.repetitions[0].metrics["transactions"] == 100
    lab.old.exec("rmdir", folder)


def test_a_wrong_script_fails_in_its_own_words(old_server: Server, old_facts: Facts) -> None:
    suite = pgbench(test="script", script="SELECT 1/0;\n")
    (run,) = run_suite(
        old_server, volume(Side.OLD), suite, old_facts, Journal(), Job(), move="m", context=MoveContext("15")
    )
    assert run.outcome is Outcome.FAILED
    assert run.repetitions[0].metrics == {}
    assert "division by zero" in run.repetitions[0].message


def test_across_the_network(old_server: Server, new_server: Server, old_facts: Facts, new_facts: Facts) -> None:
    commands: list[CommandStarted] = []

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted):
            commands.append(event)

    (run,) = run_suite(
        old_server,
        volume(Side.OLD),
        pgbench(test="select", from_other_server=True),
        old_facts,
        Journal(),
        Job(listen),
        move="m",
        context=MoveContext("15", new_server, new_facts),
    )
    assert run.outcome is Outcome.DONE
    assert run.tool_version == "15.18"
    driven = [event for event in commands if "pgbench -c" in event.command]
    assert [event.server for event in driven] == ["new"]
    assert "PGPASSWORD=•••" in driven[0].command


def databases(host: Host) -> list[str]:
    psql = f"{clusters.PREFIX}/bin/psql"
    query = "select datname from pg_database order by 1"
    return host.exec(psql, "-X", "-A", "-t", "-h", "/tmp", "-c", query, "postgres", user="postgres").stdout.split()


@pytest.mark.long
def test_a_database_of_its_own_in_a_named_cluster(lab: Lab, old_server: Server, old_facts: Facts) -> None:
    before, seen = databases(lab.old), list[str]()
    suite = pgbench(test="tpcb", transactions=2000, cluster=clusters.DATA)
    job = Job(during(lambda: seen.extend(databases(lab.old))))
    (run,) = run_suite(old_server, volume(Side.OLD), suite, old_facts, Journal(), job, move="m")
    assert run.outcome is Outcome.DONE
    assert run.repetitions[0].metrics["transactions"] == 4000
    assert not run.repetitions[0].disturbed
    (own,) = set(seen) - set(before)
    assert own.startswith("pghaul_bench_")
    assert databases(lab.old) == before


def test_cancel_drops_the_database_of_its_own(lab: Lab, old_server: Server, old_facts: Facts) -> None:
    before, whole = databases(lab.old), Job()
    suite = pgbench(test="tpcb", transactions=1_000_000, cluster=clusters.DATA)
    with pytest.raises(Cancelled):
        run_suite(
            old_server, volume(Side.OLD), suite, old_facts, Journal(), whole.relay(during(whole.cancel)), move="m"
        )
    assert databases(lab.old) == before


def during(act: Callable[[], None]) -> Callable[[Event], None]:
    """A listener that acts once, when pgbench proper has run for about a second."""
    begun, acted = threading.Event(), threading.Event()

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted) and "pgbench -c" in event.command:
            begun.set()
        elif isinstance(event, Progress) and begun.is_set() and not acted.is_set():
            acted.set()
            act()

    return listen


LONG = pgbench(test="tpcb", transactions=1_000_000)


def test_cancel_leaves_nothing(lab: Lab, old_server: Server, old_facts: Facts) -> None:
    journal, whole = Journal(), Job()
    job = whole.relay(during(whole.cancel))
    with pytest.raises(Cancelled):
        run_suite(old_server, volume(Side.OLD), LONG, old_facts, journal, job, move="m", context=MoveContext("15"))
    assert journal.outcomes == [Outcome.CANCELLED]
    assert [(one.outcome, one.metrics) for one in journal.repetitions] == [(Outcome.CANCELLED, {})]
    assert "pghaul-bench-" not in lab.old.exec("ls", "-A", DISK).stdout


def test_a_killed_cluster_fails_the_run_and_leaves_nothing(lab: Lab, old_server: Server, old_facts: Facts) -> None:
    kill = "pkill -KILL -f 'postgres -D [^ ]+/data -k [.][.]'"
    journal = Journal()

    def end() -> None:
        lab.old.exec("sh", "-c", kill)

    job = Job(during(end))
    (run,) = run_suite(old_server, volume(Side.OLD), LONG, old_facts, journal, job, move="m", context=MoveContext("15"))
    assert run.outcome is Outcome.FAILED
    assert run.repetitions[0].metrics == {}
    assert "pgbench" in run.repetitions[0].message or "connection" in run.repetitions[0].message


@pytest.mark.long
def test_a_cut_cable_leaves_nothing_once_the_server_is_back(
    lab: Lab, old_profile: Profile, asker: Asker, old_facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "INTERVAL", 0.5)
    monkeypatch.setattr(connection, "PATIENCE", 1.5)
    journal = Journal()
    job, context = Job(during(lambda: lab.cut("old"))), MoveContext("15")
    with connect(old_profile, asker, Job()) as server, pytest.raises(UnreachableError):
        run_suite(server, volume(Side.OLD), LONG, old_facts, journal, job, move="m", context=context)
    lab.mend("old")
    assert journal.outcomes == [Outcome.FAILED]
    with connect(old_profile, asker, Job()) as again:
        remove_leftovers(again, volume(Side.OLD), Job())
    wait_until(lambda: "pghaul-bench-" not in lab.old.exec("ls", "-A", DISK).stdout, "the folder to go", seconds=40)
    assert lab.old.exec("pgrep", "-f", "postgres -D [^ ]+/data -k [.][.]", check=False).stdout == ""
