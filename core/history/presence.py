"""Whether the process that records into a team's history still lives: an advisory lock, which its death frees.

As `owners.py` does by locked files for a history of one workstation.
"""

import contextlib
import re
import secrets
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy import Engine, PoolProxiedConnection, text
from sqlalchemy.exc import DBAPIError

_TOKEN = re.compile("[0-9a-f]{16}")
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
