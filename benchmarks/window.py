"""What the window takes: run as root, prints each figure beside its bound. On a real X server, between two real hosts.

    python benchmarks/window.py [RUNS [SECONDS]] [--soak SECONDS]

A history of RUNS (100,000) is opened and scrolled through. Both hosts are measured at once, again and again for SECONDS
(120), by the window's own buttons, while a timer of 5 ms tells how long the window did not answer. A soak measures for
as long as it says, and prints memory, threads and open files each minute.

    first paint                     at most 1.0 s after the program's start (median of 5)
    moves on screen                 at most 2.0 s after it: all that opens a history is loaded behind the first paint
    opening the history             at most 300 ms, the window's first page of it included
    the window does not answer      at most 50 ms at the 99th percentile, 100 ms at worst; also while it is scrolled
    memory                          at most 300 MB, and no more than a tenth more in the end than after the first round
    threads and open files          at the end no more than after the first round
    the window's own thread         at most half of one core while both stream
    two pictures of what moves      at most 52 ms apart, which is 20 Hz with the slack of a timer
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

import core.api.moves  # noqa: F401  what is loaded once is part of the start, which is timed by itself
from benchmarks.history import RUNS, fill, say
from core.history.store import Store
from gui import appearance
from gui.pages.history import HistoryPage
from gui.screenshots import settle
from gui.widgets.tiles import Tiles
from gui.window import MainWindow
from gui.work import Work
from tests.gui import start
from tests.gui.pictures import screen
from tests.lab.cockpit import MOVE, describe, measure_both, stay_in, wait
from tests.lab.lab import lab

SECONDS = 120.0
STARTS = 5
ROUND = 1800.0
"""Seconds that a round may take: each workload is repeated until its values are steady."""
BEAT_MS = 5
FIRST_PAINT, FIRST_MOVES, OPENING = 1.0, 2.0, 0.300
MOST_99, MOST, MEMORY, GROWTH, CORE, PICTURE = 0.050, 0.100, 300e6, 1.1, 0.5, 52


@dataclass
class Bounds:
    """What was held against a bound so far."""

    missed: list[str] = field(default_factory=list)

    def hold(self, what: str, found: float, most: float, unit: str) -> None:
        """Say a figure beside its bound."""
        good = found <= most
        say(f"{found:10.4g} {unit:5} {what}, {'at most' if good else 'MISSED:'} {most:g} {unit}")
        if not good:
            self.missed.append(what)


class Heart(QObject):
    """Beats on the window's thread: the seconds for which it did not."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.late: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer(self, interval=BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    @contextmanager
    def listened(self, bounds: Bounds, when: str) -> Iterator[None]:
        """Hold what it did while this was done."""
        self.late, self._last = [], time.perf_counter()
        self._timer.start()
        yield
        self._timer.stop()
        late = sorted(self.late)
        bounds.hold(
            f"without an answer {when}, 99 % of {len(late)} beats",
            1e3 * late[len(late) * 99 // 100],
            1e3 * MOST_99,
            "ms",
        )
        bounds.hold(f"without an answer {when}, at worst", 1e3 * late[-1], 1e3 * MOST, "ms")

    @Slot()
    def _beat(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, now - self._last - BEAT_MS / 1000))
        self._last = now


class Paints(QObject):
    """Counts how often the tiles are painted while something moves in them, and for how long that was."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.count, self.seconds = 0, 0.0
        self._last = 0.0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint and isinstance(watched, Tiles):
            now = time.perf_counter()
            if watched.moving and self._last:
                self.count, self.seconds = self.count + 1, self.seconds + now - self._last
            self._last = now if watched.moving else 0.0
        return False


@dataclass(frozen=True, slots=True)
class Taken:
    """What this process takes: bytes of memory, threads, open files."""

    memory: int
    threads: int
    files: int

    @classmethod
    def now(cls) -> Self:
        """At this moment."""
        memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return cls(memory, _entries("/proc/self/task"), _entries("/proc/self/fd"))


def _entries(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


class Minutes(QObject):
    """Says what this process takes each minute until it is stopped."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._passed = 0
        self._timer = QTimer(self, interval=60_000)
        self._timer.timeout.connect(self._say)
        self._timer.start()

    @Slot()
    def stop(self) -> None:
        self._timer.stop()

    @Slot()
    def _say(self) -> None:
        self._passed += 1
        taken = Taken.now()
        say(f"{self._passed:10} min   {taken.memory / 1e6:.0f} MB, {taken.threads} threads, {taken.files} open files")


