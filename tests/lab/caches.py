"""Cold caches, and memory that is there: both hosts of the lab share this machine's."""

import subprocess
import sys
from pathlib import Path

_TIMES = 3
"""What is copied lies in old's page cache, in new's, and on new's disk, which is memory too."""
_SPARE = 2 * 1024**3


def cold_caches(copied: int) -> None:
    """Drop the page cache, and touch the memory that a copy of so many bytes will need.

    The host of a virtual machine takes back what lies free, and giving it anew costs several times what a copy does:
    6 GiB were touched in 13.2 s at first and in 2.6 s at once thereafter. A server has its own memory.
    """
    subprocess.run(["sh", "-c", "sync; echo 3 > /proc/sys/vm/drop_caches"], check=True)
    size = min(_TIMES * copied, _available() - _SPARE)
    if size > 0:  # in a process of its own: a program that starts later takes over how large this one ever was
        touch = f"import mmap; mmap.mmap(-1, {size}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)"
        subprocess.run([sys.executable, "-c", touch], check=True)


def _available() -> int:
    """Bytes that can be had without swapping; source: proc(5), MemAvailable."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
