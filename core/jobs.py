"""A job: how long work reports what it does and learns that it was cancelled.

Core is synchronous: a long function takes a Job, reports events to it and calls `check` between steps. Whoever started
the work (the command line, the window's bridge) owns the Job and its listener; the listener is called on the thread
that does the work. `cancel` may be called from any thread, more than once.

- A cancellation kills the process group on the server over a second channel of the same connection.
- Several threads may use one `Server`: the number of its channels stays below `MaxSessions` of sshd. Several threads
  may use the `Store`: its writes are short transactions.
- Current values (`Live`) arrive once or several times a second, from the tool itself or from ticks of the remote half
  (core/benchmarks/runs.py). They are shown and not stored.
- If two servers are measured at once, two Jobs are relayed to one (core/api/benchmarks.py). A survey
  (core/api/survey.py) owns one pool. The servers report on the thread that owns it.
- `gui/bridge.py` has the rules of the window's threads.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is. `done` and `total` are in `unit`: `bytes`, `steps` or `seconds`; total None is not known.

    Attributes:
        id: the part of the work that this is about, such as a step. Programs tell parts apart by it, not by the title.
        title: the same for people.
        whole: how far all of the work is, where this is one part of a long one, in words.
        server: where it is done, if that is one server.
        execution: the execution that it is a part of, by its number in the history; None: it is part of none. Who shows
            the state of executions too tells `whole` and the amount from there, so that all figures are of one time.
    """

    id: str
    title: str
    done: float
    total: float | None
    unit: str = "steps"
    whole: str = ""
    server: str = ""
    execution: int | None = None

    @property
    def heading(self) -> str:
        """The title behind the name of the server."""
        return f"{self.server}: {self.title}" if self.server else self.title


@dataclass(frozen=True, slots=True)
class Note:
    """A line for the log. `level` is `info` or `warning`."""

    text: str
    level: str = "info"


@dataclass(frozen=True, slots=True)
class CommandStarted:
    """A command about to run on `server`, as whom, secrets masked: it can be seen and copied before it runs.

    `title` says in a few words what it is for; empty where the command says it itself.
    """

    server: str
    user: str
    command: str
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    title: str = ""


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """The end of a command that was announced by CommandStarted. `exit_status` None: it was cut off."""

    server: str
    command: str
    exit_status: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Live:
    """What moves at this moment: of `subject`, such as a workload, at `source`: a side of a move, or a volume.

    `figures`: metric -> number in SI base units. It comes once or several times a second, and nobody keeps it.
    `by`: the tool that reports the figures; empty: they are those of the disk.
    """

    source: str
    subject: str
    figures: Mapping[str, float]
    by: str = ""


@dataclass(frozen=True, slots=True)
class ServerState:
    """How far one of many servers is, on which the same work is done side by side.

    `state` is `waiting`, `running` or `done`. `result`: what came of it, once it is done.
    """

    server: str
    state: str
    result: object = None


Event = Progress | Note | CommandStarted | CommandEnded | Live | ServerState


class Job:
    """One piece of long work, seen by those who do it and those who wait for it.

    Attributes:
        cancelled: whether somebody asked to stop.
    """

    def __init__(self, listener: Callable[[Event], None] | None = None) -> None:
        self._listener = listener
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def relay(self, listener: Callable[[Event], None]) -> "Job":
        """The same job for those who cancel and those who work, with another listener between: it passes events on."""
        relayed = Job(listener)
        relayed._lock, relayed._cancelled, relayed._callbacks = self._lock, self._cancelled, self._callbacks
        return relayed

    def report(self, event: Event) -> None:
        """Tell the listener, on this thread."""
        if self._listener is not None:
            self._listener(event)

    def check(self) -> None:
        """Raise Cancelled when somebody asked to stop."""
        if self.cancelled:
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Wait, but raise Cancelled at once when somebody asks to stop."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    def cancel(self) -> None:
        """Ask to stop. Callbacks run on the calling thread, once."""
        with self._lock:
            self._cancelled.set()
            callbacks = [*self._callbacks]
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` if the job is cancelled while the body runs; at once if it already is."""
        with self._lock:
            now = self.cancelled
            if not now:
                self._callbacks.append(callback)
        if now:
            callback()
        try:
            yield
        finally:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)
