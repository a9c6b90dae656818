"""A disk that refuses to write, of which SQLite says that it is an error of the disk."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def failing_disk() -> Iterator[None]:
    """Within it this process can write no file: what is beyond a limit on their size fails, and not for lack of room.

    Windows has no such limit.
    """
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
