"""Watches that the window's thread never stops answering, and says what it was doing when it did.

A heartbeat on the event loop is timed; a thread beside it looks where the window's thread stands. A late heartbeat
counts when the window's thread was inside our own code for most of it, or when our own process kept all threads from
running. A machine that had no time for us does not count: the loop was ready, or would have been.

LIMIT holds where the machine calculates at its usual speed. A virtual machine whose host is busy does so at half of it,
and no counter says so: so a fixed calculation is timed behind each late heartbeat, and the limit is twice as long then.
"""

import faulthandler
import os
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, QTimer

BEAT = 0.01
LIMIT = 0.1
ROUNDS = 100_000
USUAL = 0.0043
"""Seconds of processor time that ROUNDS of `_slowness` take at usual speed: CPython 3.11, a core of a quiet server."""
SLOWEST = 4.0
"""The limit grows no further than this many times, so that a real block is found on any machine."""
PROJECT = Path(__file__).parents[2]
OURS = (f'"{PROJECT}/gui/', f'"{PROJECT}/core/')
"""As faulthandler writes where a frame is: `File "/…/gui/window.py", line …`."""


@dataclass(frozen=True, slots=True)
class Block:
    """The event loop stood still for `seconds`; `where` is what the window's thread was doing."""

    seconds: float
    where: str


class Watchdog:
    """A context manager; `blocks` lists every time that the loop stood still for longer than LIMIT."""

    def __init__(self, parent: QObject) -> None:
        self.blocks: list[Block] = []
        self.beats = 0
        self._thread = threading.get_ident()
        self._samples: list[tuple[float, str]] = []
        self._last = self._last_cpu = self._last_wait = 0.0
        self._timer = QTimer(parent, interval=round(BEAT * 1000))
        self._timer.timeout.connect(self._beat)
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="watchdog", daemon=True)

    def __enter__(self) -> "Watchdog":
        self._last, self._last_cpu, self._last_wait = time.monotonic(), time.process_time(), _waited()
        self._timer.start()
        self._sampler.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._beat()
        self._timer.stop()
        self._over.set()
        self._sampler.join()

    def _beat(self) -> None:
        now, cpu, wait = time.monotonic(), time.process_time(), _waited()
        gap, used = now - self._last - BEAT - max(0.0, wait - self._last_wait), cpu - self._last_cpu
        samples = [where for at, where in [*self._samples] if self._last + BEAT < at < now]
        self._last, self._last_cpu, self._last_wait = now, cpu, wait
        self._samples.clear()
        self.beats += 1
        if gap < LIMIT:
            return
        late = gap > LIMIT * _slowness()
        self._last, self._last_cpu, self._last_wait = time.monotonic(), time.process_time(), _waited()
        if not late:
            return
        starved = len(samples) < 3 and used > 0.8 * gap
        busy = [where for where in samples if where]
        if starved or (busy and len(busy) * BEAT >= 0.5 * gap):
            self.blocks.append(Block(gap, busy[-1] if busy else "another thread kept the interpreter to itself"))

    def _sample(self) -> None:
        """Look where the window's thread stands. Never through its frames: a frame that this thread lets go of last
        would take the Qt objects in it down on this thread, and the program with them. faulthandler touches none.
        """
        with tempfile.TemporaryFile() as file:
            while not self._over.wait(BEAT):
                file.seek(0)
                file.truncate()
                faulthandler.dump_traceback(file, all_threads=True)
                file.seek(0)
                self._samples.append((time.monotonic(), _ours(file.read().decode(), self._thread)))


def _slowness() -> float:
    """How many times longer than at usual speed this thread takes for a fixed calculation just now; 1 to SLOWEST."""
    before, total = time.thread_time(), 0
    for number in range(ROUNDS):
        total += number * number
    return min(max(1.0, (time.thread_time() - before) / USUAL), SLOWEST)


def _waited() -> float:
    """Seconds that threads of this process were ready and had no processor, for one that holds the interpreter's lock
    keeps the others waiting, and seconds that a virtual machine's host gave to others. Sources: the kernel's
    sched-stats.rst, /proc/PID/schedstat, the second figure; proc(5), /proc/stat, the eighth of "cpu".
    """
    seconds = int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # it has ended, or the kernel does not count
            seconds += int(thread.read_text().split()[1]) / 1e9
    return seconds


def _ours(dump: str, thread: int) -> str:
    """The thread's stack, if our own code is on it; else the loop is idle, or Qt is at work."""
    block = next((block for block in dump.split("\n\n") if f"hread 0x{thread:016x} " in block), "")
    lines = [line for line in block.splitlines() if any(part in line for part in OURS)]
    return "\n".join(lines)
