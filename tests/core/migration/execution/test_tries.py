"""A scheduled execution goes on by itself after a failure that another try may mend, and after no other one."""

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from core import units
from core.cli.execution import TerminalOperator, confirmed_until, text
from core.errors import (
    AuthenticationError,
    BlockedError,
    Cancelled,
    CommandError,
    HostKeyError,
    PausedError,
    PghaulError,
    ServerError,
    TakenOverError,
    UnreachableError,
)
from core.history.belonging import ALIVE
from core.history.store import Store
from core.jobs import Event, Job, Note
from core.migration.execution.runner import Runner
from core.migration.execution.step_runner import StepRunner
from core.migration.execution.timeline import (
    Awaited,
    describe_failed_tries,
    describe_failed_try,
    describe_progress,
    find_wait,
)
from core.migration.execution.tries import FIRST_PAUSE, LATEST, LONGEST_PAUSE, NIGHT, Tries, may_be_mended
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Operator, State
from core.migration.model.schedule import KEPT_TRIES, FailedTry, Schedule
from core.servers.connection import Completed, Server
from core.servers.shell import Shell
from tests.core.migration.builders import NOW, set_up
from tests.core.migration.execution.builders import STEP, ran
from tests.core.migration.execution.builders import execution as of_steps
from tests.core.migration.execution.test_runner import Clock, Old
from tests.histories import Histories
from tests.live.moving import Person
from tests.steps import change_step

BASE = datetime.now(UTC) + timedelta(days=1)  # what runs bears the true time, which is earlier
START, ASK = BASE + timedelta(hours=3), BASE + timedelta(hours=6)
SOON, QUESTION = BASE + timedelta(minutes=5), BASE + timedelta(minutes=15)
LOST = UnreachableError("the connection to old was lost", "connect again")
FULL = 'rsync: [receiver] write failed on "/b/1": No space left on device (28)\nrsync error: unexplained error'
COPY = change_step(STEP, id="warm", call="precopy_pass", precopy_pass=1, root="data")
LOOK = change_step(STEP, id="look", call="look")
STOP = (
    change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, call="stop_folder", downtime=True),
    change_step(STEP, id=step_ids.CHECK_STOPPED, call="prove_stopped", downtime=True, only_checks=True),
)


def broke(status: int | None, said: str = "") -> CommandError:
    """Return the failure of the pass itself."""
    return CommandError("failed", command=COPY.call, exit_status=status, stderr=said)


def every_kind(of: type[PghaulError]) -> Iterator[type[PghaulError]]:
    for kind in of.__subclasses__():
        yield kind
        yield from every_kind(kind)


@pytest.mark.parametrize("kind", sorted(set(every_kind(PghaulError)), key=str))
def test_of_all_errors_only_a_lost_connection_is_mended_by_another_try(kind: type[PghaulError]) -> None:
    assert may_be_mended(of_steps(LOOK), kind.__new__(kind)) is issubclass(kind, UnreachableError)


def test_no_other_try_mends_a_lasting_reason_of_no_connection() -> None:
    assert not may_be_mended(of_steps(LOOK), UnreachableError("old supports only outdated algorithms", lasting=True))


