"""The shared state of the window: the open history, the selected move, and the running job.

Only one long job runs at a time, because two would disturb each other's measurements. Reading the history is quick and
runs beside it.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from core import units
from core.jobs import Job
from core.language import current, spoken, tr
from core.user_settings.declaration import Settings
from gui.asker import WindowAsker
from gui.bridge import Runner, Task
from gui.remembered import Remembered

if TYPE_CHECKING:
    from core.api.session import Session
    from core.migration.model.move import Move

Result = TypeVar("Result")


class Work(QObject):
    """The window's state, on the window's thread.

    Attributes:
        desk: what core's actions need; None until the history is open.
        moves, move: all moves, and the one that is picked.
        task: the long job that runs.
        remembered: what the window remembers from one day to the next; None: nothing.
        settings: what the operator has set for pghaul.

    Signals:
        opened(): the history is open.
        moves_changed(): `moves` was read anew.
        picked(): another move (or none) is picked, or the picked one was edited.
        changed(): the history may hold something new; who shows it reads it again.
        started(Task), ended(): the long job.
        settings_changed(Settings): the settings before; `settings` has the new ones.
        troubled(Exception): something went wrong: the user's error, or a bug.
    """

    opened = Signal()
    moves_changed = Signal()
    picked = Signal()
    changed = Signal()
    started = Signal(object)
    ended = Signal()
    settings_changed = Signal(object)
    troubled = Signal(object)

    def __init__(
        self,
        parent: QObject | None = None,
        remembered: Remembered | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(parent)
        self.remembered = remembered
        self.settings = Settings() if settings is None else settings
        self.runner = Runner(self)
        self.asker = WindowAsker(self)
        self.session: Session | None = None
        self.moves: tuple[Move, ...] = ()
        self.move: Move | None = None
        self.task: Task[object] | None = None
        self._wanted: str | None = None
        self.changed.connect(self._read_moves)

    @property
    def busy(self) -> bool:
        """Whether a long job is running."""
        return self.task is not None

    @property
    def ready(self) -> bool:
        """Whether a long job can start now."""
        return self.session is not None and self.task is None

    def open(self, folder: Path | None = None) -> None:
        """Open the history on a thread, so that the window is on screen at once."""
        task = self.runner.start(tr("Opening the history"), partial(_open_session, folder, self.asker))
        task.then(self.use)
        task.failed.connect(self.troubled)

    @Slot(object)
    def use(self, session: "Session") -> None:
        """Use this session from now on."""
        self.session = session
        self.runner.collector.set_aside()
        self.opened.emit()
        self.changed.emit()

    def ask(self, question: Callable[["Session"], Result]) -> Task[Result] | None:
        """Read from the history, or write a little, on a thread; None while it is not open."""
        session = self.session
        if session is None:
            return None
        return self.runner.start(
            tr("Reading the history"), partial(_read, question, session, units.current(), current())
        )

    def read(self, question: Callable[["Session"], Result]) -> Task[Result] | None:
        """As `ask`, but the window shows an error."""
        task = self.ask(question)
        if task is not None:
            task.failed.connect(self.troubled)
        return task

    def run(self, title: str, action: Callable[["Session", Job], Result]) -> Task[Result] | None:
        """Start the long job; None if it cannot start now. The window shows an error."""
        task = self.attempt(title, action)
        if task is not None:
            task.failed.connect(self.troubled)
        return task

    def attempt(self, title: str, action: Callable[["Session", Job], Result]) -> Task[Result] | None:
        """As `run`, but the caller shows an error."""
        session = self.session
        if session is None or self.busy:
            return None
        self.task = task = self.runner.start(title, partial(action, session))
        task.finished.connect(self._finish)
        self.started.emit(task)
        return task

    def cancel(self) -> None:
        """Ask the long job to stop."""
        if self.task is not None:
            self.task.cancel()

    def remembered_text(self, name: str) -> str:
        """Return the text that was remembered under that name; empty if there is none."""
        return "" if self.remembered is None else self.remembered.text(name)

    def remember(self, name: str, text: str) -> None:
        """Remember a text under that name."""
        if self.remembered is not None:
            self.remembered.save(name, text)

    def use_settings(self, settings: Settings) -> None:
        """Use these settings from now on."""
        before, self.settings = self.settings, settings
        if before != settings:
            self.settings_changed.emit(before)

    def pick(self, name: str | None) -> None:
        """Select the move of that name."""
        found = next((move for move in self.moves if move.name == name), None)
        if found != self.move:
            self.move = found
            self.picked.emit()

    def pick_when_known(self, name: str) -> None:
        """Select the move of that name when the history has been read again."""
        self._wanted = name

    def close(self, limit: float = 5.0) -> tuple[str, ...]:
        """Cancel everything, wait, and return the titles of the tasks that still run after `limit` seconds."""
        self.asker.close()
        running = self.runner.shutdown(limit)
        if self.session is not None and not running:
            self.session.close()
        self.session = self.task = None
        return running

    @Slot()
    def _read_moves(self) -> None:
        task = self.read(lambda session: session.store.moves_newest_first())
        if task is not None:
            task.then(self._take_moves)

    @Slot(object)
    def _take_moves(self, moves: "tuple[Move, ...]") -> None:
        name = self._wanted or (self.move.name if self.move else None)
        if name not in {move.name for move in moves}:
            name = moves[0].name if moves else None
        self._wanted = None
        if moves != self.moves:
            self.moves = moves
            self.moves_changed.emit()
        self.pick(name)

    @Slot()
    def _finish(self) -> None:
        self.task = None
        self.ended.emit()
        self.changed.emit()


def _read(
    question: Callable[["Session"], Result], session: "Session", shown: units.Style, language: str, _job: Job
) -> Result:
    # only here, and not in jobs: the history records sizes in the same units, whatever the window shows
    with units.styled(shown), spoken(language):
        return question(session)


def _open_session(folder: Path | None, asker: WindowAsker, _job: Job) -> "Session":
    from core.api.loading import load_packages
    from core.api.session import Session
    from core.history.store import Store

    load_packages()  # before several threads read
    return Session(Store.open(folder), asker)
