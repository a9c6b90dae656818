"""Adding, changing and removing moves, the first steps to them, and where the selected move stands."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from core import api
from core.api.model import ServerRow
from core.language import marked, tr
from core.migration.model.standing import Condition, Mark, Milestone
from gui.controllers.servers import Describing
from gui.destinations import Offer, PageId, page_of
from gui.models.sentences import recorded
from gui.widgets.message_box import question_box
from gui.work import Work

if TYPE_CHECKING:
    from core.api.model import Standing
    from core.api.session import Session
    from core.history.store import Removed
    from core.migration.model.move import Move
    from gui.dialogs.move import MoveDialog


class Moves(QObject):
    """Adds, changes and removes moves. A removed one can be restored until the window is closed.

    Signals:
        message(str): something to tell the operator.
        wanted(str): a page is needed first, by its PageId.
        removed(str): the move of that name was removed.
        restorable(bool): whether a move can be restored now.
    """

    message = Signal(str)
    wanted = Signal(str)
    removed = Signal(str)
    restorable = Signal(bool)

    def __init__(self, work: Work, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._window = window
        self._removed: list[tuple[str, Removed]] = []

    @Slot()
    def new(self) -> None:
        """Ask for a new move."""
        self._open(None)

    @Slot(str, str)
    def new_of(self, server: str, cluster: str) -> None:
        """Ask for a new move of that cluster on that server."""
        self._open(None, (server, cluster))

    @Slot(str)
    def edit(self, name: str) -> None:
        """Select a move, and change it; not while a job is running."""
        if self._work.busy:
            self.message.emit(tr("A job is running. Edit the move when the job has ended."))
            return
        self._work.pick(name)
        self.edit_picked()

    @Slot()
    def edit_picked(self) -> None:
        """Change the selected move."""
        if self._work.move is not None:
            self._open(self._work.move)

    @Slot()
    def remove_picked(self) -> None:
        """Remove the selected move."""
        if self._work.move is not None:
            self.remove(self._work.move.name)

    @Slot(str)
    def remove(self, name: str) -> None:
        """Remove a move and everything that was measured for it, after a question; not while a job is running."""
        if self._work.busy:
            self.message.emit(tr("A job is running. Remove the move when the job has ended."))
            return
        box = question_box(
            self._window,
            tr("Remove a move"),
            tr(
                "Remove the move {name} and its executions, benchmark runs, checks, estimates and plans from the "
                "history?"
            ).format(name=name),
            tr("Nothing is changed on the servers. You can restore the move until the window is closed."),
        )
        remove = box.addButton(tr("&Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(partial(self._remove, name))
        box.open()

    def _remove(self, name: str) -> None:
        task = self._work.read(lambda session: session.store.remove_move(name))
        if task is not None:
            task.then(partial(self._keep_removed, name))
            task.succeeded.connect(self._work.changed)

    def _keep_removed(self, name: str, removed: "Removed") -> None:
        self._removed.append((name, removed))
        self.restorable.emit(True)
        self.removed.emit(name)

    @Slot()
    def restore(self) -> None:
        """Restore the move that was removed last; called again, the one before it."""
        if not self._removed:
            return
        name, removed = self._removed.pop()
        task = self._work.read(lambda session: session.store.put_back(removed))
        if task is not None:
            self._work.pick_when_known(name)
            task.succeeded.connect(self._work.changed)
            task.failed.connect(partial(self._keep_unrestored, name, removed))
        self.restorable.emit(bool(self._removed))

    def _keep_unrestored(self, name: str, removed: "Removed", _error: Exception) -> None:
        """Let it be tried again after the others: another move may have its name now."""
        self._removed.insert(0, (name, removed))
        self.restorable.emit(True)

    def _open(self, move: "Move | None", of: tuple[str, str] | None = None) -> None:
        task = self._work.read(partial(_read_for_dialog, move))
        if task is not None:
            task.then(partial(self._show_dialog, move, of))

    def _show_dialog(
        self, move: "Move | None", of: tuple[str, str] | None, known: "tuple[tuple[ServerRow, ...], str]"
    ) -> None:
        servers, fixed = known
        if not servers:
            self.message.emit(tr("A move needs two servers. Add them first."))
            self.wanted.emit(PageId.SERVERS)
            return
        from gui.dialogs.move import MoveDialog  # with what facts are: a window without a dialog needs neither

        limit = self._work.settings.move.precopy_limit
        dialog = MoveDialog(servers, move, self._window, fixed=fixed, precopy_limit=limit)
        if of is not None:
            dialog.choose_cluster(*of)
        dialog.submitted.connect(partial(self._save, dialog))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save(self, dialog: "MoveDialog", move: "Move", name: str) -> None:
        task = self._work.ask(lambda session: api.moves.save_move(session, move, name or None))
        if task is not None:
            self._work.pick_when_known(move.name)
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self._work.changed)
            task.failed.connect(dialog.refuse)


TITLES = (
    marked("The old server, on which the cluster is running now"),
    marked("The new server, to which the cluster moves"),
)


class Beginning(QObject):
    """Leads from each step to the next. A dialog that is closed, or an error, ends the sequence."""

    def __init__(self, work: Work, moves: Moves, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._moves = moves
        self._describing = Describing(work, window)
        self._describing.saved.connect(self.begin)

    @Slot()
    def begin(self) -> None:
        """Ask for the first thing that is missing."""
        task = self._work.read(lambda session: api.servers.list_servers(session))  # noqa: PLW0108  loaded on the worker's thread
        if task is not None:
            task.then(self._go_on)

    @Slot(object)
    def _go_on(self, servers: tuple[ServerRow, ...]) -> None:
        if len(servers) < len(TITLES):
            self._describing.ask(None, tr(TITLES[len(servers)]))
        else:
            self._moves.new()


def _read_for_dialog(move: "Move | None", session: "Session") -> "tuple[tuple[ServerRow, ...], str]":
    """Return the servers, and why the servers and paths of the move cannot be changed; empty where they can."""
    fixed = "" if move is None else api.moves.explain_fixed(session, move.name)
    return api.servers.list_servers(session), fixed


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

    def next(self, shown: Milestone | None) -> tuple[str, str]:
        """Return the words of what comes next, and its PageId or Offer. After a measurement this is the comparison.

        Args:
            shown: the milestone of the page on screen; None if it has none.
        """
        if self._standing is None:
            return (tr("New move…"), Offer.NEW_MOVE) if self._servers > 1 else (tr("Add a server…"), Offer.FIRST_STEPS)
        conditions = {mark.milestone: mark.condition for mark in self.marks}
        measured_here = shown is Milestone.MEASURE
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
