"""A scheduled move by the command line, during whose waits every connection dies and the old cluster gets a client."""

import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from time import sleep

import pytest

from core.history.store import Store
from core.migration.model import step_ids
from core.migration.model.execution import LOCK_FOLDER, LOCK_NAME, State
from tests.lab import lab as labs
from tests.lab.fixtures import LabAsker, forget_host_keys
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable, wait_until
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, sql

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(600)]

SECONDS_TO_START, SECONDS_TO_QUESTION = 60, 120


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """A lab of its own: what is killed here would end the connections that other tests share."""
    reason = lab_unavailable()
    if reason is not None:
        pytest.skip(reason)
    forget_host_keys()
    with labs.lab("scheduled") as made:
        yield made


def kill_sessions(lab: Lab) -> None:
    """On both hosts every session of sshd dies; the listening sshd stay."""
    for host in (lab.old, lab.new):
        host.exec("sh", "-c", "pkill -KILL -f '^sshd: .*@' || pkill -KILL -f '^sshd-session'")


def through_the_night(lab: Lab, folder: Path) -> None:
    """What happens while the program waits for its two times."""

    def asks_next() -> bool:
        with Store.open(folder) as store:
            found = store.latest_execution("m")
        return found is not None and found.next_step is not None and found.next_step.downtime

    def locked() -> bool:
        return all(
            host.exec("sh", "-c", f"ls {LOCK_FOLDER}/{LOCK_NAME}*", check=False).stdout for host in (lab.old, lab.new)
        )

    wait_until(locked, "the first wait", seconds=SECONDS_TO_START)
    sleep(2)  # until the commands that lock have ended
    kill_sessions(lab)
    wait_until(asks_next, "the second wait", seconds=SECONDS_TO_QUESTION)
    kill_sessions(lab)
    sql(lab.old, "create role late login")


@pytest.fixture
def cli(lab: Lab, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    site.create(lab.old)
    yield CommandLine(lab, LabAsker(lab.known_hosts), capsys)
    site.remove(lab)


def test_a_scheduled_move_outlives_its_connections_and_looks_again_before_it_stops(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = cli.lab
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", StringIO())
    with site.nothing_left(lab):
        site.describe(cli)
        begun = datetime.now(UTC).replace(microsecond=0)
        start, ask = (begun + timedelta(seconds=each) for each in (SECONDS_TO_START, SECONDS_TO_QUESTION))
        night = threading.Thread(target=through_the_night, args=(lab, tmp_path), name="night")
        night.start()
        times = ("--start-at", start.isoformat(), "--ask-at", ask.isoformat())
        code, out, err = cli.connecting("execute", "m", *times, "--confirm", DATA, "--manual-steps-done")
        night.join()
        assert code == 0, out + err
        with Store.open(tmp_path) as store:
            done = store.latest_execution("m")
            facts = store.facts("new")
            trial = None if facts is None else facts.trial_start
        assert done is not None
        assert trial is not None
        assert done.state is State.DONE
        assert start <= done.steps[0].started_at < start + timedelta(seconds=60)
        assert trial.at is not None
        assert trial.at > start
        assert trial.not_tried == ""
        numbers = {step.number: step.id for step in done.plan.steps}
        runs = {each: [run for run in done.steps if numbers[run.number] == each] for each in numbers.values()}
        for look in (step_ids.CHECK_DATA_ROOTS, step_ids.CHECKPOINT_BEFORE_STOP, step_ids.LIST_CLIENTS):
            assert [run.started_at >= ask for run in runs[look]] == [False, True], look
        assert runs[step_ids.STOP_OLD_CLUSTER][0].started_at >= ask
