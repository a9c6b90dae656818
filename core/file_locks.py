"""Locks of open files, which end with the process that holds them, on Linux, macOS and Windows alike."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt

    def try_lock(handle: int) -> bool:
        """Lock the file, and return whether no other process holds the lock."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    @contextmanager
    def locked(handle: int) -> Iterator[None]:
        """Hold the lock of the file, for which this waits; raise TimeoutError if that takes longer than ten seconds."""
        try:
            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
        except OSError as error:
            raise TimeoutError(error.errno, error.strerror) from error
        try:
            yield
        finally:
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_lock(handle: int) -> bool:
        """Lock the file, and return whether no other process holds the lock."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    @contextmanager
    def locked(handle: int) -> Iterator[None]:
        """Hold the lock of the file, or of the folder, for which this waits; raise OSError if there are no locks."""
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)
