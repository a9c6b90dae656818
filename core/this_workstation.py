"""This workstation: who uses it, and by which rules its system goes."""

import getpass
import os
import platform
import subprocess

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
