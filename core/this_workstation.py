"""This workstation: who uses it, and by which rules its system goes."""

import getpass
import os
import platform
import subprocess
import sys
from pathlib import PureWindowsPath

HIDDEN: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""The `creationflags` of each program that pghaul starts: on Windows, no console window appears for it."""


def user_name() -> str:
    """The user's name as the environment or the system has it.

    It is `unknown` if the account has no name (a number without an entry in passwd, as in some containers), and on
    Windows if the environment does not name the user.
    """
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # ImportError: on Windows, Python falls back to a module that is not there
        return "unknown"


def whoami() -> str:
    """Return `user@workstation`, by which the history and the servers name who did something."""
    return f"{user_name()}@{platform.node() or 'workstation'}"


def on_windows() -> bool:
    """Whether files have no owner or mode to go by, folders cannot be opened, and there is no /bin/sh.

    Ask it as `this_workstation.on_windows()`: a test that runs the rules of Windows replaces it in this one place.
    """
    return os.name == "nt"


def stderr_of_programs() -> int | None:
    """Return the `stderr` of a program whose messages are for the terminal of pghaul; None: it is that of pghaul.

    The window has none on Windows, and no program starts there with a handle that is not valid.
    """
    return subprocess.DEVNULL if sys.stderr is None else None


def windows_program(name: str) -> str:
    """Return the path of a program that comes with Windows.

    By its name alone, Windows would first run one of this name that lies in the current folder (CreateProcess).
    """
    return str(PureWindowsPath(os.environ.get("SYSTEMROOT", "C:/Windows"), "System32", f"{name}.exe"))