@pytest.mark.parametrize(
    ("status", "said", "mended"),
    [
        (255, "client_loop: send disconnect: Broken pipe", True),
        (255, "ssh: connect to host 192.0.2.12 port 22: No route to host", True),
        (12, "rsync error: error in rsync protocol data stream (code 12) at io.c(231)", True),
        (30, "rsync error: timeout in data send/receive (code 30)", True),
        (10, "rsync error: error in socket IO (code 10)", True),
        (35, "rsync error: timeout waiting for daemon connection (code 35)", True),
        (None, "", True),
        (255, "Host key verification failed.", False),
        (255, "postgres@192.0.2.12: Permission denied (publickey).", False),
        (
            255,
            "/etc/ssh/ssh_config: line 3: Bad configuration option: foo\r\nterminating",
            False,
        ),
        (255, "Unable to negotiate with h: no matching host key type found. Their offer: ssh-rsa\r\n", False),
        (255, "Connection closed by 192.0.2.12 port 22\nsudo: a password is required", False),
        (12, "bash: line 1: rsync: command not found\nrsync: connection unexpectedly closed", False),
        (12, 'rsync: [receiver] write failed on "/b/1": Read-only file system (30)\nrsync error: code 12', False),
        (12, 'rsync: [receiver] write failed on "/b/1": Input/output error (5)\nrsync error: code 12', False),
        (12, FULL, False),
        (11, FULL, False),
        (23, "rsync: opendir failed: Permission denied (13)", False),
        (25, "", False),
        (1, "", False),
    ],
)
def test_a_pass_is_made_again_where_the_connection_between_the_servers_broke(
    status: int | None, said: str, *, mended: bool
) -> None:
    error = broke(status, said)
    assert may_be_mended(of_steps(COPY), error) is mended
    assert not may_be_mended(of_steps(LOOK), error)  # the statuses are those of rsync
    assert not may_be_mended(of_steps(COPY), CommandError("failed", command="job_list", exit_status=status))


def pauses(of: Execution, first: datetime, *, lasting: timedelta = timedelta(0)) -> list[timedelta]:
    """Return the pauses of an execution whose tries all fail, each after so long."""
    tries, at, found = Tries(), first, list[timedelta]()
    while (counted := tries.count(of, LOST, at)) is not None:
        found.append(counted.next_at - at)
        at = counted.next_at + lasting
    return found


BEGUN = ran(of_steps(COPY, *STOP), 1)


def test_the_pauses_grow_to_a_bound_and_end_with_the_time_of_the_question() -> None:
    found = pauses(replace(BEGUN, schedule=Schedule(None, ASK)), START)
    assert found[:4] == [FIRST_PAUSE * factor for factor in (1, 2, 4, 8)]
    assert max(found) == found[-1] == LONGEST_PAUSE
    assert ASK < START + sum(found, timedelta(0)) <= ASK + LATEST + LONGEST_PAUSE


@pytest.mark.parametrize("lasting", [timedelta(0), timedelta(minutes=20)], ids=["at once", "after a while"])
@pytest.mark.parametrize(
    ("schedule", "end"),
    [
        (Schedule(START, None), START + NIGHT + LATEST),
        (Schedule(START, ASK), ASK + LATEST),
        (Schedule(None, ASK), ASK + LATEST),
    ],
)
def test_no_try_begins_later_than_an_hour_after_the_end(schedule: Schedule, end: datetime, lasting: timedelta) -> None:
    found = pauses(replace(BEGUN, schedule=schedule), START, lasting=lasting)
    last = START + sum(found, timedelta(0)) + lasting * (len(found) - 1)
    assert end - LATEST < last <= end + lasting + LONGEST_PAUSE
    assert (FIRST_PAUSE * 2 in found) is (lasting == timedelta(0))  # a failure after a while is a new one


def test_whoever_wakes_up_beyond_the_question_has_an_hour_of_tries() -> None:
    late = ASK + timedelta(hours=7)
    found = pauses(replace(BEGUN, schedule=Schedule(START, ASK)), late)
    assert timedelta(minutes=55) < sum(found, timedelta(0)) <= LATEST


def test_the_first_step_begins_no_later_than_an_hour_after_its_time() -> None:
    waiting = replace(of_steps(COPY, *STOP), schedule=Schedule(START, ASK + timedelta(days=1)))
    assert timedelta(minutes=55) < sum(pauses(waiting, START), timedelta(0)) <= LATEST
    assert pauses(waiting, START + LATEST) == []


def test_once_the_old_cluster_may_be_stopped_nothing_is_tried_again() -> None:
    stopping = replace(ran(BEGUN, 2, status=None), schedule=Schedule(None, ASK))
    assert pauses(stopping, START) == []


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "history", set_up) as made:
        yield made


