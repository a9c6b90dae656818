import gc
import sys
import threading
import time
import weakref
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.errors import Cancelled, InputError
from core.jobs import CommandStarted, Event, Job, Note, Progress
from gui.bridge import TURN, Runner, current_job


@pytest.fixture
def runner(qapp: object) -> Any:  # noqa: ARG001
    made = Runner()
    yield made
    made.shutdown(5)
    made.deleteLater()


def test_a_result_comes_back_on_the_windows_thread(runner: Runner, qtbot: QtBot) -> None:
    seen: list[tuple[object, int]] = []
    task = runner.start("sum", lambda _job: 2**40)
    task.succeeded.connect(lambda result: seen.append((result, threading.get_ident())))
    qtbot.waitUntil(lambda: runner.idle)
    assert seen == [(2**40, threading.get_ident())]


def test_the_work_runs_on_another_thread_that_knows_its_job(runner: Runner, qtbot: QtBot) -> None:
    seen: list[tuple[bool, bool]] = []
    here = threading.get_ident()
    runner.start("look", lambda job: seen.append((threading.get_ident() != here, current_job() is job)))
    qtbot.waitUntil(lambda: runner.idle)
    assert seen == [(True, True)]
    assert current_job() is None


@pytest.mark.usefixtures("qapp")
def test_threads_change_over_sooner_as_long_as_there_is_a_runner() -> None:
    before = sys.getswitchinterval()
    made = Runner()
    during = sys.getswitchinterval()
    made.shutdown(5)
    made.deleteLater()
    assert during == pytest.approx(TURN)
    assert sys.getswitchinterval() == pytest.approx(before)


def test_an_error_is_handed_over_whole(runner: Runner, qtbot: QtBot) -> None:
    def fail(_job: Job) -> None:
        raise InputError("no such thing", "look elsewhere")

    seen: list[Exception] = []
    task = runner.start("fail", fail)
    task.failed.connect(seen.append)
    qtbot.waitUntil(lambda: runner.idle)
    assert [str(error) for error in seen] == ["no such thing\nhint: look elsewhere"]


def test_events_come_in_batches_in_their_order_and_before_the_result(runner: Runner, qtbot: QtBot) -> None:
    def talk(job: Job) -> None:
        for number in range(20_000):
            job.report(Note(str(number)))

    batches: list[tuple[Event, ...]] = []
    order: list[str] = []
    task = runner.start("talk", talk)
    task.reported.connect(batches.append)
    task.reported.connect(lambda _events: order.append("events"))
    task.succeeded.connect(lambda _result: order.append("result"))
    qtbot.waitUntil(lambda: runner.idle)
    assert [event.text for batch in batches for event in batch if isinstance(event, Note)] == [
        str(number) for number in range(20_000)
    ]
    assert order[-1] == "result"
    assert len(batches) < 200


