"""The log of the command line's bugs: what a command did not foresee, so that it can still be reported later.

A command may run at night or in a script, and its terminal is gone when somebody looks. The log is beside the history.
"""

import os
import platform
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.redaction import without_secrets
from core.settings import PROGRAM, data_folder, program_version
from core.text import printable

LOG = "bugs.log"
LARGEST = 1 << 20
"""Bytes. A log that has grown beyond this begins anew."""
_APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Whoever may write to the folder could make the log a link to another file, or a pipe that nobody reads."""


def record_bug(arguments: Sequence[str], report: str) -> Path | None:
    """Write the report of a bug to the end of the log; return the path of the log, or None if it cannot be written.

    Args:
        arguments: the words of the command.
        report: the traceback.
    """
    now = datetime.now(UTC)
    where = f"{PROGRAM} {program_version()}, Python {platform.python_version()}, {platform.platform()}"
    entry = f"{now:%Y-%m-%d %H:%M:%S} UTC: {printable(' '.join((PROGRAM, *arguments)))}\n{where}\n\n{report}\n"
    data = without_secrets(entry).encode("utf-8", "backslashreplace")
    try:
        path = data_folder().absolute() / LOG
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, _APPENDING, 0o600), "ab") as log:
            if not stat.S_ISREG(os.fstat(log.fileno()).st_mode):
                return None
            if log.tell() > LARGEST:
                log.truncate(0)
            log.write(data)
    except (OSError, RuntimeError):  # RuntimeError: this user has no home directory
        return None
    return path
