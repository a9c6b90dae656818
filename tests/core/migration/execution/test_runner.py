"""What the runner makes of steps that do not print the same, of a stop in doubt, and how it records the end."""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from core.errors import (
    BlockedError,
    Cancelled,
    CommandError,
    HistoryError,
    HistoryLostError,
    InputError,
    PausedError,
    PghaulError,
    TakenOverError,
)
from core.facts.model import TrialStart
from core.history.store import Store
from core.jobs import Event, Job, Note
from core.migration.execution.lock import HeldError, Holder
from core.migration.execution.passes import ExtraPass
from core.migration.execution.rollback import roll_back
from core.migration.execution.rsync_log import changed_meanwhile
from core.migration.execution.runner import PROGRAM_ENDED, Runner
from core.migration.execution.status import describe_both_clusters, describe_status
from core.migration.execution.step_runner import StepRunner
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, FOR_A_PERSON, State, StepRun, StopAnswer
from core.migration.model.plan import OperatorTask, Step
from core.migration.model.schedule import Schedule
from core.servers.connection import Completed, Server
from core.servers.shell import Shell
from tests.core.migration.builders import NOW, set_up
from tests.core.migration.execution.builders import STEP, Nobody, unconnected
from tests.core.migration.execution.builders import execution as of_steps
from tests.core.test_text import SIGNS
from tests.histories import Histories
from tests.live.moving import Person
from tests.steps import change_step
from tests.wire import Wire


@dataclass
class Old:
    """A server that answers a function by what stands in `answers`, one after the other, and else by nothing.

    Attributes:
        asked: the functions of the steps, as they came.
    """

    answers: dict[str, list[str | PghaulError]]
    asked: list[str] = field(default_factory=list)
    name = "old"
    profile = SimpleNamespace(database_user="postgres")

    login = "postgres"

    def can_become(self, *_: object) -> bool:
        return True

    def become(self, _: object, shell: Shell) -> Shell:
        return shell

    def run(self, shell: Shell, *_: object, **__: object) -> Completed:
        function = shell.text.splitlines()[-1].split()[0]
        self.asked.append(function)
        given = self.answers.get(function, [])
        answer = given.pop(0) if given else "# 0 jobs" if function == "job_list" else ""
        if isinstance(answer, PghaulError):
            raise answer
        return Completed(shell.shown, 0, answer, "", 0.0)


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "history", set_up) as made:
        yield made


def assert_same_as_recorded(steps: StepRunner) -> None:
    """What the runner holds in memory is what the history has."""
    assert steps.execution == steps.journal.execution(steps.id)


class Stopping:
    """An execution whose stop may fail."""

    STEPS = (
        change_step(STEP, id="warm", call="precopy_pass", precopy_pass=1, root="data"),
        change_step(STEP, id=step_ids.TAKE_INVENTORY, call="take_inventory", downtime=True),
        change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, call="stop_folder", downtime=True),
        change_step(STEP, id=step_ids.CHECK_STOPPED, call="prove_stopped", downtime=True, only_checks=True),
        change_step(STEP, id="sync", call="rest_pass", downtime=True),
    )

    def __init__(self, store: Store, *steps: Step, **answers: list[str | PghaulError]) -> None:
        self.store, self.old = store, Old(answers)
        self.number = store.execution_started(of_steps(*(steps or self.STEPS)))

    def carried_out(self, *tried: TrialStart, person: Person | None = None) -> list[str]:
        """What it warns of. `tried`: what each trial start shows; none may be made where there is none left."""
        left, events = list(tried), list[Event]()
        steps = StepRunner(
            self.number, self.store, lambda _: cast("Server", self.old), person or Person("15/main"), Job(events.append)
        )
        try:
            Runner(steps, (lambda _: left.pop(0)) if tried else None).carry_out()
        finally:
            assert_same_as_recorded(steps)
        return [each.text for each in events if isinstance(each, Note) and each.level == "warning"]

    @property
    def state(self) -> State:
        return self.store.execution(self.number).state


def failed(status: int, said: str = "") -> CommandError:
    return CommandError("failed", exit_status=status, stderr=said)


