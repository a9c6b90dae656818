"""How long the window takes: from the start of the process to the first paint, and until its moves are on screen.

`python tests/gui/start.py FOLDER` opens the real program over a history in FOLDER, prints what it saw, and closes.
"""

import os
import sys
import time
from functools import partial
from pathlib import Path

HEAVY = (
    "paramiko", "sqlalchemy", "alembic", "numpy", "psycopg", "typst", "keyring",
    "core.api.moves", "core.api.servers", "core.api.session",
    "core.benchmarks", "core.comparison", "core.facts", "core.history", "core.reports",
    "gui.dialogs.move", "gui.dialogs.server", "gui.pages.compare", "gui.pages.history", "gui.pages.measure",
    "gui.dialogs.survey", "gui.models.survey", "gui.pages.survey",
)  # fmt: skip
"""What the first paint does without."""


def _since_start() -> float:
    """Seconds since the kernel started this process."""
    ticks = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Run the program with a look at its first paint."""
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtGui import QGuiApplication
    from PySide6.QtWidgets import QApplication

    from core.api.loading import PACKAGES
    from gui import app, window
    from gui.pages.page import Page
    from gui.work import Work

    class Look(QObject):
        """Sees the window's first paint, and the history open after it."""

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() is QEvent.Type.Paint:
                watched.removeEventFilter(self)
                print(f"seconds: {_since_start():.2f}")  # noqa: T201
                print(f"processor: {time.process_time():.2f}")  # noqa: T201
                print(f"heavy: {[name for name in HEAVY if name in sys.modules]}")  # noqa: T201
                print(f"platform: {QGuiApplication.platformName()}")  # noqa: T201
            return False

    look = Look()

    class Window(window.MainWindow):
        """The real one, looked at."""

        def __init__(self, work: Work) -> None:
            super().__init__(work)
            self.installEventFilter(look)
            work.opened.connect(partial(print, "history: open"))
            work.opened.connect(self._tell_missing)
            self._timer = QTimer(self, interval=5)
            self._timer.timeout.connect(self._leave_when_shown)
            self._timer.start()

        def _tell_missing(self) -> None:
            wanted = ("pydantic.type_adapter", *PACKAGES)
            print(f"missing: {[name for name in wanted if name not in sys.modules]}")  # noqa: T201

        def _leave_when_shown(self) -> None:
            shown = self.stack.currentWidget()
            if isinstance(shown, Page) and shown.shown:
                self._timer.stop()
                shown.repaint()
                print(f"moves: {_since_start():.2f}")  # noqa: T201
                QApplication.quit()

    vars(app)["MainWindow"] = Window
    return app.main(Path(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
