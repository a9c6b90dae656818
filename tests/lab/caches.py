"""Cold caches, and memory as servers have it: less than a cluster takes, and used again and again.

The host of a virtual machine takes back what lies free, and giving it anew costs several times what a copy does: 6 GiB
were touched in 21.3 s at first and in 4.4 s at once thereafter. The same copy took from 5.8 to 12.3 s where its page
cache was new memory, and from 4.1 to 4.9 s in LITTLE of it.
"""

import subprocess

from tests.lab.lab import Lab

LITTLE = 192 * 1024**2
"""Bytes for a host on which no PostgreSQL runs."""

SOME = 1024**3
"""Bytes for one that runs a small cluster."""

PLENTY = 4 * 1024**3
"""Bytes for one with a slow disk: groups of version 1 end a process that has more to write than memory."""


def touch_disks(lab: Lab) -> None:
    """Have the memory of both disks be given, where they lie in memory, ahead of whatever is measured."""
    for host in (lab.old, lab.new):
        free = f"$(($(df --output=avail -B 1 {host.data_disk} | tail -n 1) * 9 / 10))"
        touch = f"head -c {free} /dev/zero >{host.data_disk}/zeros; sync -f {host.data_disk}; rm {host.data_disk}/zeros"
        host.exec("sh", "-c", touch)


def cold_caches() -> None:
    """Drop the page cache of all."""
    subprocess.run(["sh", "-c", "sync; echo 3 > /proc/sys/vm/drop_caches"], check=True)
