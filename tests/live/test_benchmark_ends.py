"""However a benchmark ends, the server is left as it was and the partial run marked: killed, interrupted, cut off."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.api.benchmarks import run_benchmarks
from core.api.comparison import compare_sets, compare_sides
from core.api.session import Session
from core.benchmarks import folders
from core.benchmarks.model import Outcome
from core.errors import CommandError, InputError, UnreachableError
from core.facts.model import Cluster
from core.history.store import Store
from core.jobs import CommandStarted, Event, Job
from core.migration.model.move import Move
from core.servers.connection import Server
from core.servers.profiles import Profile
from core.sides import Side
from tests.lab import clusters
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.lab.machine import killed_at_the_end, wait_until
from tests.live.test_benchmarks import FACTS, silence

pytestmark = pytest.mark.lab

HELD = r"another benchmark is running on old: by \S+@\S+ since 20\d\d-.* UTC"
PROJECT = Path(__file__).resolve().parents[2]
MOVE = Move("m", "old", "new", clusters.DATA, clusters.NEW_DATA, "/srv/pg", "/srv/pg")
FIRST = """
title = "long"
repetitions = 1
most_repetitions = 1
[[workload]]
name = "first"
title = "one read"
tool = "fio"
headline = "read_iops"
[workload.parameters]
pattern = "randread"
direct = true
size_bytes = 8388608
runtime_seconds = 1
"""
LONG = """[[workload]]
name = "long"
title = "a long read"
tool = "fio"
headline = "read_iops"
[workload.parameters]
pattern = "randread"
direct = true
size_bytes = 8388608
runtime_seconds = 300
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "long.toml"
    path.write_text(FIRST + LONG)
    return str(path)


@pytest.fixture
def data(tmp_path: Path, lab: Lab, old_profile: Profile, new_profile: Profile, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "history"
    with Store.open(folder) as store:
        store.add_profile(old_profile)
        store.add_profile(new_profile)
        store.add_move(MOVE)
        # known already, so that no pass over the server is needed first
        cluster = Cluster(clusters.DATA, "15", None, running=True, port=None, owner=None)
        store.save_facts(replace(FACTS, taken_at=datetime.now(UTC), clusters=(cluster,)))
    config = tmp_path / "ssh_config"
    config.write_text(f'UserKnownHostsFile "{lab.known_hosts}"\n')
    monkeypatch.setenv("PGHAUL_DATA", str(folder))
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))
    return folder


