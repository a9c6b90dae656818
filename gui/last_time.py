"""Whether the window of before ended as it should, and what it had to tell: a log for each window that runs.

It lies beside the history, holds what nobody caught and, where the process itself fails, where each thread was then. A
window that is closed takes its log away: what is found at a start is of one that crashed, or was killed.
"""

import faulthandler
import platform
import traceback
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from PySide6.QtCore import qVersion

from core.settings import PROGRAM, program_version

if TYPE_CHECKING:
    from core.history.owners import Owners

FOLDER = "windows"


def format_crash_report(error: BaseException) -> str:
    """Return the report of a bug: versions and traceback."""
    where = f"{PROGRAM} {program_version()}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    return f"{where}\n\n{''.join(traceback.format_exception(error))}"


class LastTime:
    """The log of this window, and the logs of windows that crashed. A read-only folder has none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owners: Owners | None = None
        self._log: TextIO | None = None

    def begin(self) -> str:
        """Begin the log of this window. Return and remove the logs of windows that crashed."""
        from core.history.owners import Owners  # behind the first paint: it loads the history

        found = ""
        with suppress(OSError):
            logs = self._folder / FOLDER
            logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._owners = Owners(self._folder)
            left = [path for path in sorted(logs.glob("*.log")) if not self._owners.alive(path.stem)]
            found = "\n\n".join(path.read_text("utf-8", errors="replace").strip() for path in left)
            for path in left:
                path.unlink()
            self._log = (logs / f"{self._owners.mine()}.log").open("x", encoding="utf-8")
            faulthandler.enable(self._log)
            self.write(f"{PROGRAM} {program_version()}: the window was opened.")
        return found

    def write(self, text: str) -> None:
        """Add a text to the log."""
        if self._log is not None:
            with suppress(OSError):
                print(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S%z} {text}", file=self._log, flush=True)

    def end(self) -> None:
        """Remove the log, because the window was closed properly."""
        if self._log is not None and self._owners is not None:
            faulthandler.disable()
            self._log.close()
            with suppress(OSError):
                Path(self._log.name).unlink()
            self._owners.close()
            self._log = None
