"""Adding, changing and removing moves."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from core import api
from core.language import tr
from gui.destinations import PageId
from gui.widgets.message_box import question_box
from gui.work import Work

if TYPE_CHECKING:
    from core.api.model import ServerRow
    from core.migration.model.move import Move
    from gui.dialogs.move import MoveDialog


class Moves(QObject):
    """Signals: message(str), something to tell the operator; wanted(str), a page is needed first, by its PageId."""

    message = Signal(str)
    wanted = Signal(str)

    def __init__(self, work: Work, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._window = window

    @Slot()
    def new(self) -> None:
        """Ask for a new move."""
        self._open(None)

    @Slot(str)
    def edit(self, name: str) -> None:
        """Select a move, and change it."""
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
            tr("Remove the move {name} and its benchmark runs, checks, estimates and plans from the history?").format(
                name=name
            ),
            tr("Nothing is changed on the servers. The removal cannot be undone."),
        )
        remove = box.addButton(tr("&Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(partial(self._remove, name))
        box.open()

    def _remove(self, name: str) -> None:
        task = self._work.read(lambda session: session.store.remove_move(name))
        if task is not None:
            task.succeeded.connect(self._work.changed)

    def _open(self, move: "Move | None") -> None:
        task = self._work.read(lambda session: api.servers.list_servers(session))  # noqa: PLW0108  loaded on the worker's thread
        if task is not None:
            task.then(partial(self._show_dialog, move))

    def _show_dialog(self, move: "Move | None", servers: "tuple[ServerRow, ...]") -> None:
        if not servers:
            self.message.emit(tr("A move needs two servers. Add them first."))
            self.wanted.emit(PageId.SERVERS)
            return
        from gui.dialogs.move import MoveDialog  # with what facts are: a window without a dialog needs neither

        dialog = MoveDialog(servers, move, self._window)
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
