"""Benchmarks on a real server: the caps of its disk read back, and nothing left behind however they end."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.benchmarks import folders
from core.benchmarks.folders import keeping
from core.benchmarks.model import Outcome, Parameter, Repetition, Run, Suite, Volume, Workload
from core.benchmarks.runs import forecast, remove_leftovers, run_suite
from core.errors import Cancelled, HistoryError, InputError, UnreachableError
from core.facts.model import BlockDevice, Cluster, Facts, FileSystem, Memory, Processor, System
from core.jobs import CommandStarted, Event, Job, Note, Progress
from core.servers.connection import Server, connect
from core.servers.profiles import Asker, Profile
from core.servers.shell import call, command
from core.sides import Side
from tests.lab.lab import Lab

pytestmark = pytest.mark.lab

MIB = 2**20
MARKER = ".pghaul-bench"
DISK = "/srv/pg"
READ, WRITE, READ_IOPS = 90e6, 90e6, 1100
FACTS = Facts(
    "old",
    datetime(2026, 1, 1, tzinfo=UTC),
    0.0,
    1,
    system=System("old", "Debian", "6", "x86_64", distribution="debian"),
    memory=Memory(2**30, None, 0),
    processor=Processor(None, None, None, threads=2),
    block_devices=(BlockDevice("loop0", "loop", 2**33),),
    file_systems=(
        FileSystem("/", "overlay", "overlay", (), 2**40, 2**39),
        FileSystem(DISK, "/dev/loop0", "ext4", (), 2**33, 2**32),
    ),
)


class Journal:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.repetitions: list[Repetition] = []
        self.outcomes: list[Outcome] = []

    def run_started(self, run: Run) -> int:
        self.runs.append(run)
        return len(self.runs)

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        assert run_id == len(self.runs)
        self.repetitions.append(repetition)

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        assert run_id == len(self.runs)
        assert ended_at >= self.runs[-1].started_at
        assert tool_version is None or tool_version[0].isdigit()
        assert bool(stopped) == (outcome is Outcome.DONE)
        self.outcomes.append(outcome)


def fio(name: str, headline: str, **parameters: Parameter) -> Workload:
    return Workload(name, name, "fio", headline, {"direct": True, "runtime_seconds": 2, **parameters})


SEQUENTIAL_READ = fio("read", "read_bytes_per_second", pattern="read", block_bytes=MIB, size_bytes=40 * MIB, files=5)
SEQUENTIAL_WRITE = fio("write", "write_bytes_per_second", pattern="write", block_bytes=MIB, size_bytes=256 * MIB)
# many requests under way, so that the cap binds also where the machine lets the jobs wait
RANDOM_READ = fio("randread", "read_iops", pattern="randread", size_bytes=16 * MIB, jobs=5, depth=8)
BUFFERED = fio("buffered", "write_bytes_per_second", pattern="randwrite", size_bytes=32 * MIB, jobs=5, direct=False)
DD = Workload("dd", "dd", "dd", "write_bytes_per_second", {"size_bytes": 192 * MIB})
LONG = fio("long", "read_iops", pattern="randread", size_bytes=MIB, jobs=2, runtime_seconds=60)


def suite(*workloads: Workload, repetitions: int = 1) -> Suite:
    return Suite("test", "test", repetitions, workloads)


def volume(folder: str = DISK) -> Volume:
    return Volume(Side.OLD, "old", DISK, folder)


def leftovers(lab: Lab, folder: str = DISK) -> list[str]:
    names = lab.old.exec("ls", "-A", folder).stdout.split()
    return [name for name in names if name.startswith("pghaul-bench-")]


@pytest.fixture
def own_server(old_profile: Profile, asker: Asker) -> Iterator[Server]:
    """A connection of the test's own, to be lost."""
    with connect(old_profile, asker, Job()) as server:
        yield server


def _measured(lab: Lab, old_server: Server, *workloads: Workload) -> tuple[Run, ...]:
    lab.cap_disk("old", int(READ), int(WRITE), READ_IOPS, 0)
    try:
        return run_suite(old_server, volume(), suite(*workloads), FACTS, Journal(), Job(), move="m")
    finally:
        lab.cap_disk("old")


@pytest.fixture(scope="module")
def measured(lab: Lab, old_server: Server) -> tuple[Run, ...]:
    """One pass of every kind of workload under caps, but for the buffered ones."""
    return _measured(lab, old_server, SEQUENTIAL_READ, SEQUENTIAL_WRITE, RANDOM_READ, DD)