def failures(of: Schedule) -> int:
    """Return how many failures a schedule has counted."""
    return sum(each.repeated + 1 for each in of.failed_tries) + of.left_out_tries


class Night:
    """A scheduled execution during which something fails; the clock jumps by four seconds at each look."""

    def __init__(
        self, store: Store, monkeypatch: pytest.MonkeyPatch, schedule: Schedule, **answers: Sequence[str | PghaulError]
    ) -> None:
        monkeypatch.setattr("core.migration.execution.runner.LOOK_SECONDS", 0.001)
        self.store, self.old = store, Old({name: [*given] for name, given in answers.items()})
        self.clock, self.job = Clock(4), Job(self.hear)
        self.clock.at += BASE - NOW
        self.notes = list[str]()
        self.seconds = 0.0
        self.ours = True  # until another process goes on with it
        self.schedule = schedule

    def hear(self, event: Event) -> None:
        if isinstance(event, Note) and event.level == "warning":
            self.notes.append(event.text)

    def elapsed(self) -> float:
        """Return the time of a clock that nobody sets: a second later at each look."""
        self.seconds += 1.0
        return self.seconds

    def carry_out(
        self, *steps: object, person: Operator | None = None, check_again: Callable[[Job], None] | None = None
    ) -> Execution:
        made = replace(of_steps(*(steps or (LOOK, COPY, *STOP))), schedule=self.schedule)  # type: ignore[arg-type]
        self.number = self.store.execution_started(made)
        runner = StepRunner(
            self.number, self.store, lambda _: cast("Server", self.old), person or Person("15/main"), self.job
        )
        try:
            Runner(runner, check_again=check_again, now=self.clock, elapsed=self.elapsed).carry_out()
        finally:
            assert not self.ours or runner.execution == self.found
        return self.found

    @property
    def found(self) -> Execution:
        return self.store.execution(self.number)


@pytest.mark.slow
def test_a_network_that_is_not_back_at_the_start_is_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    night, left = Night(store, monkeypatch, Schedule(SOON, None), prove_stopped=["sum"]), [LOST, LOST, LOST]

    def check_again(_: Job) -> None:
        if left:
            raise left.pop()

    done = night.carry_out(check_again=check_again)
    tries = done.schedule.failed_tries
    assert (done.state, [(each.number, each.repeated) for each in tries]) == (State.DONE, [(3, 2)])
    assert tries[0].why == LOST.message
    assert len(night.notes) == 3
    assert night.notes[-1] == describe_failed_try(tries[0])
    assert (done.schedule.start_at, done.schedule.ask_at) == (SOON, None)


@pytest.mark.slow
@pytest.mark.parametrize("error", [LOST, broke(255, "Broken pipe")], ids=["workstation", "between the servers"])
def test_a_pass_that_fails_hours_before_the_question_is_made_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: PghaulError
) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[error, error], prove_stopped=["sum"])
    seen = list[tuple[Awaited, tuple[str, ...]]]()

    class Watching(Person):
        def wants_to_end(self) -> bool:
            wait = find_wait(night.found, night.clock.at)
            if wait is not None:
                seen.append((wait.what, describe_progress(night.found, night.clock.at)))
            return False

    done = night.carry_out(person=Watching("15/main"))
    assert (done.state, night.old.asked.count("precopy_pass"), night.old.asked.count("look")) == (State.DONE, 3, 1)
    passes = [run for run in done.steps if run.number == 2]
    assert [(run.attempt, run.done) for run in passes] == [(1, False), (2, False), (3, True)]
    first = next(lines for what, lines in seen if what is Awaited.NEXT_TRY)
    assert "tries again at" in first[0]
    assert first[1] == night.notes[0]
    assert failures(done.schedule) == 2
    assert seen[-1][0] is Awaited.QUESTION


