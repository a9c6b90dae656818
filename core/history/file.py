"""The history, opened: each read and each write of it is a transaction of its own, on whatever thread."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import HistoryError, HistoryLostError, InputError
from core.history import aside, places
from core.history.aside import Aside, Begun, PendingRecord
from core.history.belonging import open_to_others
from core.history.database import FILE_NAME, FileDatabase, as_written, open_engine
from core.history.seal import Seal
from core.history.types import redacted

T = TypeVar("T")


class Owners(Protocol):
    """Whether the processes that record into the history still live, this one among them."""

    def mine(self) -> str:
        """This process's token."""
        ...

    def keep(self) -> None:
        """Have this process's token still tell that it lives."""
        ...

    def alive(self, token: str) -> bool:
        """Whether the process of that token still lives."""
        ...


class Database(Protocol):
    """What holds a history: a file of this workstation (`database.py`), or a server (`server.py`)."""

    @property
    def name(self) -> str:
        """What people know it by."""
        ...

    @property
    def path(self) -> Path:
        """The file; raises HistoryError where it is none."""
        ...

    @property
    def reader(self) -> Engine:
        """Whose transactions read."""
        ...

    @property
    def writer(self) -> Engine:
        """Whose transactions write, one at a time."""
        ...

    @property
    def owners(self) -> Owners:
        """Who records."""
        ...

    @property
    def aside(self) -> Aside | None:
        """What waits to be recorded once it is reached again; None: it always is."""
        ...

    @property
    def remedy(self) -> str:
        """What to do where it holds what no pghaul has written."""
        ...

    def history_errors(self) -> AbstractContextManager[None]:
        """What the database complains of inside as HistoryError, a sentence and a hint."""
        ...

    def give_back_room(self) -> None:
        """Have it be no larger than what it holds."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def database_at(place: Path | str) -> Database:
    """What holds the history in a folder, made or upgraded where need be, or at a URL; close it."""
    if isinstance(place, str):
        from core.history.server import ServerDatabase  # its driver takes longer to load than a file to be opened

        return ServerDatabase.open(place)
    folder = place.absolute()
    return FileDatabase(folder / FILE_NAME, open_engine(folder))


class HistoryFile:
    """What every part of the history is read and written through. A context manager.

    Attributes:
        name: the file that holds it all, or the URL of its server.
        remark: what its user has to know of how it and its key were found; mostly empty.
    """

    def __init__(self, database: Database, remark: str = "") -> None:
        self._database = database
        self._owners = database.owners
        self._seal = Seal()
        self._begun = Begun()
        self.name = database.name
        self.remark = "; ".join(each for each in (remark, self._seal.trouble()) if each)

    @classmethod
    def open(cls, place: Path | str | None = None) -> Self:
        """The history in a folder, made or upgraded where need be, or at a URL; None: where this workstation has it."""
        place = places.chosen() if place is None else place
        remark = "" if isinstance(place, str) else open_to_others(place, place / FILE_NAME)
        found = cls(database_at(place), remark)
        found._hand_in_before()
        return found

    @property
    def path(self) -> Path:
        """The file that holds it all; raises HistoryError where it lies on a server."""
        return self._database.path

    def close(self) -> None:
        """Let go of it. May be called more than once."""
        self._database.close()

    def give_back_room(self) -> None:
        """Have it be no larger than what it holds; other programs wait meanwhile, and need the file once more."""
        self._database.give_back_room()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _read(self) -> Iterator[Session]:
        with self._history_errors(), Session(self._database.reader) as session, session.begin():
            yield session

    @contextmanager
    def _write(self) -> Iterator[Session]:
        self._owners.keep()
        with self._history_errors(), Session(self._database.writer) as session, session.begin():
            yield session

    def _write_or_keep(self, kept: PendingRecord, record: Callable[[Session], T]) -> T | None:
        """What `record` gives; None: the server of a team's history is lost, and `kept` lies aside until it answers."""
        waiting = self._database.aside
        try:
            self._hand_in()
            with self._write() as session:
                return record(session)
        except HistoryLostError:
            if waiting is None or kept.is_of_nothing:
                raise
            waiting.keep(redacted(kept))
            return None

    def _write_of_run(self, number: int, kept: PendingRecord, record: Callable[[Session], None]) -> None:
        """The same of a run, which has no number there yet where it was kept aside itself."""
        if number < 0:
            self._write_or_keep(kept, lambda session: aside.record(session, kept, self._owners.mine))
        else:
            self._write_or_keep(kept, record)

    def _hand_in(self) -> int:
        """Record what was kept aside, all or nothing; how much. What has no place any more stays by another name."""
        paths = [] if self._database.aside is None else self._database.aside.waiting()
        recorded: list[Path] = []
        if paths:
            with self._write() as session:
                recorded = [path for path in paths if self._handed_in(session, path)]
        for path in recorded:  # only now is it there
            path.unlink(missing_ok=True)
        return len(recorded)

    def _handed_in(self, session: Session, path: Path) -> bool:
        try:
            with session.begin_nested():
                aside.record(session, aside.read(path), self._owners.mine)
        except FileNotFoundError:  # another program was quicker
            return False
        except (InputError, OSError, IntegrityError):  # its move was removed meanwhile, or it is none of ours
            path.replace(path.with_suffix(".refused"))
            return False
        return True

    def _hand_in_before(self) -> None:
        """What an earlier program kept aside, which it says, and why where it cannot be done now."""
        waiting = self._database.aside
        if waiting is None or not waiting.folder.is_dir():
            return
        try:
            number = self._hand_in()
        except HistoryError as error:
            self._remark(f"the results that wait in {waiting.folder} could not be recorded: {error.message}")
            return
        if number:
            self._remark(f"{number} entries that had waited for the server were recorded")
        if refused := len(list(waiting.folder.glob("*.refused"))):
            self._remark(
                f"{refused} entries in {waiting.folder} no longer fit into the history; look at them, and remove them"
            )

    def _remark(self, text: str) -> None:
        self.remark = "; ".join(each for each in (self.remark, text) if each)

    @contextmanager
    def _history_errors(self) -> Iterator[None]:
        try:
            with self._database.history_errors(), as_written(self.name, self._database.remedy):
                yield
        except HistoryLostError as error:
            waiting = self._database.aside
            if waiting is None or not waiting.waiting():
                raise
            said = f"{error.hint}; new results are kept in {waiting.folder} and recorded as soon as the server answers"
            raise HistoryLostError(error.message, said) from error
