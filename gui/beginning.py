"""The way from nothing to a move: the old server and its facts, the new one and its, then the move that they offer."""

from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from core.language import marked, tr
from gui import actions
from gui.describing import Describing
from gui.moves import Moves
from gui.states import ServerRow
from gui.work import Work

TITLES = (marked("The old server, where the cluster runs now"), marked("The new server, where the cluster goes"))


class Beginning(QObject):
    """Goes on by itself from each of these to the next; a dialog that is closed, or a failure, ends it where it is."""

    def __init__(self, work: Work, moves: Moves, window: QWidget) -> None:
        super().__init__(window)
        self._work = work
        self._moves = moves
        self._describing = Describing(work, window)
        self._describing.kept.connect(self._read_facts)

    @Slot()
    def begin(self) -> None:
        """Go on with what is missing first."""
        task = self._work.read(actions.servers)
        if task is not None:
            task.succeeded.connect(self._go_on)

    @Slot(object)
    def _go_on(self, servers: tuple[ServerRow, ...]) -> None:
        if len(servers) < len(TITLES):
            self._describing.ask(None, tr(TITLES[len(servers)]))
        else:
            self._moves.new()

    @Slot(str)
    def _read_facts(self, server: str) -> None:
        """What the server is, which the next dialogs offer: who is connected is asked for its host key now."""
        title = tr("Reading the facts of {server}").format(server=server)
        task = self._work.run(title, partial(actions.read_facts, [(server, ())]))
        if task is not None:
            task.succeeded.connect(self.begin)