@pytest.mark.slow
@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("old refused the key"),
        HostKeyError("the host key of old has changed"),
        broke(11, FULL),
        broke(255, "Host key verification failed."),
    ],
    ids=["key", "host key", "full", "host key of the new server"],
)
def test_what_no_other_try_mends_ends_the_execution(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: ServerError
) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[error])
    with pytest.raises(type(error)):
        night.carry_out()
    assert (night.found.state, night.found.schedule.failed_tries) == (State.STOPPED, ())
    assert night.old.asked.count("precopy_pass") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "schedule"),
    [("stop_folder", Schedule(None, QUESTION)), ("precopy_pass", Schedule()), ("precopy_pass", Schedule(BASE, BASE))],
    ids=["after the question", "no schedule", "both times are over"],
)
def test_a_person_is_there_who_can_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch, function: str, schedule: Schedule
) -> None:
    night = Night(store, monkeypatch, schedule, **{function: [LOST]})
    with pytest.raises(UnreachableError):
        night.carry_out()
    assert (night.found.state, night.found.schedule.failed_tries) == (State.INTERRUPTED, ())
    assert night.old.asked.count(function) == 1


@pytest.mark.slow
def test_a_network_that_does_not_come_back_leaves_the_execution_interrupted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[LOST] * 1000)
    with pytest.raises(UnreachableError) as caught:
        night.carry_out()
    assert caught.value.message == LOST.message
    assert (night.found.state, night.found.message) == (State.INTERRUPTED, LOST.message)
    assert "stop_folder" not in night.old.asked
    assert night.found.schedule.failed_tries[-1].next_at <= QUESTION + LATEST


DETACHED = change_step(COPY, detached=True)


@pytest.mark.slow
@pytest.mark.parametrize("cancelled", [True, False], ids=["cancelled", "paused"])
@pytest.mark.parametrize("runs", [True, False], ids=["a pass still runs", "nothing runs"])
def test_the_pause_between_two_tries_can_be_ended_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, cancelled: bool, runs: bool
) -> None:
    """Only where nothing runs on the servers any more is the execution at its end."""
    night = Night(
        store,
        monkeypatch,
        Schedule(None, QUESTION),
        job_start=["/var/tmp/pghaul-job.a1"],
        job_state=[LOST],
        precopy_pass=[broke(255)],
    )

    class Ending(Person):
        def wants_to_end(self) -> bool:
            if not night.notes:
                return False
            if cancelled:
                night.job.cancel()
            return not cancelled

    ends = UnreachableError if runs else Cancelled if cancelled else PausedError
    with pytest.raises(ends):
        night.carry_out(LOOK, DETACHED if runs else COPY, *STOP, person=Ending("15/main"))
    state = State.CANCELLED if cancelled else State.PAUSED
    assert night.found.state is (State.INTERRUPTED if runs else state)
    assert len(night.found.schedule.failed_tries) == 1
    assert find_wait(night.found, night.clock.at) is None


