"""No core dump of this program: its memory holds passwords and keys."""

import contextlib
import sys

_PR_SET_DUMPABLE = 4
"""prctl(2): with 0, no core goes to a file or a handler such as systemd-coredump, and nobody but root traces us."""


def forbid() -> None:
    """From now on no memory of this process reaches a file, a handler, or another process of its user."""
    if sys.platform == "win32":
        return
    import ctypes
    import resource

    with contextlib.suppress(OSError, ValueError):  # a limit that may not be set is 0 already
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
