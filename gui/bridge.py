"""The one bridge between the window and threads.

The concurrency rules of the window:

- Work runs on the threads of one `Runner`; it is a plain function that takes a Job. It never touches a widget.
- What the work reports lands in a mailbox under a lock. One queued signal wakes the window's thread, which empties the
  mailbox, at most every `BATCH_MS`: of several progress reports the last one counts, the rest comes as one batch.
- Signals belong to the `Task`, which lives on the window's thread and is owned by the runner until the work has ended.
  Events and results travel as Python objects: a byte count never becomes a C int.
- No worker thread collects garbage: see collector.py.
- The window's thread gets its turn soon while workers compute: see `TURN`.
- Work that outlives the window reports into nothing: its mailbox lets go of the runner's signal before the runner goes.
- Cancelling may have to talk to a server, so it happens on a thread of its own.
"""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

from core.jobs import Event, Job, Progress
from gui.collector import Collector

BATCH_MS = 50
THREADS = 6
TURN = 0.001
"""Seconds for which a thread that computes keeps the interpreter from another that waits for it. Painting lets go of
the interpreter in many calls of Qt and waits that long to have it back: beside a job that computes, a repaint of the
empty window took 7.5 ms, at worst 19, with Python's own 5 ms; with this it took 4.5 ms, at worst 7.
Source: sys.setswitchinterval."""
_current = threading.local()


def current_job() -> Job | None:
    """The job that the calling worker thread carries out; None on any other thread."""
    job: Job | None = getattr(_current, "job", None)
    return job


Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class _Mailbox:
    """What a worker has left for the window's thread. Plain Python, so that no thread ever owns a Qt object by it."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._wake: Callable[[], None] | None = wake
        self._woken = False
        self._events: list[Event] = []
        self._progress: Progress | None = None
        self._end: Callable[[Task[object]], None] | None = None

    def put(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, Progress):
                self._progress = event
            else:
                self._events.append(event)
            self._rouse()

    def end(self, outcome: Callable[["Task[object]"], None]) -> None:
        with self._lock:
            self._end = outcome
            self._rouse()

    def take(self) -> tuple[tuple[Event, ...], Callable[["Task[object]"], None] | None]:
        with self._lock:
            events = (*self._events, *(() if self._progress is None else (self._progress,)))
            self._events, self._progress, self._woken = [], None, False
            return events, self._end

    def close(self) -> None:
        """From now on nobody is woken. No thread is inside the signal when this returns, and none holds it any more."""
        with self._lock:
            self._wake = None

    @property
    def ended(self) -> bool:
        return self._end is not None

    def _rouse(self) -> None:
        if not self._woken and self._wake is not None:
            self._woken = True
            self._wake()


class Task(QObject, Generic[Result_co]):
    """One piece of work as the window sees it.

    Attributes:
        title: what it does, for people.

    Signals:
        reported(tuple of Event): a batch, at most every BATCH_MS.
        succeeded(object): the result. failed(Exception): what was raised. Exactly one of the two.
        finished(): after either; the task must not be used any more.
    """

    reported = Signal(object)
    succeeded = Signal(object)
    failed = Signal(object)
    finished = Signal()

    def __init__(self, title: str, number: int, mailbox: _Mailbox, job: Job, owner: "Runner") -> None:
        super().__init__(owner)
        self.title = title
        self._number = number
        self._mailbox = mailbox
        self._job = job
        self._delivered = QElapsedTimer()
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._deliver)

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked it to stop."""
        return self._job.cancelled

    def cancel(self) -> None:
        """Ask it to stop; returns at once."""
        threading.Thread(target=self._job.cancel, name="pghaul-cancel", daemon=True).start()

    def then(self, take: Callable[[Result_co], object]) -> None:
        """Hand the result to this function, on the window's thread: `succeeded`, with the type of the result.

        Qt forgets a method of an object that was deleted meanwhile, such as a dialog. In a partial it does not see it.
        """
        method = take.func if isinstance(take, partial) else take
        receiver = getattr(method, "__self__", None)
        if isinstance(take, partial) and isinstance(receiver, QObject):
            self.succeeded.connect(partial(_hand_over, receiver, take))
        else:
            self.succeeded.connect(take)

    def close(self) -> None:
        """Nothing more is delivered."""
        self._mailbox.close()

    def wake(self) -> None:
        """The mailbox holds something: deliver it `BATCH_MS` after what was delivered last, a result at once."""
        passed = self._delivered.elapsed() if self._delivered.isValid() else BATCH_MS
        self._timer.start(0 if self._mailbox.ended else max(0, BATCH_MS - passed))

    @Slot()
    def _deliver(self) -> None:
        self._delivered.start()
        events, end = self._mailbox.take()
        if events:
            self.reported.emit(events)
        if end is not None:
            end(self)
            self.finished.emit()
            owner = self.parent()
            if isinstance(owner, Runner):
                owner.release(self._number)


class Runner(QObject):
    """Starts work on threads and owns its tasks until they have ended. Lives on the window's thread."""

    _woken = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.collector = Collector(self)
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="pghaul")
        self._tasks: dict[int, Task[object]] = {}
        self._futures: dict[int, Future[None]] = {}
        self._count = 0
        self._turn_before = sys.getswitchinterval()
        sys.setswitchinterval(TURN)
        self._woken.connect(self._wake, Qt.ConnectionType.QueuedConnection)

    def start(self, title: str, function: Callable[[Job], Result]) -> Task[Result]:
        """Run the function on a thread. Connect to the task's signals before returning to the event loop."""
        self._count += 1
        mailbox = _Mailbox(partial(self._woken.emit, self._count))
        job = Job(mailbox.put)
        task: Task[Result] = Task(title, self._count, mailbox, job, self)
        self._tasks[self._count] = task
        self._futures[self._count] = self._pool.submit(_work, function, job, mailbox)
        return task

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits to be delivered."""
        return not self._tasks

    def release(self, number: int) -> None:
        """Let go of a task that has ended."""
        self._futures.pop(number, None)
        task = self._tasks.pop(number, None)
        if task is not None:
            task.close()
            task.deleteLater()

    def shutdown(self, limit: float) -> tuple[str, ...]:
        """Cancel everything and wait, at most `limit` seconds; the titles of what still runs then."""
        for task in self._tasks.values():
            task.cancel()
        wait(self._futures.values(), timeout=limit)
        running = tuple(self._tasks[number].title for number, future in self._futures.items() if not future.done())
        self._pool.shutdown(wait=not running, cancel_futures=True)
        for number in tuple(self._tasks):
            self.release(number)
        if not running:
            self.collector.stop()
            sys.setswitchinterval(self._turn_before)
        return running

    @Slot(int)
    def _wake(self, number: int) -> None:
        task = self._tasks.get(number)
        if task is not None:
            task.wake()


def _work(function: Callable[[Job], object], job: Job, mailbox: _Mailbox) -> None:
    """A worker thread's whole life with one job; everything raised ends here and is handed to the window."""
    _current.job = job
    try:
        result = function(job)
    except Exception as error:  # noqa: BLE001  a job's end: the window tells a user's error from a bug
        mailbox.end(partial(_fail, error))
    else:
        mailbox.end(partial(_succeed, result))
    finally:
        _current.job = None


def _hand_over(receiver: QObject, take: Callable[[Any], object], result: object) -> None:
    if isValid(receiver):
        take(result)


def _succeed(result: object, task: Task[object]) -> None:
    task.succeeded.emit(result)


def _fail(error: Exception, task: Task[object]) -> None:
    task.failed.emit(error)