@pytest.mark.slow
def test_a_pass_that_may_still_run_is_not_given_up_where_the_server_refuses_the_next_try(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(
        store,
        monkeypatch,
        Schedule(None, QUESTION),
        job_start=["/var/tmp/pghaul-job.a1"],
        job_state=[LOST],
        job_list=[HostKeyError("the host key of old has changed", "compare the fingerprint")],
    )
    with pytest.raises(HostKeyError, match="host key of old has changed") as caught:
        night.carry_out(LOOK, DETACHED, *STOP)
    assert caught.value.hint == "compare the fingerprint"
    assert "job_remove" not in night.old.asked
    assert (night.found.state, night.found.message) == (State.INTERRUPTED, "the host key of old has changed")


NIGHT_STEPS = (
    COPY,
    change_step(STEP, id=step_ids.CHECK_RESTARTABLE, call="check_restartable", only_checks=True),
    change_step(STEP, id=step_ids.LIST_CLIENTS, call="list_clients", only_checks=True),
    change_step(STEP, id=step_ids.CHECKPOINT_BEFORE_STOP, call="checkpoint"),
    *STOP,
)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["in the pause", "in the checks", "before the first try"])
def test_no_first_step_begins_more_than_an_hour_late_wherever_the_workstation_sleeps(
    store: Store, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    night = Night(store, monkeypatch, Schedule(SOON, None), prove_stopped=["sum"])
    slept = list[str]()

    def sleep(here: str) -> None:
        if here == where and not slept:
            slept.append(here)
            night.clock.at += timedelta(hours=9)

    class Sleeper(Person):
        def wants_to_end(self) -> bool:
            sleep("in the pause" if night.notes else "before the first try")
            return False

    def check_again(_: Job) -> None:
        if where == "in the pause" and not night.notes:
            raise LOST
        sleep("in the checks")

    with pytest.raises(PausedError, match=r"was missed by [89] h"):
        night.carry_out(check_again=check_again, person=Sleeper("15/main"))
    assert (slept, night.found.state, night.found.steps) == ([where], State.PAUSED, ())
    assert "precopy_pass" not in night.old.asked


@pytest.mark.slow
def test_after_a_failure_a_confirmed_stop_is_made_only_within_the_hour_of_the_question(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    schedule = Schedule(SOON, None)
    until = confirmed_until(schedule, BASE)
    night = Night(store, monkeypatch, schedule, precopy_pass=[LOST] * 100)
    with pytest.raises(PausedError):
        night.carry_out(person=TerminalOperator("15/main", yes=True, confirmed_until=until))
    assert (night.found.state, night.old.asked.count("stop_folder")) == (State.PAUSED, 0)
    assert failures(night.found.schedule) == 100
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[LOST], prove_stopped=["sum"])
    until = confirmed_until(Schedule(None, QUESTION), BASE)
    assert night.carry_out(person=TerminalOperator("15/main", yes=True, confirmed_until=until)).state is State.DONE


@pytest.mark.slow
def test_after_a_failure_the_last_looks_at_the_old_cluster_are_repeated(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(
        store,
        monkeypatch,
        Schedule(SOON, None),
        list_clients=["app at 22:00", "app at 9:00"],
        checkpoint=[LOST] * 100,
        prove_stopped=["sum"],
    )
    person = Person("15/main")
    done = night.carry_out(*NIGHT_STEPS, person=person)
    assert (done.state, person.connected) == (State.DONE, ("app at 9:00",))
    looks = {"check_restartable", "list_clients", "checkpoint"}
    assert [each for each in night.old.asked if each in looks][-3:] == [
        "check_restartable",
        "list_clients",
        "checkpoint",
    ]
    assert night.old.asked.count("check_restartable") == 2


@pytest.mark.slow
def test_whoever_slept_through_the_last_hour_of_tries_makes_no_other_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[LOST] * 1000)

    class Sleeper(Person):
        def wants_to_end(self) -> bool:
            if night.notes and QUESTION < night.clock.at < QUESTION + LATEST:
                night.clock.at += timedelta(hours=9)
            return False

    with pytest.raises(UnreachableError):
        night.carry_out(person=Sleeper("15/main"))
    tries = night.found.schedule.failed_tries
    assert night.old.asked.count("precopy_pass") == failures(night.found.schedule)
    assert tries[-1].next_at < QUESTION + LATEST < night.clock.at


@pytest.mark.slow
def test_a_pass_whose_server_was_lost_is_not_given_up_after_another_failure(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(
        store,
        monkeypatch,
        Schedule(None, QUESTION),
        job_start=["/var/tmp/pghaul-job.a1"],
        job_state=[LOST],
        job_list=[CommandError("old: the command did not end in time", command="job_list"), *[LOST] * 5],
    )
    with pytest.raises(CommandError):
        night.carry_out(LOOK, DETACHED, *STOP)
    assert (night.found.state, len(night.found.schedule.failed_tries)) == (State.INTERRUPTED, 1)
    assert night.old.asked.count("job_list") == 1  # nothing is ended or removed


@pytest.mark.slow
def test_both_servers_are_locked_again_before_each_try(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[LOST, LOST], prove_stopped=["sum"])
    night.carry_out()
    of_passes = [each for each in night.old.asked if each in {"take_lock", "precopy_pass"}]
    assert of_passes[:8] == [*["take_lock"] * 2, "precopy_pass"] * 2 + ["take_lock"] * 2
    assert of_passes[8] == "precopy_pass"


@pytest.mark.slow
def test_a_lock_that_another_execution_took_in_the_pause_ends_the_tries(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[LOST])
    run = night.old.run

    def held(shell: Shell, *words: object, **more: object) -> Completed:
        done = run(shell, *words, **more)
        taken = night.notes and night.old.asked[-1] == "take_lock"
        return replace(done, exit_status=75, stdout="/var/tmp/lock 0badcafe them@desk since noon") if taken else done

    monkeypatch.setattr(night.old, "run", held)
    with pytest.raises(BlockedError, match="is being moved by them@desk"):
        night.carry_out()
    assert (night.found.state, night.old.asked.count("precopy_pass")) == (State.STOPPED, 1)


@pytest.mark.slow
@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(hours=12)])
def test_a_clock_that_is_set_back_lengthens_no_pause(
    store: Store, monkeypatch: pytest.MonkeyPatch, back: timedelta
) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), precopy_pass=[LOST])
    looks = list[Awaited | None]()

    class Setting(Person):
        def wants_to_end(self) -> bool:
            if night.notes:
                looks.append(None)
                if len(looks) == 1:
                    night.clock.at -= back
                if night.old.asked.count("precopy_pass") == 2:
                    wait = find_wait(night.found, night.clock.at)
                    assert wait is None or wait.what is Awaited.QUESTION
                    return True
            return False

    with pytest.raises(PausedError):
        night.carry_out(person=Setting("15/main"))
    assert night.old.asked.count("precopy_pass") == 2
    assert len(looks) < 20