@pytest.mark.parametrize(
    ("workload", "cap", "within"),
    [
        (SEQUENTIAL_READ, READ, 0.03),
        (SEQUENTIAL_WRITE, WRITE, 0.03),
        (RANDOM_READ, READ_IOPS, 0.03),
        (DD, WRITE, 0.15),
    ],
    ids=lambda value: value.name if isinstance(value, Workload) else str(value),
)
@pytest.mark.measures
def test_caps_are_read_back(
    lab: Lab, old_server: Server, measured: tuple[Run, ...], workload: Workload, cap: float, within: float
) -> None:
    """Where somebody flushes all the while, the kernel lets a burst of up to a fifth of a second through at the start.

    That is more than the tolerance of two seconds, and less than that of ten.
    """
    run = next(run for run in measured if run.workload == workload)
    if run.repetitions[0].metrics[workload.headline] != pytest.approx(cap, rel=within) and workload is not DD:
        longer = {**workload.parameters, "runtime_seconds": 10}
        (run,) = _measured(lab, old_server, replace(workload, parameters=longer))
    (repetition,) = run.repetitions
    assert run.outcome is Outcome.DONE
    assert not repetition.cached
    assert repetition.metrics[workload.headline] == pytest.approx(cap, rel=within)
    if workload is RANDOM_READ:
        assert repetition.metrics["read_latency_p99_seconds"] > 0


@pytest.mark.measures
def test_dd_reads_back_the_cap_and_tells_its_processor_time(measured: tuple[Run, ...]) -> None:
    metrics = measured[-1].repetitions[0].metrics
    assert metrics["read_bytes_per_second"] == pytest.approx(READ, rel=0.10)
    assert metrics["bytes"] == 192 * MIB
    assert metrics["cpu_fraction"] == pytest.approx(metrics["cpu_cores"] / 2)
    assert 0 < metrics["cpu_cores"] < 1.5


@pytest.mark.long
@pytest.mark.measures
def test_buffered_writes_read_back_the_cap_and_show_no_latency_of_memory(lab: Lab, old_server: Server) -> None:
    (run,) = _measured(lab, old_server, BUFFERED)
    (repetition,) = run.repetitions
    assert run.outcome is Outcome.DONE
    assert not repetition.cached
    assert repetition.metrics[BUFFERED.headline] == pytest.approx(WRITE, rel=0.10)
    assert not [name for name in repetition.metrics if "latency" in name]


@pytest.mark.usefixtures("clean_hosts")
def test_a_run_is_journaled_whole_and_leaves_nothing(lab: Lab, old_server: Server) -> None:
    folder = f'{DISK}/it\'s $(touch x) "ö"'
    lab.old.exec("mkdir", folder)
    events: list[Event] = []
    journal = Journal()
    short = replace(RANDOM_READ, parameters={**RANDOM_READ.parameters, "runtime_seconds": 1})
    runs = run_suite(
        old_server, volume(folder), suite(short, repetitions=2), FACTS, journal, Job(events.append), move="m"
    )
    assert journal.outcomes == [Outcome.DONE]
    assert tuple(journal.repetitions) == runs[0].repetitions
    assert [repetition.number for repetition in journal.repetitions] == [1, 2]
    assert runs[0].tool_version
    assert all("--rw=randread" in repetition.command for repetition in journal.repetitions)
    assert all('"fio version"' in repetition.raw for repetition in journal.repetitions)
    done = [event.done for event in events if isinstance(event, Progress)]
    assert done == sorted(done)
    assert lab.old.exec("ls", "-A", folder).stdout == ""
    lab.old.exec("rmdir", folder)


@pytest.mark.long
@pytest.mark.usefixtures("clean_hosts")
def test_more_repetitions_than_were_forecast_do_not_count_for_what_comes_behind(old_server: Server) -> None:
    events: list[Event] = []
    first, second = (
        replace(RANDOM_READ, name=name, title=name, parameters={**RANDOM_READ.parameters, "runtime_seconds": 1})
        for name in ("first", "second")
    )
    never_steady = replace(suite(first, second, repetitions=2), target_variation=-1.0, most_repetitions=3)
    run_suite(old_server, volume(), never_steady, FACTS, Journal(), Job(events.append), move="m")
    told = [event for event in events if isinstance(event, Progress)]
    total = told[0].total
    assert total is not None
    early = [event.done for event in told if ":first/" in event.id]
    late = [event.done for event in told if ":second/" in event.id]
    assert max(early) < 0.6 * total  # as if there had been the two that were forecast, and the layout
    assert max(early) <= late[0]
    assert late[-1] == total


def during(text: str, act: Callable[[], None]) -> Callable[[Event], None]:
    """A listener that acts once, when a command that holds the text has run for about a second."""
    begun, acted = threading.Event(), threading.Event()

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted) and text in event.command:
            begun.set()
        elif isinstance(event, Progress) and begun.is_set() and not acted.is_set():
            acted.set()
            act()

    return listen


