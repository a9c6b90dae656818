"""What is under way, or was interrupted: the strip on every page, and what its buttons begin."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.language import tr
from core.migration.model.execution import Kind
from core.migration.model.standing import Milestone
from gui.asker import Question
from gui.executing import Executing
from gui.models.execution import Doing
from gui.models.prompts import waits_for
from gui.watch import Watch
from gui.widgets.strip import Strip
from gui.work import Work

if TYPE_CHECKING:
    from core.migration.execution.unfinished import Unfinished


class UnderWay(QObject):
    """Signals: changed(), something began, ended or was interrupted; page_wanted(move, title of the page);
    waits(what a person is to do; empty: nothing).
    """

    waits = Signal(str)
    changed = Signal()
    page_wanted = Signal(str, str)

    def __init__(self, work: Work, strip: Strip, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._strip = strip
        self._executing = Executing(work, window)
        self._watch = Watch(work, self)
        self._found: tuple[Unfinished, ...] = ()
        self._watch.looked.connect(self._show)
        strip.shown_wanted.connect(self._show_page)
        strip.continue_wanted.connect(partial(self._do, Doing.RESUME))
        strip.back_wanted.connect(partial(self._do, Doing.BACK))

    @property
    def what_quitting_does(self) -> str:
        """What a person wants to know before they close the window while something runs."""
        mine = next((one for one in self._found if one.alive), None)
        if mine is None:
            return tr("It cleans up on the servers first.")
        more = tr(" Old stays stopped meanwhile: clients have no cluster.") if mine.stopped_at is not None else ""
        return tr(
            "{move} ends at its step, and what the copy needed is taken away; Continue takes it up there.{more}"
        ).format(move=mine.move, more=more)

    def wait_for(self, question: Question) -> None:
        """Say on every page what the execution waits for."""
        self._strip.wait_for(self._work.asker.move, waits_for(question))
        self.waits.emit(waits_for(question))

    @Slot(object)
    def go_on(self, _question: Question) -> None:
        """It waits for nothing any more."""
        self._strip.wait_for("", "")
        self.waits.emit("")

    @Slot(object)
    def back_when_ended(self, _question: Question) -> None:
        """The execution ends at its question first; then it is taken back."""
        if self._work.asker.move and self._work.task is not None:
            back = partial(self._executing.ask, Doing.BACK, self._work.asker.move)
            self._work.task.finished.connect(partial(QTimer.singleShot, 0, back))

    @Slot(object)
    def _show(self, found: "tuple[Unfinished, ...]") -> None:
        known = [(one.id, one.alive, one.state) for one in self._found]
        self._found = found
        self._strip.show_unfinished(found, self._work.ready)
        if known != [(one.id, one.alive, one.state) for one in found]:
            self.changed.emit()

    @Slot(str)
    def _show_page(self, move: str) -> None:
        found = next((one for one in self._found if one.move == move), None)
        rehearsed = found is not None and found.kind is Kind.REHEARSAL
        self.page_wanted.emit(move, (Milestone.REHEARSE if rehearsed else Milestone.MOVE).title())

    def _do(self, doing: Doing, move: str) -> None:
        """Ask first: what fails in the page must not keep anybody from it."""
        self._executing.ask(doing, move)
        self._show_page(move)
