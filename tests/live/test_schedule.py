"""Scheduled moves by the command line: connections die while one waits, and the network breaks while one copies."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from time import sleep

import pytest

from core.errors import UnreachableError
from core.history.store import Store
from core.migration.execution import tries
from core.migration.execution.timeline import describe_failed_tries, find_wait
from core.migration.model import step_ids
from core.migration.model.execution import LOCK_FOLDER, LOCK_NAME, Execution, State, StepRun
from tests.lab import lab as labs
from tests.lab import network
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


SECONDS_TO_PASS = 180
"""Until the first pass copies something: facts, checks and plan come first."""
SLOW = "20mbit"
FIRST_PASS = step_ids.of_part(step_ids.PRE_COPY, 1, "data")
LOOKS = {
    *(step_ids.CHECK_DATA_ROOTS, step_ids.CHECK_COPYABLE, step_ids.CHECK_RESTARTABLE),
    *(step_ids.LIST_LISTENERS, step_ids.CHECKPOINT_BEFORE_STOP, step_ids.LIST_CLIENTS),
}
"""They are repeated when the time of the question has come."""


def deafen(lab: Lab) -> None:
    """Between the workstation and old every packet is lost, as on a broken line. Old and new still reach each other."""
    workstation = network.gateway(lab.subnet)
    drop = f"""table inet deaf {{
chain input {{ type filter hook input priority 0; ip saddr {workstation} drop; }}
chain output {{ type filter hook output priority 0; ip daddr {workstation} drop; }}
}}"""
    lab.old.exec("nft", "-f", "-", input=drop)


def undeafen(lab: Lab) -> None:
    lab.old.exec("nft", "delete", "table", "inet", "deaf", check=False)


def pull_cable(lab: Lab) -> None:
    lab.cut("old")


def plug_cable(lab: Lab) -> None:
    lab.mend("old")


def found(folder: Path) -> Execution | None:
    with Store.open(folder) as store:
        return store.latest_execution("m")


def runs_of(execution: Execution, step_id: str) -> list[StepRun]:
    step = execution.plan.step(step_id)
    assert step is not None, step_id
    return [run for run in execution.steps if run.number == step.number]


def failures(execution: Execution | None) -> int:
    kept = () if execution is None else execution.schedule.failed_tries
    return sum(each.repeated + 1 for each in kept)


def break_in_the_first_pass(lab: Lab, folder: Path, cut: Callable[[Lab], None]) -> None:
    def copies() -> bool:
        execution = found(folder)
        return execution is not None and any(run.bytes for run in runs_of(execution, FIRST_PASS))

    lab.shape(SLOW)
    wait_until(copies, "the first pass to copy something", seconds=SECONDS_TO_PASS)
    cut(lab)


@pytest.fixture
def scheduled(cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """A described move without a terminal; old runs, and in the end nothing of pghaul is left on the hosts."""
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", StringIO())
    with site.nothing_left(cli.lab):
        site.describe(cli)
        try:
            yield cli
        finally:
            undeafen(cli.lab)
            cli.lab.restore()


@pytest.mark.parametrize(
    ("cut", "mend"),
    [(deafen, undeafen), (pull_cable, plug_cable)],
    ids=["workstation to old", "cable of old"],
)
def test_a_scheduled_move_goes_on_when_the_network_is_back_and_does_nothing_twice(
    scheduled: CommandLine, tmp_path: Path, cut: Callable[[Lab], None], mend: Callable[[Lab], None]
) -> None:
    lab = scheduled.lab
    before = sql(lab.old, "select sum(hashtext(a::text)) from pgbench_accounts a")

    def break_and_mend() -> None:
        try:
            break_in_the_first_pass(lab, tmp_path, cut)
            wait_until(lambda: failures(found(tmp_path)) > 1, "a second failed try", seconds=120)
        finally:
            mend(lab)
            lab.shape("off")

    ask = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=150)
    night = threading.Thread(target=break_and_mend, name="broken network")
    night.start()
    code, out, err = scheduled.connecting(
        "execute", "m", "--ask-at", ask.isoformat(), "--confirm", DATA, "--manual-steps-done"
    )
    night.join()
    assert code == 0, out + err
    done = found(tmp_path)
    assert done is not None
    assert done.state is State.DONE
    assert failures(done) > 1
    assert runs_of(done, step_ids.STOP_OLD_CLUSTER)[0].started_at >= ask
    first, *later = runs_of(done, FIRST_PASS)
    if cut is deafen:  # the pass went on meanwhile, and its end was seen later
        assert first.done
        assert first.bytes
    assert all(run.started_at > done.schedule.failed_tries[0].at for run in later)
    repeatable = {step.id for step in done.plan.steps if step.precopy_pass or step.resume.repeat_until} | LOOKS
    counted = {step.id: sum(run.done for run in runs_of(done, step.id)) for step in done.plan.steps}
    assert {name: count for name, count in counted.items() if name not in repeatable and count != 1} == {}
    assert sql(lab.new, "select sum(hashtext(a::text)) from pgbench_accounts a") == before


def test_a_network_that_stays_away_beyond_the_question_ends_it_before_the_stop_and_old_serves_on(
    scheduled: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "LATEST", timedelta(seconds=60))  # instead of an hour
    lab = scheduled.lab
    stands = "select pg_postmaster_start_time(), (select sum(hashtext(a::text)) from pgbench_accounts a)"
    before = sql(lab.old, stands)
    ask = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=100)
    night = threading.Thread(target=break_in_the_first_pass, args=(lab, tmp_path, deafen), name="broken network")
    night.start()
    code, out, err = scheduled.connecting(
        "execute", "m", "--ask-at", ask.isoformat(), "--confirm", DATA, "--manual-steps-done"
    )
    night.join()
    assert code == UnreachableError.exit_code, out + err
    ended = found(tmp_path)
    assert ended is not None
    assert (ended.state, ended.message) == (State.INTERRUPTED, ended.schedule.failed_tries[-1].why)
    assert failures(ended) > 1
    assert ended.ended_at is not None
    assert ended.ended_at > ask
    assert [step.id for step in ended.plan.steps if step.downtime and runs_of(ended, step.id)] == []
    assert len(runs_of(ended, FIRST_PASS)) == 1
    assert find_wait(ended, datetime.now(UTC)) is None
    status = scheduled("execute", "m", "--status")[1]
    assert all(line in status for line in describe_failed_tries(ended.schedule))
    assert json.loads(scheduled("execute", "m", "--status", "--json")[1])["execution"]["state"] == State.INTERRUPTED
    assert sql(lab.old, stands) == before
    assert lab.old.exec("test", "-e", f"{DATA}/pghaul-fence", check=False).returncode == 1
    undeafen(lab)
    lab.shape("off")
    scheduled.connecting("execute", "m", "--cancel")
    cancelled = found(tmp_path)
    assert cancelled is not None
    assert cancelled.state is State.CANCELLED
    assert sql(lab.old, stands) == before
