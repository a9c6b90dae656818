"""Whether the process that records something still lives, on this workstation or another, and who carries a move out.

A process id alone does not tell, as ids are used again, and asking for one differs between systems. The lock works on
Linux, macOS and Windows alike, and between programs that share a history.
"""

import contextlib
import os
import re
import secrets
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from sqlalchemy import Engine, PoolProxiedConnection, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import InputError, TakenOverError
from core.file_locks import try_lock
from core.history.belonging import ALIVE
from core.history.models import ExecutionRow
from core.history.recorded_profiles import move_row
from core.servers.shell import command

_TOKEN = re.compile("[0-9a-f]{16}")


class Owners:
    """The processes that record into the history of one folder, this one among them. Safe to use from several threads.

    This one's token is made, and its file locked, when it is first asked for.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / ALIVE
        self._lock = threading.Lock()
        self._mine: tuple[str, int] | None = None

    def mine(self) -> str:
        """Return the token of this process. Raises OSError if its file cannot be created."""
        with self._lock:
            if self._mine is None:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                token = secrets.token_hex(8)
                handle = os.open(self._folder / token, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
                try_lock(handle)
                self._mine = (token, handle)
            return self._mine[0]

    def keep(self) -> None:
        """Do nothing: the file stays locked while this process is alive."""

    def alive(self, token: str) -> bool:
        """Whether the process of that token still lives; the file of one that does not goes.

        What is no token of ours, in a history from elsewhere, names no process, and no file.
        """
        if not _TOKEN.fullmatch(token):
            return False
        path = self._folder / token
        with self._lock:
            if self._mine is not None and token == self._mine[0]:
                return True
            try:
                handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            except OSError:
                return False
            dead = try_lock(handle)
            os.close(handle)
            if dead:
                with suppress(OSError):
                    path.unlink()
            return not dead

    def close(self) -> None:
        """Release the file of this process."""
        with self._lock:
            if self._mine is not None:
                token, handle = self._mine
                os.close(handle)
                with suppress(OSError):
                    (self._folder / token).unlink()
                self._mine = None


# Whether the process that records into a team's history still lives: an advisory lock, which its death frees.
#
# This is done above by locked files, for a history of one workstation.

_HELD = text(
    "SELECT count(*) FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
    "AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) "
    "AND classid = CAST(:high AS oid) AND objid = CAST(:low AS oid)"
)


class Presence:
    """The processes that record into one history, this one among them. Safe to use from several threads.

    This one's token is made, and its lock taken on a connection of its own, when it is first asked for.
    """

    def __init__(self, engine: Engine, history_errors: Callable[[], AbstractContextManager[None]]) -> None:
        self._engine = engine
        self._history_errors = history_errors
        self._lock = threading.Lock()
        self._token = ""
        self._connection: PoolProxiedConnection | None = None

    def mine(self) -> str:
        """This process's token; raises HistoryError where the server cannot be reached."""
        with self._lock:
            self._token = self._token or secrets.token_hex(8)
            self._hold()
            return self._token

    def keep(self) -> None:
        """Take the lock again where the connection that had it was cut, and there was one."""
        with self._lock:
            if self._token:
                self._hold()

    def alive(self, token: str) -> bool:
        """Whether the process of that token still lives, on whatever workstation."""
        if not _TOKEN.fullmatch(token):
            return False
        with self._history_errors(), self._engine.connect() as connection:
            return bool(connection.scalar(_HELD, {"high": int(token[:8], 16), "low": int(token[8:], 16)}))

    def close(self) -> None:
        """Let go of this process's lock."""
        with self._lock:
            self._drop()
            self._token = ""

    def _hold(self) -> None:
        if self._connection is not None and not self._answers(self._connection):
            self._drop()
        if self._connection is not None:
            return
        with self._history_errors():
            connection = self._engine.raw_connection()
            connection.detach()  # it is nobody else's, and ends with its close
            self._connection = connection
            key = int.from_bytes(bytes.fromhex(self._token), signed=True)
            cursor = connection.cursor()
            cursor.execute(f"SELECT pg_try_advisory_lock({key})")
            row = cursor.fetchone()
            connection.commit()  # a lock of the session stays; an open transaction would hold vacuum up
        if row is None or not row[0]:
            self._drop()  # the server still takes the connection that was cut for alive, which will do until next time

    def _answers(self, connection: PoolProxiedConnection) -> bool:
        try:
            connection.cursor().execute("SELECT 1")
            connection.commit()
        except (DBAPIError, self._engine.dialect.loaded_dbapi.Error):
            return False
        return True

    def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(DBAPIError, self._engine.dialect.loaded_dbapi.Error):
                self._connection.close()
            self._connection = None


# One process alone carries an execution out, and one of a move: on this workstation, or on any of a team.


def refuse_carried_out(session: Session, move: str, mine: str, alive: Callable[[str], bool]) -> None:
    """Raise InputError where another process than `mine` carries an execution of the move out at this moment.

    Who asked before, and saw none, may have been overtaken: by a program here, or by another workstation of a team.
    """
    at_it = (ExecutionRow.move_id == move_row(session, move).id, ExecutionRow.process.is_not(None))
    for number, process in session.execute(select(ExecutionRow.id, ExecutionRow.process).where(*at_it)):
        if process is not None and process != mine and alive(process):
            raise InputError(
                f"execution {number} of {move} is being carried out by another pghaul",
                _look(move),
            )


def refuse_taken_over(session: Session, execution_id: int, mine: str, alive: Callable[[str], bool]) -> None:
    """Raise TakenOverError where another process than `mine` carries that execution out by now.

    To a team this one was gone while its connection was cut, and somebody may have gone on with what it was at.
    """
    row = session.get(ExecutionRow, execution_id)
    if row is not None and row.process is not None and row.process != mine and alive(row.process):
        raise _taken_over(row)


def refuse_given_up(session: Session, execution_id: int, mine: str) -> None:
    """Raise TakenOverError unless that execution is recorded as carried out by the process `mine`.

    Another one that has gone on with it may have ended by now.
    """
    row = session.get(ExecutionRow, execution_id)
    if row is not None and row.process != mine:
        raise _taken_over(row)


def _taken_over(row: ExecutionRow) -> TakenOverError:
    return TakenOverError(
        f"execution {row.id} of {row.move.name} was continued by another pghaul",
        f"do not continue it here; {_look(row.move.name)}",
    )


def _look(move: str) -> str:
    return f"show its state: {command('pghaul', 'execute', move)} --status"
