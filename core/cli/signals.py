"""What interrupts a command: Ctrl-C, the end of the session, a terminal that was closed."""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from core import this_workstation
from core.cli.terminal import say
from core.jobs import Job

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Windows lacks the third, which a closed terminal sends. It has the fourth instead (Ctrl-Break)."""


@contextmanager
def cancelling(job: Job) -> Iterator[None]:
    """Cancel the job at the first signal that comes while the body runs. At a second one, raise KeyboardInterrupt."""
    interrupts = _Interrupts(job)
    numbers = [int(getattr(signal, name)) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.signal(number, interrupts.handle) for number in numbers}
    try:
        if this_workstation.on_windows():
            with _cancelled_by_a_thread(interrupts, numbers):
                yield
        else:
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Interrupts:
    """How often a command was interrupted."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._handled = False
        self._cancelled = threading.Lock()

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._handled:
            raise KeyboardInterrupt
        self._handled = True
        self.cancel()

    def cancel(self) -> None:
        """Cancel the job, and say so, once. Safe to call from any thread and from a signal's handler."""
        if self._cancelled.acquire(blocking=False):
            say("\npghaul: cancelling and cleaning up on the servers; interrupt again to stop immediately")
            self._job.cancel()


@contextmanager
def _cancelled_by_a_thread(interrupts: _Interrupts, numbers: list[int]) -> Iterator[None]:
    """Cancel as soon as a signal comes, also while the main thread waits for another one.

    Python runs handlers on the main thread, and on Windows no signal ends its wait for a lock. Python itself is told
    at once, and writes the number of the signal to a socket (signal.set_wakeup_fd).
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        before = signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)

        def watch() -> None:
            while number := theirs.recv(1):
                if number[0] in numbers:
                    interrupts.cancel()

        watcher = threading.Thread(target=watch, name="signals", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            ours.shutdown(socket.SHUT_WR)  # the watcher ends
            watcher.join()
