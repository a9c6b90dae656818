"""The milestones of the selected move and its next step, read again when the history may have changed."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from core import api
from core.api.model import ServerRow
from core.language import tr
from core.migration.model.standing import Condition, Mark, Milestone
from gui.destinations import Offer, PageId, page_of
from gui.models.sentences import recorded
from gui.pages.page import AnyPage
from gui.work import Work

if TYPE_CHECKING:
    from core.api.model import Standing


class MoveMilestones(QObject):
    """Reads the standing of the selected move. Signal: changed()."""

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
        """The state of each milestone; empty if no move is selected."""
        return () if self._standing is None else self._standing.marks

    @Slot()
    def read(self) -> None:
        """Read the standing of the selected move."""
        move = self._work.move
        if move is None:
            self._take(None)
            known = self._work.ask(lambda session: api.servers.list_servers(session))  # noqa: PLW0108  loaded on the worker's thread
            if known is not None:
                known.then(self._count)
            return
        name = move.name
        task = self._work.ask(lambda session: api.moves.get_standing(session, name))
        if task is not None:
            task.then(self._take)

    def next(self, page: AnyPage | None) -> tuple[str, str]:
        """Return the words of what comes next, and its PageId or Offer. After a measurement this is the comparison."""
        if self._standing is None:
            return (tr("New move…"), Offer.NEW_MOVE) if self._servers > 1 else (tr("Add a server…"), Offer.FIRST_STEPS)
        conditions = {mark.milestone: mark.condition for mark in self.marks}
        measured_here = page is not None and page.milestone is Milestone.MEASURE
        if measured_here and conditions[Milestone.MEASURE] is Condition.DONE and not self._work.busy:
            return tr("Compare the results"), PageId.COMPARE
        following = self._standing.next
        return recorded(following.words), page_of(following.milestone)

    @Slot(object)
    def _count(self, servers: tuple[ServerRow, ...]) -> None:
        self._servers = len(servers)
        self.changed.emit()

    @Slot(object)
    def _take(self, standing: "Standing | None") -> None:
        if standing is None or standing.move == self._work.move:
            self._standing = standing
            self.changed.emit()