@contextmanager
def bench(lab: Lab, suite: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A real `pghaul bench` that is within its long workload."""
    words = [sys.executable, "-m", "gui.entry", "bench", MOVE.name, "--side", "old", "--suite", suite]
    with killed_at_the_end(
        subprocess.Popen(words, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    ) as process:
        wait_until(lambda: "--runtime=300" in running(lab), "the long workload to begin", seconds=180)
        yield process


def said(process: "subprocess.Popen[bytes]", words: bytes) -> bool:
    assert process.stderr is not None
    return words in os.read(process.stderr.fileno(), 65536)


def running(lab: Lab) -> str:
    return lab.old.exec("pgrep", "-a", "-x", "fio", check=False).stdout


def is_clean(lab: Lab) -> bool:
    names = lab.old.exec("ls", "-A", "/srv/pg").stdout.split()
    return not running(lab) and not any(name.startswith("pghaul-bench-") for name in names)


def assert_partial(data: Path, outcome: Outcome) -> None:
    """The workload that ended is kept, the one that was under way is marked, and a comparison leaves it out."""
    with Store.open(data) as store:
        first, long = store.runs(MOVE.name)
        assert (first.outcome, long.outcome) == (Outcome.DONE, outcome)
        assert long.ended_at is not None
        with Session(store, LabAsker.__new__(LabAsker)) as session:
            rows = compare_sides(session, MOVE.name).rows
    assert {row.workload.name for row in rows if row.old is not None} == {"first"}


@pytest.mark.usefixtures("clean_hosts")
def test_a_killed_pghaul_leaves_nothing_without_a_next_start(
    lab: Lab, data: Path, suite: str, old_server: Server
) -> None:
    """Nor the lock, by which until then nobody else measures the server, as whatever user and on whatever volume."""
    with bench(lab, suite) as process:
        for user in ("root", None):
            with pytest.raises(CommandError, match=HELD) as caught, folders.own_folder(old_server, "/tmp", user, Job()):
                pytest.fail("a second benchmark began")
            assert "wait until it has ended" in caught.value.hint
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_until(lambda: is_clean(lab), "the server to clean up", seconds=20)
    assert_partial(data, Outcome.INTERRUPTED)
    with folders.own_folder(old_server, "/tmp", None, Job()) as folder:
        assert folder.name in lab.old.exec("ls", "-A", "/tmp").stdout


@pytest.mark.long
@pytest.mark.usefixtures("clean_hosts")
def test_interrupted_twice_it_ends_at_once_and_the_server_cleans_up(lab: Lab, data: Path, suite: str) -> None:
    with bench(lab, suite) as process:
        process.send_signal(signal.SIGINT)
        wait_until(lambda: said(process, b"cancelling"), "it to say so", seconds=60)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 4
        wait_until(lambda: is_clean(lab), "the server to clean up", seconds=20)
    with Store.open(data) as store:
        last = store.runs(MOVE.name)[-1]
        assert last.outcome in (Outcome.CANCELLED, Outcome.INTERRUPTED)  # how far the first one came by then


@pytest.mark.long
@pytest.mark.usefixtures("clean_hosts")
def test_a_pulled_cable_leaves_nothing_once_the_server_is_back(
    lab: Lab, data: Path, suite: str, asker: LabAsker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "SILENCE_SECONDS", 8)
    monkeypatch.setattr(folders, "BEAT_SECONDS", 2.0)

    with Store.open(data) as store, Session(store, asker) as session, silence(lab, session.server("old", Job())) as cut:

        def listen(event: Event) -> None:
            if isinstance(event, CommandStarted) and "--runtime=300" in event.command:
                cut()

        with pytest.raises(UnreachableError):
            run_benchmarks(session, MOVE.name, suite, Job(listen), [Side.OLD])
    wait_until(lambda: is_clean(lab), "the server to clean up", seconds=20)
    assert_partial(data, Outcome.FAILED)


@pytest.mark.long
@pytest.mark.usefixtures("clean_hosts")
def test_volumes_of_one_server_against_each_other_and_over_time(
    lab: Lab, data: Path, tmp_path: Path, asker: LabAsker
) -> None:
    path = tmp_path / "short.toml"
    path.write_text(FIRST)
    lab.old.exec("mkdir", "/srv/pg/a", "/srv/pg/b")
    try:
        with Store.open(data) as store, Session(store, asker) as session:
            for places in (("old:/srv/pg/a", "old:/srv/pg/b"), ("old:/srv/pg/a",)):
                runs = run_benchmarks(session, MOVE.name, str(path), Job(), places=places)
                assert [run.outcome for run in runs] == [Outcome.DONE] * len(places)
            beside = compare_sets(session, MOVE.name, ["old:/srv/pg/a", "old:/srv/pg/b"])
            assert (beside.old, beside.new) == ("old:/srv/pg/a", "old:/srv/pg/b")
            assert len(beside.rows[0].old.values if beside.rows[0].old else ()) == 1  # the newest run's alone
            over_time = compare_sets(session, MOVE.name, ["old:/srv/pg/a"])
            assert over_time.old.startswith("old:/srv/pg/a 20")
            assert over_time.rows[0].old != over_time.rows[0].new
            with pytest.raises(InputError, match=r"old:/srv/pg/c\b"):
                compare_sets(session, MOVE.name, ["old:/srv/pg/a", "old:/srv/pg/c"])
            with pytest.raises(InputError, match=r"measured once"):
                compare_sets(session, MOVE.name, ["old:/srv/pg/b"])
    finally:
        lab.old.exec("rmdir", "/srv/pg/a", "/srv/pg/b")
