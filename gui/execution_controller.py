"""The actions on an execution, from pages and from the banner. Dangerous ones are confirmed by a name."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from core import api
from core.api.model import ExecutionState
from core.jobs import Job
from core.language import tr
from core.migration.model.execution import Kind
from gui.asker import WindowAsker
from gui.bridge import Task
from gui.dialogs.confirm import NameDialog
from gui.models.execution import BEGINNINGS, BUTTONS, Doing, confirmation, job_title, needs_name
from gui.widgets.message_box import question_box
from gui.work import Work

STEPWISE = (Doing.MOVE, Doing.REHEARSE, Doing.DRESS, Doing.RESUME)
"""The actions that run the steps of the plan, so that they can be stopped between two steps."""

if TYPE_CHECKING:
    from core.api.session import Session
    from core.migration.model.execution import State


class ExecutionController(QObject):
    """Confirms and starts the actions on executions."""

    def __init__(self, work: Work, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._window = window
        self._reading: Task[object] | None = None
        self._dialog: QDialog | None = None

    def ask(self, doing: Doing, move: str) -> None:
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
            task.then(partial(self._confirm, doing, move))

    @Slot()
    def _has_read(self) -> None:
        self._reading = None

    def _confirm(self, doing: Doing, move: str, state: ExecutionState) -> None:
        if not confirmation(doing, state):
            self._begin(doing, move, state)
        elif state.execution is None or not needs_name(doing, state):
            self._confirm_beginning(doing, move, state)
        else:
            self._confirm_by_name(doing, move, state, state.execution.plan.cluster)

    def _confirm_beginning(self, doing: Doing, move: str, state: ExecutionState) -> None:
        """Ask for confirmation. The default button cancels, because an operator may press Return without reading."""
        title = job_title(doing, move)
        box = question_box(self._window, title, title, confirmation(doing, state))
        go_on = box.addButton(tr(BEGINNINGS.get(doing, BUTTONS[doing])), QMessageBox.ButtonRole.AcceptRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(cancel)
        box.setEscapeButton(cancel)
        go_on.clicked.connect(partial(self._begin, doing, move, state))
        self._open(box)

    def _confirm_by_name(self, doing: Doing, move: str, state: ExecutionState, name: str) -> None:
        said = confirmation(doing, state)
        text = tr("{said}\n\nTo confirm, type {name}.").format(said=said, name=name)
        dialog = NameDialog(job_title(doing, move), text, name, tr(BUTTONS[doing]), self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.accepted.connect(partial(self._begin, doing, move, state))
        self._open(dialog)

    def _open(self, dialog: QDialog) -> None:
        self._dialog = dialog
        dialog.finished.connect(self._forget)
        dialog.open()

    @Slot()
    def _forget(self) -> None:
        self._dialog = None

    def _begin(self, doing: Doing, move: str, state: ExecutionState) -> None:
        people, start_over = self._work.asker, bool(state.left)
        task = self._work.run(job_title(doing, move), partial(_carry_out, doing, move, people, start_over))
        if task is not None:
            people.move = move
            people.carries = task if doing in STEPWISE else None


def _carry_out(doing: Doing, move: str, people: WindowAsker, start_over: bool, session: "Session", job: Job) -> "State":
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
            return api.execution.execute(session, move, kind, people, job, start_over=start_over, dressed=dressed).state
