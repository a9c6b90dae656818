"""`pghaul bench --parallel` on two hosts, without a move: both at the same time, each recorded for its own server."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.benchmarks.model import Outcome, Run
from core.cli.main import main
from core.history.store import Store
from core.servers.profiles import Profile
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import killed_at_the_end, wait_until

pytestmark = pytest.mark.lab

PROJECT = Path(__file__).resolve().parents[2]
PLACES = ("old:/srv/pg", "new:/srv/pg")
SHORT = """
title = "short"
repetitions = 2
most_repetitions = 2
[[workload]]
name = "short"
title = "a short read"
tool = "fio"
headline = "read_iops"
[workload.parameters]
pattern = "randread"
direct = true
size_bytes = 8388608
runtime_seconds = 2
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
Span = tuple[datetime, datetime]


@pytest.fixture
def data(tmp_path: Path, lab: Lab, old_profile: Profile, new_profile: Profile, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A history with both hosts and no move, which the program opens; it trusts the hosts' keys alone."""
    folder = tmp_path / "history"
    with Store.open(folder) as store:
        store.add_profile(old_profile)
        store.add_profile(new_profile)
    config = tmp_path / "ssh_config"
    config.write_text(f'UserKnownHostsFile "{lab.known_hosts}"\n')
    monkeypatch.setenv("PGHAUL_DATA", str(folder))
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))
    return folder


def bench(tmp_path: Path, *workloads: str) -> "subprocess.Popen[bytes]":
    """A real `pghaul bench --parallel` on both hosts."""
    suite = tmp_path / "suite.toml"
    suite.write_text("".join(workloads))
    words = [sys.executable, "-m", "gui.entry", "bench", "--parallel", *PLACES, "--suite", str(suite), "--json"]
    return subprocess.Popen(words, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command prints for programs."""
    assert main([*words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def recorded(data: Path) -> dict[str, tuple[Run, ...]]:
    """The runs of each host, by its name."""
    with Store.open(data) as store:
        return {name: store.runs_on(name) for name in ("old", "new")}


def overlap(spans: Sequence[Span]) -> timedelta:
    """For how long all of these were under way together; negative if they never were."""
    return min(end for _, end in spans) - max(start for start, _ in spans)


def measuring(run: Run) -> Span:
    """From the start of the first repetition of a run to the end of the last."""
    first, *_, last = run.repetitions
    return first.started_at, last.started_at + timedelta(seconds=last.seconds)


def running(host: Host) -> str:
    return host.exec("pgrep", "-a", "-x", "fio", check=False).stdout


def leftovers(host: Host) -> list[str]:
    names = host.exec("ls", "-A", "/srv/pg").stdout.split()
    return [running(host)] * bool(running(host)) + [name for name in names if name.startswith("pghaul-bench-")]


@pytest.mark.usefixtures("clean_hosts")
def test_two_hosts_are_measured_at_the_same_time_and_compared(
    lab: Lab, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with killed_at_the_end(bench(tmp_path, SHORT)) as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err.decode()
    printed = json.loads(out)["runs"]
    found = recorded(data)
    assert [(one["volume"]["server"], one["id"]) for one in printed] == [
        (name, run.id) for name, runs in found.items() for run in runs
    ]
    for name, (run,) in found.items():
        assert (run.move, run.volume.side, run.volume.server, run.volume.mount_point) == (None, None, name, "/srv/pg")
        assert (run.outcome, len(run.repetitions)) == (Outcome.DONE, 2)
        assert all(one.metrics["read_iops"] > 0 for one in run.repetitions)
    (old,), (new,) = found.values()
    assert old.volume.folder != new.volume.folder
    # each was measured for four seconds and more, so one after the other would be told from both together
    assert overlap([measuring(old), measuring(new)]) > timedelta(seconds=2)

    compared = answer(capsys, "compare", *PLACES)
    assert (compared["old"], compared["new"]) == PLACES
    row = next(row for row in compared["rows"] if row["headline"])
    assert (row["old"]["run_ids"], row["new"]["run_ids"]) == ([old.id], [new.id])
    assert [[(one["server"], one["removed"]) for one in volumes] for volumes in compared["measured"]] == [
        [("old", False)],
        [("new", False)],
    ]
    report = tmp_path / "storage.md"
    assert main(["report", "storage", *PLACES, "--format", "md", "-o", str(report)]) == 0, capsys.readouterr().err
    assert all(place in report.read_text() for place in PLACES)
    assert "a short read" in report.read_text()
    assert [leftovers(host) for host in (lab.old, lab.new)] == [[], []]


@pytest.mark.usefixtures("clean_hosts")
def test_a_cancel_ends_the_measurement_of_both_hosts_and_leaves_nothing(
    lab: Lab, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = (lab.old, lab.new)
    with killed_at_the_end(bench(tmp_path, SHORT, LONG)) as process:
        wait_until(lambda: all("--runtime=300" in running(host) for host in hosts), "both to be measured", seconds=180)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 4, err.decode()
    assert [leftovers(host) for host in hosts] == [[], []]  # already when the program has ended
    found = recorded(data)
    for name, runs in found.items():
        assert [(run.workload.name, run.outcome) for run in runs] == [
            ("short", Outcome.DONE),
            ("long", Outcome.CANCELLED),
        ], name
    spans = [(run.started_at, run.ended_at) for _, run in found.values() if run.ended_at is not None]
    assert len(spans) == 2
    assert overlap(spans) > timedelta(0)
    compared = answer(capsys, "compare", *PLACES)
    assert {row["workload"]["name"] for row in compared["rows"] if row["old"] and row["new"]} == {"short"}
    # the next benchmark finds neither a lock nor a folder in its way
    with killed_at_the_end(bench(tmp_path, SHORT)) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err.decode()


@pytest.mark.usefixtures("clean_hosts")
def test_a_benchmark_that_fails_on_one_host_ends_on_the_other(lab: Lab, data: Path, tmp_path: Path) -> None:
    """The host that can still be measured is measured to its end, and the failure is told."""
    with killed_at_the_end(bench(tmp_path, SHORT, LONG.replace("300", "20"))) as process:
        wait_until(lambda: all("--runtime=20" in running(host) for host in (lab.old, lab.new)), "both", seconds=180)
        lab.new.exec("pkill", "-KILL", "-x", "fio")
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1, err.decode()
    found = recorded(data)
    assert [[run.outcome for run in runs] for runs in found.values()] == [
        [Outcome.DONE, Outcome.DONE],
        [Outcome.DONE, Outcome.FAILED],
    ]
    assert [leftovers(host) for host in (lab.old, lab.new)] == [[], []]
