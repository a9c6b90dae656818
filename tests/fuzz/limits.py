"""The bounds within which an input has to be read or refused."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from core.errors import PghaulError

SECONDS = 1.0
"""For an input of at most some hundred kilobytes: a window that stands still longer is seen to stand still."""
GROWTH = 200 << 20
"""Bytes that one input may take at its peak, above what the process had before."""
MEMORY = 3 << 30
"""Of addresses of the whole process, where an input takes it all before it can be measured."""


class TooSlowError(Exception):
    """An input took more than its time."""


class TooLargeError(Exception):
    """An input took more than its memory."""


def bounded_memory() -> None:
    """From here on this process gets no more than MEMORY."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@contextmanager
def _within(size: int) -> Iterator[None]:
    """The peak is this input's own: getrusage's is that of the process, of whichever target reached it."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # proc(5): the peak is what there is now
    before = _peak()
    yield
    if (grown := _peak() - before) > size:
        raise TooLargeError(f"{grown >> 20} MiB at its peak")


def _peak() -> int:
    """Bytes of the largest resident set since it was last reset."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    def late(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, late)
    # of the processor's time: another process may have it meanwhile
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read_or_refuse(read: Callable[[bytes], object], data: bytes) -> None:
    """Let a target read an input; raises what is a finding."""
    with _within(GROWTH), _in_time(SECONDS), suppress(PghaulError):
        read(data)