def test_of_many_progress_reports_the_last_counts_and_no_byte_is_lost(runner: Runner, qtbot: QtBot) -> None:
    total = 10 << 40

    def move(job: Job) -> None:
        for done in range(10_001):
            job.report(Progress("copy", "copy", done * (total // 10_000), total, "bytes"))

    seen: list[Progress] = []
    task = runner.start("move", move)
    task.reported.connect(lambda events: seen.extend(e for e in events if isinstance(e, Progress)))
    qtbot.waitUntil(lambda: runner.idle)
    assert seen[-1].total == total
    assert seen[-1].done == 10_000 * (total // 10_000)
    assert len(seen) < 500


def test_cancel_returns_at_once_though_its_callbacks_are_slow(runner: Runner, qtbot: QtBot) -> None:
    released = threading.Event()
    begun = threading.Event()

    def wait_for_release() -> None:
        released.wait(10)

    def patient(job: Job) -> None:
        with job.on_cancel(wait_for_release):
            begun.set()
            job.wait(10)

    task = runner.start("wait", patient)
    seen: list[Exception] = []
    task.failed.connect(seen.append)
    assert begun.wait(5)
    task.cancel()  # its callback waits for what only the next line does
    released.set()
    qtbot.waitUntil(lambda: runner.idle)
    assert [type(error) for error in seen] == [Cancelled]


@pytest.mark.slow
def test_shutdown_cancels_and_names_what_does_not_stop(runner: Runner) -> None:
    stop = threading.Event()
    runner.start("stubborn", lambda _job: stop.wait(30))
    runner.start("polite", lambda job: job.wait(30))
    assert runner.shutdown(0.3) == ("stubborn",)
    assert runner.idle
    stop.set()


def test_signals_after_shutdown_reach_nobody(runner: Runner, qtbot: QtBot) -> None:
    seen: list[object] = []
    task = runner.start("late", lambda _job: time.monotonic())
    task.succeeded.connect(seen.append)
    runner.shutdown(5)
    qtbot.wait(20)
    assert seen == []


def test_commands_are_not_coalesced(runner: Runner, qtbot: QtBot) -> None:
    def run(job: Job) -> None:
        job.report(CommandStarted("old", "dba", "uname"))
        job.report(Progress("a", "a", 1, 2))
        job.report(CommandStarted("old", "dba", "df"))

    seen: list[Event] = []
    runner.start("run", run).reported.connect(seen.extend)
    qtbot.waitUntil(lambda: runner.idle)
    assert [event.command for event in seen if isinstance(event, CommandStarted)] == ["uname", "df"]


class _Thing:
    """Something in a cycle, as a Qt object with a signal connected to its own closure is."""

    def __init__(self) -> None:
        self.itself = self


def test_no_worker_collects_garbage_of_the_windows_thread(runner: Runner, qtbot: QtBot) -> None:
    ends: list[int] = []

    def litter(_job: Job) -> None:
        for _ in range(20_000):
            _Thing()

    thing = _Thing()
    weakref.finalize(thing, lambda: ends.append(threading.get_ident()))
    del thing
    runner.start("litter", litter)
    qtbot.waitUntil(lambda: runner.idle)
    assert ends == []
    runner.collector.collect()
    runner.collector.collect()
    gc.collect()
    assert ends == [threading.get_ident()]


class _Taker(QObject):
    """Takes results as a dialog does: it needs what Qt has of it."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[object] = []

    def take(self, *given: object) -> None:
        self.setObjectName("taken")
        self.taken.append(given)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_result_is_not_handed_to_what_was_deleted_meanwhile(runner: Runner, qtbot: QtBot, *, deleted: bool) -> None:
    taker, go = _Taker(), threading.Event()
    task = runner.start("wait", lambda _job: go.wait(20))
    task.then(taker.take)
    task.then(partial(taker.take, "said"))
    if deleted:
        taker.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    go.set()
    qtbot.waitUntil(lambda: runner.idle)
    assert taker.taken == ([] if deleted else [(True,), ("said", True)])
    if not deleted:
        taker.deleteLater()


def test_python_collects_again_when_no_worker_is_left(qapp: object) -> None:  # noqa: ARG001
    gc.enable()
    made = Runner()
    assert not gc.isenabled()
    made.shutdown(5)
    made.deleteLater()
    assert gc.isenabled()


def test_work_that_outlives_the_window_reports_into_nothing(qapp: QApplication) -> None:  # noqa: ARG001
    """A signal of a QObject that was deleted, or is just being deleted, must not be emitted by a thread."""
    started, go, done = threading.Event(), threading.Event(), threading.Event()
    problems: list[BaseException] = []

    def stubborn(job: Job) -> str:
        started.set()
        go.wait(10)
        try:
            for number in range(1000):
                job.report(Note(str(number)))
        except BaseException as error:
            problems.append(error)
            raise
        finally:
            done.set()
        return "late"

    made = Runner()
    made.start("stubborn", stubborn)
    assert started.wait(10)
    assert made.shutdown(0.05) == ("stubborn",)
    held = weakref.ref(made)
    made.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    del made
    assert held() is None, "the thread holds the runner, and would free it"
    go.set()
    assert done.wait(10)
    assert problems == []
