"""The opened history. Each read and each write is one transaction; any thread may call it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import HistoryError, HistoryLostError, InputError
from core.history import pending, places
from core.history.belonging import open_to_others
from core.history.database import FILE_NAME, FileDatabase, as_written, open_engine
from core.history.pending import PendingFolder, PendingRecord, StartedRuns
from core.history.seal import Seal
from core.history.types import redacted

T = TypeVar("T")


class Owners(Protocol):
    """Tells which of the processes that write to the history are alive."""

    def mine(self) -> str:
        """Return the token of this process."""
        ...

    def keep(self) -> None:
        """Renew the token of this process, so that others see that it is alive."""
        ...

    def alive(self, token: str) -> bool:
        """Return whether the process with this token is alive."""
        ...


class Database(Protocol):
    """The database of a history: a file on this workstation (`database.py`) or a server (`server.py`)."""

    @property
    def name(self) -> str:
        """The name for people: the path of the file or the URL of the server."""
        ...

    @property
    def path(self) -> Path:
        """The path of the file. Raises HistoryError if the history is on a server."""
        ...

    @property
    def reader(self) -> Engine:
        """The engine for transactions that read."""
        ...

    @property
    def writer(self) -> Engine:
        """The engine for transactions that write, one at a time."""
        ...

    @property
    def owners(self) -> Owners:
        """The processes that write to the history."""
        ...

    @property
    def pending(self) -> PendingFolder | None:
        """The records that wait until the server answers again; None for a file, which always does."""
        ...

    @property
    def remedy(self) -> str:
        """The hint for a history whose contents pghaul has not written."""
        ...

    def history_errors(self) -> AbstractContextManager[None]:
        """Return a context that raises the errors of the database as HistoryError."""
        ...

    def shrink(self) -> None:
        """Release the space of removed entries."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def database_at(place: Path | str) -> Database:
    """Open the database of the history in a folder or at a URL. A file is created or upgraded if necessary.

    The caller closes the database.
    """
    if isinstance(place, str):
        from core.history.server import ServerDatabase  # its driver takes longer to load than a file to be opened

        return ServerDatabase.open(place)
    folder = place.absolute()
    return FileDatabase(folder / FILE_NAME, open_engine(folder))


class _Reading(threading.local):
    """The session of the transaction in which a thread reads; None: each read is a transaction of its own."""

    session: Session | None = None


class HistoryFile:
    """The base class of the history: opens it, and reads and writes it in transactions. A context manager.

    Attributes:
        name: the path of the file or the URL of the server.
        remarks: warnings about the history or its key for the user; usually none.
    """

    def __init__(self, database: Database, remark: str = "") -> None:
        self._database = database
        self._owners = database.owners
        self._seal = Seal()
        self._started_runs = StartedRuns()
        self._reading = _Reading()
        self.name = database.name
        self.remarks = [each for each in (remark, self._seal.trouble()) if each]

    @classmethod
    def open(cls, place: Path | str | None = None) -> Self:
        """Open the history in a folder or at a URL; None: the history that this workstation uses."""
        place = places.chosen() if place is None else place
        remark = "" if isinstance(place, str) else open_to_others(place, place / FILE_NAME)
        found = cls(database_at(place), remark)
        found._record_earlier_pending()
        return found

    @property
    def path(self) -> Path:
        """The path of the file. Raises HistoryError if the history is on a server."""
        return self._database.path

    def close(self) -> None:
        """Close the history. May be called more than once."""
        self._database.close()

    def shrink(self) -> None:
        """Release the space of removed entries. Other programs wait meanwhile, and a copy needs as much space again."""
        self._database.shrink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let this thread read in one transaction inside: of one state, and quicker where much is read of little."""
        with self._read() as session:
            before, self._reading.session = self._reading.session, session
            try:
                yield
            finally:
                self._reading.session = before

    @contextmanager
    def _read(self) -> Iterator[Session]:
        if self._reading.session is not None:
            with self._history_errors():
                yield self._reading.session
            return
        with self._history_errors(), Session(self._database.reader) as session, session.begin():
            yield session

    @contextmanager
    def _write(self) -> Iterator[Session]:
        self._owners.keep()
        with self._history_errors(), Session(self._database.writer) as session, session.begin():
            yield session

    def _write_or_defer(self, later: PendingRecord, record: Callable[[Session], T]) -> T | None:
        """Return the result of `record`; None if the server does not answer, so that `later` waits in a file."""
        waiting = self._database.pending
        try:
            self._record_pending()
            with self._write() as session:
                return record(session)
        except HistoryLostError:
            if waiting is None or later.lacks_run:
                raise
            waiting.add(redacted(later))
            return None

    def _write_run_or_defer(self, number: int, later: PendingRecord, record: Callable[[Session], None]) -> None:
        """Do the same for a part of a run; a negative number means that the run itself waits in a file."""
        if number < 0:
            self._write_or_defer(later, lambda session: pending.record(session, later, self._owners.mine))
        else:
            self._write_or_defer(later, record)

    def _record_pending(self) -> int:
        """Record all pending files in one transaction, and return how many.

        A file that no longer fits into the history is renamed to `.refused`.
        """
        paths = [] if self._database.pending is None else self._database.pending.waiting()
        recorded: list[Path] = []
        if paths:
            with self._write() as session:
                recorded = [path for path in paths if self._record_pending_file(session, path)]
        for path in recorded:  # not before the transaction has ended
            path.unlink(missing_ok=True)
        return len(recorded)

    def _record_pending_file(self, session: Session, path: Path) -> bool:
        try:
            with session.begin_nested():
                pending.record(session, pending.read(path), self._owners.mine)
        except FileNotFoundError:  # another program has recorded it
            return False
        except (InputError, OSError, IntegrityError):  # its move was removed, or it is no pending record
            path.replace(path.with_suffix(".refused"))
            return False
        return True

    def _record_earlier_pending(self) -> None:
        """Record the pending files of earlier programs, and add the outcome to `remarks`."""
        waiting = self._database.pending
        if waiting is None or not waiting.folder.is_dir():
            return
        try:
            number = self._record_pending()
        except HistoryError as error:
            self.remarks.append(f"the results that wait in {waiting.folder} could not be recorded: {error.message}")
            return
        if number:
            self.remarks.append(f"{number} entries that had waited for the server were recorded")
        if refused := len(list(waiting.folder.glob("*.refused"))):
            self.remarks.append(
                f"{refused} entries in {waiting.folder} no longer fit into the history; look at them, and remove them"
            )

    @contextmanager
    def _history_errors(self) -> Iterator[None]:
        try:
            with self._database.history_errors(), as_written(self.name, self._database.remedy):
                yield
        except HistoryLostError as error:
            waiting = self._database.pending
            if waiting is None or not waiting.waiting():
                raise
            said = f"{error.hint}; new results are kept in {waiting.folder} and recorded as soon as the server answers"
            raise HistoryLostError(error.message, said) from error
