"""The first steps: add the old server and read its facts, then the new server, then the move."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from core import api
from core.api.model import ServerRow
from core.language import marked, tr
from gui.describing import Describing
from gui.moves import Moves
from gui.work import Work

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
        self._describing.saved.connect(self._read_facts)

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

    @Slot(str)
    def _read_facts(self, server: str) -> None:
        """Read the facts of the server, which the next dialogs offer. This also asks for its host key."""
        title = tr("Reading the facts of {server}").format(server=server)
        task = self._work.run(title, lambda session, job: api.facts.read_facts(session, server, job))
        if task is not None:
            task.succeeded.connect(self.begin)
