"""Whether the process that records something still lives: a locked file for each, which the system unlocks at its end.

A process id alone does not tell, as ids are used again, and asking for one differs between systems. The lock works on
Linux, macOS and Windows alike, and between programs that share a history.
"""

import os
import re
import secrets
import sys
import threading
from contextlib import suppress
from pathlib import Path

from core.history.belonging import ALIVE

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
                _locked(handle)
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
            dead = _locked(handle)
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


if sys.platform == "win32":
    import msvcrt

    def _locked(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(handle: int) -> bool:
        """Lock the file, and return whether no other process holds the lock."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
