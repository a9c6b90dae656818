"""Settings of the kernel that a DBA makes for PostgreSQL, and forgets on a new server: memory, write-back, huge pages.

They are files below /proc/sys (the kernel's Documentation/admin-guide/sysctl) with one line each; of the setting of
transparent huge pages the word in brackets is in force.
"""

import re

from core.facts.sections import Section
from core.facts.text import unreadable_error

_SYSCTL = "/proc/sys/"
_HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
_NAMES = (
    *("vm.swappiness", "vm.overcommit_memory", "vm.overcommit_ratio", "vm.overcommit_kbytes", "vm.nr_hugepages"),
    *("vm.dirty_background_ratio", "vm.dirty_background_bytes", "vm.dirty_ratio", "vm.dirty_bytes"),
    *("vm.zone_reclaim_mode", "kernel.numa_balancing", "kernel.sem", "kernel.shmmax", "kernel.shmall"),
)


def parse_kernel_settings(text: str) -> dict[str, str]:
    """Name, as sysctl writes it, to value, from lines `FILE:VALUE`.

    Raises:
        ParseError: a line is none of a file that was asked for.
    """
    found = {}
    for line in text.splitlines():
        path, colon, value = line.partition(":")
        chosen = re.search(r"\[(\w+)\]", value)
        if path == _HUGE and chosen is not None:
            found["transparent_hugepage"] = chosen[1]
        elif colon and path.startswith(_SYSCTL):
            # kernel.sem has four numbers, parted by tabs
            found[path.removeprefix(_SYSCTL).replace("/", ".")] = " ".join(value.split())
        else:
            raise unreadable_error("kernel settings", "a line FILE:VALUE", line)
    return found


SECTION = Section(
    "kernel-settings",
    "kernel settings",
    ("kernel_settings", *(_SYSCTL + name.replace(".", "/") for name in _NAMES), _HUGE),
    parse_kernel_settings,
)