@pytest.mark.usefixtures("clean_hosts")
def test_cancel_leaves_no_process_and_no_file(lab: Lab, old_server: Server) -> None:
    journal = Journal()
    whole = Job()
    job = whole.relay(during("--runtime=60", whole.cancel))
    with pytest.raises(Cancelled):
        run_suite(old_server, volume(), suite(LONG, repetitions=3), FACTS, journal, job, move="m")
    assert journal.outcomes == [Outcome.CANCELLED]
    assert [(one.outcome, one.metrics) for one in journal.repetitions] == [(Outcome.CANCELLED, {})]
    assert leftovers(lab) == []


@pytest.mark.usefixtures("clean_hosts")
def test_a_listener_that_fails_does_not_stop_the_cleaning_up(lab: Lab, old_server: Server) -> None:
    full: list[bool] = []

    def listen(event: Event) -> None:
        if full or (isinstance(event, CommandStarted) and "--runtime=60" in event.command):
            full.append(True)
            raise HistoryError("the disk is full")

    with pytest.raises(HistoryError):
        run_suite(old_server, volume(), suite(LONG), FACTS, Journal(), Job(listen), move="m")
    assert leftovers(lab) == []


@pytest.mark.usefixtures("clean_hosts")
def test_a_folder_on_the_root_volume_goes_with_what_runs_in_it(lab: Lab, old_server: Server) -> None:
    with folders.own_folder(old_server, "/", "root", Job()) as folder:
        old_server.run(folder.inside(("setsid", "-f", "sleep", "3001")), Job(), user="root")
        assert lab.old.exec("pgrep", "-f", "sleep 3001").stdout != ""
    assert lab.old.exec("pgrep", "-f", "sleep 3001", check=False).stdout == ""
    assert leftovers(lab, "/") == []


@pytest.mark.usefixtures("clean_hosts")
def test_a_folder_that_was_cut_off_while_it_was_made_goes_too(lab: Lab, old_server: Server) -> None:
    with folders.own_folder(old_server, DISK, "root", Job()) as folder:
        lab.old.exec("rm", f"{folder.path}/{MARKER}")
    assert leftovers(lab) == []


@pytest.mark.usefixtures("clean_hosts")
def test_a_disk_that_fills_up_is_a_failed_repetition(lab: Lab, old_server: Server) -> None:
    filler = f"{DISK}/filler"

    def fill() -> None:
        blocks, block = lab.old.exec("stat", "-f", "-c", "%f %S", DISK).stdout.split()  # what root's reserve holds, too
        lab.old.exec("fallocate", "-l", str(int(blocks) * int(block) - 40 * MIB), filler)

    workloads = suite(DD, RANDOM_READ, repetitions=2)
    journal = Journal()
    job = Job(during("drop_caches", fill))
    try:
        runs = run_suite(old_server, volume(), workloads, FACTS, journal, job, move="m")
    finally:
        lab.old.exec("rm", "-f", filler)
    assert journal.outcomes[0] is Outcome.FAILED
    assert [repetition.message for repetition in runs[0].repetitions] == [
        "/srv/pg on old is full: no space left on the device"
    ]
    assert leftovers(lab) == []


@contextmanager
def silence(lab: Lab, server: Server) -> Iterator[Callable[[], None]]:
    """What drops every packet of this one connection, as a cut cable does, and leaves the others alone."""
    port = server.run(command("printenv", "SSH_CONNECTION"), Job()).stdout.split()[1]
    drop = f"""table inet silence {{
chain input {{ type filter hook input priority 0; tcp sport {port} drop; }}
chain output {{ type filter hook output priority 0; tcp dport {port} drop; }}
}}"""

    def cut() -> None:
        lab.old.exec("nft", "-f", "-", input=drop)

    try:
        yield cut
    finally:
        lab.old.exec("nft", "delete", "table", "inet", "silence", check=False)


@pytest.mark.long
@pytest.mark.usefixtures("clean_hosts")
def test_a_cut_connection_and_the_next_start(
    lab: Lab,
    own_server: Server,
    old_profile: Profile,
    asker: Asker,
) -> None:
    events: list[Event] = []
    journal = Journal()
    with silence(lab, own_server) as cut:
        acts = during("--runtime=60", cut)

        def listen(event: Event) -> None:
            events.append(event)
            acts(event)

        with pytest.raises(UnreachableError):
            run_suite(own_server, volume(), suite(LONG), FACTS, journal, Job(listen), move="m")
        assert len(leftovers(lab)) == 1
        assert lab.old.exec("pgrep", "-x", "fio").stdout != ""
        with connect(old_profile, asker, Job()) as again:
            assert len(remove_leftovers(again, volume(), Job())) == 1
            assert remove_leftovers(again, volume(), Job()) == ()
    assert lab.old.exec("pgrep", "-x", "fio", check=False).stdout == ""
    assert leftovers(lab) == []
    assert journal.outcomes == [Outcome.FAILED]
    assert any(isinstance(event, Note) and "the next benchmark there removes it" in event.text for event in events)


