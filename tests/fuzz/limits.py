"""The bounds within which an input has to be read or refused."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from core.errors import PghaulError

SECONDS = 1.0
"""For an input of at most some hundred kilobytes: a window that stands still longer is seen to stand still."""
MEMORY = 3 << 30
"""Of addresses of the whole process: what one input unpacks to or piles up must not take it."""


class TooSlowError(Exception):
    """An input took more than its time."""


def bounded_memory() -> None:
    """From here on this process gets no more than MEMORY."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


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
    with _in_time(SECONDS):
        try:
            read(data)
        except PghaulError:
            return
