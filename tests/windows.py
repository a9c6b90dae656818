"""The locks of Windows on this system, by the rules of its library.

Source: Microsoft's reference of `_locking` in the C runtime. `LK_LOCK` gives up after ten attempts, a second apart.
"""

import fcntl
import importlib.util
import sys
from types import ModuleType

import pytest

_MODES = {"LK_UNLCK": 0, "LK_LOCK": 1, "LK_NBLCK": 2}


def windows_locks(monkeypatch: pytest.MonkeyPatch, user: ModuleType, *, waits: bool = True) -> list[str]:
    """Let a module that uses core/file_locks.py use it as on Windows; return the list of what it will ask for.

    Args:
        monkeypatch: undoes it at the end of the test.
        user: the module.
        waits: False: `LK_LOCK` gives up at once, as it does on Windows after ten seconds.
    """
    asked: list[str] = []

    def locking(handle: int, mode: int, size: int) -> None:
        assert size == 1
        asked.append(next(name for name, number in _MODES.items() if number == mode))
        at_once = 0 if waits and asked[-1] == "LK_LOCK" else fcntl.LOCK_NB
        fcntl.flock(handle, fcntl.LOCK_UN if asked[-1] == "LK_UNLCK" else fcntl.LOCK_EX | at_once)

    library = ModuleType("msvcrt")
    vars(library).update(_MODES, locking=locking)
    spec = importlib.util.find_spec("core.file_locks")
    assert spec is not None
    assert spec.loader is not None
    there = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as windows:
        windows.setitem(sys.modules, "msvcrt", library)
        windows.setattr(sys, "platform", "win32")
        spec.loader.exec_module(there)
    for name in ("locked", "try_lock"):
        if hasattr(user, name):
            monkeypatch.setattr(user, name, getattr(there, name))
    return asked