def main() -> int:
    """Print the figures; 1 where a bound is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="?", type=int, default=RUNS)
    parser.add_argument("seconds", nargs="?", type=float, default=SECONDS)
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS")
    options = parser.parse_args()
    runs, seconds, bounds = options.runs, options.soak or options.seconds, Bounds()
    with tempfile.TemporaryDirectory() as scratch, screen(1440, 900) as display, lab("window") as hosts:
        os.environ |= {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        folder = Path(scratch) / "history"
        stay_in(Path(scratch))
        fill(folder, runs)
        with Store.open(folder) as store:
            describe(hosts, store)
        seen = zip(*(started(folder) for _ in range(STARTS)), strict=True)
        paint, processor, moves = (statistics.median(one) for one in seen)
        bounds.hold(f"from the start to the first paint, median of {STARTS}", paint, FIRST_PAINT, "s")
        say(f"{processor:10.4g} s     of these the processor's")
        bounds.hold("from the start until the moves are on screen", moves, FIRST_MOVES, "s")
        use(folder, runs, seconds, bounds)
    return 1 if bounds.missed else 0


def started(folder: Path) -> tuple[float, ...]:
    """Seconds from the start of the program to its first paint, of those the processor's, and to its moves on screen.

    A process of its own, which loads what `pghaul` does and nothing of this benchmark's.
    """
    words = [sys.executable, str(Path(start.__file__)), str(folder)]
    said = subprocess.run(
        words, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ).stdout
    lines = dict(line.split(": ", 1) for line in said.splitlines())
    return tuple(float(lines[name]) for name in ("seconds", "processor", "moves"))


def use(folder: Path, runs: int, seconds: float, bounds: Bounds) -> None:
    """Open that history in a window, scroll through it, and measure both hosts for so long."""
    application = QApplication(["pghaul"])
    appearance.prepare(application)
    work = Work()
    window = MainWindow(work)
    window.showMaximized()
    settle(application, work)
    heart = Heart(window)
    began = time.perf_counter()
    with heart.listened(bounds, f"while a history of {runs} runs is opened"):
        work.open(folder)
        until(lambda: work.session is not None and work.runner.idle)
        bounds.hold(
            "until that history is open and on screen", 1e3 * (time.perf_counter() - began), 1e3 * OPENING, "ms"
        )
    work.pick(MOVE)
    with heart.listened(bounds, "while the history is scrolled through"):
        scroll(application, window)
    stream(application, window, heart, seconds, bounds)
    window.close()
    work.close()


def until(condition: Callable[[], bool]) -> None:
    """Let the window work until that is so; between its events it sleeps, or it would take the other threads' time."""
    loop = QEventLoop()

    def leave() -> None:
        if condition():
            loop.quit()

    look = QTimer(interval=BEAT_MS)
    look.timeout.connect(leave)
    look.start()
    loop.exec()
    look.stop()


def scroll(application: QApplication, window: MainWindow) -> None:
    """Through all that the history's page shows, a screen at a time."""
    page = window.show_page(HistoryPage.id)
    settle(application, window.work)
    if not isinstance(page, HistoryPage):
        raise TypeError(type(page))
    bar = page.entries.verticalScrollBar()
    while bar.value() < bar.maximum():
        bar.setValue(bar.value() + bar.pageStep())
        application.processEvents()


def stream(application: QApplication, window: MainWindow, heart: Heart, seconds: float, bounds: Bounds) -> None:
    """Measure both hosts at once until the time is over, each round by the page's own buttons."""
    work, rounds = window.work, list[Taken]()
    paints, minutes = Paints(window), Minutes(window)
    began, own = time.perf_counter(), time.thread_time()
    with heart.listened(bounds, "while both hosts are measured"):
        while not rounds or time.perf_counter() - began < seconds:
            tiles = measure_both(application, window).tiles.tiles
            tiles.installEventFilter(paints)
            wait(application, lambda: not work.busy, patience=ROUND)
            settle(application, work)
            tiles.removeEventFilter(paints)
            rounds.append(Taken.now())
    minutes.stop()
    passed = time.perf_counter() - began
    bounds.hold("of a core by the window's own thread", (time.thread_time() - own) / passed, CORE, "")
    first, last = rounds[0], rounds[-1]
    bounds.hold(f"of memory after {len(rounds)} rounds", last.memory / 1e6, MEMORY / 1e6, "MB")
    bounds.hold("of what it was after the first round", last.memory / first.memory, GROWTH, "×")
    bounds.hold("threads", last.threads, first.threads, "")
    bounds.hold("open files", last.files, first.files, "")
    interval = 1e3 * paints.seconds / max(1, paints.count)
    bounds.hold(f"between two pictures of the tiles, mean of {paints.count}", interval, PICTURE, "ms")


if __name__ == "__main__":
    raise SystemExit(main())