@pytest.mark.slow
@pytest.mark.parametrize("ends", [False, True], ids=["carries it out", "has ended"])
def test_what_another_process_has_gone_on_with_in_the_pause_is_left_to_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    night = Night(store, monkeypatch, Schedule(None, QUESTION), job_start=["/var/tmp/pghaul-job.a1"], job_state=[LOST])

    class Colleague(Person):
        """Goes on with the execution in another process, to which this one seems to be gone."""

        def wants_to_end(self) -> bool:
            if night.notes and night.ours:
                night.ours = False
                night.old.asked.append("gone on")
                for each in (tmp_path / "history" / ALIVE).iterdir():
                    each.unlink()
                other = stack.enter_context(Store.open(tmp_path / "history"))
                other.execution_changed(night.number, State.RUNNING)
                if ends:
                    other.execution_changed(night.number, State.PAUSED, "by the other one")
            return False

    with ExitStack() as stack, pytest.raises(TakenOverError):
        night.carry_out(LOOK, DETACHED, *STOP, person=Colleague("15/main"))
    assert night.old.asked[-1] == "gone on"
    assert night.found.state is (State.PAUSED if ends else State.RUNNING)


@pytest.mark.slow
def test_whoever_resumes_within_a_pause_waits_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither while the servers are locked, nor while a pass is followed, which begins no run."""
    now = datetime.now(UTC)
    waiting = replace(of_steps(COPY, *STOP), schedule=Schedule(None, now + timedelta(hours=3)))
    number = store.execution_started(waiting)
    store.try_failed(number, FailedTry(now, 6, "lost", now + timedelta(minutes=5)))
    assert find_wait(store.execution(number), now) is not None
    seen = list[object]()
    old = Old({"take_lock": [LOST]})
    run = old.run

    def look(shell: Shell, *words: object, **more: object) -> Completed:
        seen.append(find_wait(store.execution(number), datetime.now(UTC)))
        return run(shell, *words, **more)

    monkeypatch.setattr(old, "run", look)
    runner = StepRunner(number, store, lambda _: cast("Server", old), Person("15/main"), Job())
    with pytest.raises(UnreachableError):
        Runner(runner).carry_out()
    assert seen == [None]


def failing(whys: Sequence[str], *, begin: int = 1) -> list[FailedTry]:
    """Return failures one minute after the other."""
    times = (START + timedelta(minutes=number) for number in range(len(whys)))
    return [
        FailedTry(at, number, why, at + FIRST_PAUSE)
        for number, (at, why) in enumerate(zip(times, whys, strict=True), begin)
    ]


def counted(tries: Sequence[FailedTry]) -> Schedule:
    made = Schedule(START, ASK)
    for each in tries:
        made = made.with_failed_try(each)
    return made


def test_equal_failures_one_after_the_other_are_one_with_their_number_and_both_times() -> None:
    tries = failing(["lost", "refused", "refused", "refused", "lost"])
    first, second, third = counted(tries).failed_tries
    assert (first, third) == (tries[0], tries[-1])
    assert (second.number, second.repeated, second.first_at) == (4, 2, tries[1].at)
    assert (second.at, second.next_at) == (tries[3].at, tries[3].next_at)
    assert describe_failed_tries(counted(tries)) == (
        f"Failed at {tries[0].at:%Y-%m-%d %H:%M:%S} UTC: lost.",
        (
            f"Failed at {tries[1].at:%Y-%m-%d %H:%M:%S} UTC: refused "
            f"(repeated 2 times until {tries[3].at:%Y-%m-%d %H:%M:%S} UTC)."
        ),
        f"Failed at {tries[4].at:%Y-%m-%d %H:%M:%S} UTC: lost.",
    )


def test_an_equal_failure_after_the_execution_got_further_is_another_one() -> None:
    assert [each.repeated for each in counted([*failing(["lost"] * 2), *failing(["lost"] * 3)]).failed_tries] == [1, 2]


@pytest.mark.parametrize(
    "whys",
    [
        ["lost"] * 2000,
        ["lost", "refused"] * 1000,
        [f"port {number} is closed" for number in range(2000)],
        [f"port {number // 3} is closed" for number in range(2000)],
    ],
    ids=["the same", "two by turns", "all different", "three of each"],
)
def test_a_schedule_that_fails_for_days_keeps_few_failures_and_counts_all(whys: list[str]) -> None:
    tries = failing(whys)
    found = counted(tries)
    assert failures(found) == len(tries)
    assert len(found.failed_tries) <= 2 * KEPT_TRIES
    assert (found.failed_tries[0].why, found.failed_tries[-1].at) == (whys[0], tries[-1].at)
    kept = [each.first_at or each.at for each in found.failed_tries]
    assert kept == sorted(kept)
    said = describe_failed_tries(found)
    assert len(said) == len(found.failed_tries) + (found.left_out_tries > 0)
    if found.left_out_tries:
        assert said[KEPT_TRIES].endswith(f" not kept: {units.count(found.left_out_tries)}.")


@pytest.mark.parametrize("whys", [["lost", "refused"] * 30, ["lost"] * 60], ids=["two by turns", "the same"])
def test_the_history_keeps_few_failures_and_counts_all(store: Store, whys: list[str]) -> None:
    number = store.execution_started(replace(of_steps(COPY, *STOP), schedule=Schedule(START, ASK)))
    tries = failing(whys)
    for each in tries:
        store.try_failed(number, each)
    assert store.execution(number).schedule == counted(tries)
    assert len(counted(tries).failed_tries) <= 2 * KEPT_TRIES
    assert store.recorded_here(number)
    assert all(line in text(store.execution(number)) for line in describe_failed_tries(counted(tries)))
