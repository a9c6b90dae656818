"""The file of the history, opened: each read and each write of it is a transaction of its own, on whatever thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from core import settings
from core.history.belonging import open_to_others
from core.history.database import FILE_NAME, as_written, open_engine, told
from core.history.owners import Owners
from core.history.seal import Seal
from core.history.upgrade import WRITE


class HistoryFile:
    """What every part of the history is read and written through. A context manager.

    Attributes:
        path: the file that holds it all.
        remark: what its user has to know of how it and its key were found; mostly empty.
    """

    def __init__(self, path: Path, engine: Engine, remark: str = "") -> None:
        self.path = path
        self._engine = engine
        self._writer = engine.execution_options(**WRITE)
        self._owners = Owners(path.parent)
        self._seal = Seal()
        self.remark = "; ".join(each for each in (remark, self._seal.trouble()) if each)

    @classmethod
    def open(cls, folder: Path | None = None) -> Self:
        """The history in `folder`, else in the platform's data folder; made or upgraded where need be."""
        folder = (settings.data_folder() if folder is None else folder).absolute()
        remark = open_to_others(folder, folder / FILE_NAME)
        return cls(folder / FILE_NAME, open_engine(folder), remark)

    def close(self) -> None:
        """Let go of the file. May be called more than once."""
        self._owners.close()
        with told(self.path):
            self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _read(self) -> Iterator[Session]:
        with told(self.path), as_written(self.path), Session(self._engine) as session, session.begin():
            yield session

    @contextmanager
    def _write(self) -> Iterator[Session]:
        with told(self.path), as_written(self.path), Session(self._writer) as session, session.begin():
            yield session
