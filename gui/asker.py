"""Questions that come up on a worker thread, answered in the window."""

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Qt, Signal

from core import api
from core.migration.model.execution import StopAnswer
from core.migration.model.plan import Step
from core.servers.profiles import ToKeep
from gui.bridge import Task, current_job

KEPT = ("password", "passphrase", "sudo")
"""The kinds of secrets that can be accepted, so that the keyring may keep them."""


@dataclass(eq=False)
class Question:
    """A question from a worker thread to the window. Only its first answer counts; None declines."""

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
        """Wait for the answer, and return it."""
        self._answered.wait()
        return self._answer


@dataclass(eq=False)
class HostKeyQuestion(Question):
    """Asks whether an unknown host key belongs to the server."""

    address: str
    key_type: str
    fingerprint: str


@dataclass(eq=False)
class SecretQuestion(Question):
    """Asks for a password, a passphrase, a sudo password or a keyboard-interactive answer, as `kind` says.

    Attributes:
        keepable: there is a keyring that can keep the answer.
        keep: the operator wants to keep it there, once it was accepted.
    """

    prompt: str
    kind: str
    keepable: bool = False
    keep: bool = False


@dataclass(eq=False)
class StopQuestion(Question):
    """Asks whether the old cluster may be stopped: the answer is its name, `WARM_FIRST` or `LOOK_AGAIN`.

    Attributes:
        connected: the clients that are connected, a line each.
        warm: the operator can ask for one more pre-copy pass instead.
    """

    cluster: str
    connected: tuple[str, ...] = ()
    warm: bool = False


@dataclass(eq=False)
class TakeOverQuestion(Question):
    """Asks whether to take over an execution from elsewhere: the answer is the name of the move."""

    move: str
    shown: str


@dataclass(eq=False)
class TakeOnQuestion(Question):
    """Asks whether the operator accepts what a step has found: the answer is the reason."""

    found: str


@dataclass(eq=False)
class StepQuestion(Question):
    """Asks whether a manual step of the plan is done."""

    title: str
    reason: str
    table: str = ""
    """Lines of text that help to answer it."""
    step_id: str = ""
    """The id of the step, by which the window knows what is asked."""


class WindowAsker(QObject):
    """The Asker of the window, and the Operator of its executions.

    Its methods are called on worker threads, and wait there for the answer of the operator. Cancelling the job and
    closing the window decline all questions.

    Attributes:
        ends_after_step: the operator wants the execution to stop when the running step has ended.
        move: the move whose execution this window runs, or ran last.
        carries: the task that runs its steps, or ran them last; None: the window only rolled back since.

    Signals:
        asked(Question): emitted on the window's thread.
        withdrawn(Question): the question was declined without the operator, and its dialog may close.
        not_kept(SecretQuestion): the keyring did not store the answer.
    """

    asked = Signal(object)
    withdrawn = Signal(object)
    not_kept = Signal(object)
    _posted = Signal(object)
    _taken_back = Signal(object)
    _lost = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._open: list[Question] = []
        self._closed = False
        self.ends_after_step = False
        self.move = ""
        self.carries: Task[object] | None = None
        self._posted.connect(self.asked, Qt.ConnectionType.QueuedConnection)
        self._taken_back.connect(self.withdrawn, Qt.ConnectionType.QueuedConnection)
        self._lost.connect(self.not_kept, Qt.ConnectionType.QueuedConnection)

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        """Return whether the operator trusts the host key."""
        return self._ask(HostKeyQuestion(server, address, key_type, fingerprint)) is not None

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
        """Return the secret that the operator types; None: declined."""
        question = SecretQuestion(server, prompt, kind, keepable=kind in KEPT and api.servers.has_keyring())
        answer = self._ask(question)
        if answer is None or not question.keep:
            return answer
        return ToKeep(answer, lambda: self._lost.emit(question))

    def announce(self, cluster: str) -> None:  # noqa: ARG002  the name is typed when it is asked for
        """Note that an execution begins."""
        self.ends_after_step = False

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        """Return whether the operator stops the cluster, declines, or wants a pre-copy pass or a new list first."""
        said = self._ask(StopQuestion("old", cluster, tuple(connected), warm))
        if said in {StopAnswer.WARM_FIRST, StopAnswer.LOOK_AGAIN}:
            return StopAnswer(said)
        return StopAnswer.STOP if said == cluster else StopAnswer.DECLINED

    def withdraw_confirmation(self) -> None:
        """Do nothing: in the window the name is typed only when it is asked for."""

    def wants_to_end(self) -> bool:
        """Return whether the operator wants no further step. The next call returns False."""
        wanted, self.ends_after_step = self.ends_after_step, False
        return wanted

    def confirm_manual_step(self, step: Step) -> bool:
        """Return whether the operator says that a manual step is done."""
        return self._ask(StepQuestion(step.server, step.title, step.reason, step.table, step.id)) is not None

    def accept_finding(self, found: str) -> str:
        """Return why the operator accepts what a step has found; empty: declined."""
        return self._ask(TakeOnQuestion("old", found)) or ""

    def confirm_take_over(self, move: str, shown: str) -> bool:
        """Return whether the operator takes the execution over."""
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
