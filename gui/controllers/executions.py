"""The actions on an execution, from pages and from the banner, and which executions have not ended.

Dangerous actions are confirmed by a name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from core import api
from core.api.model import ExecutionState
from core.errors import PghaulError
from core.jobs import Job
from core.language import tr
from core.migration.model.execution import Kind
from core.migration.model.move import Verify
from core.migration.model.schedule import UNSCHEDULED, Schedule
from gui.asker import Question, WindowAsker
from gui.bridge import Task
from gui.destinations import PageId
from gui.dialogs.confirm import NameDialog
from gui.models.execution import BEGINNINGS, BUTTONS, Doing, confirmation, job_title, needs_name
from gui.models.progress import Told, tell_execution
from gui.models.prompts import waits_for
from gui.models.schedule import describe_schedule
from gui.widgets.message_box import question_box
from gui.widgets.status_banner import StatusBanner
from gui.work import Work

if TYPE_CHECKING:
    from core.api.moves import Begun, Unfinished
    from core.api.session import Session
    from core.migration.model.execution import State

    StateQuestion: TypeAlias = Callable[[Session, datetime], ExecutionState]
    Watching: TypeAlias = tuple[StateQuestion, Callable[[ExecutionState], None]]

STEPWISE = (Doing.MOVE, Doing.REHEARSE, Doing.DRESS, Doing.RESUME)
"""The actions that run the steps of the plan, so that they can be stopped between two steps."""


class ExecutionController(QObject):
    """Confirms and starts the actions on executions."""

    def __init__(self, work: Work, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._window = window
        self._reading: Task[object] | None = None
        self._dialog: QDialog | None = None

    def ask(self, doing: Doing, move: str, schedule: Schedule = UNSCHEDULED) -> None:
        """Read the state of the latest execution, ask for confirmation if needed, and start the action."""
        if doing is Doing.END and self._work.busy:
            self._work.cancel()
            return
        if self._reading is not None or self._dialog is not None:
            return  # it was pressed twice: the answer to the first question must not bring up another one
        task = self._work.read(lambda session: api.execution.read_state(session, move))
        self._reading = task
        if task is not None:
            task.finished.connect(self._has_read)
            task.then(partial(self._confirm, doing, move, schedule))

    @Slot()
    def _has_read(self) -> None:
        self._reading = None

    def _confirm(self, doing: Doing, move: str, schedule: Schedule, state: ExecutionState) -> None:
        said = "\n\n".join(filter(None, (confirmation(doing, state), describe_schedule(schedule, datetime.now(UTC)))))
        begin = partial(self._begin, doing, move, schedule, state)
        if not said:
            begin()
        elif state.execution is None or not needs_name(doing, state):
            self._confirm_beginning(doing, move, said, begin)
        else:
            self._confirm_by_name(doing, move, said, begin, state.execution.plan.cluster)

    def _confirm_beginning(self, doing: Doing, move: str, said: str, begin: Callable[[], None]) -> None:
        """Ask for confirmation. The default button cancels, because an operator may press Return without reading."""
        title = job_title(doing, move)
        box = question_box(self._window, title, title, said)
        go_on = box.addButton(tr(BEGINNINGS.get(doing, BUTTONS[doing])), QMessageBox.ButtonRole.AcceptRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(cancel)
        box.setEscapeButton(cancel)
        go_on.clicked.connect(begin)
        self._open(box)

    def _confirm_by_name(self, doing: Doing, move: str, said: str, begin: Callable[[], None], name: str) -> None:
        text = tr("{said}\n\nTo confirm, type {name}.").format(said=said, name=name)
        dialog = NameDialog(job_title(doing, move), text, name, tr(BUTTONS[doing]), self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.accepted.connect(begin)
        self._open(dialog)

    def _open(self, dialog: QDialog) -> None:
        self._dialog = dialog
        dialog.finished.connect(self._forget)
        dialog.open()

    @Slot()
    def _forget(self) -> None:
        self._dialog = None

    def _begin(
        self, doing: Doing, move: str, schedule: Schedule, state: ExecutionState, _checked: bool = False
    ) -> None:
        people, start_over = self._work.asker, bool(state.left)
        verify = Verify(self._work.settings.move.verify)
        action = partial(_carry_out, doing, move, people, start_over, schedule, verify)
        task = self._work.run(job_title(doing, move), action)
        if task is not None:
            people.move = move
            people.carries = task if doing in STEPWISE else None


def _carry_out(
    doing: Doing,
    move: str,
    people: WindowAsker,
    start_over: bool,
    schedule: Schedule,
    verify: Verify,
    session: "Session",
    job: Job,
) -> "State":
    """Do it, and return the state of the execution then; `start_over`: the operator has read what is left."""
    match doing:
        case Doing.RESUME:
            return api.execution.resume_execution(session, move, people, job).state
        case Doing.END:
            return api.execution.cancel_execution(session, move, people, job).state
        case Doing.BACK:
            return api.execution.roll_back_execution(session, move, people, job).state
        case _:
            kind, dressed = Kind.REAL if doing is Doing.MOVE else Kind.REHEARSAL, doing is Doing.DRESS
            return api.execution.execute(
                session,
                move,
                kind,
                people,
                job,
                verify=verify,
                start_over=start_over,
                dressed=dressed,
                schedule=schedule,
            ).state


LOOK_MS = 1000
IDLE_MS = 4000
"""The intervals in ms while an execution is unfinished, and while none is."""
LATE_MS = 2000
"""After how long without a read what is known is told again, so that no clock stands still."""


class ExecutionPoller(QObject):
    """Polls the history. All that it reads in one look is told as of one time, so that no two places differ.

    A failed read is repeated. Meanwhile what was read last is told again every second, as of then.

    Attributes:
        read_at: when all that is told was read.
        told: what is told now of each unfinished execution, by its number.

    Signal: looked(tuple of Unfinished, datetime), after each read, and whenever it is told again.
    """

    looked = Signal(object, object)

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self.read_at = datetime.now(UTC)
        self.told: Mapping[int, Told] = {}
        self._watchers: list[Callable[[], Watching | None]] = []
        self._begun: Begun = ()
        self._told: dict[Callable[[], Watching | None], tuple[Callable[[ExecutionState], None], ExecutionState]] = {}
        self._looking = False
        self._late = QTimer(self, singleShot=True)
        self._late.timeout.connect(self._tell_again)
        self._timer = QTimer(self, interval=IDLE_MS)
        self._timer.timeout.connect(self.look)
        work.opened.connect(self.look)
        work.started.connect(self.look)
        work.changed.connect(self.look)

    def watch(self, watcher: "Callable[[], Watching | None]") -> None:
        """Ask it at each look what else is read for whom; None: it is not on screen."""
        self._watchers.append(watcher)

    @Slot()
    def look(self) -> None:
        """Read now, unless a read is running."""
        if self._looking:
            return
        watching = {watcher: found for watcher in self._watchers if (found := watcher()) is not None}
        task = self._work.ask(partial(_look, [read for read, _ in watching.values()]))
        if task is not None:
            self._looking = True
            task.then(partial(self._tell, {watcher: take for watcher, (_, take) in watching.items()}))
            task.finished.connect(self._look_later)

    def _tell(
        self, takers: "dict[Callable[[], Watching | None], Callable[[ExecutionState], None]]", found: "Look"
    ) -> None:
        self._begun = found.begun
        before, self._told = self._told, {}
        for (watcher, take), state in zip(takers.items(), found.states, strict=True):
            if state is not None:
                self._told[watcher] = take, state
            elif watcher in before:
                take_again, known = before[watcher]
                self._told[watcher] = take_again, api.execution.tell_again(known, found.at)
        if None not in found.states:
            self.read_at = found.at
        goes_on = self._tell_all(found.at)
        self._timer.setInterval(LOOK_MS if goes_on or takers or self._work.busy else IDLE_MS)
        self._late.start(LATE_MS)

    @Slot()
    def _tell_again(self) -> None:
        """Tell what was read last as of now, until nothing in it goes on."""
        if self._work.session is None:
            return
        now = datetime.now(UTC)
        for watcher, (take, state) in self._told.items():
            self._told[watcher] = take, api.execution.tell_again(state, now)
        if self._tell_all(now):
            self._late.start(LOOK_MS)

    def _tell_all(self, at: datetime) -> bool:
        """Tell it as of that time; return whether any execution is unfinished."""
        found = api.moves.unfinished_executions(self._begun, at)
        running = {one.id: api.execution.running_steps(one, at) for one, alive in self._begun if alive}
        self.told = {one.id: tell_execution(one, running.get(one.id, ())) for one in found}
        self.looked.emit(found, at)
        for take, state in tuple(self._told.values()):
            take(state)
        return bool(found)

    @Slot()
    def _look_later(self) -> None:
        self._looking = False
        self._timer.start()


@dataclass(frozen=True, slots=True)
class Look:
    """What was read in one look, as of one time; a state is None where it could not be read."""

    at: datetime
    begun: "Begun"
    states: tuple[ExecutionState | None, ...]


def _look(questions: "list[StateQuestion]", session: "Session") -> Look:
    now = datetime.now(UTC)
    states = tuple(_ask(question, session, now) for question in questions)
    return Look(now, api.moves.read_unfinished(session), states)


def _ask(question: "StateQuestion", session: "Session", now: datetime) -> ExecutionState | None:
    try:
        return question(session, now)
    except PghaulError:
        return None  # what the banner shows does not wait for it, and it is asked again at the next look


class ActiveExecutions(QObject):
    """Passes the unfinished executions to the banner.

    Signals:
        changed(): an execution began, ended or was interrupted.
        unfinished(bool): at such a change, whether any execution is unfinished.
        page_wanted(move, PageId): this page has to be shown.
        told(dict of Told): what is told of each unfinished execution, by its number.
        waits(text): what the execution waits for; empty: it does not wait.
    """

    waits = Signal(str)
    told = Signal(object)
    changed = Signal()
    unfinished = Signal(bool)
    page_wanted = Signal(str, str)

    def __init__(self, work: Work, banner: StatusBanner, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._banner = banner
        self._controller = ExecutionController(work, window)
        self.poller = ExecutionPoller(work, self)
        self._found: tuple[Unfinished, ...] = ()
        self.poller.looked.connect(self._show)
        banner.shown_wanted.connect(self._show_page)
        banner.continue_wanted.connect(partial(self._do, Doing.RESUME))
        banner.back_wanted.connect(partial(self._do, Doing.BACK))

    @property
    def describe_quitting(self) -> str:
        """What happens to the running job if the window is closed."""
        mine = next((one for one in self._found if one.alive), None)
        if mine is None:
            return tr("pghaul removes its temporary files from the servers first.")
        more = tr(" The old cluster stays stopped, and the downtime goes on.") if mine.stopped_at is not None else ""
        return tr(
            "The execution of {move} stops at the current step, and pghaul removes its temporary files. You "
            "can continue it later from this step.{more}"
        ).format(move=mine.move, more=more)

    def wait_for(self, question: Question) -> None:
        """Show on every page what the execution waits for."""
        self._banner.wait_for(self._work.asker.move, waits_for(question))
        self.waits.emit(waits_for(question))

    @Slot(object)
    def go_on(self, _question: Question) -> None:
        """Show that the execution does not wait any more."""
        self._banner.wait_for("", "")
        self.waits.emit("")

    @Slot(object)
    def back_when_ended(self, _question: Question) -> None:
        """Roll back when the execution has stopped at its question."""
        if self._work.asker.move and self._work.task is not None:
            back = partial(self._controller.ask, Doing.BACK, self._work.asker.move)
            self._work.task.finished.connect(partial(QTimer.singleShot, 0, back))

    @Slot(object, object)
    def _show(self, found: "tuple[Unfinished, ...]", at: datetime) -> None:
        self.told.emit(self.poller.told)
        known = [(one.id, one.alive, one.state) for one in self._found]
        self._found = found
        self._banner.show_unfinished(found, at, read_at=self.poller.read_at, ready=self._work.ready)
        if known != [(one.id, one.alive, one.state) for one in found]:
            self.changed.emit()
            self.unfinished.emit(self.any_unfinished)

    @property
    def any_unfinished(self) -> bool:
        return bool(self._found)

    @Slot()
    def show_first(self) -> None:
        """Show the page of the execution that the banner shows."""
        if self._found:
            self._show_page(self._found[0].move)

    @Slot(str)
    def _show_page(self, move: str) -> None:
        found = next((one for one in self._found if one.move == move), None)
        rehearsed = found is not None and found.kind is Kind.REHEARSAL
        self.page_wanted.emit(move, PageId.REHEARSE if rehearsed else PageId.MOVE)

    def _do(self, doing: Doing, move: str) -> None:
        """Begin the action, then show the page: an error in the page must not prevent the action."""
        self._controller.ask(doing, move)
        self._show_page(move)