@pytest.mark.slow
def test_where_the_new_server_refuses_a_trial_start_old_is_not_stopped(store: Store) -> None:
    move, trial = Stopping(store, prove_stopped=["sum"]), TrialStart("/a", "/b", "")
    with pytest.raises(BlockedError, match=r"any more: FATAL:  no\. The old cluster was not stopped") as caught:
        move.carried_out(replace(trial, failed="FATAL:  no"))
    assert "--resume" in caught.value.hint
    assert caught.value.__notes__ == [describe_status(move.store.execution(1))]
    assert (move.state, move.old.asked.count("stop_folder")) == (State.STOPPED, 0)
    said = move.carried_out(replace(trial, not_tried="there is no root"))
    assert any("not tried again before the stop, because there is no root" in each for each in said), said
    assert (move.state, move.old.asked.count("stop_folder")) == (State.DONE, 1)


@pytest.mark.slow
def test_where_systemd_would_not_start_the_unit_of_new_old_is_not_stopped(store: Store) -> None:
    """It may be so since the checks: a file system is gone, or somebody has changed the unit."""
    move, trial = Stopping(store, prove_stopped=["sum"]), TrialStart("/a", "/b", "", not_tried="there is no room")
    with pytest.raises(BlockedError, match=r"ConditionPathExists=/none\. The old cluster was not stopped") as caught:
        move.carried_out(replace(trial, unmet=("ConditionPathExists=/none",)))
    assert "--resume" in caught.value.hint
    assert (move.state, move.old.asked.count("stop_folder")) == (State.STOPPED, 0)
    move.carried_out(trial)
    assert (move.state, move.old.asked.count("stop_folder")) == (State.DONE, 1)


@pytest.mark.slow
def test_old_that_is_stopped_already_needs_no_trial_start(store: Store) -> None:
    move, trial = Stopping(store, stop_folder=[failed(1)], prove_stopped=["sum", "sum"]), TrialStart("/a", "/b", "")
    with pytest.raises(CommandError):
        move.carried_out(trial)
    move.carried_out(replace(trial, failed="FATAL:  no"))
    assert move.state is State.DONE


@pytest.mark.slow
def test_a_stop_that_failed_although_old_is_stopped_is_gone_on_with_behind_it(store: Store) -> None:
    """What only a running server can tell is not asked for again."""
    move = Stopping(store, stop_folder=[failed(1, "pghaul: the job was killed")], prove_stopped=["sum", "sum"])
    with pytest.raises(CommandError):
        move.carried_out()
    move.carried_out()
    assert move.state is State.DONE
    assert (move.old.asked.count("take_inventory"), move.old.asked.count("precopy_pass")) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("status", [126, 1], ids=["not run", "failed"])
def test_a_proof_of_the_stop_that_tells_nothing_is_no_reason_to_begin_anew(store: Store, status: int) -> None:
    said = failed(status, "grep: Cannot allocate memory")
    move = Stopping(store, prove_stopped=["sum", said, "sum"], rest_pass=[failed(1)])
    for why in ("exit status 1", "Cannot allocate memory"):
        with pytest.raises(PghaulError, match=why):
            move.carried_out()
    move.carried_out()
    assert move.state is State.DONE
    assert (move.old.asked.count("take_inventory"), move.old.asked.count("precopy_pass")) == (1, 1)


@pytest.mark.slow
def test_old_that_runs_again_is_copied_and_stopped_again(store: Store) -> None:
    proof: list[str | PghaulError] = ["sum", failed(1, "pghaul: a server runs in /a"), "another sum"]
    move = Stopping(store, prove_stopped=proof, list_servers_in=["4711\n"], rest_pass=[failed(1)])
    with pytest.raises(CommandError):
        move.carried_out()
    move.carried_out()
    assert move.state is State.DONE
    assert (move.old.asked.count("take_inventory"), move.old.asked.count("precopy_pass")) == (2, 2)


@pytest.mark.slow
def test_old_that_was_started_and_stopped_again_must_be_started_to_be_copied_again(store: Store) -> None:
    move = Stopping(store, prove_stopped=["sum", "another sum"], rest_pass=[failed(1)])
    with pytest.raises(CommandError):
        move.carried_out()
    with pytest.raises(BlockedError, match="does not run now") as caught:
        move.carried_out()
    assert "--resume" in caught.value.hint
    assert move.old.asked.count("take_inventory") == 1