@pytest.mark.usefixtures("clean_hosts")
def test_a_folder_in_use_by_another_pghaul_is_left_alone(lab: Lab, old_server: Server) -> None:
    events: list[Event] = []
    with folders.own_folder(old_server, DISK, "root", Job()):
        assert remove_leftovers(old_server, volume(), Job()) == ()  # our own
    name = "pghaul-bench-0123456789cd"
    others = call("bench_keep", DISK, name, "somebody-else", 60, "somebody@else")
    with keeping(old_server, others, "root", Job(), title="another pghaul's"):
        assert remove_leftovers(old_server, volume(), Job(events.append)) == ()
        assert any(isinstance(event, Note) and name in event.text for event in events)
        lab.old.exec("touch", "-d", "10 minutes ago", f"{DISK}/{name}/{MARKER}")
        assert remove_leftovers(old_server, volume(), Job()) == (f"{DISK}/{name}",)
    assert leftovers(lab) == []


@pytest.mark.usefixtures("clean_hosts")
def test_without_sudo_figures_are_marked_as_cached(
    lab: Lab,
    nosudo_profile: Profile,
    asker: Asker,
) -> None:
    folder = f"{DISK}/of-nosudo"
    lab.old.exec("install", "-d", "-o", "nosudo", folder)
    events: list[Event] = []
    short = replace(BUFFERED, parameters={**BUFFERED.parameters, "runtime_seconds": 1})
    with connect(nosudo_profile, asker, Job()) as server:
        (run,) = run_suite(server, volume(folder), suite(short), FACTS, Journal(), Job(events.append), move="m")
        (problem,) = forecast(server, volume(), suite(short), FACTS, Job()).problems
        assert "/srv/pg on old-nosudo" in problem
    assert run.outcome is Outcome.DONE
    assert [repetition.cached for repetition in run.repetitions] == [True]
    assert any(isinstance(event, Note) and "marked as cached" in event.text for event in events)
    assert lab.old.exec("ls", "-A", folder).stdout == ""
    lab.old.exec("rmdir", folder)


@pytest.mark.usefixtures("clean_hosts")
def test_no_space_stops_before_anything_is_written(lab: Lab, old_server: Server) -> None:
    huge = replace(DD, parameters={"size_bytes": 2**40})
    found = forecast(old_server, volume(), suite(huge), FACTS, Job())
    assert found.bytes_needed == 2**40
    assert found.bytes_available < 2**33
    assert " 1.0 TiB" in found.problems[0]
    journal = Journal()
    with pytest.raises(InputError, match=r"\bold: .*1\.0 TiB"):
        run_suite(old_server, volume(), suite(huge), FACTS, journal, Job(), move="m")
    assert (journal.runs, leftovers(lab)) == ([], [])


@pytest.mark.usefixtures("clean_hosts")
def test_a_volume_that_does_not_exist(old_server: Server) -> None:
    missing = replace(volume("/srv/nowhere"), mount_point="/srv/nowhere")
    with pytest.raises(InputError, match="/srv/nowhere on old") as caught:
        forecast(old_server, missing, suite(DD), FACTS, Job())
    assert caught.value.hint.endswith(" /, /srv/pg")
    with pytest.raises(InputError, match=r"\bsrv\b"):
        forecast(old_server, volume("srv"), suite(DD), FACTS, Job())


def test_no_benchmark_inside_a_data_directory(old_server: Server) -> None:
    base = f"{DISK}/data/base"
    (problem,) = forecast(old_server, volume(base), suite(DD), FACTS, Job()).problems
    assert problem.startswith(f"{base} on old ")
    assert f" {DISK}/data: " in problem
    known = replace(FACTS, clusters=(Cluster(f"{DISK}/data/base", "15", None, running=False, port=None, owner=None),))
    assert len(forecast(old_server, volume(base), suite(DD), known, Job()).problems) == 2


def test_a_missing_tool_is_named_with_its_package(lab: Lab, old_server: Server) -> None:
    lab.old.exec("mv", "/usr/bin/fio", "/usr/bin/fio.away")

    try:
        alone = forecast(old_server, volume(), suite(RANDOM_READ, SEQUENTIAL_READ), FACTS, Job())
        beside = forecast(old_server, volume(), suite(RANDOM_READ, DD, SEQUENTIAL_READ), FACTS, Job())
    finally:
        lab.old.exec("mv", "/usr/bin/fio.away", "/usr/bin/fio")
    (missing,) = beside.left_out
    assert missing.startswith("fio ")
    assert all(value in missing for value in (" old: ", "apt-get install fio", "randread, read"))
    assert beside.problems == ()
    assert (len(alone.problems), alone.problems[1:]) == (2, (missing,))  # the first: nothing is left to run
    assert beside.bytes_needed == 192 * MIB
