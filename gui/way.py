"""The way of the picked move: where it stands, and what comes next, read again whenever the history may hold more."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from core.language import tr
from core.migration.model.standing import Condition, Mark, Milestone
from gui import actions
from gui.models.sentences import recorded
from gui.pages.page import Page
from gui.states import ServerRow
from gui.work import Work

if TYPE_CHECKING:
    from core.actions.standing import Standing


class Way(QObject):
    """Signal: changed()."""

    changed = Signal()

    def __init__(self, work: Work, parent: QObject) -> None:
        super().__init__(parent)
        self._work = work
        self._standing: Standing | None = None
        self._servers = 0
        for each in (work.picked, work.changed):
            each.connect(self.read)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """How each milestone stands; none: no move is picked."""
        return () if self._standing is None else self._standing.marks

    @Slot()
    def read(self) -> None:
        """Read where the picked move stands."""
        move = self._work.move
        if move is None:
            self._take(None)
            task = self._work.ask(actions.servers)
            if task is not None:
                task.succeeded.connect(self._count)
            return
        task = self._work.ask(partial(actions.standing, move.name))
        if task is not None:
            task.succeeded.connect(self._take)

    def next(self, page: Page | None) -> tuple[str, str]:
        """What comes next, and where: a page's title, or what `Page.wanted` knows. Who has just measured compares."""
        if self._standing is None:
            return (tr("New move…"), "New move") if self._servers > 1 else (tr("Add a server…"), "Begin")
        conditions = {mark.milestone: mark.condition for mark in self.marks}
        measured_here = page is not None and page.milestone is Milestone.MEASURE
        if measured_here and conditions[Milestone.MEASURE] is Condition.DONE and not self._work.busy:
            return tr("Compare"), Milestone.COMPARE.title()
        following = self._standing.next
        return recorded(following.words), following.milestone.title()

    @Slot(object)
    def _count(self, servers: tuple[ServerRow, ...]) -> None:
        self._servers = len(servers)
        self.changed.emit()

    @Slot(object)
    def _take(self, standing: "Standing | None") -> None:
        if standing is None or standing.move == self._work.move:
            self._standing = standing
            self.changed.emit()