class Leaving(Person):
    """Wants no step but the first, and does nothing that is theirs to do."""

    def __init__(self, *, after_first: bool) -> None:
        super().__init__("15/main")
        self.left = [False, after_first]

    def wants_to_end(self) -> bool:
        return bool(self.left) and self.left.pop(0)

    def confirm_manual_step(self, step: Step) -> bool:  # noqa: ARG002
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("person", "following", "exit_status"),
    [
        (Leaving(after_first=True), 1, 0),
        (Person("another"), 1, 0),
        (Leaving(after_first=False), 6, CANCELLED_STEP),
    ],
    ids=["after a step", "another name", "a step of theirs"],
)
def test_what_the_operator_ends_is_paused_and_has_not_failed(
    store: Store, person: Person, following: int, exit_status: int
) -> None:
    theirs = change_step(STEP, id="theirs", title="theirs", downtime=True, action=OperatorTask())
    move = Stopping(store, *Stopping.STEPS, theirs, prove_stopped=["sum"])
    with pytest.raises(PausedError) as caught:
        move.carried_out(person=person)
    found = store.execution(move.number)
    assert (found.state, found.message) == (State.PAUSED, caught.value.message)
    assert found.next_step is not None
    assert found.next_step.number == following
    assert found.steps[-1].exit_status == exit_status
    number = len(found.steps)
    move.old.answers["prove_stopped"] = ["sum"]
    with pytest.raises(PausedError):
        move.carried_out(person=Leaving(after_first=False))
    again = [run.number for run in store.execution(move.number).steps[number:]]
    assert next(each for each in again if each != 4) == following  # 4 proves again that the old cluster is stopped


class Looking(Person):
    """Has the clients listed once more before they stop the cluster."""

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        self.asked.extend(connected)
        if len(self.asked) == 1:
            return StopAnswer.LOOK_AGAIN
        return super().confirm_stop(cluster, connected, warm=warm)


@pytest.mark.slow
def test_clients_are_listed_again_before_the_stop_if_the_operator_asks(store: Store) -> None:
    clients = change_step(STEP, id=step_ids.LIST_CLIENTS, call="list_clients")
    warm, *rest = Stopping.STEPS
    move = Stopping(store, warm, clients, *rest, list_clients=["app", "cron"], prove_stopped=["sum"])
    person = Looking("15/main")
    move.carried_out(person=person)
    assert person.asked[:2] == ["app", "cron"]
    assert (move.state, move.old.asked.count("precopy_pass")) == (State.DONE, 1)


class Pressing(Person):
    """Presses "Stop after this step" at the question of the stop, or when a test does it for them."""

    def __init__(self, said: StopAnswer = StopAnswer.STOP, *, at_question: bool = False) -> None:
        super().__init__("15/main")
        self.said, self.at_question, self.pressed = said, at_question, False

    def wants_to_end(self) -> bool:
        pressed, self.pressed = self.pressed, False
        return pressed

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        self.pressed = self.at_question
        said, self.said = self.said, StopAnswer.STOP
        return super().confirm_stop(cluster, connected, warm=warm) if said is StopAnswer.STOP else said


