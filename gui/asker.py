"""Questions that come up on a worker thread, answered in the window."""

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Qt, Signal

from core.migration.model.execution import StopAnswer
from core.migration.model.plan import Step
from gui.bridge import Task, current_job


@dataclass(eq=False)
class Question:
    """One question on its way from a worker thread to a dialog and back. `answer` counts once; None declines."""

    server: str
    _answered: threading.Event = field(default_factory=threading.Event, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _answer: str | None = field(default=None, init=False, repr=False)

    def answer(self, text: str | None) -> None:
        """Answer it, unless it was answered or declined before."""
        with self._lock:
            if not self._answered.is_set():
                self._answer = text
                self._answered.set()

    @property
    def answered(self) -> bool:
        return self._answered.is_set()

    def wait(self) -> str | None:
        """The answer, once there is one."""
        self._answered.wait()
        return self._answer


@dataclass(eq=False)
class HostKeyQuestion(Question):
    """Whether an unknown host key is the server's own."""

    address: str
    key_type: str
    fingerprint: str


@dataclass(eq=False)
class SecretQuestion(Question):
    """A password, passphrase, sudo password or keyboard-interactive answer, as `kind` says."""

    prompt: str
    kind: str


@dataclass(eq=False)
class StopQuestion(Question):
    """Whether the cluster may be stopped: the answer is its name, typed, or `WARM_FIRST`.

    Attributes:
        connected: who is, a line each.
        warm: one more warm pass may be asked for instead.
    """

    cluster: str
    connected: tuple[str, ...] = ()
    warm: bool = False


@dataclass(eq=False)
class TakeOverQuestion(Question):
    """Whether an execution that pghaul has not recorded is the user's own: the answer is the move's name, typed."""

    move: str
    shown: str


@dataclass(eq=False)
class TakeOnQuestion(Question):
    """Whether the user takes on what a step has found: the answer is why, in their words."""

    found: str


@dataclass(eq=False)
class StepQuestion(Question):
    """Whether a person has done their step of a plan."""

    title: str
    reason: str
    table: str = ""
    """What to look at for it, lines of text."""
    name: str = ""
    """The step's own, by which its button is named."""


class WindowAsker(QObject):
    """An Asker for the window, and the Operator of an execution.

    Its methods are called on worker threads and wait there for the user's answer; a job that is cancelled, and a window
    that closes, decline.

    Attributes:
        ends_after_step: the user wants the execution to stop where the step that runs has ended.
        move: whose execution this window carries out, or carried out last: it is the one that asks.
        carries: the task that carries it out, step by step, or did so last; None: this window took nothing but a way
            back since.

    Signals:
        asked(Question): delivered on the window's thread.
        withdrawn(Question): it was declined without the user; its dialog may close.
    """

    asked = Signal(object)
    withdrawn = Signal(object)
    _posted = Signal(object)
    _taken_back = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._open: list[Question] = []
        self._closed = False
        self.ends_after_step = False
        self.move = ""
        self.carries: Task | None = None
        self._posted.connect(self.asked, Qt.ConnectionType.QueuedConnection)
        self._taken_back.connect(self.withdrawn, Qt.ConnectionType.QueuedConnection)

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        """Whether the user says that the key is the server's own."""
        return self._ask(HostKeyQuestion(server, address, key_type, fingerprint)) is not None

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
        """What the user types; None: declined."""
        return self._ask(SecretQuestion(server, prompt, kind))

    def announce(self, cluster: str) -> None:  # noqa: ARG002  the name is typed when it is asked for
        """An execution begins: nobody wants it to end yet."""
        self.ends_after_step = False

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        """Whether the user has typed the cluster's name, or wants one more warm pass."""
        said = self._ask(StopQuestion("old", cluster, tuple(connected), warm))
        if said == StopAnswer.WARM_FIRST:
            return StopAnswer.WARM_FIRST
        return StopAnswer.STOP if said == cluster else StopAnswer.DECLINED

    def wants_to_end(self) -> bool:
        """Whether the user wants no further step; once, then it is done."""
        wanted, self.ends_after_step = self.ends_after_step, False
        return wanted

    def confirm_manual_step(self, step: Step) -> bool:
        """Whether the user says that their step is done."""
        return self._ask(StepQuestion(step.server, step.title, step.reason, step.table, step.name)) is not None

    def accept_finding(self, found: str) -> str:
        """Why the user takes on what a step has found."""
        return self._ask(TakeOnQuestion("old", found)) or ""

    def confirm_take_over(self, move: str, shown: str) -> bool:
        """Whether the user has typed the move's name."""
        return self._ask(TakeOverQuestion("old", move, shown)) == move

    def close(self) -> None:
        """Decline every question, now and from now on."""
        with self._lock:
            self._closed = True
            questions = [*self._open]
        for question in questions:
            self._withdraw(question)

    def _ask(self, question: Question) -> str | None:
        with self._lock:
            if self._closed:
                return None
            self._open.append(question)
        job = current_job()
        try:
            with nullcontext() if job is None else job.on_cancel(lambda: self._withdraw(question)):
                if not question.answered:
                    self._posted.emit(question)
                return question.wait()
        finally:
            with self._lock:
                self._open.remove(question)

    def _withdraw(self, question: Question) -> None:
        question.answer(None)
        self._taken_back.emit(question)
