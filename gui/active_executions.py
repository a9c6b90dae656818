"""The executions that are running or were interrupted: the banner on every page, and the actions of its buttons."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.language import tr
from core.migration.model.execution import Kind
from gui.asker import Question
from gui.destinations import PageId
from gui.execution_controller import ExecutionController
from gui.execution_poller import ExecutionPoller
from gui.models.execution import Doing
from gui.models.prompts import waits_for
from gui.widgets.status_banner import StatusBanner
from gui.work import Work

if TYPE_CHECKING:
    from core.api.moves import Unfinished


class ActiveExecutions(QObject):
    """Passes the unfinished executions to the banner.

    Signals:
        changed(): an execution began, ended or was interrupted.
        page_wanted(move, PageId): this page has to be shown.
        waits(text): what the execution waits for; empty: it does not wait.
    """

    waits = Signal(str)
    changed = Signal()
    page_wanted = Signal(str, str)

    def __init__(self, work: Work, banner: StatusBanner, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._banner = banner
        self._controller = ExecutionController(work, window)
        self._poller = ExecutionPoller(work, self)
        self._found: tuple[Unfinished, ...] = ()
        self._poller.looked.connect(self._show)
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

    @Slot(object)
    def _show(self, found: "tuple[Unfinished, ...]") -> None:
        known = [(one.id, one.alive, one.state) for one in self._found]
        self._found = found
        self._banner.show_unfinished(found, self._work.ready)
        if known != [(one.id, one.alive, one.state) for one in found]:
            self.changed.emit()

    @Slot(str)
    def _show_page(self, move: str) -> None:
        found = next((one for one in self._found if one.move == move), None)
        rehearsed = found is not None and found.kind is Kind.REHEARSAL
        self.page_wanted.emit(move, PageId.REHEARSE if rehearsed else PageId.MOVE)

    def _do(self, doing: Doing, move: str) -> None:
        """Begin the action, then show the page: an error in the page must not prevent the action."""
        self._controller.ask(doing, move)
        self._show_page(move)