def press_in_second_pass(move: Stopping, person: Pressing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press while the pre-copy pass runs for the second time."""
    run = move.old.run

    def spy(shell: Shell, *given: object, **options: object) -> Completed:
        if shell.text.splitlines()[-1].startswith("precopy_pass") and "precopy_pass" in move.old.asked:
            person.pressed = True
        return run(shell, *given, **options)

    monkeypatch.setattr(move.old, "run", spy)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["question", "extra pass", "pass asked for", "trial start"])
def test_a_pause_that_is_asked_for_before_the_stop_keeps_the_old_cluster_running(
    store: Store, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """All of this comes between the last step and the one that stops the old cluster."""
    warm, _, *rest = Stopping.STEPS
    move = Stopping(store, warm, *rest, prove_stopped=["sum"])
    said = StopAnswer.WARM_FIRST if where == "pass asked for" else StopAnswer.STOP
    person = Pressing(said, at_question=where == "question")
    if where == "extra pass":
        monkeypatch.setattr("core.migration.execution.runner.find_extra_pass", lambda _: ExtraPass(True, 7200.0, 1.0))
    press_in_second_pass(move, person, monkeypatch)

    def try_start(_: Job) -> None:
        person.pressed = where == "trial start"

    steps = StepRunner(move.number, store, lambda _: cast("Server", move.old), person, Job())
    with pytest.raises(PausedError, match="before step 2"):
        Runner(steps, try_start).carry_out()
    assert (move.state, "stop_folder" in move.old.asked) == (State.PAUSED, False)
    assert move.old.asked.count("precopy_pass") == (2 if "pass" in where else 1)


@pytest.mark.slow
@pytest.mark.parametrize("error", [InputError("the server 'old' does not exist"), failed(1)], ids=["unknown", "failed"])
def test_what_cannot_be_removed_is_a_warning_and_the_rest_is_removed(store: Store, error: PghaulError) -> None:
    """A server whose profile is gone is no reason to leave the locks of the other one."""
    move = Stopping(store, prove_stopped=["sum"], job_list=[error], rest_pass=[failed(1)])
    with pytest.raises(CommandError):
        move.carried_out()
    assert (move.state, move.old.asked.count("release_lock")) == (State.STOPPED, 2)


class Cancelling(Nobody):
    """Cancels the job while a question is open, which the window then withdraws."""

    def __init__(self) -> None:
        self.job = Job()

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:  # noqa: ARG002
        self.job.cancel()
        return StopAnswer.DECLINED

    def confirm_manual_step(self, step: Step) -> bool:  # noqa: ARG002
        self.job.cancel()
        return False

    def accept_finding(self, found: str) -> str:  # noqa: ARG002
        self.job.cancel()
        return ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "tries"),
    [
        (change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, call="stop_folder", downtime=True), []),
        (change_step(STEP, id="theirs", title="theirs", action=OperatorTask()), [CANCELLED_STEP]),
        (change_step(STEP, id="look", call="look", reads=step_ids.CHECK_LISTENERS), [CANCELLED_STEP]),
    ],
    ids=["stop", "manual step", "finding"],
)
def test_a_cancel_while_a_question_is_open_is_no_answer(store: Store, step: Step, tries: list[int]) -> None:
    person = Cancelling()
    move = Stopping(store, step, look=[failed(FOR_A_PERSON, "pghaul: the port is closed")])
    steps = StepRunner(move.number, store, lambda _: cast("Server", move.old), person, person.job)
    with pytest.raises(Cancelled):
        Runner(steps).carry_out()
    assert (move.state, "stop_folder" in move.old.asked) == (State.CANCELLED, False)
    assert [run.exit_status for run in store.execution(move.number).steps] == tries


ROOTS = tuple(
    change_step(
        STEP, id=f"warm-{number}", title=f"root {number}", call="precopy_pass", precopy_pass=1, root=f"r{number}"
    )
    for number in (1, 2)
)
SUMS = change_step(STEP, id="sums", title="checksums", call="sums", precopy_pass=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("copies", "following"), [(1, "root 2"), (2, "checksums"), (3, "root 2")], ids=["copy", "checksums", "next pass"]
)
def test_a_pause_ends_a_pass_between_two_of_its_steps(
    store: Store, monkeypatch: pytest.MonkeyPatch, copies: int, following: str
) -> None:
    """Each may copy for hours. `copies`: with which of them it is asked for; the last pass is made twice."""
    move = Stopping(store, *ROOTS, SUMS, *Stopping.STEPS[1:], prove_stopped=["sum"])
    person, worthwhile, run = Pressing(), [True], move.old.run
    monkeypatch.setattr(
        "core.migration.execution.runner.is_another_pass_worthwhile", lambda *_: bool(worthwhile) and worthwhile.pop()
    )

    def spy(shell: Shell, *given: object, **options: object) -> Completed:
        done = run(shell, *given, **options)
        person.pressed = person.pressed or move.old.asked.count("precopy_pass") == copies
        return done

    monkeypatch.setattr(move.old, "run", spy)
    with pytest.raises(PausedError, match=re.escape(f"({following})")):
        move.carried_out(person=person)
    assert (move.state, move.old.asked.count("precopy_pass")) == (State.PAUSED, copies)
    monkeypatch.setattr(move.old, "run", run)
    move.carried_out()
    assert move.state is State.DONE


@pytest.mark.slow
@pytest.mark.parametrize("after", ["take_inventory", "stop_folder", "prove_stopped"])
def test_a_pause_tells_how_both_clusters_stand_once_the_old_one_may_be_stopped(
    store: Store, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    move, person = Stopping(store, prove_stopped=["sum"]), Pressing()
    run = move.old.run

    def spy(shell: Shell, *given: object, **options: object) -> Completed:
        person.pressed = person.pressed or shell.text.splitlines()[-1].split()[0] == after
        return run(shell, *given, **options)

    monkeypatch.setattr(move.old, "run", spy)
    with pytest.raises(PausedError) as caught:
        move.carried_out(person=person)
    paused = store.execution(move.number)
    assert caught.value.stands == ("" if after == "take_inventory" else describe_both_clusters(paused))


@pytest.mark.slow
@pytest.mark.parametrize("due", [True, False])
def test_an_extra_pass_is_announced_before_the_question(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, due: bool
) -> None:
    """At a terminal the question itself knows nothing of it."""
    monkeypatch.setattr("core.migration.execution.runner.find_extra_pass", lambda _: ExtraPass(due, 7200.0, 60.0))
    move, told = Stopping(store, prove_stopped=["sum"]), list[Event]()
    before = list[str]()

    class Reading(Person):
        def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
            before.extend(each.text for each in told if isinstance(each, Note))
            return super().confirm_stop(cluster, connected, warm=warm)

    steps = StepRunner(move.number, store, lambda _: cast("Server", move.old), Reading("15/main"), Job(told.append))
    Runner(steps).carry_out()
    assert any("One more is made before the stop, because" in each for each in before) is due


class Clock:
    """A clock that jumps at each look after the first, as one does beside a workstation that sleeps."""

    def __init__(self, seconds: float) -> None:
        self.step = timedelta(seconds=seconds)
        self.at = NOW - self.step

    def __call__(self) -> datetime:
        self.at += self.step
        return self.at


@pytest.mark.slow
@pytest.mark.parametrize("slept", [timedelta(0), timedelta(hours=7)])
def test_a_schedule_is_held_by_the_clock_of_the_wall(
    store: Store, monkeypatch: pytest.MonkeyPatch, slept: timedelta
) -> None:
    """Nothing begins before its time; the copy is kept fresh until the question."""
    monkeypatch.setattr("core.migration.execution.runner.LOOK_SECONDS", 0.001)
    monkeypatch.setattr("core.migration.execution.runner.is_pass_due_while_waiting", lambda _, left: 900 < left < 1600)
    clock, times = Clock(600.0), dict[str, datetime]()
    start, ask = NOW + timedelta(hours=3), NOW + timedelta(hours=6)

    class Asked(Person):
        def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
            times["asked"] = clock.at
            return super().confirm_stop(cluster, connected, warm=warm)

    class Watched(Old):
        def run(self, shell: Shell, *rest: object, **more: object) -> Completed:
            function = shell.text.splitlines()[-1].split()[0]
            if function == "precopy_pass" and function not in times:
                clock.at += slept
                times[function] = clock.at - slept
            return super().run(shell, *rest, **more)

    old = Watched({"prove_stopped": ["sum"]})
    number = store.execution_started(replace(of_steps(*Stopping.STEPS), schedule=Schedule(start, ask)))
    steps = StepRunner(number, store, lambda _: cast("Server", old), Asked("15/main"), Job())
    Runner(steps, now=clock).carry_out()
    assert start <= times["precopy_pass"] < start + 2 * clock.step
    assert ask <= times["asked"] < max(ask, start + slept) + 3 * clock.step
    passes = sum(run.number == 1 for run in store.execution(number).steps)
    assert passes == (1 if slept else 2)  # who slept beyond the time is asked at once
    assert store.execution(number).state is State.DONE


START, ASK = NOW + timedelta(hours=3), NOW + timedelta(hours=6)


def _always(server: Server, _side: str) -> Server:
    """The same server for either side."""
    return server


@pytest.mark.slow
def test_the_outputs_of_the_passes_are_read_once_however_often_the_clock_is_looked_at(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outputs may be long, and the clock is looked at every second for hours."""
    monkeypatch.setattr("core.migration.execution.runner.LOOK_SECONDS", 0.001)
    read = list[str]()

    def count(output: str) -> int | None:
        read.append(output)
        return changed_meanwhile(output)

    monkeypatch.setattr("core.migration.execution.passes.changed_meanwhile", count)
    reads, looks = dict[float, int](), dict[float, int]()
    for seconds in (600.0, 60.0):
        clock, old = Clock(seconds), cast("Server", Old({"prove_stopped": ["sum"]}))
        number = store.execution_started(replace(of_steps(*Stopping.STEPS), schedule=Schedule(ask_at=ASK)))
        steps = StepRunner(number, store, partial(_always, old), Person("15/main"), Job())
        read.clear()
        begun = clock.at
        Runner(steps, now=clock).carry_out()
        reads[seconds], looks[seconds] = len(read), round((clock.at - begun).total_seconds() / seconds)
    assert looks[60.0] > 5 * looks[600.0]
    assert reads[60.0] == reads[600.0] > 0


@pytest.mark.slow
def test_the_last_looks_are_made_again_when_the_time_of_the_question_has_come(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the list of the clients, the checkpoint and the checks before the stop are as old as the wait."""
    monkeypatch.setattr("core.migration.execution.runner.LOOK_SECONDS", 0.001)
    warm, *stopping = Stopping.STEPS
    looks = (
        change_step(STEP, id=step_ids.CHECK_DATA_ROOTS, call="check_roots", only_checks=True),
        change_step(STEP, id=step_ids.LIST_CLIENTS, call="list_clients"),
    )
    old = Old({"prove_stopped": ["sum"], "list_clients": ["of the evening", "of the night"]})
    person = Person("15/main")
    number = store.execution_started(replace(of_steps(warm, *looks, *stopping), schedule=Schedule(None, ASK)))
    steps = StepRunner(number, store, lambda _: cast("Server", old), person, Job())
    Runner(steps, now=Clock(3600)).carry_out()
    assert person.connected == ("of the night",)
    assert (old.asked.count("check_roots"), old.asked.count("precopy_pass")) == (2, 1)


@pytest.mark.slow
def test_a_tablespace_that_came_while_the_question_was_waited_for_leaves_the_old_cluster_running(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.migration.execution.runner.LOOK_SECONDS", 0.001)
    warm, *stopping = Stopping.STEPS
    look = change_step(STEP, id=step_ids.CHECK_DATA_ROOTS, call="check_roots", only_checks=True)
    old = Old({"check_roots": ["", failed(1, "pghaul: a new tablespace")]})
    number = store.execution_started(replace(of_steps(warm, look, *stopping), schedule=Schedule(None, ASK)))
    person = Person("15/main")
    steps = StepRunner(number, store, lambda _: cast("Server", old), person, Job())
    with pytest.raises(BlockedError, match="a new tablespace"):
        Runner(steps, now=Clock(3600)).carry_out()
    assert (person.asked, "stop_folder" in old.asked) == ([], False)
    assert store.execution(number).state is State.STOPPED


@pytest.mark.slow
@pytest.mark.parametrize("changed", [True, False])
def test_the_checks_run_again_at_the_start_that_was_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, changed: bool
) -> None:
    monkeypatch.setattr("core.migration.execution.runner.LOOK_SECONDS", 0.001)
    clock, checked, old = Clock(600), list[datetime](), Old({"prove_stopped": ["sum"]})

    def check_again(_: Job) -> None:
        checked.append(clock.at)
        if changed:
            raise BlockedError("The move cannot begin.")

    number = store.execution_started(replace(of_steps(*Stopping.STEPS), schedule=Schedule(START, None)))
    steps = StepRunner(number, store, lambda _: cast("Server", old), Person("15/main"), Job())
    runner = Runner(steps, check_again=check_again, now=clock)
    if changed:
        with pytest.raises(BlockedError, match="cannot begin"):
            runner.carry_out()
    else:
        runner.carry_out()
    assert [START <= at < START + timedelta(hours=1) for at in checked] == [True]
    assert ("precopy_pass" in old.asked) is not changed
    assert store.execution(number).state is (State.STOPPED if changed else State.DONE)


@pytest.mark.slow
def test_who_sleeps_far_beyond_the_start_begins_only_when_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --confirm the old cluster would else be stopped whenever the workstation wakes up."""
    monkeypatch.setattr("core.migration.execution.runner.LOOK_SECONDS", 0.001)
    old, person, clock = Old({"prove_stopped": ["sum"]}), Person("15/main"), Clock(2.5 * 3600)
    number = store.execution_started(replace(of_steps(*Stopping.STEPS), schedule=Schedule(START, None)))
    steps = StepRunner(number, store, lambda _: cast("Server", old), person, Job())
    with pytest.raises(PausedError, match="missed by 4 h 30 min") as caught:
        Runner(steps, now=clock).carry_out()
    assert "--resume" in caught.value.hint
    assert (store.execution(number).state, "precopy_pass" in old.asked) == (State.PAUSED, False)
    Runner(steps, now=clock).carry_out()
    assert store.execution(number).state is State.DONE


@pytest.mark.slow
@pytest.mark.parametrize("cancelled", [True, False])
def test_waiting_for_the_start_can_be_cancelled_and_paused(store: Store, *, cancelled: bool) -> None:
    old, job = Old({}), Job()

    class Leaving(Person):
        def wants_to_end(self) -> bool:
            if cancelled:
                job.cancel()
            return not cancelled

    schedule = Schedule(datetime.now(UTC) + timedelta(hours=3), None)
    number = store.execution_started(replace(of_steps(*Stopping.STEPS), schedule=schedule))
    steps = StepRunner(number, store, lambda _: cast("Server", old), Leaving("15/main"), job)
    with pytest.raises(Cancelled if cancelled else PausedError):
        Runner(steps).carry_out()
    assert store.execution(number).state is (State.CANCELLED if cancelled else State.PAUSED)
    assert "precopy_pass" not in old.asked


@pytest.mark.slow
def test_a_step_that_is_cancelled_has_not_failed(store: Store) -> None:
    move = Stopping(store, precopy_pass=[Cancelled()])
    with pytest.raises(Cancelled):
        move.carried_out()
    found = store.execution(move.number)
    assert found.state is State.CANCELLED
    assert [run.exit_status for run in found.steps] == [CANCELLED_STEP]


TAKEN = change_step(STEP, id=step_ids.TAKE_INVENTORY, call="take_inventory")
COMPARED = change_step(STEP, id="step-2", call="take_inventory", equals=step_ids.TAKE_INVENTORY)
INVENTORIES = ("setting a = 1\nrelations r 2\n", "setting a = 1\nrelations r 3\nsetting b = 4\n")


@pytest.mark.slow
def test_inventories_of_an_earlier_plan_that_differ_are_a_warning_with_both_sides(store: Store) -> None:
    (said,) = Stopping(store, TAKEN, COMPARED, take_inventory=list(INVENTORIES)).carried_out()
    assert re.search(r": relations r 2\. [^:]+: relations r 3; setting b = 4\.", said)


@pytest.mark.slow
def test_other_steps_that_differ_have_failed(store: Store) -> None:
    taken = change_step(TAKEN, id=step_ids.CHECKSUMS_OLD)
    compared = change_step(COMPARED, equals=step_ids.CHECKSUMS_OLD)
    move = Stopping(store, taken, compared, take_inventory=list(INVENTORIES))
    with pytest.raises(BlockedError, match=r"relations r 2 .*relations r 3 "):
        move.carried_out()
    assert move.state is State.STOPPED


HELD = HeldError("/a on old is being moved by ada@desk since 20:00", "wait", Holder("/var/tmp/lock", "1", "ada@desk"))


def unconnected_runner(store: Store, number: int) -> Runner:
    return Runner(StepRunner(number, store, unconnected, Nobody(), Job()))


def refused(store: Store, number: int) -> tuple[State, str]:
    with pytest.raises(HeldError), unconnected_runner(store, number).recording(State.DONE):
        raise HELD
    found = store.execution(number)
    assert not store.carried_out(number)
    return found.state, found.message


@pytest.mark.parametrize("state", [State.INTERRUPTED, State.CANCELLED, State.PAUSED, State.STOPPED])
def test_it_stands_as_before(store: Store, state: State) -> None:
    number = store.execution_started(of_steps())
    store.step_started(number, StepRun(0, 1, "step", 1, NOW))
    store.execution_changed(number, state, "why it ended")
    assert refused(store, number) == (state, "why it ended")


def test_one_whose_program_was_killed_is_known_to_be_interrupted(store: Store) -> None:
    number = store.execution_started(of_steps())
    store.step_started(number, StepRun(0, 1, "step", 1, NOW))
    assert refused(store, number) == (State.INTERRUPTED, PROGRAM_ENDED)


def test_one_that_had_not_begun_has_ended(store: Store) -> None:
    assert refused(store, store.execution_started(of_steps())) == (State.STOPPED, HELD.message)


@pytest.mark.slow
def test_while_the_history_of_a_team_is_lost_nothing_is_done_and_it_can_be_gone_on_with(
    histories: Histories, wire: Wire, tmp_path: Path
) -> None:
    def work(runner: Runner) -> None:
        with runner.recording(State.DONE):
            wire.cut()
            store.step_started(number, StepRun(0, 1, "step", 1, NOW))

    with histories.placed("postgresql", tmp_path, set_up) as place, Store.open(wire.through(str(place))) as store:
        number = store.execution_started(of_steps())
        runner = unconnected_runner(store, number)
        with pytest.raises(HistoryLostError) as lost:
            work(runner)
        assert lost.value.hint.endswith(": pghaul execute spring --resume")
        wire.mend()
        with runner.recording(State.DONE):
            assert store.execution(number).state is State.RUNNING
        assert store.execution(number).state is State.DONE


@pytest.mark.slow
def test_a_history_that_cannot_be_written_ends_no_copy(store: Store) -> None:
    """Who looks each second must outlive it: the watcher is still there to be ended, and the work goes on."""
    number = store.execution_started(of_steps())
    runner = unconnected_runner(store, number)
    told = threading.Event()

    def fails() -> None:
        told.set()
        raise HistoryError("the history is locked by another program")

    runner.steps.tell_progress = fails  # type: ignore[method-assign]  # SQLite's patience is too long for a test
    with runner.recording(State.DONE):
        assert told.wait(20)
        assert store.execution(number).state is State.RUNNING


@pytest.mark.slow
@pytest.mark.parametrize("error", [HistoryLostError("the history does not answer"), TakenOverError("continued")])
def test_what_runs_on_the_servers_goes_on_where_this_process_may_not_record_it(
    store: Store, error: PghaulError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may need the locks and the copy channel: nothing is ended and removed."""
    move, record = Stopping(store, prove_stopped=["sum"]), store.step_ended

    def fails(run: StepRun) -> None:
        if run.number == len(move.STEPS):
            raise error
        record(run)

    monkeypatch.setattr(store, "step_ended", fails)
    monkeypatch.setattr("tests.core.migration.execution.test_runner.assert_same_as_recorded", lambda _: None)
    with pytest.raises(type(error)):
        move.carried_out()
    assert move.old.asked[-1] == "rest_pass"


@pytest.mark.slow
def test_a_rollback_ends_where_another_workstation_has_cut_over_before_the_lock_was_taken(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Old({})
    number = store.execution_started(of_steps(change_step(STEP, id=step_ids.CUTOVER)))
    runner = Runner(StepRunner(number, store, lambda _: cast("Server", old), Nobody(), Job()))

    def cut_over(*_: object) -> None:
        if not store.execution(number).steps:
            run = StepRun(0, 1, "cut over", 1, NOW)
            store.step_ended(replace(run, id=store.step_started(number, run), ended_at=NOW, exit_status=0))

    monkeypatch.setattr(runner, "lock_side", cut_over)
    with pytest.raises(BlockedError, match="would lose it"):
        roll_back(runner)
    assert not [run for run in store.execution(number).steps if run.back]


@pytest.mark.parametrize("sign", SIGNS)
def test_a_name_that_a_server_prints_warns_of_nothing(store: Store, sign: str) -> None:
    number = store.execution_started(of_steps())
    events: list[Event] = []
    steps = StepRunner(number, store, unconnected, Nobody(), Job(events.append))
    Runner(steps).pass_on_warnings(f"database a{sign}warning: forged\nwarning: one{sign}note: two\r\nnote: three\n")
    told = [(each.level, each.text) for each in events if isinstance(each, Note)]
    assert told == [("warning", f"one{sign}note: two"), ("info", "three")]


@pytest.mark.parametrize("sign", SIGNS)
def test_a_rollback_takes_no_name_for_a_warning(store: Store, sign: str) -> None:
    proof = change_step(STEP, id=step_ids.CHECK_OLD_RUNS, number=1, call="prove_running", only_checks=True)
    began = of_steps(*Stopping.STEPS)
    made = replace(began, plan=replace(began.plan, way_back=(proof,)))
    number = store.execution_started(made)
    store.execution_changed(number, State.STOPPED, "")
    old = Old({"prove_running": [f"a name{sign}warning: forged\n"]})
    events: list[Event] = []
    steps = StepRunner(number, store, lambda _: cast("Server", old), Person("15/main"), Job(events.append))
    roll_back(Runner(steps))
    assert old.asked.count("prove_running") == 1
    assert [each.text for each in events if isinstance(each, Note) and each.level == "warning"] == []
