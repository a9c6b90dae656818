"""What a person may do with an execution, from any page or the strip; asked for twice where a cluster is at stake."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from core.jobs import Job
from core.language import tr
from core.migration.model.execution import Kind
from gui import actions
from gui.dialogs.confirm import NameDialog
from gui.models.execution import BUTTONS, Doing, confirmation
from gui.states import ExecutionState
from gui.work import Work

STEPWISE = (Doing.MOVE, Doing.REHEARSE, Doing.RESUME)
"""What goes through the plan step by step, so that it can be ended between two."""


class Executing(QObject):
    """One for the window; pages and the strip ask it."""

    def __init__(self, work: Work, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._window = window

    def ask(self, doing: Doing, move: str) -> None:
        """Read how the move's latest execution stands; then begin, at once or when the cluster's name was typed."""
        if doing is Doing.END and self._work.busy:
            self._work.cancel()
            return
        task = self._work.read(partial(actions.execution, move))
        if task is not None:
            task.succeeded.connect(partial(self._confirm, doing, move))

    def _confirm(self, doing: Doing, move: str, state: ExecutionState) -> None:
        said = confirmation(doing, state)
        if not said or state.execution is None:
            self._begin(doing, move, state)
            return
        name = state.execution.plan.cluster
        text = tr("{said}\n\nType {name} to do it.").format(said=said, name=name)
        dialog = NameDialog(f"{tr(doing)} {move}", text, name, tr(BUTTONS[doing]), self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.accepted.connect(partial(self._begin, doing, move, state))
        dialog.open()

    def _begin(self, doing: Doing, move: str, state: ExecutionState) -> None:
        people, anew = self._work.asker, bool(state.left)
        action: dict[Doing, Callable[[Any, Job], Any]] = {
            Doing.MOVE: partial(actions.execute, move, Kind.REAL, people, anew),
            Doing.REHEARSE: partial(actions.execute, move, Kind.REHEARSAL, people, anew),
            Doing.RESUME: partial(actions.resume, move, people),
            Doing.END: partial(actions.end, move, people),
            Doing.BACK: partial(actions.roll_back, move, people),
        }
        task = self._work.run(f"{tr(doing)} {move}", action[doing])
        if task is not None:
            people.move = move
            people.carries = task if doing in STEPWISE else None
