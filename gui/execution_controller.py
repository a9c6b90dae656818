"""The actions on an execution, from pages and from the banner. Dangerous ones are confirmed by a name."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from core.jobs import Job
from core.language import tr
from core.migration.model.execution import Kind
from gui import actions
from gui.bridge import Task
from gui.dialogs.confirm import NameDialog
from gui.models.execution import BEGINNINGS, BUTTONS, Doing, confirmation, job_title, needs_name
from gui.states import ExecutionState
from gui.widgets.message_box import question_box
from gui.work import Work

STEPWISE = (Doing.MOVE, Doing.REHEARSE, Doing.DRESS, Doing.RESUME)
"""The actions that run the steps of the plan, so that they can be stopped between two steps."""


class ExecutionController(QObject):
    """Confirms and starts the actions on executions."""

    def __init__(self, work: Work, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._window = window
        self._reading: Task | None = None
        self._dialog: QDialog | None = None

    def ask(self, doing: Doing, move: str) -> None:
        """Read the state of the latest execution, ask for confirmation if needed, and start the action."""
        if doing is Doing.END and self._work.busy:
            self._work.cancel()
            return
        if self._reading is not None or self._dialog is not None:
            return  # it was pressed twice: the answer to the first question must not bring up another one
        task = self._reading = self._work.read(partial(actions.execution, move))
        if task is not None:
            task.finished.connect(self._has_read)
            task.succeeded.connect(partial(self._confirm, doing, move))

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
        action: dict[Doing, Callable[[Any, Job], Any]] = {
            Doing.MOVE: partial(actions.execute, move, Kind.REAL, people, start_over),
            Doing.REHEARSE: partial(actions.execute, move, Kind.REHEARSAL, people, start_over),
            Doing.DRESS: partial(actions.dress, move, people, start_over),
            Doing.RESUME: partial(actions.resume, move, people),
            Doing.END: partial(actions.end, move, people),
            Doing.BACK: partial(actions.roll_back, move, people),
        }
        task = self._work.run(job_title(doing, move), action[doing])
        if task is not None:
            people.move = move
            people.carries = task if doing in STEPWISE else None
